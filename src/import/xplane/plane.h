// First pass over an XSpace: where planes, lines and events lie, and what their metadata says.
// Metadata may stand behind the lines that use it, so events are decoded only after this.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/xplane/details.h"
#include "model/capture.h"

namespace gf::xplane {

/// Values by id. Ids are small and dense in practice, but nothing says so: sparse ones go to a hash
/// map.
template <class T>
class ById {
 public:
  T& at(std::uint64_t id) {
    if (id < kDense) {
      return id < dense_.size() ? dense_[id] : (dense_.resize(grown(id)), dense_[id]);
    }
    return sparse_[id];
  }
  [[gnu::always_inline]] const T* find(std::uint64_t id) const {
    return id < dense_.size() ? dense_.data() + id : find_sparse(id);
  }
  /// apply(id, value) for every id that may be there.
  template <class F>
  void each_id(F&& apply) const {
    for (std::size_t id = 0; id < dense_.size(); ++id) apply(id, dense_[id]);
    for (const auto& [id, value] : sparse_) apply(id, value);
  }
  template <class F>
  void each(F&& apply) {
    for (auto& value : dense_) apply(value);
    for (auto& [id, value] : sparse_) apply(value);
  }

 private:
  static constexpr std::uint64_t kDense = 1 << 16;
  const T* find_sparse(std::uint64_t id) const {
    if (id < kDense) return nullptr;
    const auto it = sparse_.find(id);
    if (it == sparse_.end()) return nullptr;
    return &it->second;
  }
  std::size_t grown(std::uint64_t id) const {
    return std::max<std::size_t>(id + 1, std::min<std::size_t>(kDense, dense_.size() * 2));
  }
  std::vector<T> dense_;
  std::unordered_map<std::uint64_t, T> sparse_;
};

/// Stats that the capture has a place for.
enum class Stat : std::uint8_t {
  none,
  correlation_id,
  kernel_details,
  memcpy_details,
  memset_details,
  hlo_op,
  program_id,
  tf_op,
  name,
  eager_op,
  step_num,
  context_id,
  graph_id,
  graph_node,
  occupancy_pct,
  device_id,
  producer_type,
  producer_id,
  consumer_type,
  consumer_id,
  tensor_shapes,
  allocation_bytes,
  bytes_allocated,
  bytes_reserved,
  address,
};

/// By the name of a stat (or of an argument in trace.json); `none` for those the capture has no
/// place for.
Stat stat_of(std::string_view name);

struct StatName {  // a stat_metadata entry: the name of a stat, or the text of a ref_value
  std::string_view name;
  Text text{};
  Stat stat = Stat::none;
  std::int32_t details = -1;  // index into Plane::details when the text is one
};

struct EventName {  // an event_metadata entry
  std::string_view name, display_name;
  Text text{};
  Text op_type{};
  HostName host;                        // what it is on a host line
  std::vector<std::string_view> stats;  // defaults for every event of this name
};

struct Line {
  std::uint64_t id = 0;
  std::string_view name, display_name;
  std::int64_t timestamp_ns = 0;
  std::vector<std::string_view> chunks;  // runs of the line's own fields, cut at event borders
  std::int64_t events = 0;
};

struct Plane {
  std::string_view name;
  PlaneKind kind = PlaneKind::other;
  std::vector<Line> lines;
  ById<EventName> event_names;
  ById<StatName> stat_names;
  std::vector<Details> details;
  std::vector<std::string_view> stats;
};

struct Space {
  std::vector<Plane> planes;
  std::vector<std::string_view> errors, warnings, hostnames;
  bool truncated = false;          // the file ends inside a plane
  std::int64_t damaged = 0;        // planes, lines or metadata entries that could not be read
  std::int64_t first_damage = -1;  // byte offset
};

/// A decoded XStat.
struct StatValue {
  enum class Kind : std::uint8_t { none, number, real, text, ref } kind = Kind::none;
  std::uint64_t id = 0;
  std::uint64_t bits = 0;  // number (two's complement for int64) or ref
  double real = 0;
  std::string_view text;
};
/// Throws protozero::exception on damaged bytes.
StatValue read_stat(std::string_view message);
/// The text of a stat, through its reference when it is one.
std::string_view text_of(const Plane& plane, const StatValue& value);

/// Hears of a part of the file that is done with for now (MappedFile::release); may be empty.
using Release = std::function<void(std::string_view)>;

/// Never fails: what cannot be read is counted. Views point into `data`. Events are cut into chunks
/// of at least `chunk_bytes`, which are released once they are cut: the second pass reads them
/// again.
Space scan(std::string_view data, std::size_t chunk_bytes, const Release& release = {});
/// Interns the texts of a plane that will be decoded.
void intern_names(Plane& plane, StringPool& strings);

}  // namespace gf::xplane
