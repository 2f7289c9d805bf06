// Levels and readings over time, from samples: a line of small columns each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "model/levels.h"
#include "model/metrics.h"
#include "report/labels.h"
#include "report/text/format.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace gf {

namespace {

constexpr std::size_t kLabel = 18, kValue = 11;

constexpr std::size_t kAllOf = 2;  // GPUs of which all is drawn

const SampledReading* find_reading(const std::vector<SampledReading>& readings,
                                   std::string_view id) {
  for (const auto& reading : readings)
    if (reading.id == id && reading.mean) return &reading;
  return nullptr;
}

/// Columns of eight heights, each the mean of its share of the buckets; a dot where there is no
/// data.
std::string columns(const std::vector<double>& values, double most, std::size_t width,
                    const TextStyle& style) {
  static constexpr std::string_view kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
                                    kAscii[] = {" ", "_", ".", ":", "-", "=", "+", "*", "#"};
  std::string out;
  for (std::size_t column = 0; column < width; ++column) {
    const std::size_t from = column * values.size() / width,
                      to = std::max(from + 1, (column + 1) * values.size() / width);
    double sum = 0, count = 0;
    for (std::size_t i = from; i < std::min(to, values.size()); ++i)
      if (std::isfinite(values[i])) {
        sum += values[i];
        ++count;
      }
    if (count == 0) {
      if (style.utf8) {
        out += "·";
      } else {
        out += "?";
      }
      continue;
    }
    double share = most > 0 ? std::clamp(sum / count / most, 0.0, 1.0) : 0;
    long height = share > 0 ? std::max<long>(1, std::lround(share * 8)) : 0;
    out += style.utf8 ? kBlocks[height] : kAscii[height];
  }
  return out;
}

std::string reading_label(std::string_view id) {
  std::string label(label_of_metric(id).text);
  if (const auto at = label.find("utilization"); columns_of(label) > kLabel && at != label.npos)
    label.replace(at, std::string_view("utilization").size(), "util.");
  return label;
}

std::string line(const SampledReading& reading, const TextStyle& style) {
  const auto width = static_cast<std::size_t>(style.width) - 2 - kLabel - 1 - kValue;
  double most = 1;
  if (reading.unit == "cores")
    most = std::max(*reading.high, 1.0);
  else if (reading.unit != "ratio")
    most = std::max(*reading.high, 0.0);
  const std::string name = shorten_middle(reading_label(reading.id), kLabel),
                    value = format_reading(*reading.mean, reading.unit);
  return "  " + name + std::string(kLabel - columns_of(name) + 1, ' ') +
         paint(style, Paint::used, columns(reading.values, most, width, style)) +
         std::string(kValue - std::min(kValue, columns_of(value)), ' ') + value + "\n";
}

/// The charts of a device, in this order.
std::vector<const SampledReading*> drawn(const SampledDevice& device, std::size_t devices) {
  std::vector<const SampledReading*> out;
  for (const LevelRow& row : levels_shown(devices > kAllOf ? kOfMany : kOverTime)) {
    const auto* reading = find_reading(device.readings, row.id);
    if (!reading) reading = find_reading(device.readings, row.stand_in);
    if (reading) out.push_back(reading);
  }
  if (const auto* power = find_reading(device.readings, "power.module"_metric))
    out.push_back(power);
  return out;
}

using DeviceRun = std::span<const SampledDevice>;

std::vector<DeviceRun> device_runs(const std::vector<SampledDevice>& devices) {
  return runs_alike(devices, [&](const SampledDevice& left, const SampledDevice& right) {
    const auto ours = drawn(left, devices.size()), others = drawn(right, devices.size());
    return left.name == right.name && left.step_ns.has_value() == right.step_ns.has_value() &&
           nearly_equal(left.step_ns.value_or(0), right.step_ns.value_or(0)) &&
           std::equal(ours.begin(), ours.end(), others.begin(), others.end(),
                      [](const SampledReading* one, const SampledReading* other) {
                        return one->id == other->id && nearly_equal(*one->mean, *other->mean);
                      });
  });
}

std::string step_line(DeviceRun run, const TextStyle& style) {
  const auto& device = run.front();
  std::string text =
      fmt::format("The activity of {} repeats every {} (correlation {:.2f})",
                  gpu_numbers(device.id, run.back().id), format_time(std::llround(*device.step_ns)),
                  device.step_confidence.value_or(0));
  if (const auto* power = find_reading(device.readings, "power.module"_metric))
    text += fmt::format(": {} each", format_energy(std::llround(*power->mean * *device.step_ns)));
  return wrap(text + ".", static_cast<std::size_t>(style.width), 2);
}

/// A reading of several devices as that of one.
SampledReading joined(DeviceRun run, std::size_t number) {
  SampledReading all = run.front().readings[number];
  double sum = 0, count = 0;
  for (const auto& device : run) {
    const auto* reading = find_reading(device.readings, all.id);
    if (!reading) continue;
    sum += *reading->mean;
    ++count;
    all.low = std::min(*all.low, *reading->low);
    all.high = std::max(*all.high, *reading->high);
  }
  all.mean = sum / count;
  return all;
}

}  // namespace

std::string over_time_section(const Analysis& analysis, const TextStyle& style) {
  const auto& samples = analysis.samples;
  if (samples.devices.empty()) return {};
  Nanos span = 0;
  for (const auto& device : samples.devices)
    for (const auto& reading : device.readings)
      span = std::max(span, static_cast<Nanos>(reading.values.size()) * samples.bucket_ns);
  std::string out = section_title(style, "Over time", format_time(span) + " from left to right");
  const auto runs = device_runs(samples.devices);
  for (const auto& run : runs) {
    const auto& device = run.front();
    std::string title = fmt::format("{}  {}", gpu_numbers(device.id, run.back().id), device.name);
    if (run.size() > 1) title += fmt::format(", alike within 2 %; GPU {} is drawn", device.id);
    if (samples.devices.size() > 1) out += "  " + paint(style, Paint::dim, title) + "\n";
    for (const auto* reading : drawn(device, samples.devices.size())) out += line(*reading, style);
  }
  if (const auto* cpu = find_reading(samples.host, "host.cpu"_metric)) out += line(*cpu, style);
  for (const auto& run : runs)
    if (run.front().step_ns) out += step_line(run, style);
  return out;
}

std::string readings_section(const Analysis& analysis, const TextStyle& style) {
  const auto& samples = analysis.samples;
  if (samples.devices.empty()) return {};
  TextTable table({{"reading", Align::left, true},
                   {"mean", Align::right},
                   {"lowest", Align::right, false, 1},
                   {"highest", Align::right}});
  auto add = [&](const SampledReading& reading, const std::string& before) {
    if (!reading.mean || *reading.high == 0 ||
        (reading.unit == "ratio" && reading.id != "monitor.gpu"_metric))
      return;  // the ladder has the ratios
    table.add({before + reading_label(reading.id), format_reading(*reading.mean, reading.unit),
               format_reading(*reading.low, reading.unit),
               format_reading(*reading.high, reading.unit)});
  };
  for (const auto& run : device_runs(samples.devices)) {
    std::string before;
    if (samples.devices.size() > 1) before = gpu_numbers(run.front().id, run.back().id) + ": ";
    for (std::size_t i = 0; i < run.front().readings.size(); ++i)
      if (run.front().readings[i].mean) add(joined(run, i), before);
  }
  for (const auto& reading : samples.host) add(reading, "");
  const auto text = table.render(style);
  return section_title(style, "Readings") + text;
}

}  // namespace gf
