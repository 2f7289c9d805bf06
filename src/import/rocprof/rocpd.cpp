// rocpd, the database that rocprofv3 writes by default: tables of one process have its identifier
// behind their names. The tables are read and never the views, which drop rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "import/formats.h"
#include "import/rocprof/agents.h"
#include "import/sqlite_file.h"
#include "import/trace_rows.h"

namespace gf::rocprof {

namespace {

using sqlite::TableRow;

constexpr std::string_view kMetadata = "rocpd_metadata_";
constexpr std::string_view kNewestSchema = "3";

#define GF_WORK_COLUMNS "start", "end", "pid", "queue_id", "stream_id", "event_id"

/// The tables of one identifier; numbers of rows are its own.
class RocpdLoader {
 public:
  /// `number`: of the identifier among those of the file.
  RocpdLoader(const SqliteSource& source, Capture& capture, std::string suffix, std::size_t number)
      : source_(source),
        c_(capture),
        rows_(capture),
        agents_(capture),
        suffix_(std::move(suffix)),
        first_stack_(static_cast<std::int64_t>(number) << kStackBits) {}

  Status run() {
    using Step = Status (RocpdLoader::*)();
    for (Step step : {&RocpdLoader::metadata, &RocpdLoader::strings, &RocpdLoader::agents,
                      &RocpdLoader::processes, &RocpdLoader::threads, &RocpdLoader::symbols,
                      &RocpdLoader::events, &RocpdLoader::dispatches, &RocpdLoader::copies,
                      &RocpdLoader::regions})
      if (const Status done = (this->*step)(); !done) return done;
    rows_.finish();
    return {};
  }

 private:
  enum WorkColumn { kStart, kEnd, kProcess, kQueue, kStream, kEvent, kOwn };
  enum DispatchColumn { kAgent = kOwn, kKernel, kLds, kItems, kGroup = kItems + 3 };
  enum CopyColumn { kCopyName = kOwn, kTarget, kSource, kSize };

  template <class F>
  Status each(std::string_view table, std::initializer_list<std::string_view> columns, F&& apply) {
    return source_.each(fmt::format("rocpd_{}_{}", table, suffix_), columns, apply);
  }

  Status metadata() {
    std::string version;
    if (const Status done = each("metadata", {"tag", "value"},
                                 [&](const TableRow& row) {
                                   if (row.text(0) == "schema_version") version = row.text(1);
                                 });
        !done)
      return done;
    const auto major = version.substr(0, version.find('.'));
    if (major.empty() || major == kNewestSchema) return {};
    return fail(
        fmt::format("is a rocpd database of schema {}; schema {} is read", version, kNewestSchema),
        {}, -1,
        "write it as CSV: rocprofv3 --output-format csv, or rocpd convert --output-format "
        "csv -i FILE");
  }

  Status strings() {
    return each("string", {"id", "string"}, [&](const TableRow& row) {
      names_[row.integer(0)] = c_.strings.intern(row.text(1));
    });
  }
  Text name(std::int64_t id) const {
    const auto found = names_.find(id);
    return found == names_.end() ? Text{} : found->second;
  }

  Status agents() {
    return each("info_agent", {"id", "type", "type_index", "name", "product_name"},
                [&](const TableRow& row) {
                  auto key = std::to_string(row.integer(0));
                  if (row.text(1) != "GPU") return agents_.add_other(std::move(key));
                  const auto index = std::clamp<std::int64_t>(row.integer(2, 0), 0, INT32_MAX);
                  agents_.add_gpu(std::move(key),
                                  {static_cast<std::int32_t>(index), row.text(4), row.text(3), -1});
                });
  }

  Status processes() {
    return each("info_process", {"id", "pid"},
                [&](const TableRow& row) { processes_[row.integer(0)] = row.integer(1); });
  }
  std::int64_t process(std::int64_t id) const {
    const auto found = processes_.find(id);
    return found == processes_.end() ? id : found->second;
  }
  Status threads() {
    return each("info_thread", {"id", "pid", "tid"}, [&](const TableRow& row) {
      threads_[row.integer(0)] = rows_.thread(process(row.integer(1)), row.integer(2));
    });
  }
  std::uint32_t thread(std::int64_t id, std::int64_t of) {
    const auto found = threads_.find(id);
    return found == threads_.end() ? rows_.thread(process(of), id) : found->second;
  }

  Status symbols() {
    return each("info_kernel_symbol",
                {"id", "display_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count"},
                [&](const TableRow& row) {
                  auto& symbol = symbols_[row.integer(0)];
                  symbol.name = c_.strings.intern(row.text(1).empty() ? row.text(2) : row.text(1));
                  const auto vector = row.integer(3), more = row.integer(4, 0);
                  if (vector >= 0 && vector < 4096 && more >= 0 && more < 4096)
                    symbol.registers = vector + more;
                });
  }

