// Makes a large trace out of small ones: their events again and again, one repetition after the
// other in time, with new correlation ids, External ids, sequence numbers, flow ids and step
// numbers, and as many distinct names as asked for.
//
//   repeat_trace OUT BYTES NAMES IN.json.gz ...      (OUT ending in .gz is compressed)
//
// Reads Kineto's own layout only: it is a generator for benchmarks, not an importer.
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/time.h"
#include "import/input.h"

namespace {

using namespace gf;

/// A file written plain, or as gzip by ISA-L at level 1.
class Output {
 public:
  explicit Output(const std::string& path)
      : file_(std::fopen(path.c_str(), "wb")),
        gzip_(path.ends_with(".gz")),
        level_(ISAL_DEF_LVL1_DEFAULT),
        out_(1 << 20) {
    isal_deflate_init(&z_);
    z_.level = 1;
    z_.level_buf = level_.data();
    z_.level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    z_.gzip_flag = IGZIP_GZIP;
  }
  bool good() const { return file_; }
  void write(std::string_view text, bool last = false) {
    bytes += text.size();
    if (!gzip_) {
      std::fwrite(text.data(), 1, text.size(), file_);
    } else {
      z_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
      z_.avail_in = static_cast<std::uint32_t>(text.size());
      z_.end_of_stream = last;
      do {
        z_.next_out = out_.data();
        z_.avail_out = static_cast<std::uint32_t>(out_.size());
        isal_deflate(&z_);
        std::fwrite(out_.data(), 1, out_.size() - z_.avail_out, file_);
      } while (z_.avail_out == 0);
    }
    if (last) std::fclose(file_);
  }
  std::size_t bytes = 0;

