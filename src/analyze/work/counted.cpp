#include "analyze/work/counted.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "analyze/utilization/kernel_levels.h"

namespace gf::work {
namespace {

/// The .sum of the counters of a chip's tensor paths.
std::unordered_set<std::string> operation_counters(const Chip* chip) {
  std::unordered_set<std::string> names;
  if (!chip) return names;
  for (const auto& path : tensor_paths())
    if (path.chip == chip->id)
      each_term(path.counters,
                [&](std::string_view name, bool) { names.insert(fmt::format("{}.sum", name)); });
  return names;
}

/// Ways to count the bytes of device memory: one counter, or reads and writes. A report mostly has
/// one of them; the first that it has counts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kByteCounters{{
    {"dram__bytes.sum", ""},
    {"dram__bytes_read.sum", "dram__bytes_write.sum"},
    {"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"},
    {"dram__sectors_read.sum", "dram__sectors_write.sum"},
}};

void add(double& sum, double value) { sum = (std::isnan(sum) ? 0 : sum) + value; }

}  // namespace

CountedWork::CountedWork(const Context& context) : report_row_(&context.matching.report_row) {
  const Capture& capture = context.capture;
  const std::size_t rows = capture.report_kernels.size();
  if (rows == 0) return;
  const auto wanted = operation_counters(chip_of(capture));
  operations_.assign(rows, NAN);
  std::array<std::vector<double>, kByteCounters.size()> read, written;
  for (auto& column : read) column.assign(rows, NAN);
  for (auto& column : written) column.assign(rows, NAN);
  // Where a counter's values go: a report holds the same names again and again.
  struct Target {
    bool operations = false;
    std::vector<double>* bytes = nullptr;
  };
  std::unordered_map<std::uint32_t, Target> targets;
  const auto& counters = capture.kernel_counters;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const auto row = counters.kernel[i];
    if (row >= rows || std::isnan(counters.value[i])) continue;
    auto [target, fresh] =
        targets.try_emplace(static_cast<std::uint32_t>(counters.metric[i]), Target{});
    if (fresh) {
      const auto name = capture.text(counters.metric[i]);
      target->second.operations = wanted.contains(std::string(name));
      for (std::size_t way = 0; way < kByteCounters.size(); ++way) {
        if (name == kByteCounters[way].first) target->second.bytes = &read[way];
        if (name == kByteCounters[way].second) target->second.bytes = &written[way];
      }
    }
    if (target->second.operations) add(operations_[row], counters.value[i]);
    if (target->second.bytes) (*target->second.bytes)[row] = counters.value[i];
  }
  bytes_.assign(rows, NAN);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t way = 0; way < kByteCounters.size() && std::isnan(bytes_[row]); ++way) {
      const double more = kByteCounters[way].second.empty() ? 0 : written[way][row];
      constexpr double kSector = 32;
      bytes_[row] = (read[way][row] + more) * (way == 3 ? kSector : 1);
    }
}

}  // namespace gf::work
