#include "import/nccl_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "core/text.h"
#include "import/input.h"
#include "import/json_rows.h"
#include "import/torch_memory/pickle.h"

namespace gf {

namespace {

using torch_memory::kNoNode;
using torch_memory::Node;
using torch_memory::Pickle;

constexpr std::string_view kRemedy =
    "PyTorch writes one for each rank when a collective times out "
    "(TORCH_NCCL_DUMP_ON_TIMEOUT=1), or on request: copy it again";

/// "[0, 1]" or "0,1".
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != text.npos;) {
    std::int64_t value = -1;
    const auto [end, wrong] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    at = static_cast<std::size_t>(end - text.data());
    if (wrong == std::errc()) numbers.push_back(value);
  }
  return numbers;
}

/// The number that ends the file's name, as in nccl_trace_rank_12.
std::int64_t rank_of(const std::string& path) {
  std::filesystem::path name(path);
  if (name.extension() == ".gz" || name.extension() == ".zst") name.replace_extension();
  const std::string stem = name.stem().string();
  const auto digits = stem.find_last_not_of("0123456789") + 1;
  std::int64_t rank = -1;
  std::from_chars(stem.data() + std::min(digits, stem.size()), stem.data() + stem.size(), rank);
  return rank;
}

/// A collective that its process has put away is over, whatever state it was seen in last. Only of
/// NCCL does the recorder see that one begins; the others' begin as they are asked for.
DumpState state_of(std::string_view operation, std::string_view text, bool retired) {
  if (retired || text == "completed") return DumpState::completed;
  const bool unseen = operation.find(':') != operation.npos && !operation.starts_with("nccl:");
  return text == "started" || unseen ? DumpState::started : DumpState::scheduled;
}

/// The line of the innermost frame that is not PyTorch's own, else of the innermost.
class ProgramFrame {
 public:
  void add(std::string_view file, std::int64_t line) {
    const bool own = file.find("-packages/torch/") != file.npos ||
                     file.find("/torch/distributed/") != file.npos ||
                     file.find("torch/csrc/") != file.npos;
    if (file.empty() || (!where_.empty() && (own || !is_own_))) return;
    is_own_ = own;
    file.remove_prefix(std::min(file.find_last_of('/') + 1, file.size()));
    where_ = fmt::format("{}:{}", file, line);
  }
  std::string where() const { return where_; }

 private:
  std::string where_;
  bool is_own_ = false;
};

std::string operation_text(std::string_view name) {
  if (name.starts_with("nccl:")) name.remove_prefix(5);
  return std::string(name);
}

class PickledDump {
 public:
  PickledDump(const Pickle& pickle, NcclDump& dump) : p_(pickle), dump_(dump) {}

  Status read() {
    const Node entries = p_.at(p_.root(), "entries");
    if (p_.kind(entries) != Pickle::Kind::list)
      return fail("is a pickle, and no dump of the flight recorder: it has no entries");
    dump_.version = p_.text(p_.at(p_.root(), "version"));
    const Node groups = p_.at(p_.root(), "pg_config");
    if (p_.kind(groups) == Pickle::Kind::dictionary) {
      const auto& items = p_.items(groups);
      for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
        DumpGroup& group = dump_.groups[std::string(p_.text(items[i]))];
        group.description = p_.text(p_.at(items[i + 1], "desc"));
        group.ranks = numbers_in(p_.text(p_.at(items[i + 1], "ranks")));
      }
    }
    for (const Node entry : p_.items(entries)) add(entry);
    return {};
  }

 private:
  std::int64_t number(Node of, std::string_view key) const {
    return p_.integer(p_.at(of, key)).value_or(-1);
  }

  void add(Node entry) {
    if (p_.kind(entry) != Pickle::Kind::dictionary) return;
    if (number(entry, "is_p2p") > 0) {
      ++dump_.point_to_point;
      return;
    }
    DumpEntry out;
    const Node group = p_.at(entry, "process_group");
    if (p_.kind(group) == Pickle::Kind::list && !p_.items(group).empty())
      out.group = p_.text(p_.items(group).front());
    const auto operation = p_.text(p_.at(entry, "profiling_name"));
    out.operation = operation_text(operation);
    out.sequence = number(entry, "collective_seq_id");
    out.state = state_of(operation, p_.text(p_.at(entry, "state")), number(entry, "retired") > 0);
    out.created = number(entry, "time_created_ns");
    out.sizes = sizes(p_.at(entry, "input_sizes"));
    const Node frames = p_.at(entry, "frames");
    if (p_.kind(frames) == Pickle::Kind::list) {
      ProgramFrame frame;
      for (const Node one : p_.items(frames))
        frame.add(p_.text(p_.at(one, "filename")), number(one, "line"));
      out.where = frame.where();
    }
    dump_.entries.push_back(std::move(out));
  }

  /// "1024x8, 16".
  std::string sizes(Node list) const {
    constexpr std::size_t kMost = 200;
    std::string text;
    if (p_.kind(list) != Pickle::Kind::list) return text;
    for (const Node shape : p_.items(list)) {
      if (text.size() > kMost) break;
      if (!text.empty()) text += ", ";
      if (p_.kind(shape) != Pickle::Kind::list) continue;
      bool first = true;
      for (const Node extent : p_.items(shape)) {
        text += (std::exchange(first, false) ? "" : "x") +
                std::to_string(p_.integer(extent).value_or(-1));
        if (text.size() > kMost) break;
      }
    }
    return text;
  }

  const Pickle& p_;
  NcclDump& dump_;
};

