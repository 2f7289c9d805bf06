// A value that is worked out when it is first asked for.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

namespace gf {

/// Made once, though several threads may ask at the same time: the first makes it, others wait.
template <class T>
class Lazy {
 public:
  /// make() gives the value; where it throws, the next to ask makes it.
  template <class Make>
  const T& of(Make&& make) const {
    if (const T* known = known_.load(std::memory_order_acquire)) return *known;
    const std::lock_guard lock(making_);
    if (!value_) value_.reset(new T(make()));
    known_.store(value_.get(), std::memory_order_release);
    return *value_;
  }

 private:
  mutable std::atomic<const T*> known_ = nullptr;
  mutable std::mutex making_;
  mutable std::unique_ptr<const T> value_;
};

}  // namespace gf
