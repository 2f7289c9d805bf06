#include "import/kineto/merge.h"

#include <fmt/format.h>

#include <algorithm>

namespace gf::kineto {

namespace {

/// One text for a thread, as a key: numbers or texts, as the events name it.
std::string key_of(const ThreadKey& key) {
  return fmt::format("{}\n{}\n{}\n{}", key.pid, key.tid, key.process_name, key.thread_name);
}

/// The part of it that names the process.
std::string process_key(std::int64_t pid, std::string_view text) {
  if (pid == -1) return fmt::format("-1\n{}", text);
  return fmt::format("{}", pid);
}

/// The part that names the thread inside its process.
std::string thread_key(std::string_view process, std::int64_t tid, std::string_view text) {
  if (tid == -1) return fmt::format("{}\n-1\n{}", process, text);
  return fmt::format("{}\n{}", process, tid);
}

}  // namespace

std::uint32_t Merge::device_row(std::uint32_t id) {
  if (id == kNoRow) return kNoRow;
  const auto [at, added] = device_rows_.try_emplace(id, 0);
  if (added) at->second = capture_.device_row(static_cast<std::int32_t>(id));
  return at->second;
}

std::uint32_t Merge::thread_row(const ThreadKey& key) {
  const auto [at, added] = thread_rows_.try_emplace(key_of(key), 0);
  if (added) {
    auto& threads = capture_.threads;
    const auto row = at->second = threads.add();
    threads.pid[row] = key.pid;
    threads.tid[row] = key.tid;
    threads.process_name[row] = capture_.strings.intern(key.process_name);
    threads.name[row] = capture_.strings.intern(key.thread_name);
  }
  return at->second;
}

/// Chunks of one worker come in the order in which it read them, so a text or thread is told before
/// or with the first rows that use it.
void Merge::learn(const Chunk& chunk, Translation& known) {
  for (const std::string_view text : chunk.texts)
    known.texts.push_back(capture_.strings.intern(text));
  for (const NewThread& thread : chunk.threads) {
    if (thread.number >= known.threads.size()) known.threads.resize(thread.number + 1, kNoRow);
    known.threads[thread.number] = thread_row(thread.key);
  }
}

/// The chunk's rows are renamed where they lie, which is in the processor's cache.
void Merge::take_rows(Chunk& chunk, const Translation& known) {
  const PerTable rows_before = capture_.row_counts();
  chunk.rows.each_table([&](auto& table) {
    if (table.empty()) return;
    table.each_column_ref([&](const auto& column) {
      using Declared = typename std::remove_cvref_t<decltype(column)>::Declared;
      auto rename = [&](auto&& apply) { column.column.transform(apply); };
      if constexpr (kIsText<Declared>) {
        rename([&](Text id) { return known.texts[static_cast<std::uint32_t>(id)]; });
      } else if constexpr (kIsRef<Declared>) {
        constexpr TableId kTarget = kRefTable<Declared>;
        if (kTarget == TableId::threads)
          rename([&](std::uint32_t thread) { return known.threads[thread]; });
        else if (kTarget == TableId::devices)
          rename([&](std::uint32_t device) { return device_row(device); });
        else
          rename([&](std::uint32_t row) { return row + of(rows_before, kTarget); });
      }
    });
  });
  capture_.each_table_pair(chunk.rows, [](auto& mine, const auto& theirs) { mine.append(theirs); });
}

void Merge::add(Chunk& chunk) {
  Translation& known = known_[chunk.worker];
  learn(chunk, known);
  take_rows(chunk, known);
  for (const auto& naming : chunk.names)
    names_.push_back({naming.thread, naming.process, capture_.strings.intern(naming.name)});
  for (const auto& damage : chunk.damage) {
    const auto same = std::find_if(damage_.begin(), damage_.end(),
                                   [&](const Damage& entry) { return entry.code == damage.code; });
    if (same == damage_.end())
      damage_.push_back(damage);
    else
      same->count += damage.count;
  }
  capture_.events += chunk.events;
  if (chunk.closed) {
    closed_ = true;
    trailer_ = std::move(chunk.trailer);
  }
}

/// Names are looked up by the pid and tid of the events, so that many threads with many names cost
/// no more than each once. The last name given counts.
void Merge::name_threads() {
  std::unordered_map<std::string, Text> processes, threads;
  for (const auto& given : names_) {
    const std::string process = process_key(given.thread.pid, given.thread.process_name);
    if (given.process) {
      if (given.thread.pid != -1) processes[process] = given.name;
    } else {
      threads[thread_key(process, given.thread.tid, given.thread.thread_name)] = given.name;
    }
  }
  auto& rows = capture_.threads;
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    const std::string process = process_key(rows.pid[row], capture_.text(rows.process_name[row]));
    const auto thread =
        threads.find(thread_key(process, rows.tid[row], capture_.text(rows.name[row])));
    if (thread != threads.end()) rows.name[row] = thread->second;
    if (const auto own = processes.find(process); own != processes.end())
      rows.process_name[row] = own->second;
  }
}

/// ROCm describes a process's one GPU as number 0 and gives its work another number: one
/// description and one device with work are the same device, under the number of the work.
void Merge::join_lone_device() {
  auto& devices = capture_.devices;
  if (devices.size() != 2 || device_rows_.size() != 1) return;
  const std::uint32_t active = device_rows_.begin()->second, described = 1 - active;
  if (devices.sm_count[described] < 0 || devices.sm_count[active] >= 0 ||
      devices.name[active] != Text::none)
    return;
  devices.id[described] = devices.id[active];
  auto one = devices;
  one.clear();
  one.add();
  one.visit_pairs(devices, [&](auto& mine, const auto& theirs) { mine[0] = theirs[described]; });
  devices = std::move(one);
  capture_.each_table([](auto& table) {
    table.each_column_ref([](const auto& column) {
      if constexpr (kIsRef<typename std::remove_cvref_t<decltype(column)>::Declared>)
        if (kRefTable<typename std::remove_cvref_t<decltype(column)>::Declared> == TableId::devices)
          for (auto& row : column.column)
            if (row != kNoRow) row = 0;
    });
  });
}

void Merge::finish(Nanos base) {
  name_threads();
  join_lone_device();
  for (const auto& damage : damage_)
    capture_.note_quality(
        damage.code, fmt::format("{} (first at byte {})", damage.what, damage.first), damage.count);
  if (base == 0) return;
  capture_.each_table([&](auto& table) {
    table.each_column_ref([&](const auto& column) {
      if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(column)>::Declared,
                                   declared::Time>)
        column.column.transform([&](Nanos ns) { return ns + base; });
    });
  });
}

}  // namespace gf::kineto
