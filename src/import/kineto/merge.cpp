#include "import/kineto/merge.h"

#include <fmt/format.h>

#include <algorithm>

namespace gf::kineto {

namespace {

constexpr Text kUnset{UINT32_MAX};

}  // namespace

Text Merge::text_in_capture(Worker& w, Text text) {
  auto& known = w.text_in_capture;
  const auto i = static_cast<std::uint32_t>(text);
  if (i >= known.size()) known.resize(std::max<std::size_t>(i + 1, known.size() * 2), kUnset);
  if (known[i] == kUnset) known[i] = capture_.strings.intern(w.strings.view(text));
  return known[i];
}

std::uint32_t Merge::device_row(std::uint32_t id) {
  if (id == kNoRow) return kNoRow;
  const auto [at, added] = device_rows_.try_emplace(id, 0);
  if (added) at->second = capture_.device_row(static_cast<std::int32_t>(id));
  return at->second;
}

void Merge::add(Chunk& chunk) {
  Worker& w = *chunk.worker;
  for (const Text t : chunk.texts) text_in_capture(w, t);
  for (const std::uint32_t number : chunk.threads) {
    auto& known = w.thread_in_capture;
    if (number >= known.size()) known.resize(number + 1, kNoRow);
    if (known[number] != kNoRow) continue;
    const auto& thread = w.threads[number];
    const auto process = w.strings.view(thread.process_name),
               name = w.strings.view(thread.thread_name);
    auto [at, added] = thread_rows_.try_emplace(
        fmt::format("{}\n{}\n{}\n{}", thread.pid, thread.tid, process, name), 0);
    if (added) {
      auto& t = capture_.threads;
      const auto row = at->second = t.add();
      t.pid[row] = thread.pid;
      t.tid[row] = thread.tid;
      t.process_name[row] = capture_.strings.intern(process);
      t.name[row] = capture_.strings.intern(name);
    }
    known[number] = at->second;
  }
  const auto activity0 = static_cast<std::uint32_t>(capture_.activities.size());
  auto take = [&](auto& mine, const auto& theirs) {
    if (theirs.empty()) return;
    const auto first = mine.size();
    mine.append(theirs);
    mine.each_column([&](const ColumnInfo& info, auto& column) {
      using T = typename std::remove_reference_t<decltype(column)>::value_type;
      auto rename = [&](auto&& f) {
        for (std::size_t i = first; i < column.size(); ++i) column[i] = f(column[i]);
      };
      if constexpr (std::is_same_v<T, Text>) {
        const auto* known = w.text_in_capture.data();
        rename([&](Text t) { return t == Text::none ? t : known[static_cast<std::uint32_t>(t)]; });
      } else if constexpr (std::is_same_v<T, U32>) {
        const std::string_view name = info.name;
        if (name == "thread") rename([&](std::uint32_t t) { return w.thread_in_capture[t]; });
        if (name == "device") rename([&](std::uint32_t d) { return device_row(d); });
        if (name == "activity") rename([&](std::uint32_t row) { return row + activity0; });
      }
    });
  };
  take(capture_.host_ops, chunk.rows.host_ops);
  take(capture_.api_calls, chunk.rows.api_calls);
  take(capture_.collectives, chunk.rows.collectives);
  take(capture_.activities, chunk.rows.activities);
  take(capture_.device_annotations, chunk.rows.device_annotations);
  take(capture_.syncs, chunk.rows.syncs);
  take(capture_.flows, chunk.rows.flows);
  take(capture_.memory_events, chunk.rows.memory_events);
  take(capture_.counter_samples, chunk.rows.counter_samples);
  for (const auto& n : chunk.names) {
    const auto& thread = w.threads[n.thread];
    names_.push_back({thread.pid, thread.tid, std::string(w.strings.view(thread.process_name)),
                      std::string(w.strings.view(thread.thread_name)), n.process,
                      text_in_capture(w, n.name)});
  }
  for (const auto& d : chunk.damage) {
    const auto known = std::find_if(damage_.begin(), damage_.end(), [&](const Damage& k) {
      return std::string_view(k.code) == d.code;
    });
    if (known == damage_.end())
      damage_.push_back(d);
    else
      known->count += d.count;
  }
  capture_.events += chunk.events;
  if (chunk.closed) {
    closed_ = true;
    trailer_ = std::move(chunk.trailer);
  }
}

void Merge::finish(Nanos base) {
  auto& t = capture_.threads;
  for (const auto& n : names_)
    for (std::uint32_t row = 0; row < t.size(); ++row) {
      if (t.pid[row] != n.pid ||
          (n.pid == -1 && capture_.text(t.process_name[row]) != n.process_text))
        continue;
      if (n.process) {
        if (n.pid != -1) t.process_name[row] = n.name;
      } else if (t.tid[row] == n.tid &&
                 (n.tid != -1 || capture_.text(t.name[row]) == n.thread_text)) {
        t.name[row] = n.name;
      }
    }
  for (const auto& d : damage_)
    capture_.note_quality(d.code, fmt::format("{} (first at byte {})", d.what, d.first), d.count);
  if (base == 0) return;
  capture_.each_table([&](auto& table) {
    table.each_column([&](const ColumnInfo& info, auto& column) {
      using T = typename std::remove_reference_t<decltype(column)>::value_type;
      if constexpr (std::is_same_v<T, I64>)
        if (std::string_view(info.name) == "start_ns" || std::string_view(info.name) == "time_ns")
          for (auto& ns : column) ns += base;
    });
  });
}

}  // namespace gf::kineto
