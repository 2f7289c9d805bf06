#include "collect/flight/flight.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include "model/counter_values.h"
#include "model/file.h"
#include "model/metrics.h"

namespace gf {

namespace {

namespace fs = std::filesystem;

constexpr Nanos kSegment = 60 * kNsPerSecond;
constexpr Nanos kNoHolders = 5 * kNsPerSecond;  // without a process in any reading
constexpr std::size_t kLongestOrder = 512;
constexpr std::size_t kMostTogether = 64;            // moments of one capture
constexpr Nanos kKernelsEvery = 600 * kNsPerSecond;  // a window of what is usual
constexpr std::string_view kKernelsName = "_kernels_";
constexpr std::string_view kProcess = "memory.process.";

std::string utc(Nanos time) {
  const std::time_t seconds = time / kNsPerSecond;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}-{:02}-{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     time / kNsPerMs % 1000);
}

std::uint64_t size_of(const std::string& path) {
  std::error_code none;
  const auto size = fs::file_size(path, none);
  return none ? 0 : size;
}

/// The captures of a folder, oldest first: their names begin with their times.
std::vector<std::string> captures_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.is_regular_file(none) && entry.path().extension() == ".gpf")
      found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

/// Rows and blocks that do not touch `span` go; the times of whole blocks decide.
void keep_only(Capture& capture, Interval span) {
  std::erase_if(capture.sample_blocks, [&](const PackedBlock& block) {
    return block.last_ns < span.start || block.first_ns > span.end;
  });
  const auto all = std::exchange(capture.counter_samples, {});
  for (std::uint32_t row = 0; row < all.size(); ++row) {
    const Nanos start = all.start_ns[row], duration = all.duration_ns[row];
    if (end_of(start, duration) < span.start || start > span.end) continue;
    add_row(capture.counter_samples,
            {start, duration, all.device[row], all.metric[row], all.value[row]});
  }
}

}  // namespace

FlightRecorder::FlightRecorder(const FlightOptions& options, Tell tell)
    : options_(options),
      tell_(std::move(tell)),
      kernels_(options.folder + "/ring", options.kernels_ns) {}

FlightRecorder::~FlightRecorder() {
  if (lock_ >= 0) ::close(lock_);
}

