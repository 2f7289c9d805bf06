// One event of a profile becomes a row of the capture. The xplane and the trace.json importers
// differ in how they find the fields of an event; what an event means is decided here, once.
#pragma once

#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "import/xplane/plane.h"

namespace gf::xplane {

class Programs;

/// The data that all events of a line share.
struct LineContext {
  const Plane* plane = nullptr;
  std::int64_t base_ns = 0;       // absolute time of offset 0
  std::uint32_t thread = kNoRow;  // of a host line
  bool calls_alone = false;       // every event of the line is a GPU runtime call
  std::uint32_t device = kNoRow;  // of a stream line
  std::int64_t stream = -1;
  std::int64_t pid = -1;
  Text threadpool{};                   // the interned queue name
  const Programs* programs = nullptr;  // of the profile, where it holds any
};

/// Activities [first, end) in a row that name the program they are of, which is known, and no
/// operation of it.
struct Unplaced {
  std::uint32_t first = 0, end = 0;
  std::int64_t program = -1;
};
/// Behind those that are there already.
void add(std::vector<Unplaced>& all, const Unplaced& more);

/// Rows of a chunk, with texts of the capture's pool and row numbers of its threads and devices.
struct Part {
  host_ops_table host_ops;
  api_calls_table api_calls;
  activities_table activities;
  handoffs_table handoffs;
  memory_events_table memory_events;
  steps_table steps;
  std::int64_t events = 0, bad = 0, untimed = 0, unnamed = 0;
  const char* first_bad = nullptr;
  /// Texts that stand inside events rather than in the metadata; interned when the part joins the
  /// capture.
  enum class Where : std::uint8_t { op_type, shapes, op, scope };
  struct InlineText {
    Where where;
    std::uint32_t row;
    std::string_view text;
  };
  std::vector<InlineText> texts;
  std::vector<Unplaced> unplaced;  // of the part's activities
  /// Operations that events asked for lately, by program and interned name.
  struct KnownOp {
    std::int64_t program = -1;
    Text op{};
    std::uint32_t row = kNoRow;
  };
  std::array<KnownOp, 1024> known_ops;

  /// Empties the part; its memory stays for the next chunk.
  void clear();
};

/// A text that is interned already or still stands in the source.
struct EventText {
  Text id{};
  std::string_view inline_text;
  bool empty() const { return id == Text{} && inline_text.empty(); }
};

/// One event, as far as the capture has a place for it. -1: not said.
struct EventFields {
  std::uint64_t metadata_id = 0;
  std::int64_t offset_ps = 0, duration_ps = 0;
  bool aggregated = false;
  std::int64_t correlation = -1, context = -1, graph = -1, graph_node = -1, step = -1,
               producer = -1, consumer = -1, program = -1;
  std::uint64_t producer_type = 0, consumer_type = 0;
  std::int64_t allocation_bytes = -1, bytes_allocated = -1, bytes_reserved = -1, address = -1,
               device_id = -1;
  double occupancy_pct = NAN;
  bool has_step = false, kernel = false, memcpy = false, memset = false;
  const Details* details = nullptr;  // stays where it is until the row is added
  EventText op, scope, type, shapes;
  std::string_view op_name;  // the text of `op`
};

/// Adds the row of an event (or none, for bookkeeping). False when its times are impossible.
bool add_row(Part& part, const LineContext& line, const EventName& name, const EventFields& event);

/// Takes the rows of a part behind the capture's own. `file` is the whole input, for byte offsets
/// in quality notes.
void join_part(Capture& capture, Part& part, std::string_view file);

}  // namespace gf::xplane
