// A piece of traceEvents: some bytes of the file that begin and end between two events, and what
// was read from them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/kineto/event.h"
#include "import/kineto/read_slow.h"
#include "model/capture.h"

namespace gf::kineto {

/// Damage of one kind inside a chunk. `code` is a literal and compared by address.
struct Damage {
  const char* code;
  const char* what;
  std::int64_t count;
  std::int64_t first;  // byte offset in the decompressed file
};

/// What a metadata event ("ph": "M") says of a thread or process.
struct Naming {
  std::uint32_t thread;  // worker's number
  bool process;          // it names the process
  Text name;             // worker's number
};

/// What one worker keeps from chunk to chunk: its own numbers for texts and threads. The merge
/// translates them.
struct Worker {
  struct Thread {
    std::int64_t pid, tid;
    Text process_name, thread_name;  // of pids and tids that are texts
  };
  StringPool strings;
  std::vector<std::uint64_t> string_seen;  // by text: the chunk that used it last
  std::vector<Thread> threads;
  std::vector<std::uint64_t> thread_seen;
  std::unordered_map<std::string, std::uint32_t> thread_of;  // by pid and tid as written
  std::vector<std::uint8_t> api_kind, copy_kind;             // by text, 255: not worked out yet
  SlowReader slow;
  // Filled by the merge: the capture's numbers for the worker's.
  std::vector<Text> text_in_capture;
  std::vector<std::uint32_t> thread_in_capture;
};

struct Chunk {
  // Input.
  std::unique_ptr<char[]> buffer;  // capacity bytes and kPadding zeros behind the `size` in use
  std::size_t capacity = 0, size = 0;
  std::int64_t offset = 0;   // of the first byte in the decompressed file
  std::uint64_t number = 0;  // 1, 2, ...
  bool last = false;

  // Output. Texts and threads carry the worker's numbers, devices their ids.
  Worker* worker = nullptr;
  Tables rows;
  std::vector<Text> texts;             // used here, in order of first use
  std::vector<std::uint32_t> threads;  // likewise
  std::vector<Naming> names;
  std::vector<Damage> damage;
  std::int64_t events = 0;
  bool closed = false;  // the closing bracket of traceEvents was here (last chunk only) ...
  std::string trailer;  // ... and this follows it

  static constexpr std::ptrdiff_t kNotSearched = -2;
  std::ptrdiff_t last_event = kNotSearched;  // where the last event of the chunk begins, once that
                                             // was asked; -1: there is none

  /// Room for n bytes and the padding; what is there stays.
  void reserve(std::size_t n);
  /// Forgets the output, keeps the memory.
  void clear();
  void note(const char* code, const char* what, std::int64_t at);
};

/// Reads all events of a chunk.
void parse_chunk(Chunk& chunk, Worker& worker);

/// The next place at or after p that begins an event: a brace followed by a key, whose object has a
/// key "ph" of its own. Null when there is none before `end`. In valid JSON a brace followed by a
/// quote and a letter cannot stand inside a text, so damage before p does not matter.
const char* find_event(const char* p, const char* end);

enum class Verdict { event, other, unfinished };
/// Whether the brace at p begins an event. `unfinished`: the text ends before that can be told.
Verdict event_at(const char* p, const char* end);

}  // namespace gf::kineto
