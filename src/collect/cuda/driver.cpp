#include "collect/cuda/driver.h"

#include <array>
#include <utility>

#include "collect/library.h"

namespace gf::cuda {

struct Api {
  using R = int;  // CUresult
  Library library;
  R (*init)(unsigned);
  R (*device_get)(int*, int);
  R (*device_name)(char*, int, int);
  R (*device_attribute)(int*, int, int);
  R (*device_uuid)(void*, int);
  R (*driver_version)(int*);
  R (*primary_retain)(void**, int);
  R (*primary_release)(int);
  R (*set_current)(void*);
  R (*synchronize)();
  R (*mem_alloc)(DevicePtr*, std::size_t);
  R (*mem_free)(DevicePtr);
  R (*mem_info)(std::size_t*, std::size_t*);
  R (*upload)(DevicePtr, const void*, std::size_t);
  R (*download)(void*, DevicePtr, std::size_t);
  R (*fill32)(DevicePtr, unsigned, std::size_t);
  R (*module_load)(void**, const void*, unsigned, int*, void**);
  R (*module_unload)(void*);
  R (*module_function)(void**, void*, const char*);
  R (*function_attribute)(int*, int, void*);
  R (*function_set_attribute)(void*, int, int);
  R (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
              void**, void**);
  R (*event_create)(void**, unsigned);
  R (*event_destroy)(void*);
  R (*event_record)(void*, void*);
  R (*event_query)(void*);
  R (*event_synchronize)(void*);
  R (*event_elapsed)(float*, void*, void*);
  R (*error_name)(int, const char**);
  R (*error_string)(int, const char**);

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
  const auto& l = api->library;
  const bool whole =
      bind(l, api->init, "cuInit") & bind(l, api->device_get, "cuDeviceGet") &
      bind(l, api->device_name, "cuDeviceGetName") &
      bind(l, api->device_attribute, "cuDeviceGetAttribute") &
      bind(l, api->device_uuid, "cuDeviceGetUuid") &
      bind(l, api->driver_version, "cuDriverGetVersion") &
      bind(l, api->primary_retain, "cuDevicePrimaryCtxRetain") &
      bind(l, api->primary_release, "cuDevicePrimaryCtxRelease_v2") &
      bind(l, api->set_current, "cuCtxSetCurrent") & bind(l, api->synchronize, "cuCtxSynchronize") &
      bind(l, api->mem_alloc, "cuMemAlloc_v2") & bind(l, api->mem_free, "cuMemFree_v2") &
      bind(l, api->mem_info, "cuMemGetInfo_v2") & bind(l, api->upload, "cuMemcpyHtoD_v2") &
      bind(l, api->download, "cuMemcpyDtoH_v2") & bind(l, api->fill32, "cuMemsetD32_v2") &
      bind(l, api->module_load, "cuModuleLoadDataEx") &
      bind(l, api->module_unload, "cuModuleUnload") &
      bind(l, api->module_function, "cuModuleGetFunction") &
      bind(l, api->function_attribute, "cuFuncGetAttribute") &
      bind(l, api->function_set_attribute, "cuFuncSetAttribute") &
      bind(l, api->launch, "cuLaunchKernel") & bind(l, api->event_create, "cuEventCreate") &
      bind(l, api->event_destroy, "cuEventDestroy_v2") &
      bind(l, api->event_record, "cuEventRecord") & bind(l, api->event_query, "cuEventQuery") &
      bind(l, api->event_synchronize, "cuEventSynchronize") &
      bind(l, api->event_elapsed, "cuEventElapsedTime") &
      bind(l, api->error_name, "cuGetErrorName") & bind(l, api->error_string, "cuGetErrorString");
  if (!whole)
    return fail("the NVIDIA driver lacks calls of CUDA 11", l.name(), -1, "update the driver");
  return api;
}

}  // namespace

Result<std::shared_ptr<Context>> Context::open(int device) {
  auto api = load();
  if (!api) return tl::unexpected(api.error());
  std::shared_ptr<Context> c(new Context);
  c->api_ = std::move(*api);
  const Api& a = *c->api_;
  if (auto s = a.check(a.init(0), "cuInit"); !s) return tl::unexpected(s.error());
  if (auto s = a.check(a.device_get(&c->device_, device), "cuDeviceGet"); !s)
    return tl::unexpected(s.error());
  if (auto s = a.check(a.primary_retain(&c->context_, c->device_), "cuDevicePrimaryCtxRetain"); !s)
    return tl::unexpected(s.error());
  if (auto s = a.check(a.set_current(c->context_), "cuCtxSetCurrent"); !s)
    return tl::unexpected(s.error());
  return c;
}

