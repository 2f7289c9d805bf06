// Cost of each CUPTI feature for a launch: cupti_cost VARIANT WORK SECONDS.
// WORK is `host` (10 us of arithmetic before each launch of an empty kernel), `gpu` (kernels of
// 20 us on all SMs, one after the other) or `graph` (graphs of 64 such). VARIANT:
//   alone      without CUPTI
//   traced     kernels, copies and sets as activities, in buffers of 32 kB
//   wide       the same in buffers of 4 MB
//   pinned     the same with CUPTI's own buffers on the host
//   runtime, driver, both   `traced`, and a callback around launches of the runtime, the driver
//   pc, pc_serialized       PC sampling at its default period, read every 100 ms
// Prints JSON: kernels a second of the loop, and of `runtime`, `driver` and `both` how many kernel
// records have the number of a call that a callback saw. Built with
//   nvcc -O2 -std=c++17 -arch=native cupti_cost.cu -o cupti_cost -lcupti -lcuda
#include <cuda.h>
#include <cuda_runtime.h>
#include <cupti.h>
#include <cupti_pcsampling.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

namespace {

void must(int code, const char* what, int line) {
  if (code == 0) return;
  std::fprintf(stderr, "%s: error %d, line %d\n", what, code, line);
  std::exit(1);
}
#define MUST(call) must(static_cast<int>(call), #call, __LINE__)

__global__ void cycles(float* out, int rounds) {
  float value = out[threadIdx.x];
  for (int i = 0; i < rounds; ++i) value = value * 0.999f + 0.1f;
  if (value == 42.f) out[threadIdx.x] = value;
}

long long now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

std::size_t buffer_bytes = 32 << 10;
std::vector<std::uint32_t> called;           // numbers of calls
std::unordered_set<std::uint32_t> recorded;  // and of kernels' calls

void CUPTIAPI asked(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size = buffer_bytes));
  *most = 0;
}
void CUPTIAPI filled(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                     std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      recorded.insert(reinterpret_cast<CUpti_ActivityKernel9*>(record)->correlationId);
  std::free(buffer);
}
void CUPTIAPI on_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite == CUPTI_API_EXIT) called.push_back(call.correlationId);
}

void trace() {
  MUST(cuptiActivityRegisterCallbacks(&asked, &filled));
  for (const auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                          CUPTI_ACTIVITY_KIND_MEMSET})
    MUST(cuptiActivityEnable(kind));
  cuptiActivityFlushPeriod(200);
}

void call_callbacks(bool runtime, bool driver) {
  CUpti_SubscriberHandle subscriber;
  MUST(cuptiSubscribe(&subscriber, &on_call, nullptr));
  if (runtime)
    for (const auto id : {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
                          CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
                          CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000})
      MUST(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, id));
  if (driver)
    for (const auto id :
         {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
          CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch})
      MUST(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id));
}

