#include "analyze/ranks/label_time.h"

#include <algorithm>

#include "analyze/host_roles.h"

namespace gf {

namespace {

void add_all(std::vector<LabelledSpan>& spans, const Intervals& set, RankTime label) {
  for (const auto& span : set) spans.push_back({span, label});
}

void add(LabelSums& sums, const LabelledSpan& piece, Nanos until) {
  const Nanos end = std::min(piece.span.end, until);
  if (end > piece.span.start) sums[static_cast<std::size_t>(piece.label)] += end - piece.span.start;
}

}  // namespace

DeviceWork device_work(const Capture& capture, const DeviceTimeline& line) {
  std::vector<signed char> collective(capture.strings.size(), -1);  // by name, asked once
  auto is_collective = [&](Text name) {
    auto& known = collective[static_cast<std::uint32_t>(name)];
    if (known < 0) known = is_collective_kernel(capture.text(name)) ? 1 : 0;
    return known == 1;
  };
  DeviceWork work;
  for (std::size_t i = 0; i < line.rows.size(); ++i) {
    const auto row = line.rows[i];
    if (capture.activities.kind[row] != ActivityKind::kernel)
      work.copies.push_back(line.spans[i]);
    else if (is_collective(capture.activities.name[row]))
      work.collectives.push_back(line.spans[i]);
    else
      work.compute.push_back(line.spans[i]);
  }
  work.compute = normalised(std::move(work.compute));
  work.copies = normalised(std::move(work.copies));
  work.collectives = normalised(std::move(work.collectives));
  return work;
}

std::vector<LabelledSpan> label_time(const DeviceTimeline& line, const DeviceWork& work) {
  std::vector<LabelledSpan> spans;
  add_all(spans, work.compute, RankTime::kernels);
  add_all(spans, subtract(work.copies, work.compute), RankTime::copies);
  add_all(spans, subtract(subtract(work.collectives, work.copies), work.compute),
          RankTime::collectives);
  for (const auto& piece : line.idle_pieces) spans.push_back({piece.span, rank_time(piece.reason)});
  std::erase_if(spans, [](const LabelledSpan& piece) { return piece.span.length() <= 0; });
  std::sort(spans.begin(), spans.end(), [](const LabelledSpan& left, const LabelledSpan& right) {
    return left.span.start < right.span.start;
  });
  return spans;
}

LabelIntegral::LabelIntegral(std::vector<LabelledSpan> spans) : spans_(std::move(spans)) {
  LabelSums sums{};
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    if (i % kStride == 0) sums_.push_back(sums);
    add(sums, spans_[i], spans_[i].span.end);
  }
}

LabelSums LabelIntegral::before(Nanos at) const {
  const auto after =
      std::partition_point(spans_.begin(), spans_.end(),
                           [&](const LabelledSpan& piece) { return piece.span.start < at; });
  const auto count = static_cast<std::size_t>(after - spans_.begin());
  if (count == 0) return {};
  const std::size_t stored = (count - 1) / kStride;
  LabelSums sums = sums_[stored];
  for (std::size_t i = stored * kStride; i < count; ++i) add(sums, spans_[i], at);
  return sums;
}

LabelSums LabelIntegral::within(Interval span) const {
  LabelSums sums = before(span.end);
  const LabelSums earlier = before(span.start);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] -= earlier[i];
  return sums;
}

}  // namespace gf
