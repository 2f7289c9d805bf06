// Slices of Perfetto's tracks: PyTorch's operations and calls, in its first version GPU work too,
// and all that rocprofv3 writes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/perfetto/names.h"
#include "import/trace_rows.h"

namespace gf::perfetto {

class Slices {
 public:
  Slices(Capture& capture, TraceRows& rows) : c_(capture), rows_(rows) {}
  void track(std::string_view descriptor);
  void event(std::string_view event, Nanos time, const SequenceNames& names);
  /// After the last packet: begin and end of each slice are paired, and rows made of them.
  void finish();

 private:
  struct Track {
    std::string name;
    std::int64_t pid = -1, tid = -1;
  };
  struct Slice {
    Text name{}, category{};
    Nanos start = 0, end = -1;
    std::uint64_t track = 0;
    std::map<std::string, std::int64_t, std::less<>> numbers;
    std::map<std::string, std::string, std::less<>> texts;
    std::map<std::string, std::vector<std::int64_t>, std::less<>> lists;
    std::int64_t number(std::string_view key) const;
  };
  struct Ends {
    std::vector<std::size_t> begins;  // numbers of slices
    std::vector<Nanos> ends;
  };

  void annotate(std::string_view annotation, Slice& slice, const SequenceNames& names) const;
  void pair(Ends& ends);
  void add(const Slice& slice);
  void add_work(const Slice& slice, bool copy);
  std::int64_t agent_of(const Slice& slice);

  Capture& c_;
  TraceRows& rows_;
  std::map<std::uint64_t, Track> tracks_;
  std::vector<Slice> slices_;
  std::map<std::uint64_t, Ends> ends_;           // by track
  std::map<std::int64_t, std::int64_t> agents_;  // their GPUs' numbers
};

}  // namespace gf::perfetto
