// rocprofv3's CSV output: a file for each kind of row, all with one beginning of their names. Any
// of them stands for all. Columns are found by their names, which differ from version to version.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "core/files.h"
#include "import/csv_table.h"
#include "import/formats.h"
#include "import/input.h"
#include "import/rocprof/agents.h"
#include "import/trace_rows.h"

namespace gf::rocprof {

namespace {

/// A table: what it is called, which of its columns tell it, by the file's end.
enum class Table { agents, kernels, copies, calls, ranges, none };

Table table_of(const CsvTable& rows) {
  auto has = [&](std::string_view name) { return rows.has(name); };
  if (has("Node_Id") && has("Agent_Type")) return Table::agents;
  if (!has("Start_Timestamp") || !has("End_Timestamp")) return Table::none;
  if (has("Kernel_Name") && has("Dispatch_Id") && has("Kind")) return Table::kernels;
  if (has("Direction") && has("Destination_Agent_Id")) return Table::copies;
  return has("Domain") && has("Function") ? Table::calls : Table::none;
}

/// "Agent 4" and "4" are one.
std::string agent_key(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.starts_with("Agent ")) cell.remove_prefix(6);
  return std::string(cell);
}

constexpr std::size_t kMostAgents = 1024;  // of one machine

/// The files of one process.
class Process {
 public:
  Process(Capture& capture, std::int64_t pid)
      : c_(capture), rows_(capture), agents_(capture), pid_(pid) {}

  bool read(std::string_view content) {
    CsvTable rows(content);
    const Table table = table_of(rows);
    if (table == Table::none) return false;
    c_.bytes += static_cast<std::int64_t>(content.size());
    switch (table) {
      case Table::agents:
        read_agents(rows);
        break;
      case Table::kernels:
        read_kernels(rows);
        break;
      case Table::copies:
        read_copies(rows);
        break;
      default:
        read_calls(rows);
        break;
    }
    return true;
  }
  void finish() { rows_.finish(); }

 private:
  /// f() for each row that is whole; false: a cell cannot be read.
  template <class F>
  void each(CsvTable& rows, F&& apply) {
    while (rows.next()) {
      if (!rows.whole() && rows.was_cut()) {
        c_.note_quality(QualityCode::truncated,
                        fmt::format("the file ends inside a line, at byte {}", rows.offset()));
        return;
      }
      if (!rows.whole() || !apply()) rows_.bad_row();
    }
  }

  void read_agents(CsvTable& rows) {
    const auto node = rows.column("Node_Id"), type = rows.column("Agent_Type"),
               units = rows.column("Cu_Count"), name = rows.column("Name"),
               product = rows.column("Product_Name");
    std::int32_t gpus = 0;
    each(rows, [&] {
      if (rows.text(type) == "GPU")
        agents_.add_gpu(agent_key(rows.text(node)),
                        {gpus++, rows.text(product), rows.text(name), rows.known(units)});
      else
        agents_.add_other(agent_key(rows.text(node)));
      return true;
    });
  }

