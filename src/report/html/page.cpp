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

/// gzip of what is put into `bytes` part by part.
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

  std::string bytes;

  /// To be called after each part. ISA-L packs large pieces in half the time of small ones, and
  /// counts them in 32 bits.
  void pack() {
    for (std::string_view left = bytes; left.size() >= kPiece; left = bytes) {
      deflate(left.substr(0, kMost));
      bytes.erase(0, kMost);
    }
  }
  Gzipped finished() && {
    pack();
    stream_.end_of_stream = 1;
    deflate(bytes);
    out_.back().resize(kPart - stream_.avail_out);
    return std::move(out_);
  }

 private:
  void deflate(std::string_view piece) {
    stream_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<std::uint32_t>(piece.size());
    do {
      if (stream_.avail_out == 0) {
        out_.emplace_back(kPart, '\0');
        stream_.next_out = reinterpret_cast<std::uint8_t*>(out_.back().data());
        stream_.avail_out = kPart;
      }
      if (isal_deflate(&stream_) != COMP_OK) throw std::bad_alloc();
    } while (stream_.avail_out == 0);
  }

  static constexpr std::size_t kPiece = 256 << 10, kMost = 1 << 30;
  static constexpr std::uint32_t kPart = 3 << 14;
  isal_zstream stream_{};
  std::unique_ptr<std::uint8_t[]> buffer_;
  Gzipped out_;
};

std::size_t bytes_of(std::span<const std::string_view> parts) {
  std::size_t bytes = 0;
  for (const auto part : parts) bytes += part.size();
  return bytes;
}
std::size_t bytes_of(const Gzipped& parts) {
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += part.size();
  return bytes;
}

/// The page around an answer and a timeline, each packed and gzipped.
Result<std::string> page_around(const Gzipped& answer, const Gzipped& timeline) {
  if (kPageBefore.empty())
    return fail("this build has no HTML report: it was built without Node", {}, -1,
                "run ./dev setup, then ./dev build");
  std::string page;
  page.reserve(kPageBefore.size() + in_base64(bytes_of(answer)) + kPageBetween.size() +
               in_base64(bytes_of(timeline)) + kPageAfter.size());
  page += kPageBefore;
  for (const auto& part : answer) append_base64(page, part);
  page += kPageBetween;
  for (const auto& part : timeline) append_base64(page, part);
  return page += kPageAfter;
}

}  // namespace

Gzipped gzipped(std::span<const std::string_view> parts, GzipLevel level) {
  Gzip gzip(level);
  for (const auto part : parts) {
    gzip.bytes += part;
    gzip.pack();
  }
  return std::move(gzip).finished();
}

Result<std::string> filled_page(std::string_view answer) {
  return page_around(gzipped({&answer, 1}, GzipLevel::fast), {});
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
constexpr std::size_t kMostPacked = 8'475'000;

/// The timeline as the page holds it; one that is small enough however it is packed is packed fast.
Gzipped gzipped(const TimelineData& data) {
  const PackedTimeline packed = packed_timeline(data);
  std::vector<std::string_view> parts{packed.head};
  parts.insert(parts.end(), packed.columns.begin(), packed.columns.end());
  return gzipped(parts, bytes_of(parts) < kMostPacked ? GzipLevel::fast : GzipLevel::small);
}

/// Nothing without events. Of more than a page may have, fewer are held one by one.
Gzipped gzipped_timeline(const Context& context) {
  TimelineData data = timeline_data(context);
  if (data.duration_ns <= 0 || data.lanes.empty()) return {};
  Gzipped packed = gzipped(data);
  for (auto budget = std::min(static_cast<double>(data.total), double{kPageEvents});
       bytes_of(packed) > kMostPacked && budget >= 1;) {
    budget *= 0.97 * kMostPacked / static_cast<double>(bytes_of(packed));
    data = timeline_data(context, static_cast<std::size_t>(budget));
    packed = gzipped(data);
  }
  return packed;
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

/// The page's answer as JSON, packed while it is written: of a large capture it is megabytes.
class AnswerText {
 public:
  std::string& json() { return gzip_.bytes; }

  /// Writes a list as to_json() does, row by row.
  template <class T>
  void put(const std::vector<T>& rows) {
    json() += '[';
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i > 0) json() += ',';
      to_json(json(), rows[i]);
      gzip_.pack();
    }
    json() += ']';
  }
  template <Described T>
  void put(const T& object) {
    char before = '{';
    each_field(object, [&](const char* name, const auto& value, const char*) {
      json_key(json(), std::exchange(before, ','), name);
      put(value);
    });
    json() += '}';
  }
  template <class T>
  void put(const T& value) {
    to_json(json(), value);
  }
  Gzipped finished() && { return std::move(gzip_).finished(); }

 private:
  Gzip gzip_{GzipLevel::fast};
};

/// What the page tells beside the analysis, each part gone when the next is made.
void add_reports(AnswerText& text, const Analysis& analysis, const Context* context,
                 const CeilingsFile* ceilings) {
  std::optional<HostNesting> nesting;
  if (context) nesting.emplace(context->capture, context->host, context->names);
  text.json() += ",\"work\":";
  if (context && !context->devices.empty())
    text.put(measure_work(*context, analysis, ceilings, &*nesting));
  else
    text.json() += "null";
  text.json() += ",\"tree\":";
  text.put(context ? call_tree(*context, analysis, *nesting) : std::vector<CallNode>());
  nesting.reset();
  std::optional<WhatIfSwitches> switches;
  if (context) switches = replayed_switches(analysis, *context);
  text.json() += ",\"switches\":";
  text.put(switches);
}

}  // namespace

Result<std::string> analysis_html(const Analysis& analysis, const Context* context, PageOrder order,
                                  const CeilingsFile* ceilings) {
  AnswerText text;
  std::string& json = text.json();
  json = fmt::format(R"({{"page":"{}","version":"{}","headline":)",
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
  add_reports(text, analysis, context, ceilings);
  // After them: its small blocks fit into what their large tables left.
  Gzipped timeline;
  if (context) timeline = gzipped_timeline(*context);
  json += ",\"hasTimeline\":";
  to_json(json, !timeline.empty());
  json += ",\"analysis\":";
  text.put(analysis);
  json += '}';
  return page_around(std::move(text).finished(), timeline);
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
