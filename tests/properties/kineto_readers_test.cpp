// The fast reader and the slow one (simdjson) must agree on every event that the fast one accepts.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <deque>
#include <random>
#include <string>

#include "core/text.h"
#include "import/input.h"
#include "import/kineto/chunk.h"

namespace gf::kineto {

namespace {

/// The difference between two readings of one event; empty when there is none.
std::string compare(const Event& left, const Event& right) {
  if (left.present != right.present) return "other fields are present";
  if (left.duplicates != right.duplicates) return "other duplicates";
  for (std::size_t i = 0; i < kFields; ++i) {
    const auto field = static_cast<Field>(i);
    if (!left.has(field)) continue;
    if (left[field].kind != right[field].kind || left[field].text() != right[field].text())
      return "field " + std::to_string(i) + ": " + std::string(left[field].text()) + " | " +
             std::string(right[field].text());
  }
  return "";
}

/// An event with the bytes behind it that readers may look at.
class Padded {
 public:
  explicit Padded(std::string_view event) : size_(event.size()), bytes_(event) {
    bytes_.append(kPadding, '\0');
  }
  const char* begin() const { return bytes_.data(); }
  const char* end() const { return begin() + size_; }

 private:
  std::size_t size_;
  std::string bytes_;
};

struct Readers {
  SlowReader slow;
  Event by_fast, by_slow;
  std::size_t fast_count = 0;

  /// Reads one event with both; says what differs.
  std::string check(std::string_view event) {
    const Padded bytes(event);
    const char* end = read_fast(bytes.begin(), bytes.end(), by_fast);
    const auto outcome = slow.read(event, by_slow);
    if (!end) return "";  // not for the fast reader
    ++fast_count;
    if (end != bytes.end()) return "the event ends elsewhere";
    if (outcome != SlowReader::Outcome::whole) return "the slow reader refuses it";
    return compare(by_fast, by_slow);
  }
};

/// Random valid JSON with Kineto's keys, any order, any white space, now and then what the fast
/// reader must leave alone.
class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  std::string event() {
    static constexpr const char* kKeys[] = {"ph", "cat", "name", "pid",  "tid",   "ts",  "dur",
                                            "id", "s",   "bp",   "args", "extra", "phx", "p"};
    static constexpr const char* kArgs[] = {"External id",
                                            "correlation",
                                            "Input Dims",
                                            "Input type",
                                            "grid",
                                            "block",
                                            "Bytes",
                                            "bytes",
                                            "Concrete Inputs",
                                            "est. achieved occupancy %",
                                            "Process Group Ranks",
                                            "wait_on_cuda_event_record_corr_id",
                                            "wait_on_cuda_event_id",
                                            "",
                                            "name",
                                            "External idx",
                                            "Python parent id",
                                            "Python module id",
                                            "x"};
    return object(kKeys, std::size(kKeys), [&](std::string_view key) {
      return key == "args" && below(8)
                 ? object(kArgs, std::size(kArgs), [&](std::string_view) { return value(0); })
                 : value(0);
    });
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  std::string space() {
    static constexpr const char* kSpaces[] = {"", "", " ", "\n    ", "\r\n\t", "  "};
    return kSpaces[below(std::size(kSpaces))];
  }
  std::string text() {
    std::string out = "\"";
    for (auto left = below(below(4) ? 12 : 150); left > 0; --left) {
      switch (below(60)) {
        case 0:
          out += "\\\"";
          break;
        case 1:
          out += "\\\\";
          break;
        case 2:
          out += "\\u00e9";
          break;
        case 3:
          out += "\xc3\xa9";
          break;
        case 4:
          out += "{}[],:";
          break;
        default:
          out += static_cast<char>('a' + below(26));
      }
    }
    return out + "\"";
  }
  std::string value(int depth) {
    switch (below(depth > 3 ? 5 : 8)) {
      case 0:
        return std::to_string(random_());
      case 1:
        return "-" + std::to_string(below(1000)) + "." + std::to_string(below(1000)) + "e-3";
      case 2:
        if (below(2)) return "true";
        return "null";
      case 3:
      case 4:
        return text();
      case 5:
      case 6: {
        std::string out = "[" + space();
        const auto members = below(6);
        for (std::uint64_t i = 0; i < members; ++i)
          out += (i > 0 ? "," : "") + space() + value(depth + 1) + space();
        return out + "]";
      }
      default: {
        static constexpr const char* kInner[] = {"ph", "a", "name"};
        return object(kInner, 3, [&](std::string_view) { return value(depth + 1); });
      }
    }
  }
  template <class F>
  std::string object(const char* const* keys, std::size_t count, F&& apply) {
    std::string out = "{" + space();
    const auto members = below(count + 1);
    for (std::uint64_t i = 0; i < members; ++i) {
      const std::string_view key = keys[below(count)];
      out += (i > 0 ? "," : "") + space() + "\"" + std::string(key) + "\"" +
             (below(10) ? "" : " ") + ":" + space() + apply(key) + space();
    }
    return out + "}";
  }