Context::~Context() {
  if (context_) api_->primary_release(device_);
}

Result<int> Context::attribute(Attribute which) const {
  int value = 0;
  if (auto s = api_->check(api_->device_attribute(&value, static_cast<int>(which), device_),
                           "cuDeviceGetAttribute");
      !s)
    return tl::unexpected(s.error());
  return value;
}

std::string Context::name() const {
  char text[256] = {};
  return api_->device_name(text, sizeof text - 1, device_) == 0 ? text : "";
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

int Context::driver_version() const {
  int v = 0;
  return api_->driver_version(&v) == 0 ? v : 0;
}

std::size_t Context::free_bytes() const {
  std::size_t free = 0, total = 0;
  return api_->mem_info(&free, &total) == 0 ? free : 0;
}

Status Context::synchronize() const { return api_->check(api_->synchronize(), "cuCtxSynchronize"); }

void Context::make_current() const { api_->set_current(context_); }

Result<Buffer> Buffer::allocate(std::shared_ptr<Context> context, std::size_t bytes) {
  Buffer b;
  if (auto s = context->api().check(context->api().mem_alloc(&b.address_, bytes), "cuMemAlloc"); !s)
    return tl::unexpected(s.error());
  b.context_ = std::move(context);
  b.bytes_ = bytes;
  return b;
}
Buffer::Buffer(Buffer&& o) noexcept
    : context_(std::move(o.context_)),
      address_(std::exchange(o.address_, 0)),
      bytes_(std::exchange(o.bytes_, 0)) {}
Buffer& Buffer::operator=(Buffer&& o) noexcept {
  std::swap(context_, o.context_);
  std::swap(address_, o.address_);
  std::swap(bytes_, o.bytes_);
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

Result<Kernel> Kernel::compile(std::shared_ptr<Context> context, const std::string& ptx,
                               const char* entry) {
  Kernel k;
  std::array<char, 8192> log{};
  int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const Api& a = context->api();
  if (auto s =
          a.check(a.module_load(&k.module_, ptx.c_str(), 2, options, values), "cuModuleLoadDataEx");
      !s)
    return fail(s.error().what + (log[0] ? std::string(": ") + log.data() : ""));
  k.context_ = std::move(context);
  if (auto s = a.check(a.module_function(&k.function_, k.module_, entry), "cuModuleGetFunction");
      !s)
    return tl::unexpected(s.error());
  return k;
}
Kernel::Kernel(Kernel&& o) noexcept
    : context_(std::move(o.context_)),
      module_(std::exchange(o.module_, nullptr)),
      function_(std::exchange(o.function_, nullptr)) {}
Kernel& Kernel::operator=(Kernel&& o) noexcept {
  std::swap(context_, o.context_);
  std::swap(module_, o.module_);
  std::swap(function_, o.function_);
  return *this;
}
Kernel::~Kernel() {
  if (module_) context_->api().module_unload(module_);
}
Status Kernel::launch(const Launch& shape, void** arguments) const {
  const Api& a = context_->api();
  return a.check(a.launch(function_, shape.blocks, 1, 1, shape.threads, 1, 1, shape.shared_bytes,
                          nullptr, arguments, nullptr),
                 "cuLaunchKernel");
}
Status Kernel::configure(unsigned shared_bytes, int carveout_percent) {
  constexpr int kMaxDynamicShared = 8, kCarveout = 9;  // CUfunction_attribute
  const Api& a = context_->api();
  if (shared_bytes > 0)
    if (auto s = a.check(
            a.function_set_attribute(function_, kMaxDynamicShared, static_cast<int>(shared_bytes)),
            "cuFuncSetAttribute");
        !s)
      return s;
  return a.check(a.function_set_attribute(function_, kCarveout, carveout_percent),
                 "cuFuncSetAttribute");
}
int Kernel::registers() const {
  constexpr int kNumRegs = 4;
  int n = 0;
  return context_->api().function_attribute(&n, kNumRegs, function_) == 0 ? n : -1;
}

Result<Event> Event::create(std::shared_ptr<Context> context) {
  Event e;
  if (auto s = context->api().check(context->api().event_create(&e.event_, 0), "cuEventCreate"); !s)
    return tl::unexpected(s.error());
  e.context_ = std::move(context);
  return e;
}
Event::Event(Event&& o) noexcept
    : context_(std::move(o.context_)), event_(std::exchange(o.event_, nullptr)) {}
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
  if (auto s = context_->api().check(context_->api().event_elapsed(&ms, earlier.event_, event_),
                                     "cuEventElapsedTime");
      !s)
    return tl::unexpected(s.error());
  return ms * 1e-3;
}

}  // namespace gf::cuda
