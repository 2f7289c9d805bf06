#include "report/serving_series.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace gf {

namespace {

/// `key`: in the values of a program or a kind; `quantiles`: there are KEY_p50, _p90 and _p99.
struct Row {
  std::string_view key, name, unit, help;
  bool of_kinds = false, quantiles = false;
};
constexpr Row kRows[] = {
    {"tokens_per_second", "tokens_per_second", "{token}/s",
     "Tokens a second that requests got, in the newest window of kernels."},
    {"joules_per_token", "joules_per_token", "J/{token}",
     "Energy of the GPUs for each token that requests got."},
    {"requests", "requests", "{request}", "Requests of the middle step of those that decode."},
    {"between_tokens_seconds", "between_tokens_seconds", "s",
     "Time from one token of a request to its next.", false, true},
    {"first_token_seconds", "first_token_seconds", "s",
     "Time from a request's arrival to its first token.", false, true},
    {"steps_per_second", "steps_per_second", "{step}/s", "Steps of a kind a second.", true},
    {"tokens_per_second", "kind_tokens_per_second", "{token}/s",
     "Tokens that steps of a kind computed, a second of all steps.", true},
    {"share", "time_ratio", "1", "Share of the steps' time that a kind takes.", true},
    {"joules_per_token", "kind_joules_per_token", "J/{token}",
     "Energy of the GPUs for each token that steps of a kind computed.", true},
    {"step_seconds", "step_seconds", "s", "Time of a step of a kind.", true, true},
};
constexpr std::pair<std::string_view, std::string_view> kQuantiles[] = {
    {"_p50", "0.5"}, {"_p90", "0.9"}, {"_p99", "0.99"}};

void add(ServingSeries& series, const Row& row, const LiveServing& program, const std::string& kind,
         const std::map<std::string, double>& values) {
  const auto take = [&](std::string_view suffix, std::string_view quantile) {
    const auto found = values.find(fmt::format("{}{}", row.key, suffix));
    if (found != values.end())
      series.points.push_back({&program, kind, std::string(quantile), found->second});
  };
  if (!row.quantiles) return take("", "");
  for (const auto& [suffix, quantile] : kQuantiles) take(suffix, quantile);
}

}  // namespace

std::vector<ServingSeries> serving_series(const LiveTable& table) {
  std::vector<ServingSeries> all;
  for (const auto& row : kRows) {
    ServingSeries series{row.name, row.unit, row.help, {}};
    for (const auto& program : table.serving) {
      if (!row.of_kinds) add(series, row, program, "", program.values);
      if (row.of_kinds)
        for (const auto& kind : program.kinds) add(series, row, program, kind.kind, kind.values);
    }
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  ServingSeries ends{
      "window_end_seconds", "s", "When the window ended, in seconds since 1970.", {}};
  for (const auto& program : table.serving)
    ends.points.push_back({&program, "", "", static_cast<double>(program.time_ns) * 1e-9});
  if (!ends.points.empty()) all.push_back(std::move(ends));
  return all;
}

}  // namespace gf
