#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "import/formats.h"
#include "import/importer.h"
#include "import/torch_memory/pickle.h"
#include "model/formats.h"

namespace gf::torch_memory {
namespace {

constexpr std::size_t kFrames = 8;  // of a stack, the innermost
// A pickle can name one block a million times. PyTorch writes each block and entry once, with its
// keys and values in more bytes than this, and its stacks in longer lists than what is shown.
constexpr std::size_t kLeastRowBytes = 16;
constexpr std::size_t kTextPerByte = 64, kTextOfAny = 1 << 20;

bool library_frame(std::string_view file) {
  return file.empty() || file == "??" || file.ends_with(".cpp") || file.ends_with(".h") ||
         file.ends_with(".cu") || file.find("torch/cuda/memory.py") != file.npos;
}

class Snapshot {
 public:
  Snapshot(const Pickle& pickle, std::size_t bytes, Capture& capture)
      : pickle_(pickle),
        capture_(capture),
        rows_left_(bytes / kLeastRowBytes),
        text_left_(bytes * kTextPerByte + kTextOfAny) {}

  Status read() {
    const Node segments = pickle_.at(pickle_.root(), "segments");
    if (pickle_.kind(segments) != Pickle::Kind::list)
      return fail("is a pickle, and no memory snapshot of PyTorch: it has no segments");
    thread_ = capture_.threads.add();
    capture_.threads.name[thread_] = capture_.strings.intern("allocator");
    for (const Node segment : pickle_.items(segments))
      if (!add_segment(segment)) return repeats_itself();
    std::vector<History> histories;
    for (const Node trace : pickle_.items(pickle_.at(pickle_.root(), "device_traces")))
      if (!read_trace(histories, trace)) return repeats_itself();
    note_times();
    std::int64_t device = 0;
    for (const auto& history : histories) {
      add_earlier_blocks(device, history);
      for (const auto& entry : history.entries) add(device, entry, thread_);
      ++device;
    }
    // Devices without a history.
    for (const auto& [other, totals] : totals_)
      if (other >= device) add_earlier_blocks(other, {{}, totals});
    return {};
  }

 private:
  static Status repeats_itself() {
    return fail("is a pickle that repeats its content, as no memory snapshot of PyTorch does", {},
                -1, "give the file of torch.cuda.memory._dump_snapshot()");
  }
  /// False when the file is too small for so much.
  static bool spend(std::size_t amount, std::size_t& left) {
    if (amount > left) return false;
    left -= amount;
    return true;
  }

  std::int64_t number(Node of, std::string_view key, std::int64_t otherwise = -1) const {
    return pickle_.integer(pickle_.at(of, key)).value_or(otherwise);
  }

  /// "model.py:12 forward;train.py:40 step", the program's own frames only.
  Text stack_of(Node entry) {
    const Node frames = pickle_.at(entry, "frames");
    if (const auto known = stacks_.find(frames); known != stacks_.end()) return known->second;
    std::string text;
    std::size_t shown = 0;
    for (const Node frame : pickle_.items(frames)) {
      const auto file = pickle_.text(pickle_.at(frame, "filename"));
      if (library_frame(file)) continue;
      const auto name = pickle_.text(pickle_.at(frame, "name"));
      if (shown == kFrames || !spend(file.size() + name.size(), text_left_)) break;
      if (shown++ > 0) text += ';';
      text += fmt::format("{}:{} {}", file, number(frame, "line", 0), name);
    }
    return stacks_[frames] = capture_.strings.intern(text);
  }

  bool add_segment(Node segment) {
    const auto device = number(segment, "device");
    const auto address = number(segment, "address");
    const auto& blocks = pickle_.items(pickle_.at(segment, "blocks"));
    if (!spend(1 + blocks.size(), rows_left_)) return false;
    auto& totals = totals_[device];
    add_to(totals.reserved, bounded(number(segment, "total_size", 0)));
    std::int64_t next = address;
    for (const Node block : blocks) {
      const auto size = bounded(number(block, "size", 0));
      const auto at = number(block, "address", next);
      next = end_of(at, size);
      if (!pickle_.text(pickle_.at(block, "state")).starts_with("active")) continue;
      add_to(totals.allocated, size);
      blocks_[device].push_back({at, size, stack_of(block)});
    }
    ++capture_.events;
    return true;
  }

  struct Totals {
    std::int64_t allocated = 0, reserved = 0;
  };
  struct Entry {
    Nanos time_ns = 0;
    std::int64_t address = 0, bytes = 0;
    Totals after;
    Text stack = Text::none;
  };
  /// Events of one device's allocator, in order, and the blocks that it held before.
  struct History {
    std::vector<Entry> entries;
    Totals before;
  };

  /// PyTorch writes times since 2.2. Where one is missing the order is the time: a microsecond
  /// after what comes before it.
  std::vector<Nanos> times_of(const std::vector<Node>& entries) {
    constexpr Nanos kApart = 1000;
    std::vector<Nanos> times;
    Nanos last = 0;
    for (const Node node : entries) {
      const auto given = pickle_.integer(pickle_.at(node, "time_us"));
      if (!given) ++untimed_;
      times.push_back(last = given ? *given % kLatestUs * 1000 : last + kApart);
    }
    return times;
  }

