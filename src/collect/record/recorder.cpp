#include "collect/record/recorder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>

#include "collect/live/live_sampler.h"
#include "collect/nvml/open.h"
#include "collect/record/child.h"
#include "collect/record/counter_thread.h"
#include "collect/record/job_identity.h"
#include "collect/record/kernels.h"
#include "collect/record/mps.h"
#include "collect/record/own_use.h"
#include "collect/record/process_tree.h"
#include "collect/record/secrets.h"
#include "collect/record/signals.h"
#include "collect/record/watched_process.h"
#include "collect/record/watched_sensors.h"
#include "collect/watched_call.h"
#include "core/when.h"
#include "model/file.h"
#include "model/metric_id.h"

namespace gf {

namespace {

constexpr Nanos kTick = 50 * kNsPerMs, kWrite = 500 * kNsPerMs, kHost = kNsPerSecond;
constexpr Nanos kStarting = 30 * kNsPerSecond;      // one call that starts the counters
constexpr std::size_t kMostPendingRows = 1u << 20;  // rows kept while the file cannot be written

std::int64_t interval_of(const RecordOptions& options) {
  return std::llround(1e9 / options.rate_hz);
}

bool holds_any(const GpuReading& gpu, const std::vector<pid_t>& processes) {
  if (!gpu.processes) return false;
  return std::any_of(gpu.processes->begin(), gpu.processes->end(), [&](const GpuProcess& holder) {
    return std::find(processes.begin(), processes.end(), holder.pid) != processes.end();
  });
}

/// "GPU 3", "GPUs 0, 2, 5".
std::string gpu_names(const std::vector<unsigned>& gpus) {
  return fmt::format("GPU{} {}", when(gpus.size() > 1, "s"), fmt::join(gpus, ", "));
}

class Recorder {
 public:
  explicit Recorder(const RecordOptions& options)
      : o_(options),
        counters_(pm_decode_period(interval_of(options))),
        kernels_(options, [this](std::string text) { note(notes_, std::move(text)); }) {}
  Result<RecordSummary> run(int& exit_code);
  /// A thread of it is still in the driver, and needs it.
  bool must_stay() const { return counters_.hangs(); }

 private:
  bool with_child() const { return !o_.command.empty(); }
  Status start(int& exit_code);
  bool over(Nanos now, bool asked);
  void stop_sampling();
  void record_until_over();
  Status open(std::vector<std::string>& notes);
  void choose_gpus(const std::vector<unsigned>& chosen);
  bool with_instances(const GpuInfo& gpu) const;
  void add_instances();
  void start_counters(std::vector<std::string>& notes);
  void take_kernels(bool all);
  void host_tick(Nanos now);
  void write(bool last);
  RecordSummary summary(Nanos started, Nanos ended);
  void tell_hang(const char* what, Nanos since);
  void note_lost(const RecordedDevice& device);
  void note(std::vector<std::string>& notes, std::string text) {
    if (o_.say) o_.say(text);
    notes.push_back(std::move(text));
  }

