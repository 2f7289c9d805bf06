#include "collect/cuda/driver.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "collect/library.h"

namespace gf::cuda {

struct Api {
  using Code = int;  // CUresult
  Library library;
  Code (*init)(unsigned);
  Code (*device_get)(int*, int);
  Code (*device_attribute)(int*, int, int);
  Code (*device_uuid)(void*, int);
  Code (*primary_retain)(void**, int);
  Code (*primary_release)(int);
  Code (*set_current)(void*);
  Code (*synchronize)();
  Code (*mem_alloc)(DevicePtr*, std::size_t);
  Code (*mem_free)(DevicePtr);
  Code (*host_alloc)(void**, std::size_t);
  Code (*host_free)(void*);
  Code (*mem_info)(std::size_t*, std::size_t*);
  Code (*upload)(DevicePtr, const void*, std::size_t);
  Code (*download)(void*, DevicePtr, std::size_t);
  Code (*fill32)(DevicePtr, unsigned, std::size_t);
  Code (*module_load)(void**, const void*, unsigned, int*, void**);
  Code (*module_unload)(void*);
  Code (*module_function)(void**, void*, const char*);
  Code (*function_set_attribute)(void*, int, int);
  Code (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                 void**, void**);
  Code (*event_create)(void**, unsigned);
  Code (*event_destroy)(void*);
  Code (*event_record)(void*, void*);
  Code (*event_query)(void*);
  Code (*event_synchronize)(void*);
  Code (*event_elapsed)(float*, void*, void*);
  Code (*error_name)(int, const char**);
  Code (*error_string)(int, const char**);

