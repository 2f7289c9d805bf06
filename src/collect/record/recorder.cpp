#include "collect/record/recorder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>

#include "collect/record/process_tree.h"
#include "collect/record/recording.h"
#include "core/time.h"
#include "model/counter_values.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr Nanos kTick = 50 * kNsPerMs, kWrite = 500 * kNsPerMs, kHost = kNsPerSecond;
constexpr std::size_t kMostPendingRows = 1u << 20;  // rows kept while the file cannot be written

}  // namespace

/// Not VmHWM and not ru_maxrss: pages of libraries that were read to start them are the system's.
OwnUse Recording::see_own_use() {
  const OwnUse use = own_use();
  memory_most_ = std::max(memory_most_, use.memory_bytes);
  private_most_ = std::max(private_most_, use.private_bytes);
  return use;
}

void Recording::take_kernels(bool all) {
  while (kernels_.take(capture_) && all) write(false);
}

void Recording::host_tick(Nanos now) {
  const auto use = tree_->read();
  host_memory_peak_ = std::max(host_memory_peak_, use.memory_bytes);
  auto put = [&](const char* metric, Nanos start, Nanos duration, double value) {
    add_row(capture_.counter_samples,
            {start, duration, kNoRow, capture_.strings.intern(metric), value});
  };
  if (now > last_host_)
    put("host.cpu"_metric, last_host_, now - last_host_,
        (use.cpu_seconds - last_use_.cpu_seconds) / (static_cast<double>(now - last_host_) * 1e-9));
  put("host.memory"_metric, now, 0, static_cast<double>(use.memory_bytes));
  last_use_ = use;
  last_host_ = now;
}

void Recording::write(bool last) {
  see_own_use();
  const auto samples = counters_.take();
  for (const auto& block : samples) capture_.sample_blocks.push_back(pack(block));
  if (o_.follower) o_.follower->saw(capture_, samples);
  capture_.events = static_cast<std::int64_t>(writer_->rows());
  if (last) writer_->be_patient(CaptureWriter::kPatienceMs);  // there is no later
  auto ok = writer_->append(capture_, last);
  if (ok) {
    if (write_failed_) note(notes_, fmt::format("{}: can be written again", o_.output));
    write_failed_ = false;
    return;
  }
  if (!write_failed_ || last)
    note(notes_,
         fmt::format(
             "{} ({})", ok.error().message(),
             last ? "data after the last successful write is lost"
                  : "the program continues; recording resumes when the file can be written again"));
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

/// Rotates to a new capture file; keeps the old one if that fails.
void Recording::go_on_in(const std::string& path, Nanos now) {
  auto next = CaptureWriter::create(path);
  if (!next) return note_once(next.error().message());
  (void)::chmod(path.c_str(), 0600);
  capture_.set_metadata("record.end_ns", std::to_string(now));
  capture_.set_metadata("record.complete", "yes");
  write(true);
  writer_.emplace(std::move(*next));
  writer_->be_patient(0);
  capture_.path = path;
  capture_.set_metadata("record.start_ns", std::to_string(now));
  capture_.set_metadata("record.complete", "");
  write(false);
  o_.follower->closed(now);
}

void Recording::note_once(std::string text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) note(notes_, std::move(text));
}

/// Whatever there is to record: a command that is held until all is ready, a process, the machine.
Status Recording::start(int& exit_code) {
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
  writer_->be_patient(0);  // whoever looks into the capture must not hold the sampling up
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

/// True if the program ended, or somebody asked to end; `asked`: by a signal.
bool Recording::over(Nanos now, bool asked) {
  const bool timed_out = o_.duration_ns > 0 && now - started_ >= o_.duration_ns;
  if (with_child()) {
    code_ = child_->reap();
    return code_.has_value();
  }
  return asked || timed_out || (process_ && process_->ended()) ||
         (o_.follower && o_.follower->over());
}

void Recording::stop_sampling() {
  counters_.stop();
  sensors_->finish(capture_);
  if (tree_) host_tick(host_now());
}

void Recording::record_until_over() {
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
      if (o_.follower)
        if (const auto path = o_.follower->next_file(now); !path.empty()) go_on_in(path, now);
    }
  }
  kernels_.detach();
  ended_ = host_now();
  if (recording) stop_sampling();
}

Result<RecordSummary> Recording::run(int& exit_code) {
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
  if (o_.pid > 0 && kernels_.none_came()) exit_code = 1;  // there is no program's code to give
  capture_.set_metadata("record.end_ns", std::to_string(ended_));
  capture_.set_metadata("record.complete", "yes");
  write(true);
  out.notes = notes_;
  const OwnUse own = see_own_use();
  out.recorder_cpu_seconds = own.cpu_seconds;
  out.recorder_memory_bytes = memory_most_;
  out.recorder_peak_bytes = private_most_;
  out.recorder_private_bytes = own.private_bytes;
  struct stat file{};
  if (stat(o_.output.c_str(), &file) == 0) out.file_bytes = file.st_size;
  return out;
}

Result<RecordSummary> record(const RecordOptions& options, int& exit_code) {
  auto recording = std::make_unique<Recording>(options);
  auto summary = recording->run(exit_code);
  if (recording->must_stay()) (void)recording.release();
  return summary;
}

}  // namespace gf
