// A libcupti.so.13 for machines without a GPU: PM sampling over the world of world.h. It keeps the
// real one's rules: one unknown name refuses the whole call, every further call of ConfigAddMetrics
// opens a pass, several passes cannot be sampled, the first sample of a session is junk, what an
// image has no room for is lost, a full buffer of the GPU ends a session. Options of
// GPUFATHOM_FAKE: permission (0/1), pm_busy (0/1), pm_old (0/1: no PM sampling in this driver),
// single_pass (counters in a pass), gpu_clock (ns that the GPU clock is behind the host's),
// drop_every (every Nth sample never arrives), sample_bytes (of the GPU's buffer that one sample
// takes), decode_us (that a decode takes for each sample that it finds), lost_after.
#include <cuda.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "world.h"

namespace {

struct Host {
  std::vector<std::string> counters;
  int calls = 0;
};

struct Config {  // what the fake keeps in a config image
  std::uint64_t passes;
};

struct Session {
  bool open = false, running = false, stopped = false, overflown = false;
  double buffer = 0;
  std::int64_t interval = 1'000'000, started = 0,
               next = 0;  // start of the next sample, on the host clock
  std::uint64_t made = 0;
  std::size_t image_size = 0;
};
Session sessions[16];

struct Image {
  std::uint64_t capacity, count;
  struct Sample {
    std::int64_t start, end;  // GPU clock
  } samples[1];
};

std::int64_t gpu_clock() { return static_cast<std::int64_t>(fake::number("gpu_clock", 5e9)); }

bool known(const std::string& counter) {
  static const std::set<std::string> names{"gr__cycles_active",
                                           "sm__cycles_active",
                                           "sm__inst_executed_realtime",
                                           "sm__pipe_tensor_cycles_active_realtime",
                                           "sm__warps_active_realtime",
                                           "dram__bytes_read",
                                           "dram__bytes_write",
                                           "dram__throughput",
                                           "lts__t_sectors",
                                           "l1tex__t_sectors",
                                           "l1tex__t_sectors_lookup_hit",
                                           "pcie__read_bytes",
                                           "pcie__write_bytes",
                                           "nvlrx__bytes_packet_request_data_user",
                                           "sm__thread_inst_executed_pred_on_realtime",
                                           "sm__inst_executed_pipe_alu_realtime",
                                           "sm__inst_executed_pipe_fma_realtime",
                                           "sm__inst_executed_pipe_xu_realtime",
                                           "sm__pipe_fp64_cycles_active_realtime",
                                           "lts__t_sectors_srcunit_tex",
                                           "lts__t_requests_srcunit_tex",
                                           "lts__average_t_sector_srcunit_tex_op_read",
                                           "lts__average_t_sector_srcunit_tex_op_write",
                                           "l1tex__data_pipe_lsu_wavefronts_mem_shared",
                                           "l1tex__data_pipe_lsu_wavefronts",
                                           "l1tex__lsu_writeback_active_mem_lgds",
                                           "l1tex__m_xbar2l1tex_read_sectors_realtime",
                                           "sm__cycles_elapsed"};
  std::string base = counter.substr(
      counter.rfind("Compute.") == std::string::npos ? 0 : counter.rfind("Compute.") + 8);
  return names.count(base.substr(0, base.find('.'))) > 0;
}

double value(const std::string& counter, std::int64_t from, std::int64_t to) {
  auto has = [&](const char* part) { return counter.find(part) != std::string::npos; };
  const double busy = fake::covered(from, to, fake::kBusy),
               tensor = fake::covered(from, to, fake::kTensor), ns = static_cast<double>(to - from);
  if (has("gr__cycles_active")) return 100 * busy;
  if (has("pipe_tensor")) return 90 * tensor;
  if (has("pipe_fp64")) return 0;
  if (has("sm__cycles_elapsed")) return ns * 1.98;
  if (has("op_read")) {
    if (busy > 0) return 0.75;
    return NAN;
  }  // undefined where nothing was counted, as the real one answers
  if (has("op_write")) {
    if (busy > 0) return 0.25;
    return NAN;
  }
  if (has("thread_inst")) return ns * 132 * 16 * busy;
  if (has("pipe_alu") || has("pipe_fma")) return ns * 132 * 0.2 * busy;
  if (has("pipe_xu")) return ns * 132 * 0.01 * busy;
  if (has("inst_executed_realtime.sum")) return ns * 132 * 0.5 * busy;
  if (has("wavefronts_mem_shared")) return ns * 132 * 0.1 * busy;
  if (has("data_pipe_lsu_wavefronts")) return ns * 132 * 0.15 * busy;
  if (has("writeback")) return ns * 132 * 0.04 * busy;
  if (has("xbar2l1tex")) return ns * busy / 10;
  if (has("inst_executed")) return 30 * busy;
  if (has("warps_active")) return 50 * busy;
  if (has("sm__cycles_active")) return 80 * busy;
  if (has("dram__throughput")) return 40 * busy;
  if (has("dram__bytes_read")) return ns * 2 * busy;  // 2 GB/s while busy
  if (has("dram__bytes_write")) return ns * busy;
  if (has("lts__t_requests")) return ns * busy / 32;
  if (has("lts__t_sectors")) return ns * busy / 8;
  return 0;
}

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = 130001;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult code, const char** text) {
  switch (code) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
      break;
    case CUPTI_ERROR_NOT_SUPPORTED:
      *text = "CUPTI_ERROR_NOT_SUPPORTED";
      break;
    case CUPTI_ERROR_HARDWARE_BUSY:
      *text = "CUPTI_ERROR_HARDWARE_BUSY";
      break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      break;
    case CUPTI_ERROR_INVALID_DEVICE:
      *text = "CUPTI_ERROR_INVALID_DEVICE";
      break;
    default:
      *text = "CUPTI_ERROR_UNKNOWN";
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
  if (fake::number("pm_old", 0)) {
    params->isSupported = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  } else {
    params->isSupported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  params->pChipName = "GH100";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new Host);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  delete reinterpret_cast<Host*>(params->pHostObject);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  auto& host = *reinterpret_cast<Host*>(params->pHostObject);
  for (std::size_t i = 0; i < params->numMetrics; ++i)
    if (!known(params->ppMetricNames[i])) return CUPTI_ERROR_INVALID_PARAMETER;
  for (std::size_t i = 0; i < params->numMetrics; ++i)
    host.counters.emplace_back(params->ppMetricNames[i]);
  ++host.calls;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(
    CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  params->configImageSize = sizeof(Config);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  const auto& host = *reinterpret_cast<Host*>(params->pHostObject);
  const auto together = static_cast<std::size_t>(fake::number("single_pass", 12));
  reinterpret_cast<Config*>(params->pConfigImage)->passes =
      static_cast<std::uint64_t>(host.calls) - 1 + (host.counters.size() + together - 1) / together;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  params->numOfPasses = reinterpret_cast<const Config*>(params->pConfigImage)->passes;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetMetricProperties(
    CUpti_Profiler_Host_GetMetricProperties_Params* params) {
  if (known(params->pMetricName)) return CUPTI_SUCCESS;
  return CUPTI_ERROR_INVALID_METRIC_NAME;
}
CUptiResult cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  const auto& sample =
      reinterpret_cast<const Image*>(params->pCounterDataImage)->samples[params->rangeIndex];
  for (std::size_t i = 0; i < params->numMetrics; ++i)
    params->pMetricValues[i] =
        value(params->ppMetricNames[i], sample.start + gpu_clock(), sample.end + gpu_clock());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterAvailability(
    CUpti_PmSampling_GetCounterAvailability_Params* params) {
  if (!fake::number("permission", 1)) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (fake::number("pm_busy", 0))
    return CUPTI_ERROR_HARDWARE_BUSY;  // as an H200 answers while another session runs
  params->counterAvailabilityImageSize = 8;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* params) {
  auto& session = sessions[params->deviceIndex];
  if (session.open) return CUPTI_ERROR_UNKNOWN;
  usleep(static_cast<useconds_t>(fake::number("setup_ms", 0) * 1000));
  session = {};
  session.open = true;
  params->pPmSamplingObject = reinterpret_cast<CUpti_PmSampling_Object*>(&session);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params* params) {
  reinterpret_cast<Session*>(params->pPmSamplingObject)->open = false;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* params) {
  if (reinterpret_cast<const Config*>(params->pConfig)->passes != 1)
    return CUPTI_ERROR_NOT_SUPPORTED;
  auto& sampling_object = *reinterpret_cast<Session*>(params->pPmSamplingObject);
  if (sampling_object.running) return CUPTI_ERROR_INVALID_OPERATION;
  sampling_object.interval = static_cast<std::int64_t>(params->samplingInterval);
  sampling_object.buffer = static_cast<double>(params->hardwareBufferSize);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* params) {
  auto& sampling_object = *reinterpret_cast<Session*>(params->pPmSamplingObject);
  // One that was stopped while all was well starts no more, as on an H200.
  if (sampling_object.stopped && !sampling_object.overflown) return CUPTI_ERROR_UNKNOWN;
  sampling_object.running = true;
  sampling_object.stopped = false;  // after an overflow, that is told again, as on an H100
  sampling_object.made = 0;
  sampling_object.started = fake::now_ns();
  sampling_object.next =
      sampling_object.started -
      1'000'000'000;  // the first sample covers the second before: junk, as on the real thing
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* params) {
  auto& sampling_object = *reinterpret_cast<Session*>(params->pPmSamplingObject);
  sampling_object.running = false;
  sampling_object.stopped = true;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* params) {
  params->counterDataSize = reinterpret_cast<Session*>(params->pPmSamplingObject)->image_size =
      sizeof(Image) + params->maxSamples * sizeof(Image::Sample);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingCounterDataImageInitialize(
    CUpti_PmSampling_CounterDataImage_Initialize_Params* params) {
  if (params->counterDataSize != reinterpret_cast<Session*>(params->pPmSamplingObject)->image_size)
    return CUPTI_ERROR_UNKNOWN;  // only the size last asked for, as an H200
  auto& image = *reinterpret_cast<Image*>(params->pCounterData);
  image.capacity = (params->counterDataSize - sizeof(Image)) / sizeof(Image::Sample);
  image.count = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* params) {
  if (fake::lost()) return CUPTI_ERROR_INVALID_DEVICE;
  auto& sampling_object = *reinterpret_cast<Session*>(params->pPmSamplingObject);
  auto& image = *reinterpret_cast<Image*>(params->pCounterDataImage);
  const std::int64_t now = fake::now_ns();
  if (static_cast<double>(
          (now - (sampling_object.made > 0 ? sampling_object.next : sampling_object.started)) /
          sampling_object.interval) *
          fake::number("sample_bytes", 15e3) >
      sampling_object.buffer)
    sampling_object.overflown = true;
  if (sampling_object.overflown) return CUPTI_ERROR_OUT_OF_MEMORY;
  const auto drop = static_cast<std::uint64_t>(fake::number("drop_every", 0));
  params->overflow = 0;
  params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  for (;;) {
    std::int64_t end = 0;
    if (sampling_object.made == 0) {
      end = sampling_object.started / sampling_object.interval * sampling_object.interval;
    } else {
      end = sampling_object.next + sampling_object.interval;
    }
    if (end > now) break;
    ++sampling_object.made;
    if (image.count == image.capacity)
      params->decodeStopReason =
          CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;  // the rest is lost, as on an
                                                                   // H200
    else if (!drop || sampling_object.made % drop)
      image.samples[image.count++] = {sampling_object.next - gpu_clock(), end - gpu_clock()};
    sampling_object.next = end;
  }
  usleep(static_cast<useconds_t>(fake::number("decode_us", 0) * static_cast<double>(image.count)));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
  const auto& image = *reinterpret_cast<const Image*>(params->pCounterDataImage);
  params->numTotalSamples = image.capacity;
  params->numPopulatedSamples = params->numCompletedSamples = image.count;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(
    CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
  const auto& sample =
      reinterpret_cast<const Image*>(params->pCounterDataImage)->samples[params->sampleIndex];
  params->startTimestamp = static_cast<std::uint64_t>(sample.start);
  params->endTimestamp = static_cast<std::uint64_t>(sample.end);
  return CUPTI_SUCCESS;
}

}  // extern "C"
