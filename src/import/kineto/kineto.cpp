#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/machine.h"
#include "core/pipeline.h"
#include "core/secrets.h"
#include "core/text.h"
#include "import/formats.h"
#include "import/kineto/chunk.h"
#include "import/kineto/event.h"
#include "import/kineto/merged_devices.h"
#include "import/kineto/processes.h"
#include "import/kineto/reading.h"
#include "model/capture.h"
#include "model/chips.h"
#include "model/vendor.h"

namespace gf::kineto {

// The members of a trace before and after its events: devices, versions, the time base.

namespace {

namespace dom = simdjson::dom;

std::string text_of(const dom::element& value) {
  switch (value.type()) {
    case dom::element_type::STRING:
      return std::string(value.get_string().value_unsafe());
    case dom::element_type::DOUBLE:
      return fmt::format("{}", value.get_double().value_unsafe());
    default:
      return simdjson::minify(value);
  }
}

std::int64_t integer(const dom::object& object, const char* key) {
  std::int64_t value = -1;
  if (object.at_key(key).get(value)) return -1;
  return value;
}

std::int32_t small(const dom::object& object, const char* key) {
  const auto wide = integer(object, key);
  if (wide >= 0 && wide <= INT32_MAX) return static_cast<std::int32_t>(wide);
  return -1;
}

void add_device(Capture& capture, const dom::object& object) {
  const auto id = small(object, "id");
  if (id < 0) return;
  auto& devices = capture.devices;
  const auto row = capture.device_row(id);
  std::string_view name;
  if (object.at_key("name").get(name)) name = {};
  devices.name[row] = capture.strings.intern(name);
  // Only AMD's wavefronts have 64 lanes; its devices may come without a name.
  const Vendor vendor = integer(object, "warpSize") == 64 ? Vendor::amd : vendor_of_device(name);
  if (vendor != Vendor::unknown) devices.vendor[row] = capture.strings.intern(id_of(vendor));
  devices.compute_major[row] = small(object, "computeMajor");
  devices.compute_minor[row] = small(object, "computeMinor");
  // A rewriting tool was seen to leave a size of memory there, with the number beside it.
  constexpr std::int32_t kMostSms = 4096;
  devices.sm_count[row] = small(object, "numSms");
  if (devices.sm_count[row] > kMostSms)
    devices.sm_count[row] = small(object, "multiProcessorCount");
  if (devices.sm_count[row] > kMostSms) devices.sm_count[row] = -1;
  devices.memory_bytes[row] = integer(object, "totalGlobalMem");
  devices.max_threads_per_sm[row] = small(object, "maxThreadsPerMultiprocessor");
  // The Python exporter of torch 2.13 leaves numSms out and writes its value there instead.
  constexpr std::int32_t kFewestThreads = 1024;  // that an SM of any GPU can hold
  if (devices.max_threads_per_sm[row] < kFewestThreads) {
    if (devices.sm_count[row] < 0) devices.sm_count[row] = devices.max_threads_per_sm[row];
    devices.max_threads_per_sm[row] = -1;
  }
  devices.registers_per_sm[row] = small(object, "regsPerMultiprocessor");
  devices.shared_bytes_per_sm[row] = std::max(integer(object, "sharedMemPerMultiprocessor"),
                                              integer(object, "maxSharedMemoryPerMultiProcessor"));
}

std::optional<Nanos> take_member(Capture& capture, std::string_view key,
                                 const dom::element& value) {
  if (key == "deviceProperties") {
    dom::array list;
    if (!value.get_array().get(list))
      for (const dom::element& item : list)
        if (dom::object object; !item.get_object().get(object)) add_device(capture, object);
    return std::nullopt;
  }
  if (dom::object object; key == "distributedInfo" && !value.get_object().get(object)) {
    for (auto [name, part] : object)
      capture.set_metadata("distributedInfo." + std::string(name),
                           without_secrets(name, text_of(part)));
    return std::nullopt;
  }
  const std::string text = text_of(value);
  capture.set_metadata(key, without_secrets(key, text));
  if (key != "baseTimeNanoseconds") return std::nullopt;
  const auto base = parse_decimal(text, 0);
  if (base && *base >= 0 && *base < (std::int64_t{1} << 62)) return base;
  capture.note_quality(QualityCode::bad_metadata, "baseTimeNanoseconds is " + text +
                                                      ", which is not a time; times are relative");
  return std::nullopt;
}

/// One object; false when it is not valid JSON.
bool take_object(Capture& capture, const std::string& json, std::optional<Nanos>& base) {
  dom::parser parser;
  dom::object object;
  if (parser.parse(json).get_object().get(object)) return false;
  for (auto [key, value] : object)
    if (auto taken = take_member(capture, key, value)) base = taken;
  return true;
}

/// Reads the members of the file's object ("key": value, ...) into devices and metadata. Returns
/// baseTimeNanoseconds when it is there. Damaged text is searched for the members that matter, and
/// counted in quality unless it is known to be cut.
std::optional<Nanos> read_metadata(Capture& capture, std::string members, bool cut = false) {
  std::optional<Nanos> base;
  // Free of the commas and braces at the seams.
  const auto first = members.find_first_not_of(", \t\r\n");
  if (first == members.npos || members.find_first_not_of("} \t\r\n") == members.npos) return base;
  members.erase(0, first);
  std::string json(1, '{');
  json += members;
  json.erase(json.find_last_not_of(" \t\r\n") + 1);
  if (json.ends_with(',')) json.back() = '}';
  if (take_object(capture, json, base)) return base;
  if (take_object(capture, json + "}", base)) return base;  // cut after a whole member
  const std::string padded = json + std::string(kPadding, '\0');
  if (const char* end = container_end(padded.data(), padded.data() + json.size());
      end &&
      take_object(capture, json.substr(0, static_cast<std::size_t>(end - padded.data())), base))
    return base;  // inside another object
  if (!cut)
    capture.note_quality(
        QualityCode::bad_metadata,
        "the trace's own description is not valid JSON; what could be found in it was kept");
  repair_text(json);
  json.append(kPadding, '\0');
  const char* end = json.data() + json.size() - kPadding;
  for (const char* key :
       {"schemaVersion", "deviceProperties", "distributedInfo", "cupti_version",
        "cuda_runtime_version", "cuda_driver_version", "hip_runtime_version", "record_shapes",
        "with_stack", "with_modules", "with_flops", "profile_memory", "trace_id", "displayTimeUnit",
        "baseTimeNanoseconds", "traceName"}) {
    const std::string quoted = fmt::format("\"{}\"", key);
    const auto at = json.find(quoted);
    if (at == json.npos) continue;
    const char* cursor = skip_space(json.data() + at + quoted.size());
    if (*cursor != ':') continue;
    cursor = skip_space(cursor + 1);
    const char* stop = nullptr;
    if (*cursor == '"') {
      stop = string_end(cursor + 1, end);
    } else if (*cursor == '[' || *cursor == '{') {
      stop = container_end(cursor, end);
    } else {
      stop = scalar_stop(cursor);
    }
    if (!stop || stop >= end) continue;
    if (*cursor == '"') ++stop;
    take_object(capture,
                fmt::format("{{{}:{}}}", quoted,
                            std::string_view(cursor, static_cast<std::size_t>(stop - cursor))),
                base);
  }
  return base;
}

}  // namespace

// Puts the rows of chunks, in the order of the file, into the capture.

class Merge {
 public:
  Merge(Capture& capture, unsigned workers)
      : capture_(capture), known_(workers), devices_(capture) {}
  void add(Chunk& chunk);
  /// After the last chunk: names of threads and processes, counts of damage, and the time base
  /// under all times.
  void finish(Nanos base);
  bool closed() const { return closed_; }
  const std::string& trailer() const { return trailer_; }

