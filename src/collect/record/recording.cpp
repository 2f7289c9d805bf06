#include "collect/record/recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <string_view>

#include "collect/live/live_sampler.h"
#include "collect/nvml/nvml.h"
#include "collect/record/job_identity.h"
#include "collect/record/process_tree.h"
#include "collect/watched_call.h"
#include "core/machine.h"
#include "core/secrets.h"
#include "model/metrics.h"

namespace gf {

namespace {
constexpr std::size_t kMostValues =
    16u << 20;  // 64 MB of samples that nobody took: then the newest are dropped and counted
constexpr std::chrono::seconds kLastSamplesPatience{3};  // for the last samples
constexpr std::chrono::milliseconds kWait{200};
}  // namespace

void CounterThread::add(std::unique_ptr<PmSampler> sampler, std::uint32_t device,
                        std::vector<Text> metrics) {
  Source source;
  std::vector<std::string> ids;
  std::vector<bool> counts;
  for (const auto* metric : sampler->choice().metrics) {
    ids.emplace_back(metric->id);
    counts.push_back(metric->is_count);
  }
  const auto column = [&](std::string_view id) {
    return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
  };
  source.busy = column("gpu.busy"_metric);
  source.sm_active = column("sm.active_any"_metric);
  if (source.sm_active == ids.size()) source.sm_active = column("sm.active"_metric);
  source.summary.define(std::move(ids), std::move(counts));
  source.block.device = source.device = device;
  source.block.metrics = std::move(metrics);
  source.sampler = std::move(sampler);
  sources_.push_back(std::move(source));
}

void CounterThread::start() {
  if (!sources_.empty()) thread_ = std::thread([this] { loop(); });
}

void CounterThread::stop() {
  ending_ = true;
  if (!thread_.joinable()) return;
  hangs_ = ended_.get_future().wait_for(kLastSamplesPatience) != std::future_status::ready;
  if (hangs_)
    thread_.detach();
  else
    thread_.join();
}

void CounterThread::loop() {
  using std::chrono::steady_clock;
  const std::chrono::nanoseconds every(every_);
  // On a busy GPU a decode may take nearly as long as its samples took to come, and while this
  // sleeps the GPU's buffer fills: who is late decodes again at once.
  for (auto next = steady_clock::now() + every; !ending_;
       next = std::max(next + every, steady_clock::now())) {
    std::this_thread::sleep_until(next);
    drain();
  }
  drain();
  ended_.set_value();
}

void CounterThread::drain() {
  for (auto& source : sources_) {
    if (!source.error.empty()) continue;
    std::lock_guard lock(mutex_);
    const auto ok = source.sampler->drain([&](const PmSample& sample) {
      tell_watch(source, sample);
      source.summary.add(sample.start_ns, sample.end_ns, sample.values);
      if (source.block.values.size() > kMostValues) {
        ++source.dropped;
        return;
      }
      source.block.start_ns.push_back(sample.start_ns);
      source.block.end_ns.push_back(sample.end_ns);
      for (std::size_t metric = 0; metric < source.block.metrics.size(); ++metric)
        source.block.values.push_back(static_cast<float>(sample.values[metric]));
    });
    if (!ok) source.error = ok.error().message();
  }
}

void CounterThread::tell_watch(const Source& source, const PmSample& sample) {
  const std::size_t columns = source.block.metrics.size();
  if (!watch_ || source.busy >= columns) return;
  const double busy = sample.values[source.busy];
  watch_->add(sample.start_ns, sample.end_ns, busy,
              source.sm_active < columns ? sample.values[source.sm_active] : busy);
}

std::vector<SampleBlock> CounterThread::take() {
  std::vector<SampleBlock> out;
  const std::unique_lock lock(mutex_, kWait);
  if (!lock) return out;  // the driver takes its time: what has come is taken next time
  for (auto& source : sources_) {
    if (source.block.empty()) continue;
    out.push_back(source.block);
    source.block.clear();
  }
  return out;
}

namespace {

/// CUDA programs find the MPS control daemon by its pipe, in CUDA_MPS_PIPE_DIRECTORY or where it is
/// by default; those that find none take turns on a GPU.
bool mps_serves() {
  std::string folder = "/tmp/nvidia-mps";
  if (const char* said = std::getenv("CUDA_MPS_PIPE_DIRECTORY"); said && *said) folder = said;
  return ::access((folder + "/control").c_str(), F_OK) == 0;
}

constexpr Nanos kStarting = 30 * kNsPerSecond;  // one call that starts the counters
constexpr Nanos kSetUp = 700 * kNsPerMs;  // the most that the counters of one GPU usually take

bool holds_any(const GpuReading& gpu, const std::vector<pid_t>& processes) {
  if (!gpu.processes) return false;
  return std::any_of(gpu.processes->begin(), gpu.processes->end(), [&](const GpuProcess& holder) {
    return std::find(processes.begin(), processes.end(), holder.pid) != processes.end();
  });
}

/// "GPU 3", "GPUs 0, 2, 5".
std::string gpu_names(const std::vector<unsigned>& gpus) {
  return fmt::format("GPU{} {}", gpus.size() > 1 ? "s" : "", fmt::join(gpus, ", "));
}

}  // namespace

/// Those that were named. Without names those of the program: that its environment lets it see, or,
/// if it runs already, that hold memory of it; all where none is known.
void Recording::choose_gpus(const std::vector<unsigned>& chosen) {
  for (const auto& gpu : nvml_->gpus())
    if (std::find(chosen.begin(), chosen.end(), gpu.index) != chosen.end()) gpus_.push_back(gpu);
  if (!o_.devices.empty()) return;
  if (!o_.command.empty()) {
    const auto seen = visible_devices(environment("CUDA_VISIBLE_DEVICES"),
                                      environment("CUDA_DEVICE_ORDER"), nvml_->gpus());
    if (!seen.empty())
      std::erase_if(gpus_, [&](const GpuInfo& gpu) {
        return std::ranges::find(seen, gpu.index) == seen.end();
      });
  }
  if (o_.pid == 0) return;
  std::vector<GpuInfo> its;
  for (const auto& gpu : gpus_)
    if (holds_any(nvml_->read(gpu, {.processes = true}), tree_->pids())) its.push_back(gpu);
  if (!its.empty()) gpus_ = its;
}

Status Recording::open_output() {
  const bool is_new = ::access(o_.output.c_str(), F_OK) != 0;
  auto writer = CaptureWriter::create(o_.output);
  if (!writer) return tl::unexpected(writer.error());
  writer_.emplace(std::move(*writer));
  if (is_new) (void)::chmod(o_.output.c_str(), 0600);  // a command line is nobody else's business
  capture_.format = "gpufathom_record";
  capture_.path = o_.output;
  return {};
}

void Recording::describe_gpus() {
  for (const auto& gpu : gpus_) {
    const auto row = capture_.device_row(static_cast<std::int32_t>(gpu.index));
    auto& devices = capture_.devices;
    devices.name[row] = capture_.strings.intern(gpu.name);
    devices.uuid[row] = capture_.strings.intern(gpu.uuid);
    devices.vendor[row] = capture_.strings.intern("nvidia");
    devices.compute_major[row] = gpu.compute_major;
    devices.compute_minor[row] = gpu.compute_minor;
    devices.memory_bytes[row] = gpu.memory_bytes;
    if (gpu.max_sm_clock_mhz > 0)
      devices.clock_khz[row] = static_cast<std::int64_t>(gpu.max_sm_clock_mhz * 1000);
    rows_.push_back(row);
    sources_.emplace_back("nvml");
  }
}

/// A capture goes to others, and arguments are where secrets and private paths are: by default the
/// program and its script alone are kept.
std::string Recording::shown_command() const {
  const auto words = o_.pid > 0 ? command_of(o_.pid) : o_.command;
  return o_.keep_command ? masked_command(words) : program_and_script(words);
}

void Recording::describe_run() {
  capture_.set_metadata("record.command", shown_command());
  if (o_.pid > 0) capture_.set_metadata("record.pid", std::to_string(o_.pid));
  capture_.set_metadata("record.host", host_name());
  for (const auto& [key, value] : job_identity_of(static_cast<pid_t>(o_.pid)))
    capture_.set_metadata(key, value);
  capture_.set_metadata("job.host", host_name());
  capture_.set_metadata("record.driver", nvml_->driver_version());
  capture_.set_metadata("record.cuda", nvml_->cuda_version());
  capture_.set_metadata("record.mps", mps_serves() ? "yes" : "no");
}

/// By GPU: whether its levels come from GPM, since the hardware counters are out of reach.
std::vector<bool> Recording::choose_gpm() {
  std::vector<bool> with_gpm;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    const bool gpm =
        sources_[i] != "pm_sampling" && gpus_[i].gpm && !gpus_[i].mig && o_.source != "nvml";
    if (gpm) sources_[i] = "gpm";
    with_gpm.push_back(gpm);
  }
  return with_gpm;
}

