// Second pass: a run of events of one line becomes rows. Chunks are independent of each other, so they decode in parallel.
#pragma once

#include <string>
#include <vector>

#include "import/xplane/plane.h"

namespace gf::xplane {

/// What all events of a line have in common.
struct LineContext {
  const Plane* plane = nullptr;
  std::int64_t base_ns = 0;       // absolute time of offset 0
  std::uint32_t thread = kNoRow;  // of a host line
  std::string_view thread_name;
  std::uint32_t device = kNoRow;  // of a stream line
  std::int64_t stream = -1;
  std::int64_t pid = -1;
  Text threadpool{};              // the interned queue name
};

/// Rows of a chunk, with texts of the capture's pool and row numbers of its threads and devices.
struct Part {
  host_ops_table host_ops;
  api_calls_table api_calls;
  activities_table activities;
  handoffs_table handoffs;
  memory_events_table memory_events;
  steps_table steps;
  std::int64_t events = 0, bad = 0, untimed = 0;
  const char* first_bad = nullptr;
  /// Texts that stand inside events rather than in the metadata; interned when the part joins the capture.
  enum class Where : std::uint8_t { op_type, shapes, op, scope };
  struct InlineText { Where where; std::uint32_t row; std::string_view text; };
  std::vector<InlineText> texts;
};

Part decode(std::string_view chunk, const LineContext& line);

}  // namespace gf::xplane
