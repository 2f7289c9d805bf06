#include "report/html/page.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <new>
#include <optional>
#include <vector>

#include "analyze/call_tree.h"
#include "analyze/findings/findings.h"
#include "analyze/work/work.h"
#include "core/base64.h"
#include "core/version.h"
#include "model/levels.h"
#include "report/claims/claims.h"
#include "report/compare/compare.h"
#include "report/events/timeline_data.h"
#include "report/json.h"
#include "report/ranks/ranks.h"
#include "report/summary.h"

namespace gf {

std::string gzipped(std::string_view bytes, int effort) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, effort, Z_DEFLATED, kGzip, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out;
  char buffer[1 << 16];
  int state = Z_OK;
  // zlib counts input in 32 bits, so that large inputs go in pieces.
  while (state != Z_STREAM_END) {
    const auto piece = bytes.substr(0, 1u << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    const bool last = piece.size() == bytes.size();
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer);
      stream.avail_out = sizeof buffer;
      state = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
      out.append(buffer, sizeof buffer - stream.avail_out);
    } while (stream.avail_out == 0);
    bytes.remove_prefix(piece.size());
  }
  deflateEnd(&stream);
  return out;
}

Result<std::string> filled_page(std::string_view answer, std::string_view timeline) {
  if (kPageBefore.empty())
    return fail("this build has no HTML report: it was built without Node", {}, -1,
                "run ./dev setup, then ./dev build");
  std::string page(kPageBefore);
  // Of large answers the last twentieth of the size costs more than half of the time.
  page += base64(gzipped(answer, answer.size() > (1 << 20) ? 6 : 9));
  page += kPageBetween;
  page += timeline;
  return page += kPageAfter;
}

PageLabel page_label(const Label& label) {
  return {std::string(label.id), std::string(label.text), std::string(label.short_text),
          std::string(label.meaning)};
}

std::vector<PageLabel> page_labels(std::span<const Label> labels) {
  std::vector<PageLabel> out;
  for (const auto& label : labels) out.push_back(page_label(label));
  return out;
}

std::vector<PageLabel> level_page_labels() {
  std::vector<PageLabel> out;
  for (const LevelRow& row : kLevelRows) out.push_back(page_label(label_of_metric(row.id)));
  return out;
}

namespace {

/// Of a page of 12 MB at most, which opens within seconds; of more, fewer events are held one by
/// one.
std::string timeline_text(const Context& context, TimelineData data) {
  constexpr std::size_t kMost = 11'300'000;
  // It is packed already: more effort costs time and gains little.
  std::string text = base64(gzipped(packed_timeline(data), 6));
  for (auto budget = std::min(static_cast<double>(data.total), double{kPageEvents});
       text.size() > kMost && budget >= 1;) {
    budget *= 0.97 * kMost / static_cast<double>(text.size());
    data = timeline_data(context, static_cast<std::size_t>(budget));
    text = base64(gzipped(packed_timeline(data), 6));
  }
  return text;
}

void add_labels(std::vector<PageLabel>& labels, const std::vector<SampledReading>& readings) {
  for (const auto& reading : readings)
    if (std::ranges::count(labels, reading.id, &PageLabel::id) == 0)
      labels.push_back(page_label(label_of_metric(reading.id)));
}

std::vector<PageLabel> reading_page_labels(const Analysis& analysis) {
  std::vector<PageLabel> labels;
  for (const auto& device : analysis.samples.devices) add_labels(labels, device.readings);
  if (!analysis.samples.devices.empty()) add_labels(labels, analysis.samples.host);
  return labels;
}

}  // namespace

