#include "import/kineto/merged_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/intervals.h"
#include "import/kineto/numbers.h"

namespace gf::kineto {

namespace {

/// "[TP00] " of "[TP00] 0"; empty without such a word.
std::string_view prefix_of(std::string_view process) {
  return process.substr(0, process.find_last_of(' ') + 1);
}

/// The number behind the prefix, -1 without one.
std::int64_t number_behind(std::string_view process) {
  return parse_integer(process.substr(prefix_of(process).size())).value_or(-1);
}

}  // namespace

std::uint32_t MergedDevices::row(std::uint32_t id) {
  const auto [at, added] = plain_.try_emplace(id, 0);
  if (added) at->second = capture_.device_row(static_cast<std::int32_t>(id));
  return at->second;
}

std::uint32_t MergedDevices::row(std::uint32_t id, const std::string& process) {
  const auto [at, added] = placed_.try_emplace({process, id}, 0);
  if (added) {
    // The first one of a number stays before those that processes add.
    capture_.device_row(static_cast<std::int32_t>(id));
    at->second = capture_.devices.add();
    capture_.devices.id[at->second] = static_cast<std::int32_t>(id);
  }
  return at->second;
}

/// All devices with events: by process as people count ("rank9" before "rank10"), then by number.
std::vector<MergedDevices::Place> MergedDevices::places() const {
  std::vector<Place> places;
  for (const auto& [id, row] : plain_) places.push_back({row, id, fmt::format("{}", id)});
  for (const auto& [key, row] : placed_) places.push_back({row, key.second, key.first});
  std::ranges::sort(places, {}, [](const Place& place) {
    return std::tuple(place.process.size(), place.process, place.id);
  });
  std::vector<std::int64_t> kernels(capture_.devices.size(), 0);
  const auto& activities = capture_.activities;
  for (std::size_t row = 0; row < activities.size(); ++row)
    if (activities.kind[row] == ActivityKind::kernel && activities.device[row] < kernels.size())
      ++kernels[activities.device[row]];
  for (auto& place : places) place.kernels = kernels[place.row];
  return places;
}

/// A device's program: the one whose own process it has, or else the one that launches and whose
/// process has the same prefix ("[TP00] 4711").
void MergedDevices::find_programs(std::vector<Place>& places) const {
  const auto& threads = capture_.threads;
  std::set<std::int64_t> numbers;
  for (const auto pid : threads.pid) numbers.insert(pid);
  std::set<std::uint32_t> launching;
  for (const auto thread : capture_.api_calls.thread)
    if (thread < threads.size()) launching.insert(thread);
  std::map<std::string, std::set<std::int64_t>, std::less<>> of_prefix;
  for (const auto row : launching) {
    const auto process = capture_.text(threads.process_name[row]);
    if (threads.pid[row] < 0 && !prefix_of(process).empty())
      of_prefix[std::string(prefix_of(process))].insert(number_behind(process));
  }
  for (auto& place : places) {
    const auto number = parse_integer(place.process);
    place.is_program = number && *number >= 0 && numbers.contains(*number);
    if (place.is_program) place.pid = *number;
    const auto found = of_prefix.find(prefix_of(place.process));
    if (found != of_prefix.end() && found->second.size() == 1) place.pid = *found->second.begin();
  }
}

/// Several programs number their correlations alike: their calls and activities tell the process.
void MergedDevices::tell_programs(const std::vector<Place>& places) {
  std::vector<std::int64_t> pid_of(capture_.devices.size(), -1);
  std::map<std::int64_t, std::set<std::string_view>> prefixes;
  for (const auto& place : places)
    if (place.pid >= 0) prefixes[place.pid].insert(prefix_of(place.process));
  for (const auto& place : places)  // two hosts may have given one number
    if (place.pid >= 0 && prefixes[place.pid].size() == 1) pid_of[place.row] = place.pid;
  auto& threads = capture_.threads;
  for (std::uint32_t row = 0; row < threads.size(); ++row) {
    const auto process = capture_.text(threads.process_name[row]);
    const auto known = prefixes.find(number_behind(process));
    if (threads.pid[row] < 0 && known != prefixes.end() && known->second.size() == 1 &&
        *known->second.begin() == prefix_of(process))
      threads.pid[row] = known->first;
  }
  auto& activities = capture_.activities;
  for (std::size_t row = 0; row < activities.size(); ++row)
    if (activities.device[row] < pid_of.size() && pid_of[activities.device[row]] >= 0)
      activities.pid[row] = pid_of[activities.device[row]];
}

/// Two processes that ran kernels on one number, and are not the programs' own, are two devices;
/// the later ones get the next free numbers.
void MergedDevices::number(const std::vector<Place>& places) {
  std::map<std::uint32_t, int> users;
  for (const auto& place : places) users[place.id] += place.kernels > 0 && !place.is_program;
  const bool apart = std::ranges::any_of(users, [](const auto& user) { return user.second > 1; });
  std::vector<bool> placed(capture_.devices.size(), false);
  for (const auto& [key, row] : placed_) placed[row] = true;
  Numbering now{std::vector<std::uint32_t>(placed.size(), kNoRow), {}};
  std::int32_t next = 0;
  for (std::uint32_t row = 0; row < placed.size(); ++row) {
    next = std::max(next, capture_.devices.id[row] + 1);
    if (placed[row]) continue;
    now.to[row] = static_cast<std::uint32_t>(now.devices.size());
    now.devices.push_back({row, capture_.devices.id[row]});
  }
  const auto first = now.to;
  std::set<std::uint32_t> taken;
  std::string told;
  std::int64_t more = 0;
  for (const auto& place : places) {
    const auto base = capture_.device_row(static_cast<std::int32_t>(place.id));
    if (taken.insert(place.id).second || !apart) {
      now.to[place.row] = first[base];
      continue;
    }
    constexpr int kTold = 8;
    if (++more <= kTold)
      told += fmt::format("{}GPU {} is device {} of process {}", told.empty() ? "" : ", ", next,
                          place.id, place.process);
    now.to[place.row] = static_cast<std::uint32_t>(now.devices.size());
    now.devices.push_back({base, next++});
  }
  take(now);
  if (more > 0) note_merged(told, more);
}

/// ROCm describes a process's one GPU as number 0 and gives its work another number: one
/// description and one device with work are the same device, under the number of the work.
void MergedDevices::join_described(std::uint32_t active) {
  const auto& devices = capture_.devices;
  const std::uint32_t described = 1 - active;
  if (devices.sm_count[described] < 0 || devices.sm_count[active] >= 0 ||
      devices.name[active] != Text::none)
    return;
  take({{0, 0}, {{described, devices.id[active]}}});
}

void MergedDevices::take(const Numbering& now) {
  auto& devices = capture_.devices;
  auto taken = devices;
  taken.clear();
  for (const auto& [source, id] : now.devices) {
    const auto row = taken.add();
    taken.visit_pairs(devices, [&](auto& mine, const auto& theirs) { mine[row] = theirs[source]; });
    taken.id[row] = id;
  }
  devices = std::move(taken);
  capture_.each_table([&](auto& table) {
    table.each_column_ref([&](const auto& column) {
      using Declared = typename std::remove_cvref_t<decltype(column)>::Declared;
      if constexpr (kIsRef<Declared>)
        if (kRefTable<Declared> == TableId::devices)
          for (auto& row : column.column)
            if (row != kNoRow) row = now.to[row];
    });
  });
}

/// A writer that says neither device nor process means the only one: work on a GPU is told by its
/// category.
void MergedDevices::place_unnumbered() {
  std::uint32_t only = kNoRow;
  std::int64_t placed = 0;
  for (auto& device : capture_.activities.device) {
    if (device != kNoRow) continue;
    if (only == kNoRow) only = capture_.devices.size() == 1 ? 0 : row(0);
    device = only;
    ++placed;
  }
  if (placed > 0)
    capture_.note_quality(QualityCode::assumed_device,
                          "work without the number of its device was taken as GPU " +
                              std::to_string(capture_.devices.id[only]) + "'s",
                          placed);
}

/// Processes that see one GPU each call it 0: where the file has one behind the other, and they
/// worked at the same time, they worked on several.
void MergedDevices::split_shared() {
  auto& activities = capture_.activities;
  std::map<std::pair<std::uint32_t, std::int64_t>, Intervals> work;  // by device and process
  for (std::size_t row = 0; row < activities.size(); ++row)
    if (activities.pid[row] >= 0)
      work[{activities.device[row], activities.pid[row]}].push_back(span_of(activities, row));
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> apart;
  std::string told;
  const Intervals* first = nullptr;
  std::uint32_t device = kNoRow;
  for (auto& [key, spans] : work) {
    spans = normalised(std::move(spans));
    if (std::exchange(device, key.first) != key.first) {
      first = &spans;
      continue;
    }
    constexpr Nanos kMuch = 10;  // a part in so many of the shorter one
    if (shared_length(*first, spans) * kMuch < std::min(total(*first), total(spans))) continue;
    auto& devices = capture_.devices;
    const auto before = devices;
    const auto row = apart[key] = devices.add();
    devices.visit_pairs(before,
                        [&](auto& mine, const auto& theirs) { mine[row] = theirs[key.first]; });
    devices.id[row] = std::ranges::max(before.id) + 1;
    told += fmt::format("{}GPU {} is device {} of process {}", told.empty() ? "" : ", ",
                        devices.id[row], before.id[key.first], key.second);
  }
  if (apart.empty()) return;
  for (std::size_t row = 0; row < activities.size(); ++row)
    if (const auto own = apart.find({activities.device[row], activities.pid[row]});
        own != apart.end())
      activities.device[row] = own->second;
  note_merged(told, static_cast<std::int64_t>(apart.size()));
}

void MergedDevices::note_merged(const std::string& told, std::int64_t more) {
  capture_.note_quality(QualityCode::merged_devices,
                        "several processes use one device number, as in merged traces: " + told,
                        more);
}

void MergedDevices::settle(const std::vector<ProcessTurn>& turns) {
  place_unnumbered();
  if (!placed_.empty()) {
    auto all = places();
    find_programs(all);
    tell_programs(all);
    number(all);
  }
  if (tell_processes(capture_, turns)) split_shared();
  const auto rows = capture_.devices.size();
  if (rows != 2) return;
  std::uint32_t active = kNoRow;
  for (const auto device : capture_.activities.device) {
    if (active == kNoRow) active = device;
    if (device != active) return;
  }
  if (active != kNoRow) join_described(active);
}

}  // namespace gf::kineto
