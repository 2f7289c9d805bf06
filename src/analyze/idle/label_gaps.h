// Gives each stretch of a device's idle time its reason.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyze/context.h"
#include "analyze/idle/device_turns.h"
#include "analyze/idle/idle_rules.h"
#include "analyze/result.h"
#include "analyze/thread_sweep.h"
#include "model/launches.h"

namespace gf {

// Idle time of one device summed by reason, and under each reason by operator and by module.

class IdleSums {
 public:
  explicit IdleSums(const Context& context);

  /// The time of an operation in which a device idled.
  void add(std::uint32_t op, IdleReason reason, Nanos time) {
    operators_.add(static_cast<std::uint32_t>(context_.capture.host_ops.name[op]),
                   static_cast<std::size_t>(reason), time);
  }
  /// A whole piece of idle time; pieces come in order of time.
  void add(const IdlePiece& piece);
  /// The time of operations in another stretch of the device's time.
  void add_operators(const IdleSums& other);
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
      auto line = line_of[key];
      if (line == 0) line = add_line(key);
      ns[line][reason] += time;
    }
    [[gnu::noinline]] std::uint32_t add_line(std::uint32_t key) {
      const auto line = line_of[key] = static_cast<std::uint32_t>(id.size());
      id.push_back(key);
      ns.push_back({});
      return line;
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

/// A stretch of a device's time: its rows at places [first, last), and what ran before them.
struct IdleStretch {
  std::size_t first, last;
  Nanos covered;                  // the end of it
  std::uint32_t before = kNoRow;  // what ended then, row of activities

  void pass(const DeviceTimeline& line, std::size_t place) {
    if (before == kNoRow || line.spans[place].end >= covered) before = line.rows[place];
    covered = std::max(covered, line.spans[place].end);
  }
};

/// Labels one gap after the other, of one device after the other. A copy can go on elsewhere.
class GapLabeller {
 public:
  GapLabeller(const Context& context, const LaunchFacts& facts);

  /// The idle time of one device before the activities of a stretch, and with the last of them that
  /// behind it, as pieces in order, one for each change of the reason. `sums` receives the same
  /// time by operator.
  std::vector<IdlePiece> label(const DeviceTimeline& line, IdleStretch stretch, IdleSums& sums);
  /// True if stretches of one device may be labelled apart: nothing then hangs on what was looked
  /// at before.
  bool may_split() const;
  /// Of a thread nothing is asked before an instant, at which these operations are open.
  void begin_at(std::uint32_t thread, Nanos instant, const ThreadSweep::OpenAt& open) {
    sweep(thread).begin_at(instant, open);
  }

 private:
  void label_gap(const IdleGap& gap);
  bool is_migration(std::uint32_t activity) const;
  void label_device(const IdleGap& gap, Nanos from, Nanos returned, std::uint32_t op);
  void label_host(const IdleGap& gap, Nanos from, Nanos to, std::size_t candidate);
  bool same_graph_launch(std::uint32_t before, std::uint32_t next) const;
  void emit(Nanos from, Nanos to, IdleReason reason, std::uint32_t op, std::uint32_t next);
  void end_piece();
  bool once(Nanos from, Nanos to, IdleReason reason) const;
  ThreadSweep& sweep(std::uint32_t thread);
  std::uint32_t main_thread(std::uint32_t thread) const;
  std::uint32_t launching_thread(std::uint32_t activity) const;

  const Context& context_;
  const Capture& capture_;
  IdleRules rules_;
  DeviceTurns turns_;
  GraphCaptures captures_;
  Nanos repeats_from_;  // what the host did before, other than launching, it does once
  bool some_once_;      // it captured a graph, or did something before
  std::vector<std::uint32_t> main_of_;  // by row of threads: the main thread of its process
  std::vector<std::uint32_t>
      after_window_;            // by row of devices: what starts first after its window
  std::size_t events_;          // of the host
  std::size_t most_looked_at_;  // states of threads, over all devices
  std::size_t looked_at_ = 0;
  std::unordered_map<std::uint32_t, ThreadSweep> sweeps_;
  std::vector<std::uint32_t> candidates_;  // threads to ask for the present gap, in order
  std::vector<IdlePiece> pieces_;
  Interval span_;      // of the last one, which may go on; empty before the first
  IdlePiece piece_;    // what else is known of it
  Nanos longest_ = 0;  // stretch that gave it its operator
  IdleSums* sums_ = nullptr;
};

}  // namespace gf