  std::mt19937_64 random_;
};

/// Patterns and learned layouts against the fast reader, on one event after the other.
struct LearnedReaders {
  Patterns patterns;
  Layouts layouts;
  Event learned, fast;
  std::size_t pattern_count = 0, layout_count = 0;
  std::deque<std::string> names;

  std::string check(std::string_view event) {
    const Padded bytes(event);
    const char* const by_fast = read_fast(bytes.begin(), bytes.end(), fast);
    const char* learned_end = patterns.read(bytes.begin(), bytes.end(), learned);
    if (learned_end) {
      ++pattern_count;
    } else if ((learned_end = layouts.read(bytes.begin(), bytes.end(), learned))) {
      ++layout_count;
      patterns.learn(bytes.begin(), learned_end, learned);
    } else if (by_fast) {
      layouts.learn(bytes.begin(), by_fast, fast);
    }
    if (!learned_end) return "";
    if (learned_end != by_fast) return "the event ends elsewhere, or is refused";
    if (learned.name_known && learned.name_guess->text != fast.text(Field::name))
      return "another name";
    if (learned.name_guess && !learned.name_known)
      learned.name_guess->text = names.emplace_back(learned.text(Field::name));
    return compare(learned, fast);
  }
};

}  // namespace

TEST(KinetoReaders, LearnedReadersAgreeOnRandomEvents) {
  std::size_t by_pattern = 0, by_layout = 0;
  EXPECT_TRUE(rc::check("random events", [&](std::uint64_t seed) {
    LearnedReaders readers;
    Writer writer(seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20; ++i) {
      const std::string event = writer.event();
      // The same again, which is expected at last; then with bytes changed: values become others,
      // and layouts become damage.
      for (int change = 0; change < 10; ++change) {
        std::string changed = event;
        for (int bytes = 0; bytes < change; ++bytes)
          changed[1 + random() % (changed.size() - 1)] =
              "0123456789abc\"\\{}[],: \n"[random() % 25];
        for (int time = 0; time < 12; ++time) {
          const std::string& next = time < 11 ? event : changed;
          const std::string difference = readers.check(next);
          if (!difference.empty()) RC_FAIL(difference + "\n" + event + "\n" + next);
        }
      }
    }
    by_pattern += readers.pattern_count;
    by_layout += readers.layout_count;
  }));
  EXPECT_GT(by_pattern, 100u);
  EXPECT_GT(by_layout, 100u);
}

TEST(KinetoReaders, AgreeOnRandomEvents) {
  Readers readers;
  EXPECT_TRUE(rc::check("random events", [&](std::uint64_t seed) {
    Writer writer(seed);
    for (int i = 0; i < 100; ++i) {
      const std::string event = writer.event();
      const std::string difference = readers.check(event);
      if (!difference.empty()) RC_FAIL(difference + "\n" + event);
    }
  }));
  EXPECT_GT(readers.fast_count, 1000u);
}

TEST(KinetoReaders, AgreeOnEveryEventOfTheExamples) {
  for (const char* file : {"examples/lenet_inf_b1.json.gz", "examples/lenet_train_b64.json.gz",
                           "examples/resnet50_amp_compile_b64.json.gz"}) {
    Readers readers;
    auto text = read_whole(file, 1 << 30);
    ASSERT_TRUE(text) << text.error().message();
    text->append(kPadding, '\0');
    const char* end = text->data() + text->size() - kPadding;
    std::size_t events = 0;
    for (const char* at = find_event(text->data() + text->find("traceEvents"), end); at; ++events) {
      const char* next = find_event(at + 1, end);
      std::string_view event(
          at, static_cast<std::size_t>((next ? next : std::strstr(at, "\n  ]")) - at));
      event = event.substr(0, event.rfind('}') + 1);
      const std::string difference = readers.check(event);
      ASSERT_EQ(difference, "") << event;
      at = next;
    }
    EXPECT_EQ(readers.fast_count, events) << file << ": what the profiler writes goes the fast way";
  }
}

}  // namespace gf::kineto