 private:
  /// The capture's numbers for a worker's.
  struct Translation {
    std::vector<Text> texts{Text::none};
    std::vector<std::uint32_t> threads;  // kNoRow: not told yet
    std::vector<std::uint32_t> placed;   // devices from kFirstPlacedDevice on
    std::vector<std::uint32_t> tracks;
    std::uint32_t row_of(std::uint32_t device, MergedDevices& devices) const {
      if (device == kNoRow) return kNoRow;
      const std::size_t place = device - kFirstPlacedDevice;
      return device < kFirstPlacedDevice || place >= placed.size() ? devices.row(device)
                                                                   : placed[place];
    }
  };
  /// The name in a metadata event, with its text where the capture keeps it.
  struct Name {
    ThreadKey thread;
    bool process;
    Text name;
  };
  void learn(const Chunk& chunk, Translation& known);
  void take_turns(const Chunk& chunk, const Translation& known);
  void take_borders(const Chunk& chunk, Translation& known);
  void close_spans();
  void take_rows(Chunk& chunk, const Translation& known);
  std::uint32_t thread_row(const ThreadKey& key);
  void name_threads();

  Capture& capture_;
  std::vector<Translation> known_;                              // by worker
  std::unordered_map<std::string, std::uint32_t> thread_rows_;  // by pid and tid, numbers or texts
  MergedDevices devices_;
  std::vector<ThreadKey> thread_keys_;  // by row
  std::vector<Name> names_;
  std::vector<ProcessTurn> turns_;
  std::unordered_map<std::string, std::uint32_t> track_numbers_;  // as thread_rows_
  std::vector<Border> borders_;
  std::int64_t host_pid_ = -1;  // of the last host event
  std::vector<Damage> damage_;
  bool closed_ = false;
  std::string trailer_;
};

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

std::uint32_t Merge::thread_row(const ThreadKey& key) {
  const auto [at, added] = thread_rows_.try_emplace(key_of(key), 0);
  if (added) {
    auto& threads = capture_.threads;
    const auto row = at->second = threads.add();
    threads.pid[row] = key.pid;
    threads.tid[row] = key.tid;
    thread_keys_.push_back(key);
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
  for (const auto& device : chunk.devices) {
    if (device.process)
      known.placed.push_back(devices_.row(device.id, *device.process));
    else
      devices_.row(device.id);
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
          rename([&](std::uint32_t device) { return known.row_of(device, devices_); });
        else
          rename([&](std::uint32_t row) {
            return row == kNoRow ? row : row + of(rows_before, kTarget);
          });
      }
    });
  });
  capture_.each_table_pair(chunk.rows, [](auto& mine, const auto& theirs) { mine.append(theirs); });
}