Result<std::string> analysis_html(const Analysis& analysis, const Context* context, PageOrder order,
                                  const CeilingsFile* ceilings) {
  std::string json = fmt::format(R"({{"page":"{}","version":"{}","headline":)",
                                 order == PageOrder::energy ? "energy" : "analysis", kVersion);
  json_string(json, headline(analysis));
  json += ",\"subject\":";
  json_string(json, subject(analysis));
  json += ",\"shortcomings\":";
  to_json(json, shortcomings(analysis));
  json += ",\"labels\":";
  to_json(json, PageLabels{level_page_labels(), page_labels(cause_labels()),
                           page_labels(bar_labels()), page_labels(phase_labels()),
                           page_labels(energy_labels()), reading_page_labels(analysis)});
  json += ",\"hasTimeline\":";
  std::optional<TimelineData> timeline;
  if (context) timeline = timeline_data(*context);
  const bool has_timeline = timeline && timeline->duration_ns > 0 && !timeline->lanes.empty();
  to_json(json, has_timeline);
  json += ",\"work\":";
  std::optional<WorkUse> work;
  if (context && !context->devices.empty()) work = measure_work(*context, analysis, ceilings);
  to_json(json, work);
  json += ",\"tree\":";
  std::vector<CallNode> tree;
  if (context) tree = call_tree(*context, analysis);
  to_json(json, tree);
  json += ",\"switches\":";
  std::optional<WhatIfSwitches> switches;
  if (context) switches = replayed_switches(analysis, *context);
  to_json(json, switches);
  json += ",\"analysis\":";
  to_json(json, analysis);
  json += '}';
  return filled_page(json,
                     has_timeline ? timeline_text(*context, std::move(*timeline)) : std::string());
}

Result<std::string> ranks_html(const JobRanks& job) {
  PageLabels labels;
  labels.causes = page_labels(cause_labels());
  std::string json = fmt::format(R"({{"page":"ranks","version":"{}","labels":)", kVersion);
  to_json(json, labels);
  json += ",\"sentences\":";
  to_json(json, ranks_sentences(job));
  json += ",\"job\":";
  to_json(json, job);
  json += '}';
  return filled_page(json);
}

Result<std::string> sweep_html(const Sweep& sweep) {
  PageLabels labels;
  labels.levels = level_page_labels();
  std::string json = fmt::format(R"({{"page":"sweep","version":"{}","labels":)", kVersion);
  to_json(json, labels);
  json += ",\"sweep\":";
  to_json(json, sweep);
  json += '}';
  return filled_page(json);
}

Result<std::string> reproduction_html(const Reproduction& answer, const Sweep* sweep) {
  PageLabels labels;
  labels.levels = level_page_labels();
  std::string json = fmt::format(R"({{"page":"claims","version":"{}","labels":)", kVersion);
  to_json(json, labels);
  json += ",\"title\":";
  to_json(json, answer.title);
  json += ",\"summary\":";
  to_json(json, reproduction_summary(answer));
  json += ",\"claims\":";
  to_json(json, said_claims(answer));
  json += ",\"sweep\":";
  if (sweep)
    to_json(json, *sweep);
  else
    json += "null";
  json += '}';
  return filled_page(json);
}

Result<std::string> comparison_html(const Comparison& comparison, std::size_t rows) {
  std::vector<std::string> sentences;
  for (std::size_t run = 1; run < comparison.runs.size(); ++run) {
    sentences.push_back(comparison_headline(comparison, run));
    for (const auto& likeness : comparison.likeness)
      if (likeness.run == static_cast<std::int64_t>(run))
        if (auto alike = alike_sentence(likeness); !alike.empty())
          sentences.push_back(std::move(alike));
  }
  std::string json = fmt::format(R"({{"page":"compare","version":"{}","rows":{},"sentences":)",
                                 kVersion, std::min<std::size_t>(rows, 1'000'000));
  to_json(json, sentences);
  std::vector<std::string> culprits;
  for (const auto& culprit : comparison.culprits)
    culprits.push_back(run_letter(static_cast<std::size_t>(culprit.run)) + ": " +
                       culprit_sentence(culprit));
  json += ",\"culprits\":";
  to_json(json, culprits);
  json += ",\"differs\":";
  to_json(json, difference_sentence(comparison));
  PageLabels labels;
  labels.levels = level_page_labels();
  labels.causes = page_labels(cause_labels());
  labels.bars = page_labels(bar_labels());
  labels.phases = page_labels(phase_labels());
  json += ",\"labels\":";
  to_json(json, labels);
  json += ",\"comparison\":";
  to_json(json, comparison);
  json += '}';
  return filled_page(json);
}

}  // namespace gf