constexpr std::string_view kGroups = "pg_config.", kEntries = "entries";

/// The sizes as the pickle's are told, out of the values that are laid flat.
std::string sizes_of(const JsonRow& row) {
  constexpr std::string_view kSizes = "input_sizes.";
  std::string text, shape;
  for (const auto& value : row.values()) {
    if (!value.path.starts_with(kSizes)) continue;
    const auto inside = std::string_view(value.path).substr(kSizes.size());
    const std::string of(inside.substr(0, inside.find('.')));
    if (!text.empty()) text += of == shape ? "x" : ", ";
    text += value.text;
    shape = of;
  }
  return text;
}

bool read_json(std::string_view text, NcclDump& dump) {
  JsonWalk walk;
  return walk.run(
      text,
      [](std::string_view path) {
        return path == kEntries ||
               (path.starts_with(kGroups) && path.find('.', kGroups.size()) == path.npos);
      },
      [&](std::string_view path, const JsonRow& row) {
        if (path != kEntries) {
          DumpGroup& group = dump.groups[std::string(path.substr(kGroups.size()))];
          group.description = row.text("desc");
          group.ranks = numbers_in(row.text("ranks"));
          return;
        }
        if (row.text("is_p2p") == "true") {
          ++dump.point_to_point;
          return;
        }
        DumpEntry entry;
        entry.group = row.text("process_group.0");
        const auto operation = row.text("profiling_name");
        entry.operation = operation_text(operation);
        entry.sequence = row.integer("collective_seq_id");
        entry.state = state_of(operation, row.text("state"), row.text("retired") == "true");
        entry.created = row.integer("time_created_ns");
        entry.sizes = sizes_of(row);
        ProgramFrame frame;
        for (std::size_t at = 0; row.has(fmt::format("frames.{}.filename", at)); ++at)
          frame.add(row.text(fmt::format("frames.{}.filename", at)),
                    row.integer(fmt::format("frames.{}.line", at)));
        entry.where = frame.where();
        dump.entries.push_back(std::move(entry));
      });
}

/// The inspector times the kernel of a collective on each rank: all end together, so that the
/// longer one began earlier.
bool read_inspector(std::string_view text, NcclDump& dump) {
  constexpr Nanos kEndOfAll = 1'000'000'000'000'000;
  bool whole = true;
  each_json_line(text, [&](std::string_view line) {
    JsonWalk walk;
    whole &= walk.run(
        line, [](std::string_view path) { return path.empty(); },
        [&](std::string_view, const JsonRow& row) {
          dump.rank = row.integer("header.rank", dump.rank);
          if (row.has("p2p_perf.p2p_sn")) ++dump.point_to_point;
          const auto length = row.decimal("coll_perf.coll_exec_time_us", 3);
          if (!length || *length < 0 || *length > kEndOfAll) return;
          DumpEntry entry;
          entry.group =
              row.text(row.text("header.comm_name").empty() ? "header.id" : "header.comm_name");
          entry.operation = row.text("coll_perf.coll");
          entry.sizes = fmt::format("{} bytes", row.text("coll_perf.coll_msg_size_bytes"));
          entry.sequence = row.integer("coll_perf.coll_sn");
          entry.state = DumpState::completed;
          entry.created = kEndOfAll - *length;
          dump.entries.push_back(std::move(entry));
        });
  });
  return whole;
}

bool is_inspector(std::string_view head) {
  return head.starts_with('{') && head.find("\"coll_perf\"") != head.npos &&
         head.find("\"coll_sn\"") != head.npos;
}

}  // namespace

bool is_nccl_dump(std::string_view head) {
  const auto has = [head](std::string_view part) { return head.find(part) != head.npos; };
  if (is_inspector(head)) return true;
  if (!head.starts_with('\x80') && !head.starts_with('{')) return false;
  // Without a collective the JSON has no list of them.
  if (has("\"pg_config\"") && has("\"pg_status\"")) return true;
  return has("entries") && (has("pg_config") || has("collective_seq_id"));
}

Result<NcclDump> read_nccl_dump(const std::string& path, std::uint64_t max_bytes) {
  auto content = read_whole(path, max_bytes);
  if (!content) return tl::unexpected(content.error());
  NcclDump dump;
  dump.path = path;
  dump.rank = rank_of(path);
  if (content->starts_with('{')) {
    const std::size_t size = content->size();
    content->append(JsonWalk::kPadding, '\0');
    dump.by_inspector = is_inspector(std::string_view(*content).substr(0, 256 << 10));
    if (dump.by_inspector) {
      if (!read_inspector(std::string_view(*content).substr(0, size), dump))
        return fail("is a log of NCCL's inspector that ends early, or is damaged", path, -1,
                    "copy it again when the job has ended");
      return dump;
    }
    if (!read_json(std::string_view(*content).substr(0, size), dump))
      return fail("is a dump of the flight recorder that ends early, or is damaged", path, -1,
                  std::string(kRemedy));
    return dump;
  }
  const auto pickle = Pickle::read(*content);
  if (!pickle) return fail(pickle.error().what, path, pickle.error().offset, std::string(kRemedy));
  if (const auto done = PickledDump(*pickle, dump).read(); !done)
    return fail(done.error().what, path, -1, std::string(kRemedy));
  return dump;
}

}  // namespace gf
