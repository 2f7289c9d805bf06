// The parts of a text report. Each gives its lines, or nothing when it has nothing to say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/call_tree.h"
#include "analyze/result.h"
#include "report/text/format.h"

namespace gf {

/// The first line of an answer: what was read, and what of it was analyzed.
std::string title_line(const SourceInfo& source, const std::optional<SourceInfo>& counters,
                       const std::string& subject, const TextStyle& style);
/// A heading over a section, with a remark at the right end of the line.
std::string section_title(const TextStyle& style, std::string_view title,
                          std::string_view remark = {});

std::string ladder_section(const Analysis& analysis, const TextStyle& style);
/// Achieved operations, utilization, items and tokens per second; nothing where none is known.
std::string work_lines(const WorkHeadline& work, const TextStyle& style);
/// "1 284 items per second (64 per step from its shapes), 24.3 GFLOP per item"; empty where no rate
/// is known.
std::string throughput_text(const Throughput& of);
/// Tokens, steps by kind and their waits of a serving engine; nothing where there is none.
std::string serving_section(const Analysis& analysis, const TextStyle& style);
std::string waterfall_section(const Analysis& analysis, const TextStyle& style);
/// Both views down to a hundredth of the device time; the second where it says more.
std::string call_tree_section(const std::vector<CallNode>& nodes, const Analysis& analysis,
                              const TextStyle& style);
std::string devices_section(const Analysis& analysis, const TextStyle& style);
std::string idle_section(const Analysis& analysis, const TextStyle& style, std::size_t rows);
/// The gains that are shown: those of the program itself, or also what programs gained that made
/// such changes.
enum class Gains : std::uint8_t { predicted, with_others };
/// Recommendations number `from` to `to`, the first being 0.
std::string findings_section(const Analysis& analysis, const TextStyle& style, std::size_t from,
                             std::size_t to, Gains gains);
/// Caveats and notes, which have no number.
std::string caveats_section(const Analysis& analysis, const TextStyle& style);
std::string layers_section(const Analysis& analysis, const TextStyle& style, std::size_t rows);
std::string kernels_section(const Analysis& analysis, const TextStyle& style, std::size_t rows);
std::string runtime_section(const Analysis& analysis, const TextStyle& style, std::size_t rows);
/// Energy breakdown; nothing when no device has energy.
std::string energy_section(const EnergyUse& energy, const TextStyle& style, std::size_t rows);
/// Levels and readings over time, and a table of the readings; nothing when nothing was sampled.
std::string over_time_section(const Analysis& analysis, const TextStyle& style);
std::string readings_section(const Analysis& analysis, const TextStyle& style);
/// The shares of a device that several processes used; nothing when none is shared.
std::string tenants_section(const Analysis& analysis, const TextStyle& style);
/// True if a recommendation's command is long enough for its own section.
inline constexpr std::string_view kHowToCollect = "How to collect missing counters";
bool stands_apart(const Finding& finding, const TextStyle& style);
std::string matching_section(const Analysis& analysis, const TextStyle& style);
/// The command that collects the counters of levels without data.
std::string collect_section(const Analysis& analysis, const TextStyle& style);
std::string quality_section(const Analysis& analysis, const TextStyle& style);

}  // namespace gf