  Status check(int result, const char* call) const {
    if (result == 0) return {};
    const char *name = nullptr, *text = nullptr;
    error_name(result, &name);
    error_string(result, &text);
    return fail(std::string(call) + ": " + (name ? name : std::to_string(result)) +
                (text ? std::string(", ") + text : ""));
  }
};

namespace {

template <class F>
bool bind(const Library& library, F*& slot, const char* name) {
  slot = library.function<F>(name);
  return slot != nullptr;
}

Result<std::unique_ptr<Api>> load() {
  auto library = Library::open({"libcuda.so.1", "libcuda.so"});
  if (!library)
    return fail("no NVIDIA driver: " + library.error().what, {}, -1,
                "run on a machine with an NVIDIA GPU and driver");
  auto api = std::make_unique<Api>();
  api->library = *library;
  const auto& line = api->library;
  const bool whole =
      bind(line, api->init, "cuInit") & bind(line, api->device_get, "cuDeviceGet") &
      bind(line, api->device_attribute, "cuDeviceGetAttribute") &
      bind(line, api->device_uuid, "cuDeviceGetUuid") &
      bind(line, api->primary_retain, "cuDevicePrimaryCtxRetain") &
      bind(line, api->primary_release, "cuDevicePrimaryCtxRelease_v2") &
      bind(line, api->set_current, "cuCtxSetCurrent") &
      bind(line, api->synchronize, "cuCtxSynchronize") &
      bind(line, api->mem_alloc, "cuMemAlloc_v2") & bind(line, api->mem_free, "cuMemFree_v2") &
      bind(line, api->host_alloc, "cuMemAllocHost_v2") &
      bind(line, api->host_free, "cuMemFreeHost") & bind(line, api->mem_info, "cuMemGetInfo_v2") &
      bind(line, api->upload, "cuMemcpyHtoD_v2") & bind(line, api->download, "cuMemcpyDtoH_v2") &
      bind(line, api->fill32, "cuMemsetD32_v2") &
      bind(line, api->module_load, "cuModuleLoadDataEx") &
      bind(line, api->module_unload, "cuModuleUnload") &
      bind(line, api->module_function, "cuModuleGetFunction") &
      bind(line, api->function_set_attribute, "cuFuncSetAttribute") &
      bind(line, api->launch, "cuLaunchKernel") & bind(line, api->event_create, "cuEventCreate") &
      bind(line, api->event_destroy, "cuEventDestroy_v2") &
      bind(line, api->event_record, "cuEventRecord") &
      bind(line, api->event_query, "cuEventQuery") &
      bind(line, api->event_synchronize, "cuEventSynchronize") &
      bind(line, api->event_elapsed, "cuEventElapsedTime") &
      bind(line, api->error_name, "cuGetErrorName") &
      bind(line, api->error_string, "cuGetErrorString");
  if (!whole)
    return fail("the NVIDIA driver lacks calls of CUDA 11", line.name(), -1, "update the driver");
  return api;
}

}  // namespace

Result<std::shared_ptr<Context>> Context::open(const std::string& uuid) {
  auto api = load();
  if (!api) return tl::unexpected(api.error());
  std::shared_ptr<Context> context(new Context);
  context->api_ = std::move(*api);
  const Api& left = *context->api_;
  // The GPU was chosen among all of the machine; what the variable hides is for other programs.
  unsetenv("CUDA_VISIBLE_DEVICES");
  if (auto status = left.check(left.init(0), "cuInit"); !status)
    return tl::unexpected(status.error());
  int number = 0;
  do {
    if (left.device_get(&context->device_, number++) != 0)
      return fail("CUDA does not see " + uuid, {}, -1,
                  "it may lie outside this container, or be split into MIG instances");
  } while (context->uuid() != uuid);
  if (auto status = left.check(left.primary_retain(&context->context_, context->device_),
                               "cuDevicePrimaryCtxRetain");
      !status)
    return tl::unexpected(status.error());
  if (auto status = left.check(left.set_current(context->context_), "cuCtxSetCurrent"); !status)
    return tl::unexpected(status.error());
  return context;
}

Context::~Context() {
  if (context_) api_->primary_release(device_);
}

Result<int> Context::attribute(Attribute which) const {
  int value = 0;
  if (auto status = api_->check(api_->device_attribute(&value, static_cast<int>(which), device_),
                                "cuDeviceGetAttribute");
      !status)
    return tl::unexpected(status.error());
  return value;
}

std::string Context::uuid() const {
  std::array<unsigned char, 16> raw{};
  if (api_->device_uuid(raw.data(), device_) != 0) return {};
  std::string out = "GPU-";
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    constexpr const char* hex = "0123456789abcdef";
    out += hex[raw[i] >> 4];
    out += hex[raw[i] & 15];
  }
  return out;
}

std::size_t Context::free_bytes() const {
  std::size_t free = 0, total = 0;
  return api_->mem_info(&free, &total) == 0 ? free : 0;
}

Status Context::synchronize() const { return api_->check(api_->synchronize(), "cuCtxSynchronize"); }

void Context::make_current() const { api_->set_current(context_); }

