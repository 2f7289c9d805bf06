#include "analyze/kernel_rates/sample_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "model/counter_values.h"
#include "model/metrics.h"

namespace gf {

bool counted_in_sms(std::string_view metric) {
  const MetricInput* input = find_input(metric, MetricSource::pm);
  if (!input) return false;
  for (const char* unit : {"sm__", "smsp__", "l1tex__"})
    if (input->expression.find(unit) != std::string_view::npos) return true;
  return false;
}

std::vector<Nanos> cut_samples(const Capture& capture, std::uint32_t device,
                               std::span<const Interval> spans) {
  const Text cycles = capture.strings.find("sm.cycles"_metric);
  if (cycles == Text::none) return {};
  struct Sample {
    Nanos start;
    double clock;
  };
  std::vector<Sample> samples;
  each_counter_value(capture, spans, {device, {cycles}},
                     [&](std::uint32_t, Text, Nanos start, Nanos duration, double value) {
                       if (duration > 0)
                         samples.push_back({start, value / static_cast<double>(duration)});
                     });
  std::vector<Nanos> cut;
  for (std::size_t i = 1; i + 1 < samples.size(); ++i)
    if (2 * samples[i].clock < std::min(samples[i - 1].clock, samples[i + 1].clock))
      cut.push_back(samples[i].start);
  std::sort(cut.begin(), cut.end());
  return cut;
}

Intervals traced_spans(const Capture& capture, const Intervals& busy) {
  const auto& windows = capture.recording_windows;
  if (windows.empty()) return {{busy.front().start, busy.back().end}};
  Intervals out;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const auto by_start = [](const Interval& span, Nanos at) { return span.start < at; };
    const auto first = std::lower_bound(busy.begin(), busy.end(), windows.start_ns[i], by_start),
               last = std::lower_bound(busy.begin(), busy.end(),
                                       windows.start_ns[i] + windows.duration_ns[i], by_start);
    if (first != last)
      out.push_back(
          {first->start, std::min((last - 1)->end, windows.start_ns[i] + windows.duration_ns[i])});
  }
  return normalised(std::move(out));
}

namespace {

class SampleReader {
 public:
  SampleReader(const Capture& capture, std::uint32_t device, const Intervals& traced)
      : capture_(capture), device_(device) {
    for (const auto& span : traced)
      around_.push_back({span.start - kShiftReach, span.end + kShiftReach});
    around_ = normalised(std::move(around_));
  }

  /// Samples of one span belong together; spans of PM sampling are those that gpu.busy has.
  void read_spans(Text busy_id) {
    each_counter_value(capture_, around_, {device_, {busy_id}},
                       [&](std::uint32_t, Text, Nanos start, Nanos duration, double value) {
                         if (duration <= 0) return;
                         const Interval span{start, start + duration};
                         if (!holds(around_, span)) return;
                         by_start_[start] = out_.all.size();
                         out_.all.push_back({span, 0, value, {}, false});
                       });
  }

  /// Adds every other metric to the samples of its span.
  CounterSamples read_values(Text busy_id) {
    // The sample that the last value belongs to: its other metrics come next.
    auto sample = by_start_.end();
    each_counter_value(
        capture_, around_, {device_, {}},
        [&](std::uint32_t, Text id, Nanos start, Nanos duration, double value) {
          if (id == busy_id || duration <= 0) return;
          if (sample == by_start_.end() || sample->first != start) sample = by_start_.find(start);
          if (sample == by_start_.end() || out_.all[sample->second].span.length() != duration)
            return;
          const Column column = column_of(id);
          auto& values = out_.all[sample->second].values;
          if (values.size() <= column.at)
            values.resize(column.at + 1, std::numeric_limits<double>::quiet_NaN());
          values[column.at] = value;
          if (!column.ratio) values[column.at] /= static_cast<double>(duration);
        });
    const auto cut = cut_samples(capture_, device_, around_);
    for (auto& one : out_.all)
      one.whole = std::isfinite(one.busy) && one.values.size() == out_.metrics.size() &&
                  !std::binary_search(cut.begin(), cut.end(), one.span.start) &&
                  std::all_of(one.values.begin(), one.values.end(),
                              [](double value) { return std::isfinite(value); });
    return std::move(out_);
  }

 private:
  struct Column {
    std::size_t at;
    bool ratio;
  };
  Column column_of(Text id) {
    const auto [column, added] = columns_.try_emplace(id, Column{columns_.size(), false});
    if (added) {
      const auto* metric = find_metric(capture_.text(id));
      column->second.ratio = metric && metric->unit == "ratio";
      out_.metrics.push_back(id);
    }
    return column->second;
  }

  const Capture& capture_;
  std::uint32_t device_;
  Intervals around_;
  std::unordered_map<Nanos, std::size_t> by_start_;
  CounterSamples out_;
  std::map<Text, Column> columns_;
};

/// A sample begins where the one before it ended, unless samples between them are missing: what it
/// begins earlier than that is a step of the clock, and so is what it begins later by less than
/// half a sample. Further back than the clocks may lie apart is another recording.
void take_out_steps(std::vector<CounterSample>& samples) {
  Nanos steps = 0, end = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto& sample = samples[i];
    const Nanos late = end - sample.span.start;
    if (i > 0 && late > -sample.span.length() / 2 && late < kShiftReach) steps += late;
    end = sample.span.end;
    sample.steps = steps;
    sample.span = {sample.span.start + steps, sample.span.end + steps};
  }
}

}  // namespace

CounterSamples read_counter_samples(const Capture& capture, std::uint32_t device,
                                    const Intervals& traced) {
  const Text busy_id = capture.strings.find("gpu.busy"_metric);
  if (busy_id == Text::none) return {};
  SampleReader reader(capture, device, traced);
  reader.read_spans(busy_id);
  CounterSamples out = reader.read_values(busy_id);
  take_out_steps(out.all);
  return out;
}

}  // namespace gf
