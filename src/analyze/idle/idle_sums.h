// Idle time of one device summed by reason, and under each reason by operator and by module.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyze/context.h"
#include "analyze/result.h"

namespace gf {

class IdleSums {
 public:
  explicit IdleSums(const Context& context);

  /// A stretch of idle time; stretches come in order of time.
  void add(Interval span, IdleReason reason, std::uint32_t op, std::uint32_t next);
  /// Reasons with time, largest first.
  std::vector<IdleCause> causes() const;
  /// Ready for the next device, at the cost of what this one had.
  void clear();

 private:
  static constexpr std::size_t kReasons = EnumNames<IdleReason>::names.size();
  using ByReason = std::array<Nanos, kReasons>;

  /// Times by an id (a text, a module), in the order in which ids came. Ids are dense, so a table
  /// finds their line.
  struct Table {
    std::vector<std::uint32_t> line_of;  // by id, 0 = none yet
    std::vector<std::uint32_t> id{0};
    std::vector<ByReason> ns{{}};
    void clear() {
      for (const auto key : id)
        if (key < line_of.size()) line_of[key] = 0;
      id.resize(1);
      ns.resize(1);
    }
    void add(std::uint32_t key, std::size_t reason, Nanos time) {
      auto& line = line_of[key];
      if (line == 0) {
        line = static_cast<std::uint32_t>(id.size());
        id.push_back(key);
        ns.push_back({});
      }
      ns[line][reason] += time;
    }
  };
  template <class NameOf>
  std::vector<NamedTime> largest(const Table& table, std::size_t reason, NameOf&& name_of_id) const;

  const Context& context_;
  ByReason ns_{};
  std::array<std::int64_t, kReasons> gaps_{};
  std::array<Nanos, kReasons> last_end_;
  Table operators_, modules_;
};

}  // namespace gf
