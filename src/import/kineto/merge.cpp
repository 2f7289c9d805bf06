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
  return pid == -1 ? fmt::format("-1\n{}", text) : fmt::format("{}", pid);
}

/// The part that names the thread inside its process.
std::string thread_key(std::string_view process, std::int64_t tid, std::string_view text) {
  return tid == -1 ? fmt::format("{}\n-1\n{}", process, text) : fmt::format("{}\n{}", process, tid);
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
    auto& t = capture_.threads;
    const auto row = at->second = t.add();
    t.pid[row] = key.pid;
    t.tid[row] = key.tid;
    t.process_name[row] = capture_.strings.intern(key.process_name);
    t.name[row] = capture_.strings.intern(key.thread_name);
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

void Merge::take_rows(const Chunk& chunk, const Translation& known) {
  const PerTable rows_before = capture_.row_counts();
  auto take = [&](auto& mine, const auto& theirs) {
    if (theirs.empty()) return;
    const auto first = mine.size();
    mine.append(theirs);
    mine.each_column_ref([&](const auto& c) {
      using Declared = typename std::remove_cvref_t<decltype(c)>::Declared;
      auto rename = [&](auto&& f) {
        for (std::size_t i = first; i < c.column.size(); ++i) c.column[i] = f(c.column[i]);
      };
      if constexpr (kIsText<Declared>) {
        rename([&](Text t) { return known.texts[static_cast<std::uint32_t>(t)]; });
      } else if constexpr (kIsRef<Declared>) {
        constexpr TableId kTarget = kRefTable<Declared>;
        if (kTarget == TableId::threads)
          rename([&](std::uint32_t t) { return known.threads[t]; });
        else if (kTarget == TableId::devices)
          rename([&](std::uint32_t d) { return device_row(d); });
        else
          rename([&](std::uint32_t row) { return row + of(rows_before, kTarget); });
      }
    });
  };
  capture_.each_table_pair(chunk.rows, take);
}

void Merge::add(Chunk& chunk) {
  Translation& known = known_[chunk.worker];
  learn(chunk, known);
  take_rows(chunk, known);
  for (const auto& naming : chunk.names)
    names_.push_back({naming.thread, naming.process, capture_.strings.intern(naming.name)});
  for (const auto& d : chunk.damage) {
    const auto same = std::find_if(damage_.begin(), damage_.end(),
                                   [&](const Damage& k) { return k.code == d.code; });
    if (same == damage_.end())
      damage_.push_back(d);
    else
      same->count += d.count;
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
  auto& t = capture_.threads;
  for (std::uint32_t row = 0; row < t.size(); ++row) {
    const std::string process = process_key(t.pid[row], capture_.text(t.process_name[row]));
    const auto thread = threads.find(thread_key(process, t.tid[row], capture_.text(t.name[row])));
    if (thread != threads.end()) t.name[row] = thread->second;
    if (const auto own = processes.find(process); own != processes.end())
      t.process_name[row] = own->second;
  }
}

/// ROCm describes a process's one GPU as number 0 and gives its work another number: one
/// description and one device with work are the same device, under the number of the work.
void Merge::join_lone_device() {
  auto& d = capture_.devices;
  if (d.size() != 2 || device_rows_.size() != 1) return;
  const std::uint32_t active = device_rows_.begin()->second, described = 1 - active;
  if (d.sm_count[described] < 0 || d.sm_count[active] >= 0 || d.name[active] != Text::none) return;
  d.id[described] = d.id[active];
  auto one = d;
  one.clear();
  one.add();
  one.visit_pairs(d, [&](auto& mine, const auto& theirs) { mine[0] = theirs[described]; });
  d = std::move(one);
  capture_.each_table([](auto& table) {
    table.each_column_ref([](const auto& c) {
      if constexpr (kIsRef<typename std::remove_cvref_t<decltype(c)>::Declared>)
        if (kRefTable<typename std::remove_cvref_t<decltype(c)>::Declared> == TableId::devices)
          for (auto& row : c.column)
            if (row != kNoRow) row = 0;
    });
  });
}

void Merge::finish(Nanos base) {
  name_threads();
  join_lone_device();
  for (const auto& d : damage_)
    capture_.note_quality(d.code, fmt::format("{} (first at byte {})", d.what, d.first), d.count);
  if (base == 0) return;
  capture_.each_table([&](auto& table) {
    table.each_column_ref([&](const auto& c) {
      if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(c)>::Declared,
                                   declared::Time>)
        for (auto& ns : c.column) ns += base;
    });
  });
}

}  // namespace gf::kineto