 private:
  std::FILE* file_;
  bool gzip_;
  std::vector<std::uint8_t> level_, out_;
  isal_zstream z_;
};

/// Text with holes: before each hole the literal text, and how the number in it grows.
struct Hole {
  enum Kind { time, id, step, name } kind;
  std::size_t at;      // in the text
  std::int64_t value;  // time: ns
};

struct Template {
  std::string text;
  std::vector<Hole> holes;
  std::int64_t events = 0, first_ns = INT64_MAX, last_ns = 0, ids = 0, steps = 0;
};

void die(const std::string& message) {
  std::fprintf(stderr, "repeat_trace: %s\n", message.c_str());
  std::exit(1);
}

/// Cuts the numbers that change out of one event and notes where they were.
void take_event(Template& pattern, std::string_view event, std::unordered_set<std::string>& names) {
  ++pattern.events;
  auto value_at = [&](std::string_view key) {
    return event.find(key) == event.npos ? event.npos : event.find(key) + key.size();
  };
  std::vector<std::pair<std::size_t, Hole::Kind>> found;
  for (auto key : {"\"ts\": "})
    if (auto at = value_at(key); at != event.npos) found.emplace_back(at, Hole::time);
  for (auto key : {"\"correlation\": ", "\"External id\": ", "\"Sequence number\": ", "\"id\": ",
                   "\"Python id\": ", "\"Python parent id\": "})
    if (auto at = value_at(key); at != event.npos && event[at] >= '0' && event[at] <= '9')
      found.emplace_back(at, Hole::id);
  const auto cat_at = value_at("\"cat\": \"");
  const auto cat = cat_at == event.npos ? std::string_view{}
                                        : event.substr(cat_at, event.find('"', cat_at) - cat_at);
  if (auto at = value_at("\"name\": \"ProfilerStep#"); at != event.npos) {
    found.emplace_back(at, Hole::step);
  } else if (auto name = value_at("\"name\": \"");
             name != event.npos &&
             (cat == "cpu_op" || cat == "python_function" || cat == "kernel")) {
    const auto end = event.find('"', name);
    names.emplace(event.substr(name, end - name));
    found.emplace_back(end, Hole::name);
  }
  std::sort(found.begin(), found.end());
  std::size_t from = 0;
  for (const auto& [at, kind] : found) {
    pattern.text.append(event.substr(from, at - from));
    from = at;
    Hole hole{kind, pattern.text.size(), 0};
    if (kind != Hole::name) {
      while (from < event.size() &&
             (event[from] == '.' || (event[from] >= '0' && event[from] <= '9')))
        ++from;
      hole.value =
          parse_decimal(event.substr(at, from - at), kind == Hole::time ? 3 : 0).value_or(0);
    }
    if (kind == Hole::time && (cat == "kernel" || cat == "cpu_op")) {
      pattern.first_ns = std::min(pattern.first_ns, hole.value);
      pattern.last_ns = std::max(pattern.last_ns, hole.value);
    }
    if (kind == Hole::id) pattern.ids = std::max(pattern.ids, hole.value + 1);
    if (kind == Hole::step) ++pattern.steps;
    pattern.holes.push_back(hole);
  }
  pattern.text.append(event.substr(from));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) die("usage: repeat_trace OUT BYTES NAMES IN.json.gz ...");
  const std::size_t want = std::strtoull(argv[2], nullptr, 10),
                    want_names = std::strtoull(argv[3], nullptr, 10);
  std::vector<Template> templates;
  std::unordered_set<std::string> names;
  std::string header;
  for (int i = 4; i < argc; ++i) {
    auto text = read_whole(argv[i], UINT64_MAX);
    if (!text) die(text.error().message());
    const auto list = text->find("\"traceEvents\": [");
    if (list == text->npos) die("no traceEvents");
    if (header.empty()) header = text->substr(0, list + 16);
    Template pattern;
    for (std::size_t at = text->find("{\n    \"", list); at != text->npos;) {
      std::size_t next = text->find("\n  {\n    \"", at);
      const std::size_t end =
          text->rfind('}', next == text->npos ? text->rfind("\n  ]") : next) + 1;
      std::string_view event(text->data() + at, end - at);
      // Marks of the whole recording do not repeat.
      const bool once = event.find("\"ph\": \"M\"") != event.npos ||
                        event.find("\"Trace\"") != event.npos ||
                        event.find("Iteration Start") != event.npos ||
                        event.find("Record Window End") != event.npos;
      if (!once) {
        pattern.text += "\n  ";
        take_event(pattern, event, names);
        pattern.text += ',';
      }
      if (next == text->npos) {
        at = next;
      } else {
        at = next + 3;
      }
    }
    templates.push_back(std::move(pattern));
  }
  const std::size_t variants =
      std::max<std::size_t>(1, (want_names + names.size() - 1) / names.size());
  Output out(argv[1]);
  if (!out.good()) die(std::string("cannot write ") + argv[1]);
  out.write(header);
  std::string block;
  std::int64_t events = 0, now = templates[0].first_ns, ids = 0, step = 0;
  for (std::size_t round = 0; out.bytes < want; ++round)
    for (const auto& one : templates) {
      block.clear();
      std::size_t from = 0;
      std::string suffix;
      if (!(round % variants == 0)) suffix = fmt::format(" v{}", round % variants);
      std::int64_t steps = 0;
      for (const auto& hole : one.holes) {
        block.append(one.text, from, hole.at - from);
        from = hole.at;
        switch (hole.kind) {
          case Hole::time: {
            const auto ns = hole.value - one.first_ns + now;
            fmt::format_to(std::back_inserter(block), "{}.{:03}", ns / 1000, ns % 1000);
            break;
          }
          case Hole::id:
            fmt::format_to(std::back_inserter(block), "{}", hole.value + ids);
            break;
          case Hole::step:
            fmt::format_to(std::back_inserter(block), "{}", step + hole.value);
            ++steps;
            break;
          case Hole::name:
            block += suffix;
            break;
        }
      }
      block.append(one.text, from);
      out.write(block);
      events += one.events;
      now += one.last_ns - one.first_ns + 1'000'000;
      ids += one.ids;
      step += steps;
      if (out.bytes >= want) break;
    }
  out.write(
      "\n  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": "
      "\"\", \"tid\": \"\", \"ts\": 0\n  }\n  ],\n  \"traceName\": \"repeated\"\n}\n",
      true);
  std::printf("{\"bytes\": %zu, \"events\": %lld, \"names\": %zu}\n", out.bytes,
              static_cast<long long>(events + 1), names.size() * variants);
}
