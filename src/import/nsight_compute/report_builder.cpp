#include "import/nsight_compute/report_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace gf::ncu {

namespace {

constexpr std::string_view kDeviceAttribute = "device__attribute_";

/// Whole numbers of a counter report that fit the column; anything else is not known.
template <class T>
void set_integer(T& column, double value) {
  if (value >= 0 && value <= static_cast<double>(std::numeric_limits<std::int32_t>::max()) &&
      value == std::floor(value))
    column = static_cast<T>(value);
}

template <class T>
void fill(T& target, const std::map<std::string_view, std::string_view>& attributes,
          std::string_view name) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return;
  T value{};
  const auto [end, error] =
      std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  if (error == std::errc() && end == found->second.data() + found->second.size()) target = value;
}

/// The column of an axis: 0 x, 1 y, 2 z.
template <class Column>
Column& axis_of(int axis, Column& along_x, Column& along_y, Column& along_z) {
  if (axis == 0) return along_x;
  return axis == 1 ? along_y : along_z;
}

}  // namespace

ReportBuilder::Metric ReportBuilder::metric(std::string_view name, std::string_view base_unit) {
  using Role = Metric::Role;
  Metric metric{capture_.strings.intern(name), capture_.strings.intern(base_unit)};
  if (name.starts_with(kDeviceAttribute))
    metric.role = Role::device_attribute;
  else if (name == "launch__registers_per_thread")
    metric.role = Role::registers;
  else if (name == "launch__shared_mem_per_block_static")
    metric.role = Role::shared_static;
  else if (name == "launch__shared_mem_per_block_dynamic")
    metric.role = Role::shared_dynamic;
  else if (name == "gpu__time_duration.sum" || name == "gpu__time_duration.avg" ||
           name == "gpu__time_duration")
    metric.role = Role::duration;
  else if (name == "launch__stream_id")
    metric.role = Role::stream;
  else if (name == "launch__context_id")
    metric.role = Role::context;
  else if (name == "launch__device_id")
    metric.role = Role::device;
  else if (name.starts_with("launch__grid_dim_") || name.starts_with("launch__block_dim_")) {
    metric.role = name[8] == 'g' ? Role::grid : Role::block;
    metric.axis = name.back() - 'x';
    if (metric.axis < 0 || metric.axis > 2) metric.role = Role::counter;
  }
  return metric;
}

std::uint32_t ReportBuilder::begin_kernel(const Launch& launch) {
  auto& kernels = capture_.report_kernels;
  kernel_ = kernels.add();
  kernels.id[kernel_] = launch.id;
  kernels.name[kernel_] = capture_.strings.intern(launch.name);
  kernels.mangled_name[kernel_] = capture_.strings.intern(launch.mangled_name);
  kernels.pid[kernel_] = launch.pid;
  kernels.device[kernel_] = launch.device;
  kernels.context[kernel_] = launch.context;
  kernels.stream[kernel_] = launch.stream;
  set_integer(kernels.grid_x[kernel_], static_cast<double>(launch.grid[0]));
  set_integer(kernels.grid_y[kernel_], static_cast<double>(launch.grid[1]));
  set_integer(kernels.grid_z[kernel_], static_cast<double>(launch.grid[2]));
  set_integer(kernels.block_x[kernel_], static_cast<double>(launch.block[0]));
  set_integer(kernels.block_y[kernel_], static_cast<double>(launch.block[1]));
  set_integer(kernels.block_z[kernel_], static_cast<double>(launch.block[2]));
  kernels.launches[kernel_] = launch.launches;
  device_ = launch.device;
  shared_.resize(kernels.size());
  if (launch.compute_major >= 0)
    capability_[device_] = {launch.compute_major, launch.compute_minor};
  return kernel_;
}

void ReportBuilder::resume_kernel(std::uint32_t kernel) {
  kernel_ = kernel;
  device_ = capture_.report_kernels.device[kernel];
}

/// Traces count what the program asked for: static and dynamic shared memory, without the driver's
/// own part.
void ReportBuilder::sum_shared_memory() {
  for (std::size_t kernel = 0; kernel < shared_.size(); ++kernel)
    if (const auto& [fixed, dynamic] = shared_[kernel]; fixed >= 0 || dynamic >= 0)
      capture_.report_kernels.shared_bytes[kernel] =
          std::max<std::int64_t>(fixed, 0) + std::max<std::int64_t>(dynamic, 0);
}