  void read_kernels(CsvTable& rows) {
    const auto agent = rows.column("Agent_Id"), stream = rows.column("Stream_Id"),
               queue = rows.column("Queue_Id"), name = rows.column("Kernel_Name"),
               correlation = rows.column("Correlation_Id"), start = rows.column("Start_Timestamp"),
               end = rows.column("End_Timestamp"),
               shared = std::min(rows.column("LDS_Block_Size"), rows.column("Group_Segment_Size")),
               registers = rows.column("VGPR_Count"), more = rows.column("Accum_VGPR_Count");
    std::array<std::size_t, 3> grid{}, block{};
    for (std::size_t i = 0; i < 3; ++i) {
      grid[i] = rows.column(std::string("Grid_Size_") + "XYZ"[i]);
      block[i] = rows.column(std::string("Workgroup_Size_") + "XYZ"[i]);
    }
    if (agents_.empty()) number_agents(rows, agent);
    each(rows, [&] {
      const auto from = rows.number(start), to = rows.number(end);
      if (!from || !to) return false;
      DeviceWork work;
      work.start = *from;
      work.end = *to;
      work.device = agents_.row(agent_key(rows.text(agent)));
      work.name = c_.strings.intern(rows.text(name));
      work.stream = rows.known(rows.text(stream).empty() ? queue : stream);
      work.correlation = rows.known(correlation);
      work.pid = pid_;
      work.shared_bytes = rows.known(shared);
      work.registers = rows.known(registers);
      if (const auto accumulators = rows.number(more);
          accumulators && work.registers >= 0 && *accumulators > 0 && *accumulators < 4096)
        work.registers = checked_add(work.registers, *accumulators).value_or(-1);
      std::array<std::int64_t, 3> items{};
      for (std::size_t i = 0; i < 3; ++i) {
        items[i] = rows.known(grid[i]);
        work.block[i] = rows.known(block[i]);
      }
      work.grid = blocks_of(items, work.block);
      rows_.work(work);
      return true;
    });
  }

  /// Without a list of agents: in the order of their numbers, as the list would have them.
  void number_agents(CsvTable rows, std::size_t agent) {
    std::set<std::pair<std::size_t, std::string>> keys;
    while (rows.next())
      if (auto key = agent_key(rows.text(agent)); rows.whole() && keys.size() < kMostAgents)
        keys.insert({key.size(), std::move(key)});
    for (const auto& [size, key] : keys) agents_.row(key);
  }

  void read_copies(CsvTable& rows) {
    const auto direction = rows.column("Direction"), stream = rows.column("Stream_Id"),
               source = rows.column("Source_Agent_Id"),
               target = rows.column("Destination_Agent_Id"),
               correlation = rows.column("Correlation_Id"), start = rows.column("Start_Timestamp"),
               end = rows.column("End_Timestamp");
    each(rows, [&] {
      const auto from = rows.number(start), to = rows.number(end);
      if (!from || !to) return false;
      DeviceWork work;
      work.start = *from;
      work.end = *to;
      work.kind = ActivityKind::memcpy;
      work.copy = copy_direction(rows.text(direction));
      work.device = agents_.row_of_copy(agent_key(rows.text(source)), agent_key(rows.text(target)));
      work.stream = rows.known(stream);
      work.correlation = rows.known(correlation);
      work.pid = pid_;
      rows_.work(work);
      return true;
    });
  }

  void read_calls(CsvTable& rows) {
    const auto domain = rows.column("Domain"), function = rows.column("Function"),
               process = rows.column("Process_Id"), thread = rows.column("Thread_Id"),
               correlation = rows.column("Correlation_Id"), start = rows.column("Start_Timestamp"),
               end = rows.column("End_Timestamp");
    each(rows, [&] {
      const auto from = rows.number(start), to = rows.number(end);
      if (!from || !to) return false;
      const auto pid = pid_ < 0 ? rows.known(process) : pid_;
      const auto row = rows_.thread(pid, rows.known(thread));
      if (rows.text(domain).starts_with("MARKER"))
        rows_.range(*from, *to, row, rows.text(function));
      else
        rows_.call(*from, *to, row, rows.text(function), rows.known(correlation));
      return true;
    });
  }