  /// A call and its work share the stack's number: correlation_id is 0 in files seen.
  Status events() {
    return each("event", {"id", "stack_id"}, [&](const TableRow& row) {
      const auto stack = row.integer(1);
      if (stack >= 0 && stack < std::int64_t{1} << kStackBits)
        stacks_[row.integer(0)] = first_stack_ + stack;
    });
  }
  std::int64_t stack(std::int64_t event) const {
    const auto found = stacks_.find(event);
    return found == stacks_.end() ? -1 : found->second;
  }

  DeviceWork work_of(const TableRow& row) {
    DeviceWork work;
    work.start = row.integer(kStart, 0);
    work.end = row.integer(kEnd, -1);
    work.pid = process(row.integer(kProcess));
    work.stream = row.integer(row.null(kStream) ? kQueue : kStream);
    work.correlation = stack(row.integer(kEvent));
    return work;
  }

  Status dispatches() {
    return each(
        "kernel_dispatch",
        {GF_WORK_COLUMNS, "agent_id", "kernel_id", "group_segment_size", "grid_size_x",
         "grid_size_y", "grid_size_z", "workgroup_size_x", "workgroup_size_y", "workgroup_size_z"},
        [&](const TableRow& row) {
          DeviceWork work = work_of(row);
          work.device = agents_.row(std::to_string(row.integer(kAgent)));
          if (const auto symbol = symbols_.find(row.integer(kKernel)); symbol != symbols_.end()) {
            work.name = symbol->second.name;
            work.registers = symbol->second.registers;
          }
          work.shared_bytes = row.integer(kLds);
          std::array<std::int64_t, 3> items{};
          for (int i = 0; i < 3; ++i) {
            items[static_cast<std::size_t>(i)] = row.integer(kItems + i);
            work.block[static_cast<std::size_t>(i)] = row.integer(kGroup + i);
          }
          work.grid = blocks_of(items, work.block);
          rows_.work(work);
        });
  }

  Status copies() {
    return each("memory_copy", {GF_WORK_COLUMNS, "name_id", "dst_agent_id", "src_agent_id", "size"},
                [&](const TableRow& row) {
                  DeviceWork work = work_of(row);
                  work.kind = ActivityKind::memcpy;
                  work.copy = copy_direction(c_.text(name(row.integer(kCopyName))));
                  work.bytes = row.integer(kSize);
                  work.device = agents_.row_of_copy(std::to_string(row.integer(kSource)),
                                                    std::to_string(row.integer(kTarget)));
                  rows_.work(work);
                });
  }

  Status regions() {
    return each("region", {"start", "end", "pid", "tid", "name_id", "event_id"},
                [&](const TableRow& row) {
                  const auto of = thread(row.integer(3), row.integer(2));
                  const auto text = c_.text(name(row.integer(4)));
                  // Calls are those of HIP, HSA and RCCL; all else is what the program marked.
                  if (text.starts_with("hip") || text.starts_with("hsa_") ||
                      text.starts_with("nccl") || text.starts_with("roc"))
                    rows_.call(row.integer(0, 0), row.integer(1, -1), of, std::string(text),
                               stack(row.integer(5)));
                  else
                    rows_.range(row.integer(0, 0), row.integer(1, -1), of, std::string(text));
                });
  }

  const SqliteSource& source_;
  Capture& c_;
  TraceRows rows_;
  Agents agents_;
  std::string suffix_;
  static constexpr int kStackBits = 40;
  std::int64_t first_stack_;  // numbers of stacks come again behind another identifier
  struct Symbol {
    Text name{};
    std::int64_t registers = -1;
  };
  std::unordered_map<std::int64_t, Text> names_;
  std::unordered_map<std::int64_t, std::int64_t> processes_, stacks_;
  std::unordered_map<std::int64_t, std::uint32_t> threads_;
  std::unordered_map<std::int64_t, Symbol> symbols_;
};

#undef GF_WORK_COLUMNS

Status read_rocpd(const SqliteSource& source, Capture& capture) {
  constexpr std::size_t kMostProcesses = 1024;
  std::size_t seen = 0;
  for (const auto& table : source.tables) {
    if (!table.starts_with(kMetadata)) continue;
    if (++seen > kMostProcesses) break;
    RocpdLoader loader(source, capture, table.substr(kMetadata.size()), seen - 1);
    if (const Status done = loader.run(); !done) return done;
  }
  if (seen == 0) return fail("is a rocpd database without its tables");
  note_no_absolute_time(capture, "rocprofv3");
  return {};
}

}  // namespace

int sniff_rocpd(std::string_view, std::string_view head) {
  return is_database_with(head, {"rocpd_metadata_", "rocpd_kernel_dispatch_"}) ? 95 : 0;
}

Result<Capture> load_rocpd(const std::string& path, const ImportOptions& options) {
  return load_sqlite(path, options, "rocpd", read_rocpd);
}

}  // namespace gf::rocprof
