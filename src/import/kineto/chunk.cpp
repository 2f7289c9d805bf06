#include "import/kineto/chunk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "import/kineto/rows.h"
#include "import/raw_file.h"

namespace gf::kineto {

void Chunk::reserve(std::size_t count) {
  if (count > capacity || !buffer) {
    auto larger = std::make_unique_for_overwrite<char[]>(count + kPadding);
    if (size > 0) std::memcpy(larger.get(), buffer.get(), size);
    buffer = std::move(larger);
    capacity = count;
  }
}

void Chunk::clear() {
  rows.each_table([](auto& table) { table.clear(); });
  texts.clear();
  threads.clear();
  devices.clear();
  names.clear();
  turns.clear();
  tracks.clear();
  borders.clear();
  last_host = kNoRow;
  damage.clear();
  noted = 0;
  events = 0;
  trailer.clear();
  closed = false;
  last_event = kNotSearched;
}

void Chunk::note(QualityCode code, const char* what, std::int64_t at) {
  ++noted;
  for (auto& entry : damage)
    if (entry.code == code) {
      ++entry.count;
      return;
    }
  damage.push_back({code, what, 1, at});
}

namespace {

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

// Deeper nesting than this inside one event is damage. It also bounds the work of find_event on
// hostile input.
constexpr int kDeepest = 32;

}  // namespace

Verdict event_at(const char* at, const char* end) {
  at = skip_space(at + 1);
  if (*at != '"') {
    return at < end ? Verdict::other : Verdict::unfinished;
  }
  if (std::memcmp(at, "\"ph\"", 4) == 0) return Verdict::event;  // how Kineto begins
  if (!is_letter(at[1])) {
    return at + 1 < end ? Verdict::other : Verdict::unfinished;
  }
  // Another writer's key order: the object must have a key "ph" of its own.
  for (int depth = 1;;) {
    at = container_stop(at);
    if (at >= end) return Verdict::unfinished;
    switch (*at) {
      case '\0':
        return Verdict::other;
      case '"': {
        const char* close = string_end(at + 1, end);
        if (!close) return Verdict::other;
        if (depth == 1 && close - at == 3 && at[1] == 'p' && at[2] == 'h' &&
            *skip_space(close + 1) == ':')
          return Verdict::event;
        at = close;
        break;
      }
      case '{':
      case '[':
        if (++depth > kDeepest) return Verdict::other;
        break;
      default:
        if (--depth == 0) return Verdict::other;
    }
    ++at;
  }
}

const char* find_event(const char* at, const char* end) {
  while (at < end) {
    at = static_cast<const char*>(std::memchr(at, '{', static_cast<std::size_t>(end - at)));
    if (!at) return nullptr;
    if (event_at(at, end) == Verdict::event) return at;
    ++at;
  }
  return nullptr;
}

namespace {

/// True if the bracket at p closes the list of events: only in the last chunk, and only when no
/// event follows it.
bool ends_events(const char* at, const char* end, Chunk& chunk) {
  if (!chunk.last) return false;
  if (chunk.last_event ==
      Chunk::kNotSearched) {  // once a chunk, so that many stray brackets cost no more than one
    chunk.last_event = -1;
    const char* const begin = chunk.buffer.get();
    for (const char* found = end;
         chunk.last_event < 0 && (found = static_cast<const char*>(::memrchr(
                                      begin, '{', static_cast<std::size_t>(found - begin))));)
      if (event_at(found, end) == Verdict::event) chunk.last_event = found - begin;
  }
  return at - chunk.buffer.get() > chunk.last_event;
}

/// The bracket that closes traceEvents after a damaged last event; `end` when there is none.
const char* closing_bracket(const char* at, const char* end) {
  for (; at < end; ++at) {
    if (*at != '}') continue;
    const char* next = skip_space(at + 1);
    if (next < end && *next == ']') return next;
  }
  return end;
}

/// True if an event may end before p: a comma, the next event, or the end of the list follows. A
/// quote inside a name can make half an event look whole.
bool may_follow(const char* at, const char* end, Chunk& chunk) {
  at = skip_space(at);
  if (at >= end || *at == ',') return true;
  if (*at == ']') return ends_events(at, end, chunk);
  return *at == '{' && event_at(at, end) == Verdict::event;
}

/// Like container_end, but texts may hold control characters.
const char* lenient_end(const char* at, const char* limit) {
  int depth = 0;
  for (bool inside = false; at < limit; ++at) {
    if (*at == '"') inside = !inside;
    if (inside) {
      at += *at == '\\';
    } else if (*at == '{' || *at == '[') {
      ++depth;
    } else if ((*at == '}' || *at == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return nullptr;
}

// The longest look at an event with another inside, which bounds the work on hostile input.
constexpr std::ptrdiff_t kLongestNested = 64 << 10;

/// The event at p by the slow reader. Returns where to go on.
const char* read_carefully(const char* cursor, const char* end, Event& event, Chunk& chunk,
                           Worker& worker, Rows& rows) {
  const std::int64_t at = chunk.offset + (cursor - chunk.buffer.get());
  ++worker.read_by.plain;
  const char* following = find_event(cursor + 1, end);
  // Beside damage the next event is where this one ends at the latest; in sound JSON an object of
  // its args may look like one.
  const char* close = lenient_end(cursor, following ? following : end);
  if (!close && following) close = container_end(cursor, std::min(end, cursor + kLongestNested));
  if (close && may_follow(close, end, chunk)) {
    switch (worker.slow.read({cursor, static_cast<std::size_t>(close - cursor)}, event)) {
      case SlowReader::Outcome::repaired:
        chunk.note(QualityCode::repaired_event,
                   "control characters or invalid UTF-8 in a text were replaced", at);
        [[fallthrough]];
      case SlowReader::Outcome::whole:
        rows.add(event, at);
        return close;
      case SlowReader::Outcome::damaged:
        break;
    }
  }
  // Up to the next event, or the bracket that closes them.
  const char* const limit = following ? following : closing_bracket(cursor, end);
  if (const auto* last = static_cast<const char*>(
          ::memrchr(cursor, '}',
                    static_cast<std::size_t>(std::min(limit, cursor + kLongestNested) - cursor)));
      last &&
      worker.slow.read_quoted({cursor, static_cast<std::size_t>(last + 1 - cursor)}, event)) {
    chunk.note(QualityCode::repaired_event, "quotation marks in a name were not escaped", at);
    rows.add(event, at);
    return last + 1;
  }
  if (!following && !close && chunk.last && closing_bracket(cursor, end) == end)
    return end;  // cut short: parse_chunk says so
  chunk.note(QualityCode::bad_event, "event that is not valid JSON", at);
  if (following) return following;
  return chunk.last ? closing_bracket(cursor, end) : end;
}

/// By the fast reader, from which layouts and patterns learn.
const char* read_and_learn(const char* at, const char* end, Event& event, Worker& worker) {
  if (worker.reading == Reading::plain) return nullptr;
  const char* next = nullptr;
  if (worker.reading == Reading::learned) next = worker.layouts.read(at, end, event);
  if (next) {
    ++worker.read_by.layout;
  } else {
    next = read_fast(at, end, event);
    if (!next) return nullptr;
    ++worker.read_by.fast;
    if (worker.reading == Reading::fast) return next;
    worker.layouts.learn(at, next, event);
  }
  worker.patterns.learn(at, next, event);
  return next;
}

/// As it is expected; else as it stands.
const char* read_swiftly(const char* at, const char* end, Event& event, Worker& worker) {
  if (const char* next = worker.patterns.read(at, end, event)) return next;
  return read_and_learn(at, end, event, worker);
}

}  // namespace

void parse_chunk(Chunk& chunk, Worker& worker) {
  chunk.worker = worker.number;
  const char* at = chunk.buffer.get();
  const char* const end = at + chunk.size;
  std::memset(chunk.buffer.get() + chunk.size, 0, kPadding);
  Rows rows(chunk, worker);
  Event event;
  for (;;) {
    while (*(at = skip_space(at)) == ',' && at < end) ++at;
    if (at >= end) break;
    if (*at == ']' && ends_events(at, end, chunk)) {
      chunk.trailer.assign(at + 1, end);
      chunk.closed = true;
      rows.complete();
      return;
    }
    ++chunk.events;
    if (*at == '{') {
      if (const char* next = read_swiftly(at, end, event, worker);
          next && (*next == ',' || may_follow(next, end, chunk))) {
        rows.add(event, chunk.offset + (at - chunk.buffer.get()));
        at = next + (*next == ',');
      } else {
        at = read_carefully(at, end, event, chunk, worker, rows);
      }
      continue;
    }
    // Not an event: a value of another kind, or text that a broken writer left here.
    chunk.note(QualityCode::bad_event, "element of traceEvents that is not an event",
               chunk.offset + (at - chunk.buffer.get()));
    const char* following = find_event(at, end);
    if (following) {
      at = following;
    } else if (chunk.last) {
      at = std::find(at + 1, end, ']');
    } else {
      at = end;
    }
  }
  rows.complete();
  if (chunk.last)
    chunk.note(QualityCode::truncated_json, "the file ends before its list of events does",
               chunk.offset + static_cast<std::int64_t>(chunk.size));
}

namespace {

constexpr std::size_t kBlock = 64 << 10;
// Metadata or a single event larger than this is damage. It bounds the memory for hostile files.
constexpr std::size_t kLargestPiece = 256 << 20;

/// The place after `"traceEvents": [` at or after `from`; npos when it is not there, or not all of
/// it.
std::size_t find_list(const std::string& text, std::size_t from, std::size_t& key_at) {
  constexpr std::string_view kKey = "\"traceEvents\"";
  for (std::size_t at = text.find(kKey, from); at != text.npos; at = text.find(kKey, at + 1)) {
    const char* cursor = skip_space(text.c_str() + at + kKey.size());
    if (*cursor != ':') continue;
    cursor = skip_space(cursor + 1);
    if (*cursor != '[') continue;
    key_at = at;
    return static_cast<std::size_t>(cursor + 1 - text.c_str());
  }
  return text.npos;
}

/// The last place in [begin + 1, end) where one event ends and another begins; null when there is
/// none.
const char* last_boundary(const char* begin, const char* end) {
  for (const char* at = end; at > begin + 1;) {
    at = static_cast<const char*>(
        ::memrchr(begin + 1, '{', static_cast<std::size_t>(at - begin - 1)));
    if (!at) return nullptr;
    const char* before = at - 1;
    while (before > begin && is_space(*before)) --before;
    if (*before == ',' && event_at(at, end) == Verdict::event) return at;
  }
  return nullptr;
}

/// Where the members begin of the innermost object that is open at the end of this text.
std::size_t innermost_members(std::string_view text) {
  std::vector<std::size_t> open;
  bool inside = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') inside = !inside;
    if (inside) {
      at += text[at] == '\\';
    } else if (text[at] == '{' || text[at] == '[') {
      open.push_back(at + 1);
    } else if ((text[at] == '}' || text[at] == ']') && !open.empty()) {
      open.pop_back();
    }
  }
  return open.empty() ? 0 : open.back();
}

}  // namespace

/// Bytes from a place on, which is that of the next byte to read.
Result<std::size_t> Cutter::read(std::int64_t at, char* to, std::size_t count) {
  if (const RawFile* file = input_.plain()) {
    const auto place = static_cast<std::uint64_t>(at);
    auto got = file->read_at(place, to, count);
    if (!got) return got;
    if (auto ok = input_.deliver(place + *got); !ok) return tl::unexpected(ok.error());
    return got;
  }
  const std::size_t ready = std::min(count, carry_.size() - carry_at_);
  std::memcpy(to, carry_.data() + carry_at_, ready);
  carry_at_ += ready;
  if (ready == count) return count;
  auto got = input_.read(to + ready, count - ready);
  return !got ? got : ready + *got;
}

Status Cutter::read_header() {
  std::string head;
  for (;;) {
    const std::size_t before = head.size();
    head.resize(before + kBlock);
    auto got = input_.read(head.data() + before, kBlock);
    if (!got) return tl::unexpected(got.error());
    head.resize(before + *got);
    const bool ended = *got < kBlock;
    std::size_t first = 0;
    if (head.starts_with("\xef\xbb\xbf")) first = 3;
    first = static_cast<std::size_t>(skip_space(head.c_str() + first) - head.c_str());
    std::size_t list = head.npos, key = 0;
    if (first < head.size() && head[first] == '[') {
      bare_array_ = true;
      list = first + 1;
    } else if (first < head.size() && head[first] != '{') {
      return fail("is not JSON", input_.path(), static_cast<std::int64_t>(first),
                  "a PyTorch profiler trace begins with { or [");
    } else {
      list = find_list(head, before > kBlock ? before - kBlock : 0, key);
      if (list != head.npos) {
        header_ = head.substr(first + 1, key - first - 1);
        header_.erase(0, innermost_members(header_));
      }
    }
    if (list != head.npos) {
      carry_ = head.substr(list);
      offset_ = static_cast<std::int64_t>(list);
      return {};
    }
    if (ended || head.size() > kLargestPiece)
      return fail("has no list \"traceEvents\"", input_.path(), -1,
                  "it is not a profiler trace, or was truncated before its first event");
  }
}

/// Cuts a plain file where the last event begins in the last bytes of a chunk of the usual size,
/// and reads these. False where none begins there, or the file ends.
Result<bool> Cutter::cut_ahead(Chunk& chunk) {
  constexpr std::size_t kLastBytes = 8 << 10, kAhead = 8 << 20;
  const RawFile* file = input_.plain();
  const auto begin = static_cast<std::uint64_t>(offset_);
  if (!file || begin + chunk_bytes_ >= file->size()) return false;
  // A disk reads on by itself where a file is read byte after byte, which this one is not.
  if (begin + kAhead / 2 > asked_) file->ask_for(std::exchange(asked_, asked_ + kAhead), kAhead);
  const std::size_t last = std::min(kLastBytes, chunk_bytes_), front = chunk_bytes_ - last;
  chunk.reserve(chunk_bytes_);
  char* const at = chunk.buffer.get() + front;
  const auto got = read(offset_ + static_cast<std::int64_t>(front), at, last);
  if (!got) return tl::unexpected(got.error());
  if (*got < last) return false;
  std::memset(at + last, 0, kPadding);
  const char* cut = last_boundary(at, at + last);
  if (!cut) return false;
  chunk.unread = front;
  chunk.size = static_cast<std::size_t>(cut - chunk.buffer.get());
  return true;
}

Result<bool> Cutter::next(Chunk& chunk) {
  if (finished_) return false;
  chunk.clear();
  chunk.offset = offset_;
  chunk.size = chunk.unread = 0;
  const auto ahead = cut_ahead(chunk);
  if (!ahead) return ahead;
  for (std::size_t want = chunk_bytes_; !*ahead; want *= 2) {
    chunk.reserve(want);
    auto got = read(offset_ + static_cast<std::int64_t>(chunk.size),
                    chunk.buffer.get() + chunk.size, want - chunk.size);
    if (!got) return tl::unexpected(got.error());
    chunk.size += *got;
    chunk.last = finished_ = chunk.size < want;
    if (finished_) break;
    std::memset(chunk.buffer.get() + chunk.size, 0, kPadding);
    const char* begin = chunk.buffer.get();
    const char* cut = last_boundary(begin, begin + chunk.size);
    if (cut) {
      const auto kept = static_cast<std::size_t>(cut - begin);
      if (!input_.plain()) carry_.replace(0, carry_at_, cut, chunk.size - kept);
      carry_at_ = 0;
      chunk.size = kept;
      break;
    }
    if (want >= kLargestPiece) break;
  }
  offset_ += static_cast<std::int64_t>(chunk.size);
  return true;
}

void Cutter::fill(Chunk& chunk) const {
  if (chunk.unread == 0) return;
  const auto got = input_.plain()->read_at(static_cast<std::uint64_t>(chunk.offset),
                                           chunk.buffer.get(), chunk.unread);
  if (got && *got == chunk.unread) return;
  chunk.size = got.value_or(0);
  chunk.note(QualityCode::truncated_json,
             "a part of the file could not be read: it was cut short meanwhile, or its disk fails",
             chunk.offset + static_cast<std::int64_t>(chunk.size));
}

}  // namespace gf::kineto
