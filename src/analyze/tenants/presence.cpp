#include "analyze/tenants/presence.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace gf {

namespace {

/// When one process was recorded; everything where the capture has no windows of it.
Intervals recorded(const Capture& capture, std::int64_t pid, Interval window) {
  const auto& windows = capture.recording_windows;
  Intervals out;
  for (std::size_t i = 0; i < windows.size(); ++i)
    if (windows.pid[i] == pid)
      out.push_back({windows.start_ns[i], end_of(windows.start_ns[i], windows.duration_ns[i])});
  if (out.empty()) return {window};
  return clip(normalised(std::move(out)), window);
}

std::vector<PresencePiece> cut(const std::vector<Intervals>& active, const Intervals& known) {
  std::vector<std::pair<Nanos, std::uint64_t>> edges;  // a process begins, or ends
  for (std::size_t i = 0; i < active.size(); ++i)
    for (const auto& span : active[i]) {
      edges.emplace_back(span.start, std::uint64_t{1} << i);
      edges.emplace_back(span.end, std::uint64_t{1} << i);
    }
  std::sort(edges.begin(), edges.end());
  std::vector<PresencePiece> pieces;
  std::uint64_t who = 0;
  auto edge = edges.begin();
  for (const auto& span : known) {
    Nanos at = span.start;
    for (; edge != edges.end() && edge->first <= span.end; ++edge) {
      if (edge->first > at) pieces.push_back({{at, edge->first}, who});
      at = std::max(at, edge->first);
      who ^= edge->second;
    }
    if (at < span.end) pieces.push_back({{at, span.end}, who});
  }
  return pieces;
}

}  // namespace

Presence find_presence(const Capture& capture, const DeviceTimeline& timeline) {
  const auto& activities = capture.activities;
  struct Work {
    Intervals spans;
    std::int64_t kernels = 0;
  };
  std::map<std::int64_t, Work> by_pid;
  for (std::size_t i = 0; i < timeline.rows.size(); ++i) {
    const auto row = timeline.rows[i];
    if (activities.pid[row] < 0) continue;
    auto& work = by_pid[activities.pid[row]];
    work.spans.push_back(timeline.spans[i]);
    work.kernels += activities.kind[row] == ActivityKind::kernel;
  }
  Presence out;
  out.known = {timeline.window};
  for (const auto& [pid, work] : by_pid) {
    out.pids.push_back(pid);
    out.kernels.push_back(work.kernels);
    out.known = intersect(out.known, recorded(capture, pid, timeline.window));
  }
  if (out.pids.size() < 2 || out.pids.size() > Presence::kMost || out.known.empty()) return out;
  std::vector<Intervals> active;
  for (auto& [pid, work] : by_pid)
    active.push_back(intersect(normalised(std::move(work.spans)), out.known));
  out.pieces = cut(active, out.known);
  return out;
}

PresenceShare PresenceReader::share_of(Interval span) {
  const auto count = presence_.pids.size();
  PresenceShare out{span.length(), 0, std::vector<double>(count, 0), std::vector<double>(count, 0),
                    std::vector<double>(count, 0)};
  const auto& pieces = presence_.pieces;
  while (first_ < pieces.size() && pieces[first_].span.end <= span.start) ++first_;
  for (std::size_t at = first_; at < pieces.size() && pieces[at].span.start < span.end; ++at) {
    const auto who = pieces[at].who;
    if (who == 0) continue;
    const Nanos inside =
        std::min(pieces[at].span.end, span.end) - std::max(pieces[at].span.start, span.start);
    const int together = std::popcount(who);
    out.active += inside;
    for (std::size_t process = 0; process < count; ++process) {
      if (!(who >> process & 1)) continue;
      const auto length = static_cast<double>(inside);
      if (together == 1) {
        out.alone[process] += length;
      } else {
        out.joint[process] += length;
      }
      out.even[process] += length / together;
    }
  }
  return out;
}

}  // namespace gf
