#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "core/error.h"
#include "core/text.h"
#include "import/csv_cells.h"
#include "import/nsight_compute/csv_table.h"
#include "import/nsight_compute/units.h"
#include "model/capture.h"

namespace gf::ncu {

namespace {

struct Label {
  std::string_view label, metric, unit;  // unit empty: any
};

// From the section files that ship with the tool (SpeedOfLight, ComputeWorkloadAnalysis,
// MemoryWorkloadAnalysis, LaunchStatistics, Occupancy, SchedulerStatistics), versions 2020 to 2026.
constexpr std::array<Label, 47> kLabels{{
    {"Duration", "gpu__time_duration.sum", "ns"},
    {"Elapsed Cycles", "sm__cycles_elapsed.max", "cycle"},
    {"SM Active Cycles", "sm__cycles_active.avg", "cycle"},
    {"SM Frequency", "smsp__cycles_elapsed.avg.per_second", ""},
    {"DRAM Frequency", "dram__cycles_elapsed.avg.per_second", ""},
    {"Memory Throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"Memory Throughput", "dram__bytes.sum.per_second", "byte/s"},
    {"DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active", "%"},
    {"L2 Cache Throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"Compute (SM) [%]", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    {"Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active", ""},
    {"Executed Ipc Elapsed", "sm__inst_executed.avg.per_cycle_elapsed", ""},
    {"Issued Ipc Active", "sm__inst_issued.avg.per_cycle_active", ""},
    {"Issue Slots Busy", "sm__inst_issued.avg.pct_of_peak_sustained_active", "%"},
    {"SM Busy", "sm__instruction_throughput.avg.pct_of_peak_sustained_active", "%"},
    {"L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct", "%"},
    {"L2 Hit Rate", "lts__t_sector_hit_rate.pct", "%"},
    {"Registers Per Thread", "launch__registers_per_thread", ""},
    {"Static Shared Memory Per Block", "launch__shared_mem_per_block_static", ""},
    {"Dynamic Shared Memory Per Block", "launch__shared_mem_per_block_dynamic", ""},
    {"Driver Shared Memory Per Block", "launch__shared_mem_per_block_driver", ""},
    {"Shared Memory Configuration Size", "launch__shared_mem_config_size", ""},
    {"Threads", "launch__thread_count", ""},
    {"Waves Per SM", "launch__waves_per_multiprocessor", ""},
    {"Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct", "%"},
    {"Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "%"},
    {"Theoretical Active Warps per SM", "sm__maximum_warps_avg_per_active_cycle", ""},
    {"# SMs", "launch__sm_count", ""},
    {"Local Memory Spilling Requests", "derived__local_spilling_requests", ""},
    {"Local Memory Spilling Request Overhead", "derived__local_spilling_requests_pct", "%"},
    {"Block Size", "launch__block_size", ""},
    {"Grid Size", "launch__grid_size", ""},
    {"Block Limit SM", "launch__occupancy_limit_blocks", ""},
    {"Block Limit Registers", "launch__occupancy_limit_registers", ""},
    {"Block Limit Shared Mem", "launch__occupancy_limit_shared_mem", ""},
    {"Block Limit Warps", "launch__occupancy_limit_warps", ""},
    {"Block Limit Barriers", "launch__occupancy_limit_barriers", ""},
    {"Achieved Active Warps Per SM", "sm__warps_active.avg.per_cycle_active", ""},
    {"One or More Eligible", "smsp__issue_active.avg.pct_of_peak_sustained_active", "%"},
    {"No Eligible", "smsp__issue_inst0.avg.pct_of_peak_sustained_active", "%"},
    {"Issued Warp Per Scheduler", "smsp__issue_active.avg.per_cycle_active", ""},
    {"Active Warps Per Scheduler", "smsp__warps_active.avg.per_cycle_active", ""},
    {"Eligible Warps Per Scheduler", "smsp__warps_eligible.avg.per_cycle_active", ""},
    {"Executed Instructions", "smsp__inst_executed.sum", ""},
    {"Issued Instructions", "smsp__inst_issued.sum", ""},
}};

/// The metric behind a label of the standard sections; the label itself when it is a metric name or
/// not known. With --print-metric-name label-name the name follows the label. `base_unit` tells
/// apart labels that two sections share ("Memory Throughput" in % and in byte/s).
std::string_view metric_of_label(std::string_view label, std::string_view base_unit) {
  for (const Label& known : kLabels)
    if (known.label == label && (known.unit.empty() || known.unit == base_unit))
      return known.metric;
  const auto name = label.substr(label.find_last_of(' ') + 1);
  return name.find("__") == name.npos ? label : trimmed(name, "()[]");
}

/// The number style of a page, from its first rows.
NumberStyle style_of_column(const CsvTable& table, int value_at) {
  NumberStyleVote vote;
  std::vector<std::string_view> row;
  CsvReader reader(table.text, table.separator);
  reader.next(row);
  for (int i = 0; i < 20'000 && reader.next(row); ++i) vote.add(cell_of(row, value_at));
  return vote.style();
}

/// The details page has one row a kernel and metric, or a kernel and rule; a summary one a kernel
/// and metric, with the mean over its launches.
class DetailsPage {
 public:
  DetailsPage(Capture& capture, ReportBuilder& builder, const CsvTable& table)
      : capture_(capture),
        builder_(builder),
        columns_(table.header),
        name_at_(find_column(table.header, "Metric Name")),
        unit_at_(find_column(table.header, "Metric Unit")),
        value_at_(value_column(table)),
        rule_at_(find_column(table.header, "Rule Name")),
        section_at_(find_column(table.header, "Section Name")),
        kind_at_(find_column(table.header, "Rule Type")),
        advice_at_(find_column(table.header, "Rule Description")),
        speedup_kind_at_(find_column(table.header, "Estimated Speedup Type")),
        speedup_at_(find_column(table.header, "Estimated Speedup")),
        style_(style_of_column(table, value_at_)),
        rows_(table, {{name_at_, value_at_, true}, {rule_at_, advice_at_, false}}) {}

  static int value_column(const CsvTable& table) {
    const int value = find_column(table.header, "Metric Value");
    return value >= 0 ? value : find_column(table.header, "Average");
  }

  /// The place where another table follows.
  std::size_t read() {
    std::vector<std::string_view> row;
    while (rows_.next(row)) {
      const bool metric = !cell_of(row, name_at_).empty(), rule = !cell_of(row, rule_at_).empty();
      if (!(metric || rule) || !take_kernel(row)) {
        rows_.bad_row();
        continue;
      }
      if (metric) add_metric(row);
      if (rule) add_rule(row);
    }
    rows_.note(capture_);
    rounding_.note(capture_);
    return rows_.next_table();
  }

 private:
  /// A metric is looked up once for each pair of label and unit; the unit may change from kernel to
  /// kernel.
  struct Known {
    ReportBuilder::Metric metric;
    Unit unit;
  };

  /// The kernel that a row is about; false where the row does not say. Kernels of a page have
  /// numbers; those of a summary are what was launched alike.
  bool take_kernel(const std::vector<std::string_view>& row) {
    Launch launch = columns_.read(row);
    if (launch.launches < 0) {
      if (columns_.id(row).empty()) return false;
      key_ = fmt::format("{}/{}", launch.pid, columns_.id(row));
    } else {
      const auto& [grid, block] = std::pair(launch.grid, launch.block);
      key_ = fmt::format("{}/{}/{}/{},{},{}/{},{},{}", launch.pid, launch.device, launch.name,
                         grid[0], grid[1], grid[2], block[0], block[1], block[2]);
      if (launch.name.empty()) launch.name = "(all kernels)";
    }
    if (key_ == current_) return true;
    current_ = key_;
    const auto [at, fresh] = kernels_.try_emplace(key_, 0);
    if (!fresh) {
      builder_.resume_kernel(kernel_ = at->second);
      return true;
    }
    at->second = kernel_ = builder_.begin_kernel(launch);
    if (capture_.report_kernels.size() > 1) return true;
    capture_.set_metadata("process", columns_.process_name(row));
    capture_.set_metadata("host", columns_.host_name(row));
    return true;
  }

  void add_rule(const std::vector<std::string_view>& row) {
    RuleText rule{cell_of(row, section_at_), cell_of(row, rule_at_), cell_of(row, kind_at_),
                  cell_of(row, advice_at_), cell_of(row, speedup_kind_at_)};
    if (const auto speedup = parse_number(cell_of(row, speedup_at_), style_))
      rule.speedup = speedup->value;
    builder_.rule(rule);
  }

  const Known& known(std::string_view label, std::string_view printed_unit) {
    key_.assign(label).append("\t").append(printed_unit);
    const auto at = known_.find(key_);
    if (at != known_.end()) return at->second;
    const Unit unit = parse_unit(printed_unit);
    const auto metric = builder_.metric(metric_of_label(label, unit.base), unit.base);
    return known_.emplace(key_, Known{metric, unit}).first->second;
  }

  void add_metric(const std::vector<std::string_view>& row) {
    const std::string_view label = cell_of(row, name_at_), value = cell_of(row, value_at_);
    const auto& [metric, unit] = known(label, cell_of(row, unit_at_));
    const auto name = static_cast<std::uint32_t>(metric.name);
    if (!seen_.insert(std::uint64_t{kernel_} << 32 | name).second) return;
    if (is_no_value(value)) return;
    if (const auto number = parse_cell(value, style_, unit.exponent)) {
      rounding_.add(*number, label);
      builder_.number(metric, number->value * unit.factor);
    } else {
      builder_.text(metric, value);
    }
  }

  Capture& capture_;
  ReportBuilder& builder_;
  const LaunchColumns columns_;
  const int name_at_, unit_at_, value_at_, rule_at_, section_at_, kind_at_, advice_at_,
      speedup_kind_at_, speedup_at_;
  const NumberStyle style_;
  TableRows rows_;
  RoundingLoss rounding_;
  std::unordered_map<std::string, Known> known_;
  std::unordered_map<std::string, std::uint32_t> kernels_;  // by key: row of report_kernels
  std::unordered_set<std::uint64_t> seen_;  // kernel and metric: sections repeat some
  std::string current_, key_;
  std::uint32_t kernel_ = kNoRow;
};

}  // namespace

bool has_rows_of_metrics(const CsvTable& table) {
  return find_column(table.header, "Metric Name") >= 0;
}

Result<std::size_t> read_details_page(Capture& capture, ReportBuilder& builder,
                                      const CsvTable& table, const std::string& path) {
  if (DetailsPage::value_column(table) < 0)
    return fail("a details page without the column \"Metric Value\"", path,
                static_cast<std::int64_t>(table.offset), "export it again with ncu --csv");
  return DetailsPage(capture, builder, table).read();
}

}  // namespace gf::ncu
