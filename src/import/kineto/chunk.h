// A piece of traceEvents: some bytes of the file that begin and end between two events, and what
// was read from them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "import/input.h"
#include "import/kineto/event.h"
#include "import/kineto/layouts.h"
#include "import/kineto/patterns.h"
#include "import/kineto/reading.h"
#include "model/capture.h"

namespace gf::kineto {

/// Damage of one kind inside a chunk.
struct Damage {
  QualityCode code;
  const char* what;
  std::int64_t count;
  std::int64_t first;  // byte offset in the decompressed file
};

/// A host thread as the events name it.
struct ThreadKey {
  std::int64_t pid, tid;
  std::string process_name, thread_name;  // where pid or tid is a text
};

/// A device that a worker saw for the first time in this chunk.
struct NewDevice {
  std::uint32_t id;
  std::optional<std::string> process;  // where that is another than Kineto's number of the device
};
/// The worker's number of its first device with a process of its own.
inline constexpr std::uint32_t kFirstPlacedDevice = 1u << 31;

/// The name that a metadata event ("ph": "M") gives a thread or process.
struct Naming {
  ThreadKey thread;
  bool process;           // it names the process
  std::string_view name;  // in the worker's pool
};

/// State that one worker keeps from chunk to chunk: its own numbers for texts and threads. No other
/// thread looks at it: what the merge needs to translate the numbers travels inside the chunk.
struct Worker {
  explicit Worker(unsigned index = 0, Reading how = Reading::learned)
      : number(index), reading(how) {}
  struct Thread {
    ThreadKey key;
    bool told = false;        // a chunk has carried it to the merge
    bool told_track = false;  // and so as a track
  };
  const unsigned number;
  const Reading reading;
  ReadBy read_by;  // but for `pattern`, which all others are
  StringPool strings;
  std::vector<Thread> threads;
  std::unordered_map<std::string, std::uint32_t> thread_of;  // by pid and tid as written
  // Devices that a chunk has carried to the merge: by number, and by process and number where they
  // differ.
  std::unordered_set<std::uint32_t> devices;
  std::unordered_map<std::string, std::uint32_t> device_of;
  std::vector<std::uint8_t> api_kind;  // by text, 255: not worked out yet
  std::uint64_t chunks = 0;            // that it read or reads
  Layouts layouts;
  Patterns patterns;
  SlowReader slow;
};

/// A thread that a worker saw for the first time in this chunk.
struct NewThread {
  std::uint32_t number;  // worker's
  ThreadKey key;
};

/// An activity behind host events of another thread than the activity before it.
struct NewTurn {
  std::uint32_t activity;  // row in the chunk
  std::uint32_t thread;    // worker's number
};

/// A thread or stream on which spans are told by their two borders.
struct NewTrack {
  std::uint32_t number;  // of the worker's threads
  ThreadKey key;
};

/// One border of a span that is told as two events, B and E.
struct Border {
  std::uint32_t track;  // of the worker's threads; in the merge, one number for all workers
  Nanos at;
  bool begins;  // else the innermost open span of the track ends
  TableId table{};
  std::uint32_t row = kNoRow;  // of the table in the chunk; none, where nothing is told of the span
};

struct Chunk {
  // Input.
  std::unique_ptr<char[]> buffer;  // capacity bytes and kPadding zeros behind the `size` in use
  std::size_t capacity = 0, size = 0;
  std::size_t unread = 0;   // bytes at the front of the buffer that Cutter::fill is to read
  std::int64_t offset = 0;  // of the first byte in the decompressed file
  bool last = false;

  // Output. Texts, threads and placed devices carry the worker's numbers, other
  // devices their ids.
  unsigned worker = 0;
  Tables rows;
  // Texts and threads that the worker met here first, in order of first use; texts are numbered
  // from the last one on that its chunks before this told. The texts' bytes stay where they are and
  // as they are for the life of the worker.
  std::vector<std::string_view> texts;
  std::vector<NewThread> threads;
  std::vector<NewDevice> devices;
  std::vector<Naming> names;
  std::vector<NewTurn> turns;
  std::vector<NewTrack> tracks;
  std::vector<Border> borders;
  std::uint32_t last_host = kNoRow;  // thread of the last host event
  std::vector<Damage> damage;
  std::int64_t noted = 0;  // how often
  std::int64_t events = 0;
  bool closed = false;  // the closing bracket of traceEvents was here (last chunk only) ...
  std::string trailer;  // ... and this follows it

  static constexpr std::ptrdiff_t kNotSearched = -2;
  std::ptrdiff_t last_event = kNotSearched;  // where the last event of the chunk begins, once that
                                             // was asked; -1: there is none

  /// Room for n bytes and the padding; what is there stays.
  void reserve(std::size_t count);
  /// Forgets the output, keeps the memory.
  void clear();
  void note(QualityCode code, const char* what, std::int64_t at);
};

/// Reads all events of a chunk.
void parse_chunk(Chunk& chunk, Worker& worker);

/// The next place at or after p that begins an event: a brace followed by a key, whose object has a
/// key "ph" of its own. Null when there is none before `end`. In valid JSON a brace followed by a
/// quote and a letter cannot stand inside a text, so damage before p does not matter.
const char* find_event(const char* at, const char* end);

enum class Verdict { event, other, unfinished };
/// Whether the brace at p begins an event. `unfinished`: the text ends before that can be told.
Verdict event_at(const char* at, const char* end);

// Cuts the stream of a trace into header and chunks of whole events.

class Cutter {
 public:
  Cutter(Input input, std::size_t chunk_bytes)
      : input_(std::move(input)), chunk_bytes_(chunk_bytes) {}

  /// Reads up to the first event. Errors: neither an array nor an object with "traceEvents".
  Status read_header();
  /// The text before the key "traceEvents": the members of the file's object, without its
  /// opening brace. Empty when the file is a bare array of events, as the profiler wrote it before
  /// Kineto.
  const std::string& header() const { return header_; }
  bool bare_array() const { return bare_array_; }

  /// Cuts off a chunk; false after the last one. Of a plain file only the end of it is read, where
  /// the next one begins.
  Result<bool> next(Chunk& chunk);
  /// Reads the rest of the chunk. Several threads may, each for its own.
  void fill(Chunk& chunk) const;

  const Input& input() const { return input_; }

 private:
  Result<std::size_t> read(std::int64_t at, char* to, std::size_t count);
  Result<bool> cut_ahead(Chunk& chunk);

  Input input_;
  std::size_t chunk_bytes_;
  std::string header_;
  bool bare_array_ = false;
  std::string carry_;  // read from a compressed input, not yet handed out
  std::size_t carry_at_ = 0;
  std::int64_t offset_ = 0;  // of the next byte to hand out
  std::uint64_t asked_ = 0;  // of a plain file: the disk was asked for all before this
  bool finished_ = false;
};

}  // namespace gf::kineto
