// The critical path of one rank: the chain of work and waits in replay's graph that ends with the
// last step, of which every nanosecond has one part (docs/critical-path.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/context.h"
#include "analyze/result.h"
#include "core/error.h"
#include "model/enums.h"

namespace gf {

enum class CriticalPart : std::uint8_t {
  kernel,         // a compute kernel runs
  communication,  // a collective's kernel runs
  copy,           // a copy or set runs
  host,           // the host works towards the next launch
  input,          // the host waits for input
  profiler,       // about what recording took on the way to the next launch
  launch,         // from a launch call to the start of what it launched
  gap,            // from one activity of a stream to the next
  dependency,     // from an activity to one of another stream that waited for it
  wake_up,        // from an activity's end to the return of the call that waited for it
  before,         // before anything that the graph knows
};
template <>
struct EnumNames<CriticalPart> {
  static constexpr const char* type = "CriticalPart";
  static constexpr std::array<std::string_view, 11> names{
      "kernel", "communication", "copy",       "host",    "input", "profiler",
      "launch", "gap",           "dependency", "wake_up", "before"};
};

/// A stretch of the path.
struct CriticalPiece {
  CriticalPart part = CriticalPart::host;
  Nanos start_ns = 0, duration_ns = 0;
  std::string name;       // kernel, copy, or operator of the launch that the host works towards
  std::int64_t row = -1;  // of activities, or of api_calls for the host's parts; -1: none
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("part", &CriticalPiece::part,
          "kernel, communication, copy, host, input, profiler, launch, gap, dependency, wake_up or "
          "before");
    visit("start_ns", &CriticalPiece::start_ns, "start on the capture's clock");
    visit("duration_ns", &CriticalPiece::duration_ns, "length");
    visit("name", &CriticalPiece::name,
          "kernel or copy, or the operator that the host works towards");
    visit("row", &CriticalPiece::row,
          "row of activities, or of api_calls for parts of the host; -1: none");
  }
};

/// All pieces of one part, or of one part and name.
struct CriticalSum {
  CriticalPart part = CriticalPart::host;
  std::string name;  // empty: all of the part
  std::int64_t count = 0;
  Nanos ns = 0;
  Share share;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("part", &CriticalSum::part, "as of a piece");
    visit("name", &CriticalSum::name, "as of a piece; empty: all of the part");
    visit("count", &CriticalSum::count, "pieces");
    visit("ns", &CriticalSum::ns, "their time");
    visit("share", &CriticalSum::share, "of the path");
  }
};

struct CriticalPath {
  std::string schema = "gpufathom.critical_path/1";
  SourceInfo source;
  WindowInfo window;
  std::int64_t device = 0;
  std::int64_t steps = 0;  // that the path takes; 0: the window stands for one
  Nanos start_ns = 0, length_ns = 0;
  std::vector<CriticalSum> parts, names;
  std::vector<CriticalPiece> pieces;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &CriticalPath::schema, "name and version of this layout");
    visit("source", &CriticalPath::source, "the capture");
    visit("window", &CriticalPath::window, "the analyzed span");
    visit("device", &CriticalPath::device, "number of the device");
    visit("steps", &CriticalPath::steps,
          "steps of the path, from the end of one step's device work to the end of a later one's; "
          "0: it is of the whole window");
    visit("start_ns", &CriticalPath::start_ns, "start on the capture's clock");
    visit("length_ns", &CriticalPath::length_ns, "length; the parts sum to it");
    visit("parts", &CriticalPath::parts, "time by part, most first");
    visit("names", &CriticalPath::names, "time by part and name, most first");
    visit("pieces", &CriticalPath::pieces, "the path, in order of time");
  }
};

/// The critical path of the device that works most. Errors: a capture without device activities.
Result<CriticalPath> critical_path(const Context& context, const Analysis& analysis);

}  // namespace gf