/// Says what is recorded where hardware counters are not.
void Recording::note_sources(std::vector<std::string>& notes) {
  std::map<std::string, std::vector<unsigned>> instead;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    if (sources_[i] == "gpm" && o_.source != "gpm")
      instead["recording NVML GPM levels at 10 Hz instead"].push_back(gpus_[i].index);
    if (sources_[i] == "nvml" && o_.source != "nvml")
      instead[with_instances(gpus_[i]) ? "recording power, clocks and memory, and NVML GPM levels "
                                         "of its MIG instances at 10 Hz"
                                       : "recording power, clocks and memory only"]
          .push_back(gpus_[i].index);
    capture_.set_metadata(fmt::format("record.source.{}", gpus_[i].index), sources_[i]);
  }
  for (const auto& [what, gpus] : instead)
    note(notes, fmt::format("{}: {}", gpu_names(gpus), what));
}

Status Recording::open(std::vector<std::string>& notes) {
  auto nvml = open_nvml(signals_.fd());
  if (!nvml) return tl::unexpected(nvml.error());
  nvml_ = std::move(*nvml);
  auto chosen = select_devices(o_.devices, nvml_->gpus());
  if (!chosen) return tl::unexpected(chosen.error());
  std::vector<MachineGpu> all;
  for (const auto& gpu : nvml_->gpus())
    all.push_back({static_cast<std::int32_t>(gpu.index), gpu.uuid, gpu.name});
  kernels_.know_gpus(std::move(all));
  choose_gpus(*chosen);
  if (gpus_.empty())
    return fail("the driver reports no GPU", {}, -1,
                "check nvidia-smi, and that the container has access to a GPU");
  if (auto ok = open_output(); !ok) return ok;
  describe_gpus();
  describe_run();
  start_counters(notes);
  const std::vector<bool> with_gpm = choose_gpm();
  note_sources(notes);
  sensors_.emplace(nvml_, gpus_, rows_, with_gpm, o_.metrics == "energy");
  add_instances();
  if (o_.follower) sensors_->watch_xids();
  if (o_.kernels && counters_.sources().empty()) sensors_->watch(kernels_.watch());
  private_most_ = own_use().private_bytes;  // the start needs the most
  drop_start_up_memory();
  return {};
}

