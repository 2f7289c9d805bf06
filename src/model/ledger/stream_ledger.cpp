// What a stream runs, it runs one after the other, and once.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/format.h"
#include "core/order.h"
#include "model/ledger/ledger.h"

namespace gf {

namespace {

// Programmatic dependent launch lets a kernel begin while the one before it ends: at most 0.7 % of
// the time of all kernels, and never three at once, in the captures of docs/evidence.md.
constexpr std::int64_t kUsualOverlap = 100, kMostOverlap = 50;  // one in so many
constexpr std::int64_t kFewRepeated = 100;

class StreamLedger {
 public:
  explicit StreamLedger(Capture& capture) : capture_(capture), rows_(capture.activities) {}

  void run() {
    for (auto& [key, stream] : streams()) {
      sort_nearly_ordered(stream.begin(), stream.end(),
                          [&](auto left, auto right) { return rank(left) < rank(right); });
      walk(stream);
    }
    tell();
  }

 private:
  using Key = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::int64_t>;

  std::map<Key, std::vector<std::uint32_t>> streams() const {
    std::map<Key, std::vector<std::uint32_t>> out;
    std::vector<std::uint32_t>* last = nullptr;
    Key last_key;
    for (std::uint32_t row = 0; row < rows_.size(); ++row) {
      if (rows_.stream[row] < 0) continue;
      const Key key{rows_.device[row], rows_.pid[row], rows_.context[row], rows_.stream[row]};
      if (!last || key != last_key) {
        last = &out[key];
        last_key = key;
      }
      last->push_back(row);
    }
    return out;
  }

  std::tuple<Nanos, Nanos, Text, std::int64_t, std::int64_t, std::uint32_t> rank(
      std::uint32_t row) const {
    return {rows_.start_ns[row],    rows_.duration_ns[row], rows_.name[row],
            rows_.correlation[row], rows_.graph_node[row],  row};
  }

  bool same(std::uint32_t left, std::uint32_t right) const {
    return rows_.start_ns[left] == rows_.start_ns[right] &&
           rows_.duration_ns[left] == rows_.duration_ns[right] &&
           rows_.name[left] == rows_.name[right] &&
           rows_.correlation[left] == rows_.correlation[right] &&
           rows_.graph_node[left] == rows_.graph_node[right] && rows_.duration_ns[left] > 0;
  }

  /// Nodes of one launch of a graph may run beside each other and yet be told as of one stream.
  bool of_one_graph(std::uint32_t left, std::uint32_t right) const {
    return rows_.correlation[left] >= 0 && rows_.correlation[left] == rows_.correlation[right];
  }

  void walk(const std::vector<std::uint32_t>& stream) {
    // The activity that ends last so far, and the second of them.
    std::uint32_t last = kNoRow, second = kNoRow;
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const auto row = stream[i];
      if (i > 0 && same(stream[i - 1], row)) {
        ++repeated_;
        continue;
      }
      ++count_;
      time_ += rows_.duration_ns[row];
      if (last != kNoRow && rows_.start_ns[row] < end(last) && !of_one_graph(last, row)) {
        ++overlapping_;
        overlap_ += std::min(end(last), end(row)) - rows_.start_ns[row];
        if (second != kNoRow && rows_.start_ns[row] < end(second) && !of_one_graph(second, row))
          ++deep_;
      }
      if (last == kNoRow || end(row) > end(last)) {
        second = last;
        last = row;
      } else if (second == kNoRow || end(row) > end(second)) {
        second = row;
      }
    }
  }

  Nanos end(std::uint32_t row) const { return rows_.start_ns[row] + rows_.duration_ns[row]; }

  void tell() {
    if (repeated_ > 0) {
      auto code = QualityCode::few_repeated;
      if (repeated_ > count_ / kFewRepeated) code = QualityCode::repeated_kernel;
      capture_.note_quality(
          code,
          fmt::format("{} kernels and copies stand in the capture twice: the same times, stream, "
                      "name and launch",
                      format_count(repeated_)),
          repeated_);
    }
    if (deep_ == 0 && overlap_ <= time_ / kUsualOverlap) return;
    auto code = QualityCode::few_overlaps;
    if (overlap_ > time_ / kMostOverlap) code = QualityCode::stream_overlap;
    capture_.note_quality(
        code,
        fmt::format("{} of {} kernels and copies run while another one of their stream does, for "
                    "{} of {}: a stream "
                    "runs one after the other, so that their times cannot be true",
                    format_count(overlapping_), format_count(count_), say_time(overlap_),
                    say_time(time_)),
        overlapping_);
  }

  Capture& capture_;
  const activities_table& rows_;
  std::int64_t count_ = 0, repeated_ = 0, overlapping_ = 0, deep_ = 0;
  Nanos time_ = 0, overlap_ = 0;
};

}  // namespace

void check_streams(Capture& capture) { StreamLedger(capture).run(); }

}  // namespace gf
