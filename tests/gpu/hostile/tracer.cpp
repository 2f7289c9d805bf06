// The smallest tracer of kernels there is, to see what CUPTI by itself does to a program: loaded by
// CUDA_INJECTION64_PATH, TRACER says how, as words separated by commas:
//   late=MS         kinds are switched on so long after the start of CUDA
//   whole           graphs are traced as wholes from then on, whole_first: before the kinds
//   whole_on_node   from the first conditional node on, whole_on_exec: once such a graph is
//                   instantiated
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
std::atomic<long> kernels{0}, graphs{0}, conditional{0};

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

void begin() {
  if (has("whole_first")) take_wholes();
  for (const auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                          CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET})
    must(cuptiActivityEnable(kind), "kind");
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

void CUPTIAPI see(void*, CUpti_CallbackDomain, CUpti_CallbackId id, const void* data) {
  const auto* node = static_cast<const CUpti_GraphData*>(
      static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor);
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED &&
      node->nodeType == CU_GRAPH_NODE_TYPE_CONDITIONAL && conditional++ == 0 &&
      has("whole_on_node"))
    take_wholes();
  if (id == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED && conditional > 0 && has("whole_on_exec"))
    take_wholes();
}

void end() {
  cuptiActivityFlushAll(1);
  std::fprintf(stderr, "tracer %s: %ld kernels, %ld graphs as wholes\n", words.c_str(),
               kernels.load(), graphs.load());
}

}  // namespace

extern "C" int InitializeInjection() {
  static std::atomic<bool> once{false};
  if (once.exchange(true)) return 1;
  words = std::getenv("TRACER") ? std::getenv("TRACER") : "";
  if (has("whole_on_node") || has("whole_on_exec")) {
    CUpti_SubscriberHandle subscriber;
    must(cuptiSubscribe(&subscriber, &see, nullptr), "subscribe");
    for (const auto id :
         {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED})
      must(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id), "callback");
  }
  must(cuptiActivityRegisterCallbacks(&give_buffer, &take_buffer), "buffers");
  must(cuptiActivityFlushPeriod(200), "period");
  if (number("late") == 0) begin();
  std::thread([] {
    if (number("late") > 0) {
      usleep(number("late") * 1000);
      begin();
    }
    if (number("off") == 0) return;
    usleep(number("off") * 1000);
    must(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "off");
  }).detach();
  std::atexit(&end);
  return 1;
}
