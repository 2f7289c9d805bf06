// The yardstick: a bare simdjson on-demand walk over a plain trace, on one core, in pieces of 1 MB
// (which is faster than the whole document at once, and the only way beyond 4 GB). It reads every
// event's name, time and duration and keeps nothing.
#include <simdjson.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

int main(int argc, char** argv) {
  namespace od = simdjson::ondemand;
  std::FILE* file = nullptr;
  if (argc == 2) file = std::fopen(argv[1], "rb");
  if (!file) {
    std::fprintf(stderr, "usage: simdjson_walk TRACE.json\n");
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  constexpr std::size_t kPiece = 1 << 20;
  const auto buffer = std::make_unique<char[]>(2 * kPiece + simdjson::SIMDJSON_PADDING);
  od::parser parser;
  std::size_t carried = 0, events = 0, bytes = 0, sum = 0;
  bool begun = false;
  for (;;) {
    char* data = buffer.get() + 1;  // one byte in front for the bracket
    const std::size_t got = std::fread(data + carried, 1, kPiece, file);
    bytes += got;
    std::size_t size = carried + got;
    if (size == 0) break;
    char* from = data;
    if (!begun) {
      from = std::strstr(data, "\"traceEvents\": [") + 16;
      begun = true;
    }
    char* end = data + size;
    char* cut = end;
    if (got == kPiece) {  // to the last comma between two events; what lies behind `end` is left
                          // from the piece before
      cut -= 6;
      do cut = static_cast<char*>(::memrchr(from, '{', static_cast<std::size_t>(cut - from)));
      while (cut && std::strncmp(cut, "{\n    \"", 7) != 0);
      if (!cut)
        cut = end;  // no event begins here: the end of the list
      else
        while (*--cut != ',') {
        }
    }
    const char first = from[-1], last = *cut;
    from[-1] = '[';
    *cut = ']';
    od::document document;
    od::array array;
    auto error = parser
                     .iterate(from - 1, static_cast<std::size_t>(cut - from) + 2,
                              static_cast<std::size_t>(cut - from) + 2 + simdjson::SIMDJSON_PADDING)
                     .get(document);
    if (error || document.get_array().get(array)) {
      std::fprintf(stderr, "simdjson: %s\n", simdjson::error_message(error));
      return 1;
    }
    for (auto item : array) {
      od::object event;
      if (item.get_object().get(event)) break;
      ++events;
      for (auto field : event) {
        const auto key = field.key().value_unsafe();
        if (key == "name")
          sum += field.value().get_string().value_unsafe().size();
        else if (key == "ts" || key == "dur")
          sum += field.value().raw_json_token().value_unsafe().size();
      }
    }
    from[-1] = first;
    *cut = last;
    if (got < kPiece) break;
    ++cut;
    carried = static_cast<std::size_t>(end - cut);
    std::memmove(data, cut, carried);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("{\"bytes\": %zu, \"events\": %zu, \"seconds\": %.4f, \"touched\": %zu}\n", bytes,
              events, seconds, sum);
}
