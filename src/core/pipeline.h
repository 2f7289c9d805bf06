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

/// The state that run_in_order() shares between its threads. Item i lives in slot i % slots.
template <class Slot, class Produce, class Work, class Merge>
class OrderedRun {
 public:
  OrderedRun(std::deque<Slot>& slots, Produce& produce, Work& work, Merge& merge)
      : slots_(slots), produce_(produce), work_(work), merge_(merge), finished_(slots.size(), 0) {}

  void run(unsigned workers) {
    std::vector<std::thread> threads;
    std::unique_lock lock(mutex_);
    try {
      for (unsigned i = 1; i < workers; ++i)
        threads.emplace_back([this, i] { work_until_over(i); });
      produce_until_over(lock);
    } catch (...) {
      stop_with_current(lock);
    }
    if (!lock.owns_lock()) lock.lock();
    ended_ = true;
    more_work_.notify_all();
    lock.unlock();
    for (auto& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  using Lock = std::unique_lock<std::mutex>;

  void produce_until_over(Lock& lock) {
    while (!error_ && (!ended_ || taken_ < produced_)) {
      if (!ended_ && produced_ - merged_ < slots_.size()) {
        lock.unlock();
        const bool more = produce_(slots_[produced_ % slots_.size()]);
        lock.lock();
        if (more) {
          ++produced_;
          more_work_.notify_one();
        } else {
          ended_ = true;
          more_work_.notify_all();
        }
      } else if (taken_ < produced_) {
        work_on_next(lock, 0);
      } else {
        more_room_.wait(lock, [&] { return error_ || produced_ - merged_ < slots_.size(); });
      }
    }
  }

  void work_until_over(unsigned number) {
    Lock lock(mutex_);
    try {
      for (;;) {
        more_work_.wait(lock, [&] { return error_ || taken_ < produced_ || ended_; });
        if (error_ || taken_ == produced_) return;
        work_on_next(lock, number);
      }
    } catch (...) {
      stop_with_current(lock);
    }
  }

  /// The next item, which must be there. The lock is held before and after.
  void work_on_next(Lock& lock, unsigned number) {
    const std::uint64_t item = taken_++;
    lock.unlock();
    work_(slots_[item % slots_.size()], number);
    lock.lock();
    finished_[item % slots_.size()] = 1;
    // Whoever completes the next item in line merges it and all that wait behind it.
    while (!merging_ && !error_ && merged_ < produced_ && finished_[merged_ % slots_.size()]) {
      merging_ = true;
      lock.unlock();
      merge_(slots_[merged_ % slots_.size()]);
      lock.lock();
      merging_ = false;
      finished_[merged_ % slots_.size()] = 0;
      ++merged_;
      more_room_.notify_one();
    }
  }

  void stop_with_current(Lock& lock) {
    if (!lock.owns_lock()) lock.lock();
    if (!error_) error_ = std::current_exception();
    more_work_.notify_all();
    more_room_.notify_one();
  }

  std::deque<Slot>& slots_;
  Produce& produce_;
  Work& work_;
  Merge& merge_;
  std::mutex mutex_;
  std::condition_variable
      more_work_;  // for those who wait for an item, of whom each item wakes one
  std::condition_variable more_room_;                    // for the one who produces
  std::vector<char> finished_;                           // by slot: worked on and not merged yet
  std::uint64_t produced_ = 0, taken_ = 0, merged_ = 0;  // numbers of items
  bool ended_ = false, merging_ = false;
  std::exception_ptr error_;
};

/// produce(slot) fills a slot and returns false when nothing is left; it runs on the calling
/// thread. work(slot, worker) runs on `workers` threads, each with its own number. The calling
/// thread is number 0 of them: when all slots are full it works too, so that there are no more
/// threads than workers to share the cores. Twice as many slots as workers keep the others busy
/// meanwhile. merge(slot) runs in the order of production, one at a time; afterwards the slot is
/// free again. The first exception of any of them ends the run and is thrown here.
template <class Slot, class Produce, class Work, class Merge>
void run_in_order(std::deque<Slot>& slots, unsigned workers, Produce produce, Work work,
                  Merge merge) {
  OrderedRun<Slot, Produce, Work, Merge>(slots, produce, work, merge).run(workers);
}

}  // namespace gf
