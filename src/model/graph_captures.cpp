#include "model/graph_captures.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

namespace gf {

namespace {

enum class Border : std::uint8_t { none, begins, ends };

Border border_of(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (has("StreamBeginCapture") || has("capture_begin")) return Border::begins;
  if (has("StreamEndCapture") || has("capture_end")) return Border::ends;
  return Border::none;
}

struct Edge {
  Nanos at;
  bool begins;
};

/// Nested frames of one capture (the method and the Python function around it) are one; a capture
/// whose end was not recorded is none.
Intervals between(std::vector<Edge> edges) {
  std::sort(edges.begin(), edges.end(), [](const Edge& left, const Edge& right) {
    return std::tuple(left.at, left.begins) < std::tuple(right.at, right.begins);
  });
  Intervals captures;
  bool open = false;
  for (const auto& edge : edges) {
    if (edge.begins) {
      if (open)
        captures.back().start = edge.at;
      else
        captures.push_back({edge.at, INT64_MAX});
      open = true;
    } else if (open) {
      captures.back().end = edge.at;
      open = false;
    }
  }
  if (open) captures.pop_back();
  return normalised(std::move(captures));
}

}  // namespace

GraphCaptures::GraphCaptures(const Capture& capture) {
  std::vector<Border> border(capture.strings.size(), Border::none);
  bool any = false;
  for (std::uint32_t text = 0; text < border.size(); ++text) {
    border[text] = border_of(capture.text(Text{text}));
    any = any || border[text] == Border::begins;
  }
  if (!any) return;
  std::vector<std::vector<Edge>> edges(capture.threads.size());
  const auto add = [&](const auto& table) {
    for (std::uint32_t row = 0; row < table.size(); ++row) {
      const Border kind = border[static_cast<std::uint32_t>(table.name[row])];
      if (kind == Border::none || table.thread[row] >= edges.size()) continue;
      const bool begins = kind == Border::begins;
      const Nanos length = begins ? Nanos{table.duration_ns[row]} : 0;
      edges[table.thread[row]].push_back({table.start_ns[row] + length, begins});
    }
  };
  add(capture.host_ops);
  add(capture.api_calls);
  for (auto& of_thread : edges) {
    of_thread_.push_back(between(std::move(of_thread)));
    of_any_.insert(of_any_.end(), of_thread_.back().begin(), of_thread_.back().end());
  }
  of_any_ = normalised(std::move(of_any_));
}

bool GraphCaptures::at(std::span<const std::uint32_t> threads, Nanos time) const {
  if (of_thread_.empty()) return false;
  return std::any_of(threads.begin(), threads.end(), [&](std::uint32_t thread) {
    return member_at(of_thread_[thread], time) != nullptr;
  });
}

}  // namespace gf