Result<std::unique_ptr<FlightRecorder>> FlightRecorder::open(const FlightOptions& options,
                                                             Tell tell) {
  std::unique_ptr<FlightRecorder> flight(new FlightRecorder(options, std::move(tell)));
  std::error_code error;
  fs::create_directories(fs::path(options.folder) / "ring", error);
  if (error)
    return fail(fmt::format("cannot be made: {}", error.message()), options.folder, -1,
                "give --flight a folder that this user may write to");
  flight->lock_ = ::open((options.folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (flight->lock_ < 0)
    return fail(fmt::format("cannot be written to: {}", std::strerror(errno)), options.folder, -1,
                "give --flight a folder that this user may write to");
  if (::flock(flight->lock_, LOCK_EX | LOCK_NB) != 0)
    return fail("another flight recorder uses this folder", options.folder, -1,
                "give each its own");
  if (options.orders >= 0) ::fcntl(options.orders, F_SETFL, O_NONBLOCK);
  flight->find_earlier();
  return flight;
}

/// Captures that an earlier run left count, and go when they are old.
void FlightRecorder::find_earlier() {
  for (const auto& path : captures_in(options_.folder + "/ring")) {
    std::error_code none;
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(path, none);
    const Nanos end =
        host_now() - std::chrono::duration_cast<std::chrono::nanoseconds>(age).count();
    const bool kernels = fs::path(path).filename().string().find(kKernelsName) != path.npos;
    ring_.push_back({path, end, end, size_of(path), kernels});
  }
  for (const auto& path : captures_in(options_.folder))
    moments_.push_back({path, 0, 0, size_of(path)});
}

std::string FlightRecorder::first_file(Nanos now) {
  roll_at_ = kernels_at_ = now + kSegment;
  ring_.push_back({fmt::format("{}/ring/{}.gpf", options_.folder, utc(now)), now});
  return ring_.back().path;
}

void FlightRecorder::saw(const Capture& capture, const std::vector<SampleBlock>& samples) {
  for (const auto& block : samples) look_at_samples(capture, block);
  look_at_rows(capture);
}

void FlightRecorder::look_at_samples(const Capture& capture, const SampleBlock& block) {
  auto& watch = watches_[capture.devices.id[block.device]];
  const std::size_t columns = block.metrics.size();
  for (std::size_t column = 0; column < columns; ++column) {
    const auto id = capture.text(block.metrics[column]);
    const bool busy = id == "gpu.busy"_metric;
    if (!busy && id != "sm.active_any"_metric) continue;
    for (std::size_t i = 0; i < block.samples(); ++i) {
      const auto value = static_cast<double>(block.values[i * columns + column]);
      if (busy)
        watch.busy(block.start_ns[i], block.end_ns[i], value);
      else
        watch.sm_active(block.start_ns[i], block.end_ns[i], value);
    }
  }
}

void FlightRecorder::look_at_rows(const Capture& capture) {
  const auto& rows = capture.counter_samples;
  std::map<std::int32_t, std::map<Nanos, std::set<std::int64_t>>> holders;
  std::map<std::int32_t, Nanos> newest;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    if (rows.device[row] == kNoRow) continue;
    const std::int32_t gpu = capture.devices.id[rows.device[row]];
    const Nanos start = rows.start_ns[row], end = end_of(start, rows.duration_ns[row]);
    const auto id = capture.text(rows.metric[row]);
    auto& watch = watches_[gpu];
    if (id == "gpu.busy"_metric)
      watch.busy(start, end, rows.value[row]);
    else if (id == "sm.active_any"_metric)
      watch.sm_active(start, end, rows.value[row]);
    else if (id == "xid.last"_metric)
      watch.xid(start, static_cast<std::int64_t>(rows.value[row]));
    else if (id == "clock.sm"_metric) {
      watch.clock(start, rows.value[row]);
      newest[gpu] = start;
    } else if (id.starts_with(kProcess)) {
      const auto number = id.substr(kProcess.size());
      std::int64_t process = 0;
      std::from_chars(number.data(), number.data() + number.size(), process);
      holders[gpu][start].insert(process);
    }
  }
  for (auto& [gpu, readings] : holders)
    for (auto& [at, processes] : readings) {
      kernels_.holders(gpu, processes);
      watches_[gpu].holders(std::move(processes));
      holders_at_[gpu] = at;
    }
  for (const auto& [gpu, at] : newest) {
    const auto [last, first] = holders_at_.try_emplace(gpu, at);
    if (at - last->second <= kNoHolders) continue;
    kernels_.holders(gpu, {});
    watches_[gpu].holders({});
  }
}

/// Somebody who asks without end, or a driver that reports so, does not fill the log.
void FlightRecorder::add(FlightEntry entry) {
  if (waiting_.size() < kMostTogether) waiting_.push_back(std::move(entry));
}

/// The moments that the watches saw, and those that somebody asks for.
void FlightRecorder::collect(Nanos now) {
  take_orders();
  for (auto& [gpu, watch] : watches_)
    for (auto& moment : watch.take())
      add({.time_ns = moment.time_ns,
           .gpu = gpu,
           .kind = std::move(moment.kind),
           .text = std::move(moment.text),
           .capture = {}});
  if (!waiting_.empty() && write_at_ == 0) {
    write_at_ = now + options_.after_ns();
    auto& first = waiting_.front();
    const auto why = kernels_.record(now, utc(now), static_cast<std::int32_t>(first.gpu));
    if (!why.empty()) first.text += fmt::format(" (no kernels: {})", why);
  }
  take_kernels(now);
}

/// Windows that are whole become parts of the ring; one of what is usual comes every ten minutes.
void FlightRecorder::take_kernels(Nanos now) {
  for (const auto& window : kernels_.finished(now, over_))
    ring_.push_back({window.path, window.start, window.end, size_of(window.path), true});
  if (over_ || now < kernels_at_) return;
  kernels_at_ = now + kKernelsEvery;
  (void)kernels_.record(now, utc(now), -1);
}

void FlightRecorder::take_orders() {
  char bytes[512];
  while (options_.orders >= 0 && !over_) {
    const auto got = ::read(options_.orders, bytes, sizeof bytes);
    if (got < 0) return;
    over_ = got == 0;  // whoever asked for the flight is gone
    for (const char byte : std::string_view(bytes, static_cast<std::size_t>(got))) {
      if (byte == '\n')
        add({.time_ns = host_now(),
             .kind = "asked",
             .text = std::exchange(orders_, {}),
             .capture = {}});
      else if (orders_.size() < kLongestOrder)
        orders_ += byte;
    }
  }
}

void FlightRecorder::finish(Nanos now) {
  over_ = true;
  closed(now);
}

bool FlightRecorder::over() {
  if (!over_) take_orders();
  return over_;
}

std::string FlightRecorder::next_file(Nanos now) {
  collect(now);
  const bool due = write_at_ > 0 && now >= write_at_ && !kernels_.under_way();
  if (!due && now < roll_at_) return {};
  std::string path = fmt::format("{}/ring/{}.gpf", options_.folder, utc(now));
  ring_.push_back({path, now});
  roll_at_ = now + kSegment;
  return path;
}

void FlightRecorder::closed(Nanos now) {
  for (auto& segment : ring_)
    if (segment.end == 0 && segment.start < now) {
      segment.end = now;
      segment.bytes = size_of(segment.path);
    }
  collect(now);
  if (write_at_ > 0 && ((now >= write_at_ && !kernels_.under_way()) || over_)) write_moments();
  bound_files(now);
}

/// Moments that are close to each other share a capture, named after the first.
void FlightRecorder::write_moments() {
  write_at_ = 0;
  auto entries = std::exchange(waiting_, {});
  std::sort(entries.begin(), entries.end(),
            [](const auto& left, const auto& right) { return left.time_ns < right.time_ns; });
  const auto& first = entries.front();
  const std::string whose = first.gpu >= 0 ? fmt::format("_gpu{}", first.gpu) : "";
  const std::string name = fmt::format("{}{}_{}.gpf", utc(first.time_ns), whose, first.kind);
  const std::string path = options_.folder + "/" + name;
  const Interval span{first.time_ns - options_.before_ns,
                      entries.back().time_ns + options_.after_ns()};
  const auto written = write_capture_around(span, path, entries);
  for (auto& entry : entries) {
    if (written)
      entry.capture = name;
    else
      entry.text += fmt::format(" (no capture: {})", written.error().message());
    tell_(entry);
  }
  if (written) moments_.push_back({path, span.start, span.end, size_of(path)});
}

Status FlightRecorder::write_capture_around(Interval span, const std::string& path,
                                            std::vector<FlightEntry>& entries) {
  Capture whole;
  std::int64_t windows = 0;
  for (const bool kernels : {false, true})  // what is said of the whole is said of the levels
    for (const auto& segment : ring_) {
      if (segment.kernels != kernels || segment.end == 0) continue;
      if (segment.end < span.start || segment.start > span.end) continue;
      auto read = read_capture(segment.path);
      if (!read) continue;  // damaged by an earlier end: the others hold what there is
      keep_only(*read, kernels ? Interval{} : span);  // its levels are those of the others
      windows += kernels;
      if (whole.format.empty())
        whole = std::move(*read);
      else
        whole.join(*read);
    }
  if (whole.format.empty()) return fail("nothing of that time was recorded", path);
  std::string texts;
  for (auto& entry : entries) entry.kernel_windows = windows;
  for (const auto& entry : entries)
    texts += fmt::format("{}{}{}", texts.empty() ? "" : "; ",
                         entry.gpu >= 0 ? fmt::format("GPU {}: ", entry.gpu) : "", entry.text);
  whole.set_metadata("flight.moments", texts);
  whole.set_metadata("flight.time_ns", std::to_string(entries.front().time_ns));
  whole.set_metadata("record.start_ns", std::to_string(span.start));
  whole.set_metadata("record.end_ns", std::to_string(span.end));
  const auto written = write_capture(whole, path);
  (void)::chmod(path.c_str(), 0600);  // as the files of the ring: whose processes ran is in it
  return written;
}

/// The oldest files go first.
void FlightRecorder::bound_files(Nanos now) {
  const auto sum = [](const std::deque<Segment>& files) {
    std::uint64_t bytes = 0;
    for (const auto& file : files) bytes += file.bytes;
    return bytes;
  };
  const auto drop_oldest = [](std::deque<Segment>& files) {
    std::error_code none;
    fs::remove(files.front().path, none);
    files.pop_front();
  };
  while (moments_.size() > 1 && sum(moments_) > options_.most_bytes / 2) drop_oldest(moments_);
  const auto old = [&](const Segment& file) { return file.end < now - options_.keep_ns; };
  while (ring_.size() > 1 &&
         (old(ring_.front()) || sum(ring_) + sum(moments_) > options_.most_bytes))
    drop_oldest(ring_);
}

}  // namespace gf
