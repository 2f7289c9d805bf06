// Joins each device activity with the runtime or driver call that started it.
// Stretches in which a host thread captures a graph: what it launches there does not run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/intervals.h"
#include "model/capture.h"

namespace gf {

/// By row of activities: the row of api_calls that launched it. One list for all who ask.
class Launches {
 public:
  using Rows = std::vector<std::uint32_t>;
  Launches() : Launches(std::make_shared<const Rows>()) {}
  explicit Launches(std::shared_ptr<const Rows> rows)
      : rows_(std::move(rows)), first_(rows_->data()) {}

  std::uint32_t operator[](std::size_t activity) const { return first_[activity]; }
  std::size_t size() const { return rows_->size(); }
  Rows::const_iterator begin() const { return rows_->begin(); }
  Rows::const_iterator end() const { return rows_->end(); }
  operator const Rows&() const { return *rows_; }  // NOLINT(google-explicit-constructor)
  const std::shared_ptr<const Rows>& shared() const { return rows_; }

 private:
  std::shared_ptr<const Rows> rows_;
  const std::uint32_t* first_;
};

/// By row of activities: the row of api_calls with the same correlation in the same process (any
/// process, where the source does not say whose activity it is), kNoRow without such a record. Of
/// several calls with one correlation a launch, copy or set wins over others, then the earlier row.
/// All kernels of a graph share the one call that launched the graph.
Launches join_launches(const Capture& capture);

/// True if a call of this name returns when all of its device's work is done.
bool waits_for_device(std::string_view call);

class GraphCaptures {
 public:
  explicit GraphCaptures(const Capture& capture);
  /// True if one of the threads (rows of threads) captures a graph at this time.
  bool at(std::span<const std::uint32_t> threads, Nanos time) const;
  /// True if any thread does: others, such as autograd's, may launch into its capture.
  bool at(Nanos time) const { return member_at(of_any_, time) != nullptr; }
  /// When any thread does.
  const Intervals& stretches() const { return of_any_; }

 private:
  /// By row of threads: from the end of the call or frame that begins a capture
  /// (cudaStreamBeginCapture, capture_begin) to the start of the one that ends it. Empty without
  /// captures.
  std::vector<Intervals> of_thread_;
  Intervals of_any_;
};

// Columns about a launch that device activities and report kernels share.

/// Copies name, stream, context, shape and resources of a kernel between the two tables.
template <class From, class To>
void copy_launch(const From& from, std::uint32_t row, To& to, std::uint32_t copy) {
  to.name[copy] = from.name[row];
  to.context[copy] = from.context[row];
  to.stream[copy] = from.stream[row];
  to.grid_x[copy] = from.grid_x[row];
  to.grid_y[copy] = from.grid_y[row];
  to.grid_z[copy] = from.grid_z[row];
  to.block_x[copy] = from.block_x[row];
  to.block_y[copy] = from.block_y[row];
  to.block_z[copy] = from.block_z[row];
  to.registers[copy] = from.registers[row];
  to.shared_bytes[copy] = from.shared_bytes[row];
}

}  // namespace gf