bool Recording::with_instances(const GpuInfo& gpu) const {
  return gpu.mig && gpu.gpm && !gpu.instances.empty() && o_.source != "nvml";
}

/// MIG instances are devices of their own, with numbers after those of the GPUs.
void Recording::add_instances() {
  std::int32_t number = 0;
  for (const auto& gpu : nvml_->gpus())
    number = std::max(number, static_cast<std::int32_t>(gpu.index) + 1);
  auto& devices = capture_.devices;
  for (const auto& gpu : gpus_) {
    if (!with_instances(gpu)) continue;
    for (const auto& instance : gpu.instances) {
      const auto row = capture_.device_row(number);
      devices.name[row] = capture_.strings.intern(
          fmt::format("GPU {}, MIG instance {}/{}, {}", gpu.index, instance.gpu_instance,
                      instance.compute_instance, instance.name));
      devices.uuid[row] = capture_.strings.intern(instance.uuid);
      devices.vendor[row] = capture_.strings.intern("nvidia");
      devices.memory_bytes[row] = instance.memory_bytes;
      devices.sm_count[row] = instance.sm_count;
      capture_.set_metadata(fmt::format("record.source.{}", number), "gpm");
      sensors_->add_instance(gpu, instance, row);
      ++number;
    }
  }
}

