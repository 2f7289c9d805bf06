#include "import/telemetry/log_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace gf::telemetry {

namespace {

constexpr std::int32_t kFirstMadeUp = 1000;  // numbers for what has none of its own
constexpr std::size_t kMostDevices = 64;

/// The number in "3", "gpu3", "GPU 3", "cuda:3"; empty for anything else, such as a UUID.
std::optional<std::int32_t> device_number(std::string_view cell) {
  const auto digits = cell.find_first_of("0123456789");
  if (digits == cell.npos || cell.size() - digits > 4) return std::nullopt;
  std::string word;
  for (const char letter : cell.substr(0, digits))
    if (letter != ' ' && letter != ':' && letter != '_')
      word += static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  if (!word.empty() && word != "gpu" && word != "cuda" && word != "nvidia" && word != "device")
    return std::nullopt;
  std::int32_t number = 0;
  const auto [end, error] =
      std::from_chars(cell.data() + digits, cell.data() + cell.size(), number);
  if (error != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return number;
}

}  // namespace

std::int32_t LogDevices::number(std::string key) {
  return numbers_.try_emplace(std::move(key), static_cast<std::int32_t>(numbers_.size()))
      .first->second;
}

std::uint32_t LogDevices::instance(std::string_view name) {
  const auto row = capture_.device_row(kFirstMadeUp + number("instance " + std::string(name)));
  capture_.devices.name[row] = capture_.strings.intern(name);
  return row;
}

std::uint32_t LogDevices::row(const DeviceCells& cells) {
  if (first_host_.empty()) first_host_ = cells.host;
  if (!cells.instance.empty()) {
    // Instances of every GPU and every machine are numbered alike.
    auto gpu = cells.index;
    for (const auto other : {cells.uuid, cells.bus})
      if (gpu.empty()) gpu = other;
    std::string name = fmt::format("GPU {}, MIG instance {}", gpu, cells.instance);
    if (cells.host != first_host_) name += fmt::format(" on {}", cells.host);
    return instance(name);
  }
  const auto index = device_number(cells.index);
  if (cells.host != first_host_) {  // logs of several machines in one
    std::string key;
    if (index) {
      key = fmt::format("{}", *index);
    } else {
      key = std::string(cells.uuid);
    }
    return capture_.device_row(kFirstMadeUp + number(fmt::format("{}\n{}", cells.host, key)));
  }
  if (index) return capture_.device_row(*index);
  // A number that none has: no other GPU's readings, either.
  if (!cells.index.empty() && cells.index.find_first_not_of("0123456789") == cells.index.npos)
    return capture_.device_row(kFirstMadeUp + number(std::string(cells.index)));
  for (const auto key : {cells.uuid, cells.bus, cells.index})
    if (!key.empty()) return capture_.device_row(number(std::string(key)));
  return capture_.device_row(0);
}

/// Counts the lines that stand together, no more than `apart` between each and the next. The last
/// moment may be cut off.
UnnamedLines::Groups UnnamedLines::groups(Nanos apart) const {
  Groups out;
  std::size_t length = 1;
  std::optional<std::size_t> size;
  for (std::size_t i = 1; i <= lines_.size(); ++i) {
    const bool ended = i == lines_.size();
    Nanos gap = ended ? 0 : lines_[i].time - lines_[i - 1].time;
    out.same_times |= !ended && gap == 0;
    if (!ended && gap >= 0 && gap <= apart) {
      ++length;
      continue;
    }
    if (!size) size = length;
    if (length != *size && !(ended && length < *size)) size = 0;
    length = 1;
  }
  out.size = size.value_or(1);
  return out;
}

/// The gap inside a moment where times differ a little: the longest time between lines of one
/// moment, when the times between moments are clearly longer; 0 otherwise.
Nanos UnnamedLines::widest_gap_inside() const {
  constexpr Nanos kMost = 50 * kNsPerMs;
  constexpr double kClearly = 5;
  std::vector<Nanos> gaps;
  for (std::size_t i = 1; i < lines_.size(); ++i)
    gaps.push_back(lines_[i].time - lines_[i - 1].time);
  std::sort(gaps.begin(), gaps.end());
  Nanos widest = 0;
  double best = kClearly;
  for (std::size_t i = 1; i < gaps.size(); ++i) {
    const Nanos inside = gaps[i - 1];
    if (inside < 0 || inside > kMost) continue;
    const double ratio =
        static_cast<double>(gaps[i]) / static_cast<double>(std::max<Nanos>(inside, 1));
    if (ratio < best) continue;
    best = ratio;
    widest = std::max<Nanos>(inside, 1);
  }
  return widest;
}

Status UnnamedLines::assign(Capture& capture) const {
  Groups found = groups(0);
  Nanos apart = 0;
  if (!found.same_times || found.size == 0) {
    apart = widest_gap_inside();
    if (apart > 0) {
      const Groups near = groups(apart);
      const bool several = near.size > 1 && lines_.size() >= 3 * near.size;
      if (several) found = near;
      if (!several) apart = 0;
    }
  }
  const bool whole_seconds =
      std::ranges::all_of(lines_, [](const Line& line) { return line.time % kNsPerSecond == 0; });
  const bool unclear =
      found.same_times && (found.size < 2 || found.size > kMostDevices || whole_seconds);
  if (unclear && groups(0).size == lines_.size())
    return fail(
        fmt::format("all {} lines have one time: no energy and no mean over time can be had",
                    lines_.size()),
        capture.path, -1,
        "log times with fractions of a second, and the number of the GPU (index)");
  if (unclear)
    return fail("has several lines of one time, and no column that says which GPU each is of",
                capture.path, -1,
                "log the number of the GPU too (nvidia-smi --query-gpu=timestamp,index,...), and "
                "times with fractions of a second");
  if (found.size < 2 || found.size > kMostDevices) {
    capture.set_metadata(kGpuOfLog, "not said");
    return {};
  }
  std::int32_t place = 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const bool same = i > 0 && lines_[i].time - lines_[i - 1].time <= apart;
    place = same ? place + 1 : 0;
    const auto row = capture.device_row(place);
    capture.devices.vendor[row] = capture.strings.intern("nvidia");
    std::size_t end =
        i + 1 < lines_.size() ? lines_[i + 1].first_sample : capture.counter_samples.size();
    for (std::size_t index = lines_[i].first_sample; index < end; ++index)
      capture.counter_samples.device[index] = row;
  }
  capture.note_quality(QualityCode::devices_by_order,
                       fmt::format("the log does not say which GPU a line is of: the {} lines of a "
                                   "moment are taken as GPUs 0 to {} in their order; log index too",
                                   found.size, found.size - 1));
  return {};
}

Result<Capture> in_order(Result<Capture> log) {
  if (!log) return log;
  auto& samples = log->counter_samples;
  std::vector<Nanos> last(log->devices.size(), INT64_MIN);
  std::vector<std::int64_t> back(log->devices.size(), 0);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const auto device = samples.device[row];
    if (device == kNoRow) continue;
    back[device] += samples.start_ns[row] < last[device];
    last[device] = samples.start_ns[row];
  }
  for (std::uint32_t device = 0; device < back.size(); ++device)
    if (back[device] > 0)
      log->note_quality(QualityCode::clock_back,
                        fmt::format("the log's times of GPU {} go backwards: when its power was "
                                    "read is not known, and its power and energy are left out",
                                    log->devices.id[device]),
                        back[device]);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (samples.device[row] == kNoRow || back[samples.device[row]] == 0) continue;
    const auto metric = log->text(samples.metric[row]);
    if (metric.starts_with("power.") || metric.starts_with("energy.")) samples.value[row] = NAN;
  }
  return log;
}

}  // namespace gf::telemetry