Result<Buffer> Buffer::allocate(std::shared_ptr<Context> context, std::size_t bytes) {
  Buffer buffer;
  if (auto status =
          context->api().check(context->api().mem_alloc(&buffer.address_, bytes), "cuMemAlloc");
      !status)
    return tl::unexpected(status.error());
  buffer.context_ = std::move(context);
  buffer.bytes_ = bytes;
  return buffer;
}
Buffer::Buffer(Buffer&& other) noexcept
    : context_(std::move(other.context_)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
Buffer::~Buffer() {
  if (address_) context_->api().mem_free(address_);
}
Status Buffer::upload(const void* from, std::size_t bytes, std::size_t offset) {
  return context_->api().check(context_->api().upload(address_ + offset, from, bytes),
                               "cuMemcpyHtoD");
}
Status Buffer::download(void* to, std::size_t bytes, std::size_t offset) const {
  return context_->api().check(context_->api().download(to, address_ + offset, bytes),
                               "cuMemcpyDtoH");
}
Status Buffer::fill32(std::uint32_t value) {
  return context_->api().check(context_->api().fill32(address_, value, bytes_ / 4), "cuMemsetD32");
}

Result<HostBuffer> HostBuffer::allocate(std::shared_ptr<Context> context, std::size_t bytes) {
  HostBuffer buffer;
  if (auto status =
          context->api().check(context->api().host_alloc(&buffer.data_, bytes), "cuMemAllocHost");
      !status)
    return tl::unexpected(status.error());
  buffer.context_ = std::move(context);
  buffer.bytes_ = bytes;
  return buffer;
}
HostBuffer::HostBuffer(HostBuffer&& other) noexcept
    : context_(std::move(other.context_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}
HostBuffer::~HostBuffer() {
  if (data_) context_->api().host_free(data_);
}

Result<Kernel> Kernel::compile(std::shared_ptr<Context> context, const std::string& ptx,
                               const char* entry) {
  Kernel kernel;
  std::array<char, 8192> log{};
  int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const Api& api = context->api();
  if (auto status = api.check(api.module_load(&kernel.module_, ptx.c_str(), 2, options, values),
                              "cuModuleLoadDataEx");
      !status)
    return fail(status.error().what + (log[0] ? std::string(": ") + log.data() : ""));
  kernel.context_ = std::move(context);
  if (auto status = api.check(api.module_function(&kernel.function_, kernel.module_, entry),
                              "cuModuleGetFunction");
      !status)
    return tl::unexpected(status.error());
  return kernel;
}
Kernel::Kernel(Kernel&& other) noexcept
    : context_(std::move(other.context_)),
      module_(std::exchange(other.module_, nullptr)),
      function_(std::exchange(other.function_, nullptr)) {}
Kernel& Kernel::operator=(Kernel&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(module_, other.module_);
  std::swap(function_, other.function_);
  return *this;
}
Kernel::~Kernel() {
  if (module_) context_->api().module_unload(module_);
}
Status Kernel::launch(const Launch& shape, void** arguments) const {
  const Api& api = context_->api();
  return api.check(api.launch(function_, shape.blocks, 1, 1, shape.threads, 1, 1,
                              shape.shared_bytes, nullptr, arguments, nullptr),
                   "cuLaunchKernel");
}
Status Kernel::configure(unsigned shared_bytes, int carveout_percent) {
  constexpr int kMaxDynamicShared = 8, kCarveout = 9;  // CUfunction_attribute
  const Api& api = context_->api();
  if (shared_bytes > 0)
    if (auto status = api.check(api.function_set_attribute(function_, kMaxDynamicShared,
                                                           static_cast<int>(shared_bytes)),
                                "cuFuncSetAttribute");
        !status)
      return status;
  return api.check(api.function_set_attribute(function_, kCarveout, carveout_percent),
                   "cuFuncSetAttribute");
}

Result<Event> Event::create(std::shared_ptr<Context> context) {
  Event event;
  if (auto status =
          context->api().check(context->api().event_create(&event.event_, 0), "cuEventCreate");
      !status)
    return tl::unexpected(status.error());
  event.context_ = std::move(context);
  return event;
}
Event::Event(Event&& other) noexcept
    : context_(std::move(other.context_)), event_(std::exchange(other.event_, nullptr)) {}
Event::~Event() {
  if (event_) context_->api().event_destroy(event_);
}
Status Event::record() const {
  return context_->api().check(context_->api().event_record(event_, nullptr), "cuEventRecord");
}
Status Event::wait() const {
  return context_->api().check(context_->api().event_synchronize(event_), "cuEventSynchronize");
}
bool Event::done() const { return context_->api().event_query(event_) == 0; }
Result<double> Event::seconds_since(const Event& earlier) const {
  float ms = 0;
  if (auto status = context_->api().check(
          context_->api().event_elapsed(&ms, earlier.event_, event_), "cuEventElapsedTime");
      !status)
    return tl::unexpected(status.error());
  return ms * 1e-3;
}

}  // namespace gf::cuda