  const RecordOptions& o_;
  Signals signals_;
  std::optional<Child> child_;
  std::optional<ProcessTree> tree_;
  std::shared_ptr<Nvml> nvml_;
  std::vector<GpuInfo> gpus_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::string> sources_;
  std::optional<WatchedSensors> sensors_;
  CounterThread counters_;
  std::optional<CaptureWriter> writer_;
  Capture capture_;
  std::vector<std::string> notes_;
  KernelRecording kernels_;
  bool write_failed_ = false;
  std::int64_t dropped_ = 0;
  std::optional<WatchedProcess> process_;
  std::optional<int> code_;
  TreeUse last_use_, base_use_;  // base: what a process had used before it was recorded
  Nanos last_host_ = 0, started_ = 0, ended_ = 0;
  std::int64_t host_memory_peak_ = 0, memory_most_ = 0;
};

/// Those that were named. For a running process, without names: those that hold memory of it, or
/// all when none does yet.
void Recorder::choose_gpus(const std::vector<unsigned>& chosen) {
  for (const auto& gpu : nvml_->gpus())
    if (chosen.empty() || std::find(chosen.begin(), chosen.end(), gpu.index) != chosen.end())
      gpus_.push_back(gpu);
  if (o_.pid == 0 || o_.devices != "all") return;
  std::vector<GpuInfo> its;
  for (const auto& gpu : gpus_)
    if (holds_any(nvml_->read(gpu, {.processes = true}), tree_->pids())) its.push_back(gpu);
  if (!its.empty()) gpus_ = its;
}

Status Recorder::open(std::vector<std::string>& notes) {
  auto nvml = open_nvml(signals_.fd());
  if (!nvml) return tl::unexpected(nvml.error());
  nvml_ = std::move(*nvml);
  auto chosen = select_devices(o_.devices, nvml_->gpus());
  if (!chosen) return tl::unexpected(chosen.error());
  choose_gpus(*chosen);
  if (gpus_.empty())
    return fail("the driver shows no GPU", {}, -1,
                "see what nvidia-smi says, and that the container was given a GPU");
  const bool is_new = ::access(o_.output.c_str(), F_OK) != 0;
  auto writer = CaptureWriter::create(o_.output);
  if (!writer) return tl::unexpected(writer.error());
  writer_.emplace(std::move(*writer));
  if (is_new) (void)::chmod(o_.output.c_str(), 0600);  // a command line is nobody else's business
  capture_.format = "gpufathom_record";
  capture_.path = o_.output;
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
  capture_.set_metadata("record.command",
                        masked_command(o_.pid > 0 ? command_of(o_.pid) : o_.command));
  if (o_.pid > 0) capture_.set_metadata("record.pid", std::to_string(o_.pid));
  capture_.set_metadata("record.host", host_name());
  for (const auto& [key, value] : job_identity_of(static_cast<pid_t>(o_.pid)))
    capture_.set_metadata(key, value);
  capture_.set_metadata("job.host", host_name());
  capture_.set_metadata("record.driver", nvml_->driver_version());
  capture_.set_metadata("record.cuda", nvml_->cuda_version());
  capture_.set_metadata("record.mps", mps_serves() ? "yes" : "no");
  start_counters(notes);
  std::vector<bool> with_gpm;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    const bool gpm =
        sources_[i] != "pm_sampling" && gpus_[i].gpm && !gpus_[i].mig && o_.source != "nvml";
    if (gpm) sources_[i] = "gpm";
    with_gpm.push_back(gpm);
  }
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
  sensors_.emplace(nvml_, gpus_, rows_, with_gpm, o_.metrics == "energy");
  add_instances();
  if (o_.kernels && counters_.sources().empty()) sensors_->watch(kernels_.watch());
  drop_start_up_memory();
  return {};
}

bool Recorder::with_instances(const GpuInfo& gpu) const {
  return gpu.mig && gpu.gpm && !gpu.instances.empty() && o_.source != "nvml";
}

/// MIG instances are devices of their own, with numbers after those of the GPUs.
void Recorder::add_instances() {
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

void Recorder::start_counters(std::vector<std::string>& notes) {
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
  options.interval_ns = interval_of(o_);
  options.decode_every_ns = pm_decode_period(options.interval_ns);
  if (o_.metrics == "energy") {
    options.wanted = pm_energy_metrics();
    options.sample_bytes = kPmEnergySampleBytes;
  }
  capture_.set_metadata("record.metrics", o_.metrics);
  capture_.set_metadata("record.interval_ns", std::to_string(options.interval_ns));
  std::map<std::string, std::vector<unsigned>> refused;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
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
    for (const auto& id : (*sampler)->choice().left_out) left += when(!left.empty(), " ") + id;
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

void Recorder::take_kernels(bool all) {
  while (kernels_.take(capture_) && all) write(false);
}

void Recorder::host_tick(Nanos now) {
  const auto use = tree_->read();
  host_memory_peak_ = std::max(host_memory_peak_, use.memory_bytes);
  auto put = [&](const char* metric, Nanos start, Nanos duration, double value) {
    auto& counter_samples = capture_.counter_samples;
    const auto row = counter_samples.add();
    counter_samples.start_ns[row] = start;
    counter_samples.duration_ns[row] = duration;
    counter_samples.metric[row] = capture_.strings.intern(metric);
    counter_samples.value[row] = value;
  };
  if (now > last_host_)
    put("host.cpu"_metric, last_host_, now - last_host_,
        (use.cpu_seconds - last_use_.cpu_seconds) / (static_cast<double>(now - last_host_) * 1e-9));
  put("host.memory"_metric, now, 0, static_cast<double>(use.memory_bytes));
  last_use_ = use;
  last_host_ = now;
}

void Recorder::write(bool last) {
  memory_most_ = std::max(memory_most_, own_use().memory_bytes);
  for (const auto& block : counters_.take()) capture_.sample_blocks.push_back(pack(block));
  capture_.events = static_cast<std::int64_t>(writer_->rows());
  if (last)
    writer_->be_patient(10'000);  // with somebody who looks into the capture: there is no later
  auto ok = writer_->append(capture_);
  if (ok) {
    if (write_failed_) note(notes_, fmt::format("{}: can be written again", o_.output));
    write_failed_ = false;
    return;
  }
  if (!write_failed_ || last)
    note(notes_,
         fmt::format(
             "{} ({})", ok.error().message(),
             last ? "what came after the last good write is lost"
                  : "the program goes on; recording resumes when the file can be written again"));
  write_failed_ = true;
  std::uint64_t rows = 0;
  for (const auto& block : capture_.sample_blocks) rows += block.values;
  if (rows > kMostPendingRows) {
    for (const auto& block : capture_.sample_blocks) dropped_ += block.samples;
    capture_.sample_blocks.clear();
  }
  if (capture_.counter_samples.size() > kMostPendingRows) {
    dropped_ += static_cast<std::int64_t>(capture_.counter_samples.size());
    capture_.counter_samples.clear();
  }
}

void Recorder::tell_hang(const char* what, Nanos since) {
  std::string text = fmt::format("the driver does not answer: {} end early", what);
  if (since > 0)
    text += fmt::format(" ({:.1f} s before the end)", static_cast<double>(since) * 1e-9);
  if (std::find(notes_.begin(), notes_.end(), text) != notes_.end()) return;
  note(notes_, text);
  capture_.note_quality(QualityCode::counters_ended, text);
}

/// Up to 1 % of the samples leave what the others say whole.
void Recorder::note_lost(const RecordedDevice& device) {
  if (device.lost == 0) return;
  auto code = QualityCode::few_lost_samples;
  if (device.lost * 100 > device.samples + device.lost) code = QualityCode::lost_samples;
  capture_.note_quality(
      code, "counter samples that never arrived: the rate was too high for this machine",
      device.lost);
}

RecordSummary Recorder::summary(Nanos started, Nanos ended) {
  RecordSummary summary;
  summary.path = o_.output;
  summary.command = masked_command(o_.pid > 0 ? command_of(o_.pid) : o_.command);
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
  kernels_.fill(summary);
  if (dropped_ > 0) {
    note(notes_,
         fmt::format("{} samples were dropped because the file could not be written", dropped_));
    capture_.note_quality(QualityCode::unwritten_samples,
                          "samples dropped because the file could not be written", dropped_);
  }
  return summary;
}

/// Whatever there is to record: a command that is held until all is ready, a process, the machine.
Status Recorder::start(int& exit_code) {
  if (with_child()) {
    // Forked before any driver or thread starts: neither survives a fork.
    auto child = Child::fork_held(o_.command);
    if (!child) return tl::unexpected(child.error());
    child_.emplace(std::move(*child));
  }
  signals_.take_over();
  if (with_child())  // before an older capture is overwritten for nothing
    if (const auto found = find_command(o_.command.front(), exit_code); !found) return found;
  if (o_.pid > 0) {
    auto process = WatchedProcess::open(o_.pid);
    if (!process) return tl::unexpected(process.error());
    process_.emplace(std::move(*process));
    tree_.emplace(o_.pid);
    base_use_ = last_use_ = tree_->read();
  }
  if (auto ok = open(notes_); !ok) return ok;
  capture_.set_metadata("record.clock", "nanoseconds since 1970, monotonic");
  sensors_->poll(capture_, signals_.fd());
  started_ = last_host_ = host_now();
  capture_.set_metadata("record.start_ns", std::to_string(started_));
  write(false);
  if (write_failed_)
    return fail("the capture cannot be written", o_.output, -1, "is there room on the disk?");
  if (o_.pid > 0 && o_.kernels) kernels_.prepare_to_attach();
  if (!with_child()) return {};
  tree_.emplace(child_->pid());
  const auto environment = o_.kernels ? kernels_.prepare() : KernelRecording::Environment{};
  if (auto ok = child_->release(environment, exit_code); !ok) {
    counters_.stop();
    writer_.reset();
    std::remove(o_.output.c_str());
    ok.error().file = o_.command.front();
    return ok;
  }
  last_host_ = started_ = host_now();
  return {};
}

/// Whether the program ended, or somebody asked to end; `asked`: by a signal.
bool Recorder::over(Nanos now, bool asked) {
  const bool timed_out = o_.duration_ns > 0 && now - started_ >= o_.duration_ns;
  if (with_child()) {
    code_ = child_->reap();
    return code_.has_value();
  }
  return asked || timed_out || (process_ && process_->ended());
}

void Recorder::stop_sampling() {
  counters_.stop();
  sensors_->finish(capture_);
  if (tree_) host_tick(host_now());
}

void Recorder::record_until_over() {
  Nanos next_write = started_ + kWrite, next_host = started_ + kHost, next = started_;
  bool recording = true;
  for (;;) {
    next = std::max(next + kTick, host_now());
    const bool asked = signals_.wait(next, with_child() ? child_->pid() : 0);
    const Nanos now = host_now();
    if (over(now, asked)) break;
    if (recording && with_child() && o_.duration_ns > 0 && now - started_ >= o_.duration_ns) {
      recording = false;  // the program goes on alone
      stop_sampling();
      write(false);
    }
    if (tree_) kernels_.tick(now, tree_->pids());
    if (!recording) continue;
    sensors_->poll(capture_, signals_.fd());
    if (tree_ && now >= next_host) {
      host_tick(now);
      next_host += kHost;
    }
    if (now >= next_write) {
      take_kernels(false);
      write(false);
      next_write = std::max(next_write + kWrite, host_now());
    }
  }
  kernels_.detach();
  ended_ = host_now();
  if (recording) stop_sampling();
}

Result<RecordSummary> Recorder::run(int& exit_code) {
  if (auto ok = start(exit_code); !ok) return tl::unexpected(ok.error());
  record_until_over();
  take_kernels(true);
  kernels_.finish(capture_);
  if (with_child()) {
    exit_code = *code_;
    if (o_.killed_by) *o_.killed_by = child_->killed_by();
    last_use_.cpu_seconds =
        std::max(last_use_.cpu_seconds, ended_children_cpu_seconds());  // exact for what has ended
    capture_.set_metadata("record.exit_code", std::to_string(exit_code));
  }
  auto out = summary(started_, ended_);
  out.exit_code = exit_code;
  capture_.set_metadata("record.end_ns", std::to_string(ended_));
  capture_.set_metadata("record.complete", "yes");
  write(true);
  out.notes = notes_;
  const OwnUse own = own_use();
  out.recorder_cpu_seconds = own.cpu_seconds;
  out.recorder_memory_bytes = std::max(memory_most_, own.memory_bytes);
  out.recorder_peak_bytes = own.peak_memory_bytes;
  out.recorder_private_bytes = own.private_bytes;
  struct stat file{};
  if (stat(o_.output.c_str(), &file) == 0) out.file_bytes = file.st_size;
  return out;
}

}  // namespace

Result<RecordSummary> record(const RecordOptions& options, int& exit_code) {
  auto recorder = std::make_unique<Recorder>(options);
  auto summary = recorder->run(exit_code);
  if (recorder->must_stay()) (void)recorder.release();
  return summary;
}

}  // namespace gf
