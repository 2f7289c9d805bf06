// Makes a large trace out of small ones: their events again and again, one repetition after the
// other in time, with new correlation ids, External ids, sequence numbers, flow ids and step
// numbers, and as many distinct names as asked for.
//
//   repeat_trace [--vary] OUT BYTES NAMES IN.json.gz ...      (OUT ending in .gz is compressed)
//
// With --vary time runs at another pace in each short stretch of each repetition, so that no
// duration recurs while order and nesting stay, and tensors have other sizes in each.
//
// Reads Kineto's own layout only: it is a generator for benchmarks, not an importer.
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
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
  enum Kind { time, duration, size, call, id, step, name } kind;
  std::size_t at;          // in the text
  std::int64_t value;      // times: ns
  std::int64_t start = 0;  // of a duration
};

/// Time of a repetition, at a pace of its own in each of many stretches.
class Pace {
 public:
  /// As captured.
  Pace() = default;
  Pace(std::int64_t span, std::mt19937_64& random)
      : stretch_(std::max<std::int64_t>(1, span / kStretches + 1)) {
    std::lognormal_distribution<double> pace(0, 0.4);
    double at = 0;
    for (std::int64_t i = 0; i <= kStretches; ++i) {
      begins_.push_back(at);
      at += pace(random) * static_cast<double>(stretch_);
    }
  }
  std::int64_t at(std::int64_t ns) const {
    if (begins_.empty() || ns < 0) return ns;
    const auto i =
        std::min<std::size_t>(static_cast<std::size_t>(ns / stretch_), begins_.size() - 2);
    const double part = static_cast<double>(ns - static_cast<std::int64_t>(i) * stretch_) /
                        static_cast<double>(stretch_);
    return std::llround(begins_[i] + part * (begins_[i + 1] - begins_[i]));
  }

 private:
  static constexpr std::int64_t kStretches = 4000;
  std::int64_t stretch_ = 1;
  std::vector<double> begins_;
};

/// Finds the sizes of sequences and layers in the shapes of an event.
void find_sizes(std::string_view event, std::vector<std::pair<std::size_t, Hole::Kind>>& found) {
  const auto list = event.find("\"Input Dims\": ");
  if (list == event.npos) return;
  for (auto at = list; at < event.size() && event[at] != '\n';) {
    const auto end = std::min(event.find_first_not_of("0123456789", at), event.size());
    const auto number = event.substr(at, end - at);
    for (const std::string_view known : {"128", "256", "512", "1024", "2048", "3072", "4096"})
      if (number == known) found.emplace_back(at, Hole::size);
    at = std::max(end, at + 1);
  }
}

struct Template {
  std::string text;
  std::vector<Hole> holes;
  std::int64_t events = 0, first_ns = INT64_MAX, last_ns = 0, ids = 0, steps = 0,
               first_call = INT64_MAX, last_call = 0;
};

void die(const std::string& message) {
  std::fprintf(stderr, "repeat_trace: %s\n", message.c_str());
  std::exit(1);
}

/// Cuts the numbers that change out of one event and notes where they were.
void take_event(Template& pattern, std::string_view event, std::unordered_set<std::string>& names,
                bool vary) {
  ++pattern.events;
  auto value_at = [&](std::string_view key) {
    return event.find(key) == event.npos ? event.npos : event.find(key) + key.size();
  };
  std::vector<std::pair<std::size_t, Hole::Kind>> found;
  for (auto key : {"\"ts\": "})
    if (auto at = value_at(key); at != event.npos) found.emplace_back(at, Hole::time);
  if (auto at = value_at("\"correlation\": "); at != event.npos) found.emplace_back(at, Hole::call);
  for (auto key : {"\"External id\": ", "\"Sequence number\": ", "\"id\": ", "\"Python id\": ",
                   "\"Python parent id\": "})
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
  if (vary) {
    if (auto at = value_at("\"dur\": "); at != event.npos) found.emplace_back(at, Hole::duration);
    find_sizes(event, found);
  }
  std::sort(found.begin(), found.end());
  std::size_t from = 0;
  std::int64_t start = 0;
  for (const auto& [at, kind] : found) {
    pattern.text.append(event.substr(from, at - from));
    from = at;
    Hole hole{kind, pattern.text.size(), 0};
    if (kind != Hole::name) {
      while (from < event.size() &&
             (event[from] == '.' || (event[from] >= '0' && event[from] <= '9')))
        ++from;
      hole.value = parse_decimal(event.substr(at, from - at),
                                 kind == Hole::time || kind == Hole::duration ? 3 : 0)
                       .value_or(0);
    }
    if (kind == Hole::time) start = hole.value;
    hole.start = start;
    if (kind == Hole::time && (cat == "kernel" || cat == "cpu_op")) {
      pattern.first_ns = std::min(pattern.first_ns, hole.value);
      pattern.last_ns = std::max(pattern.last_ns, hole.value);
    }
    // Numbers of calls go on from one repetition to the next, as in one run of a program.
    if (kind == Hole::call && hole.value > 0) {
      pattern.first_call = std::min(pattern.first_call, hole.value);
      pattern.last_call = std::max(pattern.last_call, hole.value);
    }
    if (kind == Hole::id) pattern.ids = std::max(pattern.ids, hole.value + 1);
    if (kind == Hole::step) ++pattern.steps;
    pattern.holes.push_back(hole);
  }
  pattern.text.append(event.substr(from));
}

}  // namespace

int main(int argc, char** argv) {
  const bool vary = argc > 1 && std::string_view(argv[1]) == "--vary";
  argv += vary;
  argc -= vary;
  if (argc < 5) die("usage: repeat_trace [--vary] OUT BYTES NAMES IN.json.gz ...");
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
        take_event(pattern, event, names, vary);
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
  std::int64_t events = 0, now = templates[0].first_ns, ids = 0, calls = 1, step = 0;
  std::mt19937_64 random(1);
  for (std::size_t round = 0; out.bytes < want; ++round)
    for (const auto& one : templates) {
      block.clear();
      std::size_t from = 0;
      std::string suffix;
      if (!(round % variants == 0)) suffix = fmt::format(" v{}", round % variants);
      std::int64_t steps = 0;
      Pace pace;
      if (vary) pace = Pace(one.last_ns - one.first_ns, random);
      const auto larger = static_cast<std::int64_t>(8 * (1 + random() % 200));
      for (const auto& hole : one.holes) {
        block.append(one.text, from, hole.at - from);
        from = hole.at;
        switch (hole.kind) {
          case Hole::time: {
            const auto ns = pace.at(hole.value - one.first_ns) + now;
            fmt::format_to(std::back_inserter(block), "{}.{:03}", ns / 1000, ns % 1000);
            break;
          }
          case Hole::duration: {
            const auto start = hole.start - one.first_ns;
            const auto ns = pace.at(start + hole.value) - pace.at(start);
            fmt::format_to(std::back_inserter(block), "{}.{:03}", ns / 1000, ns % 1000);
            break;
          }
          case Hole::size:
            fmt::format_to(std::back_inserter(block), "{}", hole.value / 4 + larger);
            break;
          case Hole::call:
            fmt::format_to(std::back_inserter(block), "{}",
                           hole.value > 0 ? hole.value - one.first_call + calls : hole.value);
            break;
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
      now += pace.at(one.last_ns - one.first_ns) + 1'000'000;
      ids += one.ids;
      if (one.last_call > 0) calls += one.last_call - one.first_call + 1;
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
