// The CUDA driver behind one door: libcuda.so.1 found at run time, no CUDA header needed to build.
// Declarations follow the driver API reference (https://docs.nvidia.com/cuda/cuda-driver-api); the
// ABI of these calls has been stable since CUDA 4 (the `_v2` names).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/error.h"

namespace gf::cuda {

using DevicePtr = std::uint64_t;

/// Attributes asked for here (CUdevice_attribute).
enum class Attribute : int {
  max_threads_per_block = 1,
  shared_bytes_per_block = 8,
  clock_khz = 13,
  sm_count = 16,
  l2_bytes = 38,
  max_threads_per_sm = 39,
  compute_major = 75,
  compute_minor = 76,
  shared_bytes_per_sm = 81,
  registers_per_sm = 82,
  shared_bytes_optin = 97,
};

struct Api;  // the function pointers

/// A primary context on one device, current on the thread that made it. Freed with the last Module
/// and Buffer.
class Context {
 public:
  /// Errors: no driver library, no such device, a driver that answers with an error.
  /// The device is found by its UUID ("GPU-..."): CUDA's numbers depend on what it hides and how
  /// it sorts.
  static Result<std::shared_ptr<Context>> open(const std::string& uuid);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Result<int> attribute(Attribute which) const;
  std::string uuid() const;  // "GPU-xxxxxxxx-…"
  std::size_t free_bytes() const;
  Status synchronize() const;
  /// Makes the context current on the calling thread too.
  void make_current() const;
  const Api& api() const { return *api_; }
  int device() const { return device_; }

 private:
  Context() = default;
  std::unique_ptr<Api> api_;
  int device_ = 0;
  void* context_ = nullptr;
};

/// Device memory from a plain allocation.
class Buffer {
 public:
  static Result<Buffer> allocate(std::shared_ptr<Context> context, std::size_t bytes);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();
  DevicePtr address() const { return address_; }
  std::size_t bytes() const { return bytes_; }
  Status upload(const void* from, std::size_t bytes, std::size_t offset = 0);
  Status download(void* to, std::size_t bytes, std::size_t offset = 0) const;
  Status fill32(std::uint32_t value);

 private:
  Buffer() = default;
  std::shared_ptr<Context> context_;
  DevicePtr address_ = 0;
  std::size_t bytes_ = 0;
};

/// Page-locked memory of the host, from which copies run at the speed of the link.
class HostBuffer {
 public:
  static Result<HostBuffer> allocate(std::shared_ptr<Context> context, std::size_t bytes);
  HostBuffer(HostBuffer&& other) noexcept;
  ~HostBuffer();
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  HostBuffer() = default;
  std::shared_ptr<Context> context_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

struct Launch {
  unsigned blocks = 1, threads = 1;
  unsigned shared_bytes = 0;
};

/// One kernel of a PTX text, compiled by the driver.
class Kernel {
 public:
  /// Errors carry the driver's compile log.
  static Result<Kernel> compile(std::shared_ptr<Context> context, const std::string& ptx,
                                const char* entry);
  Kernel(Kernel&& other) noexcept;
  Kernel& operator=(Kernel&& other) noexcept;
  ~Kernel();
  /// Starts the kernel on the default stream; `arguments` are pointers to the values.
  Status launch(const Launch& shape, void** arguments) const;
  /// Lets the kernel use up to `bytes` of dynamic shared memory, and asks for `carveout_percent` of
  /// L1 as shared memory.
  Status configure(unsigned shared_bytes, int carveout_percent);

 private:
  Kernel() = default;
  std::shared_ptr<Context> context_;
  void* module_ = nullptr;
  void* function_ = nullptr;
};

/// A point in the default stream's time.
class Event {
 public:
  static Result<Event> create(std::shared_ptr<Context> context);
  Event(Event&& other) noexcept;
  ~Event();
  Status record() const;
  Status wait() const;
  bool done() const;
  /// Seconds from `earlier` to this event; both must be done.
  Result<double> seconds_since(const Event& earlier) const;

 private:
  Event() = default;
  std::shared_ptr<Context> context_;
  void* event_ = nullptr;
};

}  // namespace gf::cuda