void Merge::take_turns(const Chunk& chunk, const Translation& known) {
  constexpr std::size_t kMost = 4096;  // processes whose traces stand behind each other are fewer
  const auto before = static_cast<std::uint32_t>(capture_.activities.size());
  const auto turn_to = [&](std::uint32_t activity) {
    if (!turns_.empty() && turns_.back().activity == before + activity) turns_.pop_back();
    if (turns_.size() < kMost && (turns_.empty() || turns_.back().pid != host_pid_))
      turns_.push_back({before + activity, host_pid_});
  };
  const auto hear = [&](std::uint32_t thread) {
    if (thread != kNoRow) host_pid_ = capture_.threads.pid[known.threads[thread]];
  };
  if (!chunk.rows.activities.empty()) turn_to(0);
  for (const auto& turn : chunk.turns) {
    hear(turn.thread);
    turn_to(turn.activity);
  }
  hear(chunk.last_host);
}

void Merge::take_borders(const Chunk& chunk, Translation& known) {
  for (const auto& track : chunk.tracks) {
    if (track.number >= known.tracks.size()) known.tracks.resize(track.number + 1, kNoRow);
    const auto next = static_cast<std::uint32_t>(track_numbers_.size());
    known.tracks[track.number] = track_numbers_.try_emplace(key_of(track.key), next).first->second;
  }
  if (chunk.borders.empty()) return;
  const PerTable before = capture_.row_counts();
  for (Border border : chunk.borders) {
    border.track = known.tracks[border.track];
    if (border.row != kNoRow) border.row += of(before, border.table);
    borders_.push_back(border);
  }
}

/// Spans told by two events: an end is of the span of its thread that began last and is open.
void Merge::close_spans() {
  if (borders_.empty()) return;
  std::ranges::stable_sort(
      borders_, {}, [](const Border& border) { return std::tuple(border.track, border.at); });
  std::array<std::vector<std::pair<std::uint32_t, Nanos>>, kTableCount> lengths;  // by row
  std::vector<Border> open;
  std::int64_t odd = 0;
  std::uint32_t track = kNoRow;
  for (const auto& border : borders_) {
    if (std::exchange(track, border.track) != border.track)
      odd += std::ssize(std::exchange(open, {}));
    if (border.begins) {
      open.push_back(border);
    } else if (open.empty()) {
      ++odd;
    } else {
      const Border begin = open.back();
      open.pop_back();
      if (begin.row != kNoRow)
        lengths[static_cast<std::size_t>(begin.table)].emplace_back(begin.row,
                                                                    border.at - begin.at);
    }
  }
  odd += std::ssize(open);
  capture_.each_table([&](auto& table) {
    table.each_column_ref([&](const auto& column) {
      if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(column)>::Declared,
                                   declared::Duration>)
        for (const auto& [row, length] : lengths[static_cast<std::size_t>(table.kId)])
          column.column[row] = length;
    });
  });
  if (odd > 0)
    capture_.note_quality(QualityCode::bad_event,
                          "a span that begins and does not end, and has no length here, or an end "
                          "of none",
                          odd);
}