void ReportBuilder::number(const Metric& metric, double value) {
  using Role = Metric::Role;
  auto& kernels = capture_.report_kernels;
  switch (metric.role) {
    case Role::device_attribute:
      attribute(metric, fmt::format("{}", value));
      return;
    case Role::registers:
      set_integer(kernels.registers[kernel_], value);
      break;
    case Role::shared_static:
      set_integer(shared_[kernel_].fixed, value);
      break;
    case Role::shared_dynamic:
      set_integer(shared_[kernel_].dynamic, value);
      break;
    case Role::duration:
      if (value >= 0) kernels.duration_ns[kernel_] = value;
      break;
    case Role::stream:
      if (kernels.stream[kernel_] < 0) set_integer(kernels.stream[kernel_], value);
      break;
    case Role::context:
      if (kernels.context[kernel_] < 0) set_integer(kernels.context[kernel_], value);
      break;
    case Role::device:
      if (kernels.device[kernel_] < 0) set_integer(kernels.device[kernel_], value);
      device_ = kernels.device[kernel_];
      break;
    case Role::grid: {
      auto& cell = axis_of(metric.axis, kernels.grid_x, kernels.grid_y, kernels.grid_z)[kernel_];
      if (cell < 0) set_integer(cell, value);
      break;
    }
    case Role::block: {
      auto& cell = axis_of(metric.axis, kernels.block_x, kernels.block_y, kernels.block_z)[kernel_];
      if (cell < 0) set_integer(cell, value);
      break;
    }
    case Role::counter:
      break;
  }
  auto& counters = capture_.kernel_counters;
  const auto row = counters.add();
  counters.kernel[row] = kernel_;
  counters.metric[row] = metric.name;
  counters.value[row] = value;
  counters.unit[row] = metric.unit;
}

void ReportBuilder::text(const Metric& metric, std::string_view value) {
  if (metric.role == Metric::Role::device_attribute) {
    attribute(metric, std::string(value));
    return;
  }
  auto& counters = capture_.kernel_counters;
  const auto row = counters.add();
  counters.kernel[row] = kernel_;
  counters.metric[row] = metric.name;
  counters.text[row] = capture_.strings.intern(value);
  counters.unit[row] = metric.unit;
}

void ReportBuilder::rule(const RuleText& rule) {
  auto& rules = capture_.kernel_rules;
  const auto row = rules.add();
  auto& strings = capture_.strings;
  rules.kernel[row] = kernel_;
  rules.section[row] = strings.intern(rule.section);
  rules.rule[row] = strings.intern(rule.rule);
  rules.kind[row] = strings.intern(rule.kind);
  rules.description[row] = strings.intern(rule.description);
  rules.speedup_kind[row] = strings.intern(rule.speedup_kind);
  rules.speedup[row] = rule.speedup;
}

void ReportBuilder::attribute(const Metric& metric, std::string value) {
  auto [at, fresh] =
      attributes_[device_].try_emplace(static_cast<std::uint32_t>(metric.name), std::move(value));
  if (!fresh && at->second != value && !value.empty())
    capture_.note_quality(
        QualityCode::attribute_changed,
        fmt::format("{} is not the same on every row of device {}; the first value is kept",
                    capture_.text(metric.name), device_));
}

void ReportBuilder::finish() {
  sum_shared_memory();
  for (const auto& [device, cc] : capability_) attributes_.try_emplace(device);
  for (const auto& [device, attributes] : attributes_) {
    const auto number = std::max<std::int64_t>(device, 0);
    const auto row = capture_.device_row(static_cast<std::int32_t>(number));
    std::map<std::string_view, std::string_view> by_name;
    for (const auto& [metric, value] : attributes) {
      const std::string_view name = capture_.text(Text{metric}).substr(kDeviceAttribute.size());
      by_name[name] = value;
      capture_.set_metadata(fmt::format("device.{}.{}", number, name), value);
    }
    auto& devices = capture_.devices;
    devices.vendor[row] = capture_.strings.intern("nvidia");
    if (const auto name = by_name.find("display_name"); name != by_name.end())
      devices.name[row] = capture_.strings.intern(name->second);
    if (const auto cc = capability_.find(device); cc != capability_.end()) {
      devices.compute_major[row] = cc->second[0];
      devices.compute_minor[row] = cc->second[1];
    }
    fill(devices.compute_major[row], by_name, "compute_capability_major");
    fill(devices.compute_minor[row], by_name, "compute_capability_minor");
    fill(devices.sm_count[row], by_name, "multiprocessor_count");
    fill(devices.memory_bytes[row], by_name, "total_memory");
    fill(devices.max_threads_per_sm[row], by_name, "max_threads_per_multiprocessor");
    fill(devices.registers_per_sm[row], by_name, "max_registers_per_multiprocessor");
    fill(devices.shared_bytes_per_sm[row], by_name, "max_shared_memory_per_multiprocessor");
    fill(devices.clock_khz[row], by_name, "clock_rate");
  }
}

}  // namespace gf::ncu
