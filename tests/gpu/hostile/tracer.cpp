// The smallest tracer of kernels there is, to see what CUPTI by itself does to a program: loaded by
// CUDA_INJECTION64_PATH, TRACER says how, as words separated by commas:
//   late=MS         kinds are switched on so long after the start of CUDA
//   whole           graphs are traced as wholes from then on, whole_first: before the kinds
//   on_handle       from the first handle of a conditional node on, which is made before the node
//   off_on_handle   nothing is traced from then on
//   whole_at=MS     so long after the start of CUDA
//   off=MS          kernels are switched off after so long
// g++ -std=c++20 -O1 -shared -fPIC -isystem CUDA/include tracer.cpp -o libtracer.so -lcupti
#include <cuda.h>
#include <cupti.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

std::string words;
std::atomic<long> kernels{0}, graphs{0}, handles{0}, ready{0}, ready_before{0};

bool has(const std::string& word) {
  return ("," + words + ",").find("," + word + ",") != std::string::npos;
}
int number(const std::string& key) {
  const auto at = words.find(key + "=");
  return at == std::string::npos ? 0 : std::atoi(words.c_str() + at + key.size() + 1);
}

void must(CUptiResult code, const char* what) {
  if (code != CUPTI_SUCCESS) std::fprintf(stderr, "tracer: %s: %d\n", what, code);
}
void take_wholes() { must(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE), "graphs"); }

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET};
void begin() {
  if (has("whole_first")) take_wholes();
  for (const auto kind : kKinds) must(cuptiActivityEnable(kind), "kind");
  if (has("whole")) take_wholes();
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *size = 32 << 10;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *most = 0;
}
void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (valid && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    graphs += record->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  }
  std::free(buffer);
}

void CUPTIAPI see(void*, CUpti_CallbackDomain domain, CUpti_CallbackId, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    ++ready;
    return;
  }
  if (static_cast<const CUpti_CallbackData*>(data)->callbackSite != CUPTI_API_ENTER) return;
  if (handles++ > 0) return;
  ready_before = ready.load();
  if (has("on_handle")) take_wholes();
  if (has("off_on_handle"))
    for (const auto kind : kKinds) must(cuptiActivityDisable(kind), "off");
}

void end() {
  cuptiActivityFlushAll(1);
  std::fprintf(stderr,
               "tracer %s: %ld kernels, %ld graphs as wholes, %ld calls for handles, the "
               "first after %ld of %ld graphs\n",
               words.c_str(), kernels.load(), graphs.load(), handles.load(), ready_before.load(),
               ready.load());
}

}  // namespace

extern "C" int InitializeInjection() {
  static std::atomic<bool> once{false};
  if (once.exchange(true)) return 1;
  words = std::getenv("TRACER") ? std::getenv("TRACER") : "";
  CUpti_SubscriberHandle subscriber;
  must(cuptiSubscribe(&subscriber, &see, nullptr), "subscribe");
  must(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                           CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED),
       "callback of graphs");
  must(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                           CUPTI_DRIVER_TRACE_CBID_cuGraphConditionalHandleCreate),
       "callback of handles");
  must(cuptiActivityRegisterCallbacks(&give_buffer, &take_buffer), "buffers");
  must(cuptiActivityFlushPeriod(200), "period");
  if (number("late") == 0) begin();
  std::thread([] {
    if (number("late") > 0) {
      usleep(number("late") * 1000);
      begin();
    }
    if (number("whole_at") > 0) {
      usleep(number("whole_at") * 1000);
      take_wholes();
    }
    if (number("off") == 0) return;
    usleep(number("off") * 1000);
    must(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "off");
  }).detach();
  std::atexit(&end);
  return 1;
}