void Merge::add(Chunk& chunk) {
  Translation& known = known_[chunk.worker];
  learn(chunk, known);
  take_turns(chunk, known);
  take_borders(chunk, known);
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

void Merge::finish(Nanos base) {
  // Here, so that the numbers of texts do not depend on where the trace was cut.
  for (std::uint32_t row = 0; row < thread_keys_.size(); ++row) {
    capture_.threads.process_name[row] = capture_.strings.intern(thread_keys_[row].process_name);
    capture_.threads.name[row] = capture_.strings.intern(thread_keys_[row].thread_name);
  }
  close_spans();
  devices_.settle(turns_);
  name_threads();
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

namespace {

// Large enough that the seams cost nothing, small enough for a core's cache.
constexpr std::size_t kChunk = 256 << 10;

void add_up(ReadBy& counts, const std::deque<Worker>& workers, std::int64_t events) {
  ReadBy other;
  for (const Worker& worker : workers) {
    other.layout += worker.read_by.layout;
    other.fast += worker.read_by.fast;
    other.plain += worker.read_by.plain;
  }
  counts.pattern += events - other.layout - other.fast - other.plain;
  counts.layout += other.layout;
  counts.fast += other.fast;
  counts.plain += other.plain;
}

}  // namespace

int sniff(std::string_view, std::string_view head) {
  auto has = [&](std::string_view part) { return contains(head, part); };
  const auto first = head.find_first_not_of("\xef\xbb\xbf \t\r\n");
  if (first == head.npos || (head[first] != '{' && head[first] != '[')) return 0;
  if (has("\"deviceProperties\"") || has("\"baseTimeNanoseconds\"")) return 90;
  if (has("\"ph\"") && (has("\"cpu_op\"") || has("\"Operator\"") || has("\"cuda_runtime\"")))
    return 80;
  if (has("\"schemaVersion\"") && has("\"traceEvents\"")) return 80;
  if (has("\"ph\"") && (has("\"traceEvents\"") || head[first] == '[')) return 30;
  return has("\"traceEvents\"") ? 20 : 0;
}

Result<Capture> load(const std::string& path, const ImportOptions& options) {
  return load_by(Reading::learned, path, options);
}

Result<Capture> load_by(Reading reading, const std::string& path, const ImportOptions& options,
                        ReadBy* counts) {
  auto input = Input::open(path, options.max_bytes);
  if (!input) return tl::unexpected(input.error());
  Cutter cutter(std::move(*input), options.chunk_bytes ? options.chunk_bytes : kChunk);
  if (auto ok = cutter.read_header(); !ok) return tl::unexpected(ok.error());

  Capture capture;
  capture.format = "kineto";
  capture.framework = "pytorch";
  auto base = read_metadata(capture, cutter.header());

  const unsigned workers = worker_threads(options.threads);
  std::deque<Worker> own;
  for (unsigned number = 0; number < workers; ++number) own.emplace_back(number, reading);
  std::deque<Chunk> slots(2 * workers + 2);
  Merge merge(capture, workers);
  Status status;
  run_in_order(
      slots, workers,
      [&](Chunk& chunk) {
        auto more = cutter.next(chunk);
        if (!more) status = tl::unexpected(more.error());
        if (more && options.progress && !options.progress("reading", cutter.input().done()))
          status = fail("reading was stopped", path);
        return status && *more;
      },
      [&](Chunk& chunk, unsigned worker) {
        cutter.fill(chunk);
        parse_chunk(chunk, own[worker]);
      },
      [&](Chunk& chunk) { merge.add(chunk); });
  if (!status) return tl::unexpected(status.error());
  if (counts) add_up(*counts, own, capture.events);

  const bool cut =
      merge.closed() && !cutter.bare_array() && merge.trailer().find('}') == std::string::npos;
  if (cut)
    capture.note_quality(QualityCode::truncated_json,
                         "the file ends after its events, without its closing brace");
  if (auto later = read_metadata(capture, merge.trailer(), cut)) base = later;
  merge.finish(base.value_or(0));
  note_damage(capture, cutter.input());
  capture.bytes = static_cast<std::int64_t>(cutter.input().delivered());
  return capture;
}

}  // namespace gf::kineto