  /// The history ends with the state that the blocks show: totals are worked out from its end.
  bool read_trace(std::vector<History>& histories, Node trace) {
    const auto device = static_cast<std::int64_t>(histories.size());
    const auto& entries = pickle_.items(trace);
    if (!spend(1 + entries.size(), rows_left_)) return false;
    const auto times = times_of(entries);
    History history{{}, totals_[device]};
    auto& totals = history.before;
    for (std::size_t at = entries.size(); at-- > 0;) {
      const Node node = entries[at];
      const auto action = pickle_.text(pickle_.at(node, "action"));
      const auto size = bounded(number(node, "size", 0));
      if (action == "segment_alloc" || action == "segment_map") add_to(totals.reserved, -size);
      if (action == "segment_free" || action == "segment_unmap") add_to(totals.reserved, size);
      const bool taken = action == "alloc", given_back = action == "free_completed";
      if (!taken && !given_back) continue;
      Entry entry{times[at], number(node, "addr"), taken ? size : -size, totals,
                  taken ? stack_of(node) : Text::none};
      add_to(totals.allocated, -entry.bytes);
      if (taken) known_.insert({device, entry.address});
      history.entries.push_back(entry);
    }
    std::ranges::reverse(history.entries);
    histories.push_back(std::move(history));
    capture_.events += static_cast<std::int64_t>(entries.size());
    return true;
  }

  void note_times() {
    if (untimed_ > 0)
      capture_.note_quality(QualityCode::no_timestamps,
                            "the snapshot gives no times (PyTorch does since 2.2): its events are "
                            "taken as a microsecond apart, in their order",
                            untimed_);
  }

  /// The analysis tells by the thread what lay there before the history.
  std::uint32_t earlier_thread() {
    if (earlier_ == kNoRow) {
      earlier_ = capture_.threads.add();
      capture_.threads.name[earlier_] = capture_.strings.intern(kBeforeHistory);
    }
    return earlier_;
  }

  struct Block {
    std::int64_t address, bytes;
    Text stack;
  };

  /// Blocks that the history does not show being taken lay there before it began.
  void add_earlier_blocks(std::int64_t device, const History& history) {
    const bool none = history.entries.empty();
    const Nanos begin = none ? 0 : history.entries.front().time_ns;
    std::int64_t allocated = history.before.allocated;
    std::vector<Entry> entries;
    const auto of_device = blocks_.find(device);
    if (of_device == blocks_.end()) return;
    for (const auto& block : of_device->second) {
      if (known_.contains({device, block.address})) continue;
      entries.push_back({begin, block.address, block.bytes, {}, block.stack});
      add_to(allocated, -block.bytes);
    }
    for (auto& entry : entries) {
      add_to(allocated, entry.bytes);
      entry.after = {allocated, history.before.reserved};
      add(device, entry, none ? thread_ : earlier_thread());
    }
  }

  /// An allocation, and for one that was taken a span of its stack around it.
  void add(std::int64_t device, const Entry& entry, std::uint32_t thread) {
    auto& events = capture_.memory_events;
    const auto row = events.add();
    events.time_ns[row] = entry.time_ns;
    events.thread[row] = thread;
    events.device_type[row] = 1;
    events.device[row] = static_cast<std::int32_t>(device);
    events.address[row] = entry.address;
    events.bytes[row] = entry.bytes;
    events.allocated_bytes[row] = std::max<std::int64_t>(entry.after.allocated, 0);
    events.reserved_bytes[row] = std::max<std::int64_t>(entry.after.reserved, 0);
    if (entry.stack == Text::none) return;
    auto& ops = capture_.host_ops;
    const auto op = ops.add();
    ops.start_ns[op] = entry.time_ns;
    ops.thread[op] = thread;
    ops.name[op] = entry.stack;
    ops.kind[op] = HostKind::python;
    ops.external_id[op] = row;  // whose stack it is
  }

  static constexpr std::int64_t kLargest = std::int64_t{1} << 44;  // bytes of a block
  static constexpr std::int64_t kLatestUs = std::int64_t{1} << 52;
  static constexpr std::int64_t kMostTotal = std::int64_t{1} << 61;
  static std::int64_t bounded(std::int64_t bytes) {
    return std::clamp<std::int64_t>(bytes, 0, kLargest);
  }
  static void add_to(std::int64_t& total, std::int64_t bytes) {
    total = std::clamp(total + bytes, -kMostTotal, kMostTotal);
  }
  /// An address may be any number.
  static std::int64_t end_of(std::int64_t address, std::int64_t bytes) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(address) +
                                     static_cast<std::uint64_t>(bytes));
  }
  const Pickle& pickle_;
  Capture& capture_;
  std::map<std::int64_t, Totals> totals_;
  std::map<Node, Text> stacks_;
  std::map<std::int64_t, std::vector<Block>> blocks_;      // of each device, in use at the end
  std::set<std::pair<std::int64_t, std::int64_t>> known_;  // device and address, of the history
  std::uint32_t thread_ = 0, earlier_ = kNoRow;
  std::int64_t untimed_ = 0;  // events without a time
  std::size_t rows_left_, text_left_;
};

Result<Capture> parse(std::string_view content, const std::string& path) {
  const auto pickle = Pickle::read(content);
  if (!pickle) {
    Error error = pickle.error();
    error.file = path;
    return tl::unexpected(error);
  }
  Capture capture;
  capture.format = "torch_memory";
  capture.framework = "pytorch";
  capture.bytes = static_cast<std::int64_t>(content.size());
  if (const auto read = Snapshot(*pickle, content.size(), capture).read(); !read) {
    Error error = read.error();
    error.file = path;
    return tl::unexpected(error);
  }
  return capture;
}

}  // namespace

int sniff(std::string_view, std::string_view head) {
  // A pickle of protocol 2 to 5 whose first key is one of a snapshot.
  if (head.size() < 3 || head[0] != '\x80' || head[1] < 2 || head[1] > 5) return 0;
  return head.substr(0, 4096).find("segments") != head.npos ? 90 : 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  return load_text(path, options, parse);
}

}  // namespace gf::torch_memory
