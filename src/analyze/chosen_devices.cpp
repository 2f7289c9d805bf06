#include "analyze/chosen_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "analyze/context.h"
#include "core/intervals.h"

namespace gf {

namespace {

// Between a device that was only touched (a context, a seed, a copy) and one that idles for most of
// the time in a job of several: docs/definitions.md.
constexpr double kLeastOfMost = 0.01;

bool works(double kernel_ns, double most_ns) {
  return kernel_ns > 0 && kernel_ns >= kLeastOfMost * most_ns;
}

/// The load of one device: its activities, and the sum of its kernels' durations.
struct DeviceLoad {
  std::int64_t activities = 0;
  double kernel_ns = 0;
};

std::vector<DeviceLoad> loads_of(const Capture& capture) {
  const auto& activities = capture.activities;
  std::vector<DeviceLoad> loads(capture.devices.size());
  for (std::size_t row = 0; row < activities.size(); ++row) {
    if (activities.device[row] >= loads.size()) continue;
    DeviceLoad& load = loads[activities.device[row]];
    ++load.activities;
    if (activities.kind[row] == ActivityKind::kernel)
      load.kernel_ns += static_cast<double>(activities.duration_ns[row]);
  }
  return loads;
}

ChosenDevices working_devices(const Capture& capture) {
  if (capture.devices.size() < 2) return {};
  const auto loads = loads_of(capture);
  const double most = std::ranges::max(loads, {}, &DeviceLoad::kernel_ns).kernel_ns;
  if (most <= 0) return {};
  std::vector<bool> chosen;
  bool others = false;
  for (const auto& load : loads) {
    chosen.push_back(works(load.kernel_ns, most));
    others |= load.activities > 0 && !chosen.back();
  }
  if (!others) return {};
  return ChosenDevices(std::move(chosen));
}

}  // namespace

std::optional<std::vector<std::int32_t>> device_numbers(std::string_view wanted) {
  std::vector<std::int32_t> numbers;
  for (std::size_t from = 0; from <= wanted.size();) {
    const auto end = std::min(wanted.find(',', from), wanted.size());
    std::int32_t number = -1;
    const auto [stop, error] = std::from_chars(wanted.data() + from, wanted.data() + end, number);
    if (error != std::errc() || stop != wanted.data() + end || number < 0) return std::nullopt;
    numbers.push_back(number);
    from = end + 1;
  }
  return numbers;
}

Result<ChosenDevices> choose_devices(const Capture& capture, std::string_view wanted) {
  if (wanted.empty()) return working_devices(capture);
  if (wanted == "all") return ChosenDevices{};
  const auto numbers = device_numbers(wanted);
  if (!numbers)
    return fail(fmt::format("--devices {}: not a list of devices", wanted), capture.path, -1,
                "use all, or numbers such as 0,2");
  const auto loads = loads_of(capture);
  std::set<std::int32_t> known, unknown(numbers->begin(), numbers->end());
  std::vector<bool> chosen(loads.size(), false);
  for (std::uint32_t row = 0; row < loads.size(); ++row) {
    if (!capture.activities.empty() && loads[row].activities == 0) continue;
    const std::int32_t number = capture.devices.id[row];
    known.insert(number);
    chosen[row] = std::ranges::find(*numbers, number) != numbers->end();
    if (chosen[row]) unknown.erase(number);
  }
  if (!unknown.empty())
    return fail(
        fmt::format("--devices {}: no work on device {} in the capture", wanted, *unknown.begin()),
        capture.path, -1, fmt::format("devices with work: {}", fmt::join(known, ", ")));
  return ChosenDevices(std::move(chosen));
}

void set_others_aside(Context& context) {
  if (context.options.devices.empty()) {
    Nanos most = 0;
    for (const auto& line : context.devices) most = std::max(most, line.kernel_busy_ns());
    for (const auto& line : context.devices)
      if (works(static_cast<double>(line.kernel_busy_ns()), static_cast<double>(most)))
        context.chosen.add(line.device);
  }
  std::vector<DeviceTimeline> chosen;
  for (auto& line : context.devices)
    (context.chosen.has(line.device) ? chosen : context.others).push_back(std::move(line));
  context.devices = std::move(chosen);
}

std::vector<OtherDevice> other_devices(const Context& context) {
  const Capture& capture = context.capture;
  std::vector<OtherDevice> others;
  for (const auto& line : context.others) {
    OtherDevice other;
    other.id = capture.devices.id[line.device];
    other.name = capture.text(capture.devices.name[line.device]);
    for (const auto row : line.rows)
      ++(capture.activities.kind[row] == ActivityKind::kernel ? other.kernels : other.copies);
    other.busy_ns = total(line.busy);
    if (!context.options.devices.empty())
      other.why = OtherReason::not_chosen;
    else if (line.rows.empty())
      other.why = OtherReason::idle;
    else
      other.why = other.kernels > 0 ? OtherReason::few_kernels : OtherReason::copies_only;
    others.push_back(std::move(other));
  }
  return others;
}

}  // namespace gf
