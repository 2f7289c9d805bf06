// The same work for many items, on all cores.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/machine.h"

namespace gf {

/// work(i) for i in [0, count), in any order, on at most `workers` threads; fewer where the system
/// gives no more. The first exception is thrown here, once all threads are done.
template <class Work>
void for_each_parallel(std::size_t count, unsigned workers, Work work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex mutex;
  auto run = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> threads;
  try {
    for (unsigned number = 1; number < workers && number < count; ++number)
      threads.emplace_back(run);
  } catch (const std::system_error&) {
  }
  run();
  for (auto& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace gf
