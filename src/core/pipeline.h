// Work in parallel, results in order: one producer, several workers, and a merge that sees the
// items in the order in which they were produced. Memory is bounded by the number of slots, which
// are used again and again.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace gf {

/// produce(slot) fills a slot and returns false when nothing is left; it runs on the calling
/// thread. work(slot, worker) runs on `workers` threads, each with its own number. The calling
/// thread is number 0 of them: when all slots are full it works too, so that there are no more
/// threads than workers to share the cores. Twice as many slots as workers keep the others busy
/// meanwhile. merge(slot) runs in the order of production, one at a time; afterwards the slot is
/// free again. The first exception of any of them ends the run and is thrown here.
template <class Slot, class Produce, class Work, class Merge>
void run_in_order(std::deque<Slot>& slots, unsigned workers, Produce produce, Work work,
                  Merge merge) {
  std::mutex mutex;
  std::condition_variable changed;
  const std::size_t count = slots.size();
  std::vector<char> finished(count, 0);
  std::uint64_t produced = 0, taken = 0,
                merged = 0;  // numbers of items; item i lives in slot i % n
  bool ended = false, merging = false;
  std::exception_ptr error;

  auto stop_with_current = [&](std::unique_lock<std::mutex>& lock) {
    if (!lock.owns_lock()) lock.lock();
    if (!error) error = std::current_exception();
    changed.notify_all();
  };
  /// The next item, which must be there. The lock is held before and after.
  auto work_on_next = [&](std::unique_lock<std::mutex>& lock, unsigned number) {
    const std::uint64_t item = taken++;
    lock.unlock();
    work(slots[item % count], number);
    lock.lock();
    finished[item % count] = 1;
    // Whoever completes the next item in line merges it and all that wait behind it.
    while (!merging && !error && merged < produced && finished[merged % count]) {
      merging = true;
      lock.unlock();
      merge(slots[merged % count]);
      lock.lock();
      merging = false;
      finished[merged % count] = 0;
      ++merged;
      changed.notify_all();
    }
  };
  auto worker = [&](unsigned number) {
    std::unique_lock lock(mutex);
    try {
      for (;;) {
        changed.wait(lock, [&] { return error || taken < produced || ended; });
        if (error || taken == produced) return;
        work_on_next(lock, number);
      }
    } catch (...) {
      stop_with_current(lock);
    }
  };
  std::vector<std::thread> threads;
  std::unique_lock lock(mutex);
  try {
    for (unsigned i = 1; i < workers; ++i) threads.emplace_back(worker, i);
    while (!error && (!ended || taken < produced)) {
      if (!ended && produced - merged < count) {
        lock.unlock();
        const bool more = produce(slots[produced % count]);
        lock.lock();
        if (more)
          ++produced;
        else
          ended = true;
        changed.notify_all();
      } else if (taken < produced) {
        work_on_next(lock, 0);
      } else {
        changed.wait(lock, [&] { return error || produced - merged < count; });
      }
    }
  } catch (...) {
    stop_with_current(lock);
  }
  if (!lock.owns_lock()) lock.lock();
  ended = true;
  changed.notify_all();
  lock.unlock();
  for (auto& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace gf
