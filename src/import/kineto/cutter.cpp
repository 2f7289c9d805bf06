#include "import/kineto/cutter.h"

#include <algorithm>
#include <cstring>

#include "import/kineto/scan.h"

namespace gf::kineto {

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

}  // namespace

Result<std::size_t> Cutter::read(char* to, std::size_t count) {
  const std::size_t ready = std::min(count, carry_.size() - carry_at_);
  std::memcpy(to, carry_.data() + carry_at_, ready);
  carry_at_ += ready;
  if (ready == count) return count;
  auto got = input_.read(to + ready, count - ready);
  if (!got) return got;
  return ready + *got;
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
      if (list != head.npos) header_ = head.substr(first + 1, key - first - 1);
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

Result<bool> Cutter::next(Chunk& chunk) {
  if (finished_) return false;
  chunk.clear();
  chunk.offset = offset_;
  chunk.size = 0;
  for (std::size_t want = chunk_bytes_;; want *= 2) {
    chunk.reserve(want);
    auto got = read(chunk.buffer.get() + chunk.size, want - chunk.size);
    if (!got) return tl::unexpected(got.error());
    chunk.size += *got;
    chunk.last = finished_ = chunk.size < want;
    if (finished_) break;
    std::memset(chunk.buffer.get() + chunk.size, 0, kPadding);
    const char* begin = chunk.buffer.get();
    const char* cut = last_boundary(begin, begin + chunk.size);
    if (cut) {
      const auto kept = static_cast<std::size_t>(cut - begin);
      carry_.replace(0, carry_at_, cut, chunk.size - kept);
      carry_at_ = 0;
      chunk.size = kept;
      break;
    }
    if (want >= kLargestPiece) break;
  }
  offset_ += static_cast<std::int64_t>(chunk.size);
  return true;
}

}  // namespace gf::kineto