void Recording::start_counters(std::vector<std::string>& notes) {
  if (o_.source != "auto" && o_.source != "pm") return;
  // The program waits meanwhile, and its signals are ours: no call may hang.
  WatchedThread driver;
  const auto opened = driver.ask([] { return Cupti::open(); }, kStarting, signals_.fd());
  if (!opened) {
    note(notes,
         fmt::format("no hardware counters: {}", no_answer(kStarting, "CUDA and CUPTI").message()));
    return;
  }
  const auto& cupti = *opened;
  if (!cupti) {
    note(notes, "no hardware counters: " + cupti.error().message());
    return;
  }
  capture_.set_metadata("record.cupti",
                        fmt::format("{} {}", (*cupti)->version(), (*cupti)->path()));
  PmOptions options;
  options.interval_ns = o_.interval_ns();
  const PmSet counters = pm_set(o_.metrics);
  options.wanted = counters.metrics;
  options.sample_bytes = counters.sample_bytes;
  options.decode_every_ns = pm_decode_period(options.interval_ns, options.sample_bytes);
  capture_.set_metadata("record.metrics", o_.metrics);
  capture_.set_metadata("record.interval_ns", std::to_string(options.interval_ns));
  std::map<std::string, std::vector<unsigned>> refused;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    // A session cannot be begun before all are set up: CUPTI starts none that was stopped.
    options.first_drain_ns = static_cast<Nanos>(gpus_.size() - 1 - i) * kSetUp;
    auto started = driver.ask(
        [library = *cupti, gpu = gpus_[i], options] {
          PmRefusal why = PmRefusal::none;
          return PmSampler::start(library, gpu, options, why);
        },
        kStarting, signals_.fd());
    if (!started) {
      refused[no_answer(kStarting, "hardware counters").message()].push_back(gpus_[i].index);
      continue;
    }
    auto& sampler = *started;
    if (!sampler) {
      refused[sampler.error().message()].push_back(gpus_[i].index);
      continue;
    }
    sources_[i] = "pm_sampling";
    std::string left;
    for (const auto& id : (*sampler)->choice().left_out) left += (left.empty() ? "" : " ") + id;
    if (!left.empty())
      capture_.set_metadata(fmt::format("record.left_out.{}", gpus_[i].index), left);
    capture_.set_metadata(fmt::format("record.chip.{}", gpus_[i].index), (*sampler)->chip());
    std::vector<Text> metrics;
    for (const auto* metric : (*sampler)->choice().metrics)
      metrics.push_back(capture_.strings.intern(metric->id));
    counters_.add(std::move(*sampler), rows_[i], std::move(metrics));
  }
  for (const auto& [why, gpus] : refused)
    note(notes, fmt::format("{}: no hardware counters: {}", gpu_names(gpus), why));
  if (o_.kernels) counters_.watch(kernels_.watch());
  counters_.start();
}

void Recording::tell_hang(const char* what, Nanos since) {
  std::string text = fmt::format("the driver does not answer: {} end early", what);
  if (since > 0)
    text += fmt::format(" ({:.1f} s before the end)", static_cast<double>(since) * 1e-9);
  note_once(text);
  capture_.note_quality(QualityCode::counters_ended, text);
}

/// Up to 1 % of the samples leave what the others say whole.
void Recording::note_lost(const RecordedDevice& device) {
  if (device.lost == 0) return;
  auto code = QualityCode::few_lost_samples;
  if (device.lost * 100 > device.samples + device.lost) code = QualityCode::lost_samples;
  capture_.note_quality(
      code, "counter samples that never arrived: the rate was too high for this machine",
      device.lost);
}

RecordSummary Recording::summary(Nanos started, Nanos ended) {
  RecordSummary summary;
  summary.path = o_.output;
  summary.command = capture_.metadata_value("record.command");
  summary.duration_ns = ended - started;
  if (tree_) {
    summary.host_cpu_seconds = last_use_.cpu_seconds - base_use_.cpu_seconds;
    summary.host_memory_peak_bytes = host_memory_peak_;
  }
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    RecordedDevice device;
    device.index = gpus_[i].index;
    device.name = gpus_[i].name;
    device.source = sources_[i];
    sensors_->fill(i, device);
    for (const auto& source : counters_.sources()) {
      if (source.device != rows_[i]) continue;
      source.summary.fill(device);
      device.lost = source.sampler->lost() + source.dropped;
      note_lost(device);
      if (source.sampler->overflows() > 0)
        capture_.note_quality(QualityCode::buffer_overflow, "the GPU's sample buffer overflowed",
                              source.sampler->overflows());
      if (!source.error.empty()) {
        note(notes_, fmt::format("GPU {}: counters ended early: {}", device.index, source.error));
        capture_.note_quality(QualityCode::counters_ended, source.error);
      }
      capture_.set_metadata(fmt::format("record.clock_offset_ns.{}", device.index),
                            std::to_string(source.sampler->clock_offset_ns()));
      capture_.set_metadata(
          fmt::format("record.cpu_seconds.{}", device.index),
          fmt::format("decode {:.3f} evaluate {:.3f} empty {:.3f}", source.sampler->cost().decode_s,
                      source.sampler->cost().evaluate_s, source.sampler->cost().reset_s));
    }
    if (counters_.hangs() && sources_[i] == "pm_sampling") tell_hang("the hardware counters", 0);
    if (sensors_->lost(i))
      note(notes_, fmt::format("GPU {} was lost during the recording", device.index));
    summary.devices.push_back(std::move(device));
  }
  if (const Nanos since = sensors_->hangs_for(); since > 0)
    tell_hang("power, clocks and memory", since);
  kernels_.fill(summary, capture_);
  if (dropped_ > 0) {
    note(notes_,
         fmt::format("{} samples were dropped because the file could not be written", dropped_));
    capture_.note_quality(QualityCode::unwritten_samples,
                          "samples dropped because the file could not be written", dropped_);
  }
  return summary;
}

}  // namespace gf
