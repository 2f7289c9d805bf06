#include "report/html/page.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/call_tree.h"
#include "analyze/findings/findings.h"
#include "analyze/host_nesting.h"
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

namespace {

/// gzip of parts that come one after the other.
class Gzip {
 public:
  explicit Gzip(GzipLevel level) {
    isal_deflate_init(&stream_);
    const bool fast = level == GzipLevel::fast;
    const std::uint32_t room = fast ? ISAL_DEF_LVL2_DEFAULT : ISAL_DEF_LVL3_DEFAULT;
    buffer_ = std::make_unique_for_overwrite<std::uint8_t[]>(room);
    stream_.level = fast ? 2 : 3;
    stream_.level_buf = buffer_.get();
    stream_.level_buf_size = room;
    stream_.gzip_flag = IGZIP_GZIP;
  }
  void add(std::string_view bytes) {
    // ISA-L counts input in 32 bits, so that large inputs go in pieces.
    while (!bytes.empty()) {
      const auto piece = bytes.substr(0, std::size_t{1} << 30);
      bytes.remove_prefix(piece.size());
      stream_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(piece.data()));
      stream_.avail_in = static_cast<std::uint32_t>(piece.size());
      deflate_all();
    }
  }
  std::string finished() && {
    stream_.end_of_stream = 1;
    deflate_all();
    return std::move(out_);
  }

 private:
  void deflate_all() {
    do {
      stream_.next_out = part_;
      stream_.avail_out = kPart;
      if (isal_deflate(&stream_) != COMP_OK) throw std::bad_alloc();
      out_.append(reinterpret_cast<char*>(part_), kPart - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  static constexpr std::uint32_t kPart = 1 << 16;
  isal_zstream stream_;
  std::unique_ptr<std::uint8_t[]> buffer_;
  std::uint8_t part_[kPart];
  std::string out_;
};

/// The page around an answer and a timeline, each packed, gzipped and in base64.
Result<std::string> page_around(std::string_view answer, std::string_view timeline) {
  if (kPageBefore.empty())
    return fail("this build has no HTML report: it was built without Node", {}, -1,
                "run ./dev setup, then ./dev build");
  std::string page;
  for (const auto part : {kPageBefore, answer, kPageBetween, timeline, kPageAfter}) page += part;
  return page;
}

}  // namespace

std::string gzipped(std::span<const std::string_view> parts, GzipLevel level) {
  Gzip gzip(level);
  for (const auto part : parts) gzip.add(part);
  return std::move(gzip).finished();
}

Result<std::string> filled_page(std::string_view answer) {
  return page_around(base64(gzipped({&answer, 1}, GzipLevel::fast)), {});
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

// Keeps a page under 12 MB, so that it opens within seconds.
constexpr std::size_t kMostText = 11'300'000;

/// What is small enough however it is packed is packed fast.
std::string text_of(const TimelineData& data) {
  const PackedTimeline packed = packed_timeline(data);
  std::vector<std::string_view> parts{packed.head};
  parts.insert(parts.end(), packed.columns.begin(), packed.columns.end());
  std::size_t bytes = 0;
  for (const auto part : parts) bytes += part.size();
  const bool fits = bytes < kMostText / 4 * 3;  // base64 writes three bytes as four
  return base64(gzipped(parts, fits ? GzipLevel::fast : GzipLevel::small));
}

/// Of more than a page may have, fewer events are held one by one.
std::string timeline_text(const Context& context, TimelineData data) {
  std::string text = text_of(data);
  for (auto budget = std::min(static_cast<double>(data.total), double{kPageEvents});
       text.size() > kMostText && budget >= 1;) {
    budget *= 0.97 * kMostText / static_cast<double>(text.size());
    data = timeline_data(context, static_cast<std::size_t>(budget));
    text = text_of(data);
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

/// The page's answer, packed part by part: of a large capture each part is megabytes of text.
class AnswerText {
 public:
  /// Begins a part, `text` with its key.
  std::string& part(std::string_view text) {
    flush();
    return json_ += text;
  }
  std::string finished() && {
    flush();
    return base64(std::move(gzip_).finished());
  }

 private:
  void flush() {
    gzip_.add(json_);
    json_.clear();
  }

  Gzip gzip_{GzipLevel::fast};
  std::string json_;
};

/// What the page tells beside the analysis, each part gone when the next is made.
void add_reports(AnswerText& text, const Analysis& analysis, const Context* context,
                 const CeilingsFile* ceilings) {
  std::optional<HostNesting> nesting;
  if (context) nesting.emplace(context->capture, context->host, context->names);
  std::optional<WorkUse> work;
  if (context && !context->devices.empty())
    work = measure_work(*context, analysis, ceilings, &*nesting);
  to_json(text.part(",\"work\":"), std::exchange(work, std::nullopt));
  std::vector<CallNode> tree;
  if (context) tree = call_tree(*context, analysis, *nesting);
  to_json(text.part(",\"tree\":"), std::exchange(tree, {}));
  nesting.reset();
  std::optional<WhatIfSwitches> switches;
  if (context) switches = replayed_switches(analysis, *context);
  to_json(text.part(",\"switches\":"), switches);
}

}  // namespace

Result<std::string> analysis_html(const Analysis& analysis, const Context* context, PageOrder order,
                                  const CeilingsFile* ceilings) {
  AnswerText text;
  std::string& json =
      text.part(fmt::format(R"({{"page":"{}","version":"{}","headline":)",
                            order == PageOrder::energy ? "energy" : "analysis", kVersion));
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
  std::string packed;  // at once, so that its columns are gone when the others need memory
  if (has_timeline) packed = timeline_text(*context, std::move(*timeline));
  timeline.reset();
  add_reports(text, analysis, context, ceilings);
  to_json(text.part(",\"analysis\":"), analysis);
  text.part("}");
  return page_around(std::move(text).finished(), packed);
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
  json += ",\"figures\":";
  to_json(json, answer.figures);
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
