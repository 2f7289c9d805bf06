#include "import/kineto/chunk.h"

#include <algorithm>
#include <cstring>

#include "import/kineto/rows.h"
#include "import/kineto/scan.h"

namespace gf::kineto {

void Chunk::reserve(std::size_t n) {
  if (n > capacity || !buffer) {
    auto larger = std::make_unique_for_overwrite<char[]>(n + kPadding);
    if (size > 0) std::memcpy(larger.get(), buffer.get(), size);
    buffer = std::move(larger);
    capacity = n;
  }
}

void Chunk::clear() {
  rows.each_table([](auto& table) { table.clear(); });
  texts.clear();
  threads.clear();
  names.clear();
  damage.clear();
  events = 0;
  trailer.clear();
  closed = false;
  last_event = kNotSearched;
}

void Chunk::note(QualityCode code, const char* what, std::int64_t at) {
  for (auto& d : damage)
    if (d.code == code) {
      ++d.count;
      return;
    }
  damage.push_back({code, what, 1, at});
}

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Deeper nesting than this inside one event is damage. It also bounds the work of find_event on
// hostile input.
constexpr int kDeepest = 32;

}  // namespace

Verdict event_at(const char* p, const char* end) {
  p = skip_space(p + 1);
  if (*p != '"') return p < end ? Verdict::other : Verdict::unfinished;
  if (std::memcmp(p, "\"ph\"", 4) == 0) return Verdict::event;  // how Kineto begins
  if (!is_letter(p[1])) return p + 1 < end ? Verdict::other : Verdict::unfinished;
  // Another writer's key order: the object must have a key "ph" of its own.
  for (int depth = 1;;) {
    p = container_stop(p);
    if (p >= end) return Verdict::unfinished;
    switch (*p) {
      case '\0':
        return Verdict::other;
      case '"': {
        const char* close = string_end(p + 1, end);
        if (!close) return Verdict::other;
        if (depth == 1 && close - p == 3 && p[1] == 'p' && p[2] == 'h' &&
            *skip_space(close + 1) == ':')
          return Verdict::event;
        p = close;
        break;
      }
      case '{':
      case '[':
        if (++depth > kDeepest) return Verdict::other;
        break;
      default:
        if (--depth == 0) return Verdict::other;
    }
    ++p;
  }
}

const char* find_event(const char* p, const char* end) {
  while (p < end) {
    p = static_cast<const char*>(std::memchr(p, '{', static_cast<std::size_t>(end - p)));
    if (!p) return nullptr;
    if (event_at(p, end) == Verdict::event) return p;
    ++p;
  }
  return nullptr;
}

namespace {

/// Whether the bracket at p closes the list of events: only in the last chunk, and only when no
/// event follows it.
bool ends_events(const char* p, const char* end, Chunk& chunk) {
  if (!chunk.last) return false;
  if (chunk.last_event ==
      Chunk::kNotSearched) {  // once a chunk, so that many stray brackets cost no more than one
    chunk.last_event = -1;
    const char* const begin = chunk.buffer.get();
    for (const char* q = end;
         chunk.last_event < 0 && (q = static_cast<const char*>(
                                      ::memrchr(begin, '{', static_cast<std::size_t>(q - begin))));)
      if (event_at(q, end) == Verdict::event) chunk.last_event = q - begin;
  }
  return p - chunk.buffer.get() > chunk.last_event;
}

/// The bracket that closes traceEvents after a damaged last event; `end` when there is none.
const char* closing_bracket(const char* p, const char* end) {
  for (; p < end; ++p) {
    if (*p != '}') continue;
    const char* q = skip_space(p + 1);
    if (q < end && *q == ']') return q;
  }
  return end;
}

/// Whether an event may end before p: a comma, the next event, or the end of the list follows. A
/// quote inside a name can make half an event look whole.
bool may_follow(const char* p, const char* end, Chunk& chunk) {
  p = skip_space(p);
  if (p >= end || *p == ',') return true;
  return *p == ']' ? ends_events(p, end, chunk) : *p == '{' && event_at(p, end) == Verdict::event;
}

/// Like container_end, but texts may hold control characters.
const char* lenient_end(const char* p, const char* limit) {
  int depth = 0;
  for (bool inside = false; p < limit; ++p) {
    if (*p == '"') inside = !inside;
    if (inside) {
      p += *p == '\\';
    } else if (*p == '{' || *p == '[') {
      ++depth;
    } else if ((*p == '}' || *p == ']') && --depth == 0) {
      return p + 1;
    }
  }
  return nullptr;
}

/// The event at p by the slow reader. Returns where to go on.
const char* read_carefully(const char* p, const char* end, Event& event, Chunk& chunk,
                           Worker& worker, Rows& rows) {
  const std::int64_t at = chunk.offset + (p - chunk.buffer.get());
  const char* following = find_event(p + 1, end);
  const char* close = lenient_end(p, following ? following : end);
  if (close && may_follow(close, end, chunk)) {
    switch (worker.slow.read({p, static_cast<std::size_t>(close - p)}, event)) {
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
  if (!following && !close && chunk.last && closing_bracket(p, end) == end)
    return end;  // cut short: parse_chunk says so
  chunk.note(QualityCode::bad_event, "event that is not valid JSON", at);
  if (following) return following;
  return chunk.last ? closing_bracket(p, end) : end;
}

}  // namespace

void parse_chunk(Chunk& chunk, Worker& worker) {
  chunk.worker = worker.number;
  const char* p = chunk.buffer.get();
  const char* const end = p + chunk.size;
  std::memset(chunk.buffer.get() + chunk.size, 0, kPadding);
  Rows rows(chunk, worker);
  Event event;
  for (;;) {
    while (p < end && (is_space(*p) || *p == ',')) ++p;
    if (p >= end) break;
    if (*p == ']' && ends_events(p, end, chunk)) {
      chunk.trailer.assign(p + 1, end);
      chunk.closed = true;
      return;
    }
    ++chunk.events;
    if (*p == '{') {
      if (const char* next = read_fast(p, end, event); next && may_follow(next, end, chunk)) {
        rows.add(event, chunk.offset + (p - chunk.buffer.get()));
        p = next;
      } else {
        p = read_carefully(p, end, event, chunk, worker, rows);
      }
      continue;
    }
    // Not an event: a value of another kind, or text that a broken writer left here.
    chunk.note(QualityCode::bad_event, "element of traceEvents that is not an event",
               chunk.offset + (p - chunk.buffer.get()));
    const char* following = find_event(p, end);
    p = following ? following : chunk.last ? std::find(p + 1, end, ']') : end;
  }
  if (chunk.last)
    chunk.note(QualityCode::truncated_json, "the file ends before its list of events does",
               chunk.offset + static_cast<std::int64_t>(chunk.size));
}

}  // namespace gf::kineto