/// PC sampling of the current context, read by a thread of its own.
class PcSampling {
 public:
  explicit PcSampling(bool serialized) {
    MUST(cuCtxGetCurrent(&context_));
    CUpti_PCSamplingEnableParams enable{};
    enable.size = CUpti_PCSamplingEnableParamsSize;
    enable.ctx = context_;
    MUST(cuptiPCSamplingEnable(&enable));
    std::size_t reasons = 0;
    CUpti_PCSamplingGetNumStallReasonsParams count{};
    count.size = CUpti_PCSamplingGetNumStallReasonsParamsSize;
    count.ctx = context_;
    count.numStallReasons = &reasons;
    MUST(cuptiPCSamplingGetNumStallReasons(&count));
    make(config_, configured_, reasons);
    make(data_, taken_, reasons);
    CUpti_PCSamplingConfigurationInfo info[2]{};
    info[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE;
    info[0].attributeData.collectionModeData.collectionMode =
        serialized ? CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED
                   : CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
    info[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
    info[1].attributeData.samplingDataBufferData.samplingDataBuffer = &config_;
    CUpti_PCSamplingConfigurationInfoParams set{};
    set.size = CUpti_PCSamplingConfigurationInfoParamsSize;
    set.ctx = context_;
    set.numAttributes = 2;
    set.pPCSamplingConfigurationInfo = info;
    MUST(cuptiPCSamplingSetConfigurationAttribute(&set));
    reader_ = std::thread([this] {
      while (!over_) {
        const timespec moment{0, 100'000'000};
        nanosleep(&moment, nullptr);
        read();
      }
    });
  }
  void end() {
    over_ = true;
    reader_.join();
    read();
  }
  unsigned long long samples = 0, dropped = 0, places = 0;
  int refused = 0;  // what the last reading answered

 private:
  static constexpr std::size_t kPlaces = 2000;
  void make(CUpti_PCSamplingData& data, std::vector<CUpti_PCSamplingPCData>& places,
            std::size_t reasons) {
    places.resize(kPlaces);
    for (auto& place : places) {
      place.size = sizeof place;
      place.stallReason = static_cast<CUpti_PCSamplingStallReason*>(
          std::calloc(reasons, sizeof(CUpti_PCSamplingStallReason)));
    }
    data.size = sizeof data;
    data.collectNumPcs = kPlaces;
    data.pPcData = places.data();
  }
  void read() {
    CUpti_PCSamplingGetDataParams get{};
    get.size = CUpti_PCSamplingGetDataParamsSize;
    get.ctx = context_;
    get.pcSamplingData = &data_;
    if (const int code = cuptiPCSamplingGetData(&get)) refused = code;
    samples += data_.totalSamples;
    dropped += data_.droppedSamples;
    places += data_.totalNumPcs;
  }
  CUcontext context_ = nullptr;
  CUpti_PCSamplingData config_{}, data_{};
  std::vector<CUpti_PCSamplingPCData> configured_, taken_;
  std::atomic<bool> over_{false};
  std::thread reader_;
};

unsigned host_work(unsigned value, int rounds) {
  for (int i = 0; i < rounds; ++i) value = value * 1664525u + 1013904223u;
  return value;
}

}  // namespace

int main(int arguments, char** words) {
  const std::string variant = arguments > 1 ? words[1] : "alone";
  const std::string work = arguments > 2 ? words[2] : "host";
  const double seconds = arguments > 3 ? std::atof(words[3]) : 1;
  const bool host = work == "host", sampled = variant.rfind("pc", 0) == 0;
  if (variant == "wide") buffer_bytes = 4 << 20;
  if (variant == "pinned") {
    std::uint8_t yes = 1;
    std::size_t size = sizeof yes;
    MUST(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, &size,
                                   &yes));
  }
  called.reserve(1 << 21);
  recorded.reserve(1 << 21);
  if (variant == "runtime" || variant == "both" || variant == "driver")
    call_callbacks(variant != "driver", variant != "runtime");
  if (variant != "alone" && !sampled) trace();

  float* data = nullptr;
  MUST(cudaMalloc(&data, 4096));
  MUST(cudaMemset(data, 0, 4096));
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  const int blocks = host ? 1 : 132 * 4, rounds = host ? 1 : 8000;  // about 20 us

  volatile unsigned sink = 1;
  long long fastest = 1ll << 60;
  for (int i = 0; i < 5; ++i) {
    const long long from = now();
    sink = host_work(sink, 5000000);
    if (const long long took = now() - from; took < fastest) fastest = took;
  }
  const int host_rounds = static_cast<int>(5000000 * 10e3 / static_cast<double>(fastest));

  cudaGraphExec_t ready = nullptr;
  if (work == "graph") {
    cudaGraph_t graph;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 64; ++i) cycles<<<blocks, 256, 0, stream>>>(data, rounds);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&ready, graph, 0));
  }
  PcSampling* sampling = sampled ? new PcSampling(variant == "pc_serialized") : nullptr;

  cudaEvent_t done[8];
  for (auto& event : done) MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  long long begin = 0, count = 0;
  for (long long number = 0;; ++number) {
    const long long at = now();
    if (number == 500) begin = at, count = 0;  // clocks and pools have settled
    if (begin && at - begin > seconds * 1e9) break;
    if (number >= 8) MUST(cudaEventSynchronize(done[number % 8]));
    if (ready) {
      MUST(cudaGraphLaunch(ready, stream));
    } else {
      for (int i = 0; i < 64; ++i) {
        if (host) sink = host_work(sink, host_rounds);
        cycles<<<blocks, 256, 0, stream>>>(data, rounds);
      }
    }
    MUST(cudaEventRecord(done[number % 8], stream));
    count += 64;
  }
  const double rate = static_cast<double>(count) * 1e9 / static_cast<double>(now() - begin);
  MUST(cudaStreamSynchronize(stream));
  if (sampling) sampling->end();
  if (variant != "alone" && !sampled) cuptiActivityFlushAll(1);
  std::size_t linked = 0;
  for (const auto number : std::unordered_set(called.begin(), called.end()))
    linked += recorded.count(number);
  std::printf(
      "{\"variant\": \"%s\", \"work\": \"%s\", \"kernels_a_second\": %.0f, \"calls\": %zu, "
      "\"recorded_calls\": %zu, \"linked\": %zu, \"samples\": %llu, \"dropped\": %llu, "
      "\"places\": %llu, \"refused\": %d}\n",
      variant.c_str(), work.c_str(), rate, called.size(), recorded.size(), linked,
      sampling ? sampling->samples : 0, sampling ? sampling->dropped : 0,
      sampling ? sampling->places : 0, sampling ? sampling->refused : 0);
  std::fflush(stdout);
  std::_Exit(0);  // what is measured is over; PC sampling's own end is not part of it
}