  Capture& c_;
  TraceRows rows_;
  Agents agents_;
  std::int64_t pid_;
};

// Files that are read of a process, in this order. Calls of HSA lie inside those of HIP and are
// read where those are missing.
constexpr std::string_view kKernelsFile = "_kernel_trace.csv", kAgentsFile = "_agent_info.csv",
                           kCopiesFile = "_memory_copy_trace.csv", kHipFile = "_hip_api_trace.csv",
                           kHsaFile = "_hsa_api_trace.csv", kMarksFile = "_marker_api_trace.csv";
constexpr std::array kEnds{kAgentsFile, kKernelsFile, kCopiesFile, kHipFile, kHsaFile, kMarksFile};

/// The prefix of a process's file names; empty: the name is another's.
std::string beginning_of(const std::string& path) {
  for (const std::string_view end : kEnds)
    for (const std::string_view packed : {"", ".gz", ".zst"})
      if (path.ends_with(std::string(end).append(packed)))
        return path.substr(0, path.size() - end.size() - packed.size());
  return {};
}

std::optional<std::string> existing(const std::string& beginning, std::string_view end) {
  for (const std::string_view packed : {"", ".gz", ".zst"}) {
    auto path = std::string(beginning).append(end).append(packed);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return {};
}

/// The number that ends "node/4242".
std::int64_t process_of(std::string_view beginning) {
  const auto name = file_name(beginning);
  std::int64_t pid = -1;
  const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return wrong == std::errc() && end == name.data() + name.size() ? pid : -1;
}

Status read_file(Process& process, Capture& capture, const std::string& path,
                 const ImportOptions& options) {
  const auto content = read_whole(path, options.max_bytes, &capture);
  if (!content) return tl::unexpected(content.error());
  if (process.read(*content)) return {};
  return fail("is no table of rocprofv3 that is read", path, -1,
              "give the file whose name ends in kernel_trace.csv, with the others beside it");
}

Status read_process(Capture& capture, const std::string& beginning, const ImportOptions& options) {
  Process process(capture, process_of(beginning));
  for (const std::string_view end : kEnds) {
    const auto path = existing(beginning, end);
    if (!path || (end == kHsaFile && existing(beginning, kHipFile))) continue;
    if (const auto done = read_file(process, capture, *path, options); !done) return done;
  }
  process.finish();
  return {};
}

}  // namespace

int sniff_csv(std::string_view, std::string_view head) {
  if (head.starts_with('{') || head.starts_with('[')) return 0;
  return table_of(table_heading(head.substr(0, 4096))) != Table::none ? 92 : 0;
}

std::vector<std::string> find_processes(const std::string& folder) {
  constexpr std::size_t kMostFiles = 10'000;
  std::set<std::string> found;
  std::error_code error;
  std::size_t seen = 0;
  for (std::filesystem::recursive_directory_iterator
           at(folder, std::filesystem::directory_options::skip_permission_denied, error),
       end;
       !error && at != end && ++seen < kMostFiles; at.increment(error)) {
    if (at.depth() >= 2) at.disable_recursion_pending();
    const auto path = at->path().string();
    if (const auto beginning = beginning_of(path);
        !beginning.empty() && existing(beginning, kKernelsFile))
      found.insert(beginning);
  }
  return {found.begin(), found.end()};
}

Result<Capture> load_processes(const std::vector<std::string>& beginnings, const std::string& path,
                               const ImportOptions& options) {
  Capture capture;
  capture.path = path;
  capture.format = "rocprofv3_csv";
  // A folder inside is a machine.
  const auto host_of = [](std::string_view name) { return name.substr(0, name.rfind('/')); };
  std::int64_t others = 0;
  for (const auto& beginning : beginnings) {
    if (host_of(beginning) != host_of(beginnings.front())) {
      ++others;
      continue;
    }
    if (const auto done = read_process(capture, beginning, options); !done)
      return tl::unexpected(done.error());
  }
  if (others > 0)
    capture.note_quality(QualityCode::other_hosts,
                         "the folder has processes of several machines; those of the first are "
                         "read, name the folder of another to see its",
                         others);
  note_no_absolute_time(capture, "rocprofv3");
  return capture;
}

Result<Capture> load_csv(const std::string& path, const ImportOptions& options) {
  const std::string beginning = beginning_of(path);
  if (!beginning.empty()) return load_processes({beginning}, path, options);
  Capture capture;
  capture.path = path;
  capture.format = "rocprofv3_csv";
  Process process(capture, -1);
  if (const auto done = read_file(process, capture, path, options); !done)
    return tl::unexpected(done.error());
  process.finish();
  note_no_absolute_time(capture, "rocprofv3");
  return capture;
}

}  // namespace gf::rocprof
