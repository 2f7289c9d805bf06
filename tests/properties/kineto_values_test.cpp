// Every field that a trace's reader can predict, with every kind of value, however the value moves,
// at each distance from a border of chunks, in one to five chunks and on one to four threads: the
// reader that guesses and learns, the fast one and the plain one give the same capture, column by
// column. Every field meets every kind in every manner; which event and which border go round, and
// GPUFATHOM_WHOLE_PROPERTIES=0/1 tries all borders of each, 3/8 an eighth of that.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "import/kineto/fields.h"
#include "import/kineto/reading.h"
#include "support/captures.h"
#include "support/repeating_trace.h"

namespace gf {

namespace {

using test::EventShape;
using test::Manner;
using test::Member;
using test::ValueKind;

constexpr std::size_t kTurns = 40, kEvents = 4;
constexpr std::size_t kMostChunks = 5, kMostThreads = 4, kDistances = 7;

Capture load(kineto::Reading reading, const std::string& path, std::size_t chunk_bytes,
             unsigned threads, kineto::ReadBy* counts = nullptr) {
  ImportOptions options;
  options.threads = threads;
  options.chunk_bytes = chunk_bytes;
  auto capture = kineto::load_by(reading, path, options, counts);
  if (!capture) throw std::runtime_error(capture.error().message());
  return std::move(*capture);
}

/// One of the profiler's events with one member as asked, and some of those that follow it.
std::vector<EventShape> loop_with(std::size_t event, bool in_args, const Member& member) {
  const auto known = test::profiled_loop();
  std::vector<EventShape> loop;
  for (std::size_t i = 0; i < kEvents; ++i) loop.push_back(known[(event + i) % known.size()]);
  auto& members = in_args ? loop[0].args : loop[0].members;
  if (!in_args && member.key == "ph") loop[0].phase = {};
  if (!in_args && member.key == "cat") loop[0].category = {};
  if (!in_args && member.key == "name") loop[0].name = {};
  std::erase_if(members, [&](const Member& other) { return other.key == member.key; });
  // First, so that a missing one shows at the beginning of an object as well.
  members.insert(members.begin(), member);
  return loop;
}

/// Which of the combinations are tried: every border of each trace, or one; of traces one in
/// `parts`.
struct Extent {
  bool all_borders = false;
  std::size_t part = 0, parts = 1;
};

Extent asked_extent() {
  Extent extent;
  if (const char* asked = std::getenv("GPUFATHOM_WHOLE_PROPERTIES")) {
    extent.all_borders = true;
    std::sscanf(asked, "%zu/%zu", &extent.part, &extent.parts);
  }
  return extent;
}

class Suite {
 public:
  explicit Suite(Extent extent) : extent_(extent), path_(folder_.file("trace.json")) {}

  void try_field(std::string_view key, bool in_args) {
    const auto events = test::profiled_loop().size();
    for (std::size_t event = 0; event < events; ++event) {
      if (in_args && test::profiled_loop()[event].args.empty()) continue;
      for (std::size_t kind = 0; kind < test::kValueKinds; ++kind)
        for (std::size_t manner = 0; manner < test::kManners; ++manner) {
          // Which event meets a kind in a manner goes round with the fields.
          if ((kind + manner + event) % events != field_ % events) continue;
          if (tried_++ % extent_.parts != extent_.part) continue;
          try_value(
              event, in_args,
              {key, static_cast<ValueKind>(kind), static_cast<Manner>(manner), 3 + tried_ % 5});
          if (::testing::Test::HasFatalFailure()) return;
        }
    }
    ++field_;
  }

  const kineto::ReadBy& counts() const { return counts_; }
  std::size_t tried() const { return tried_ / extent_.parts; }

 private:
  void try_value(std::size_t event, bool in_args, const Member& member) {
    const auto& layout = test::kLayouts[tried_ % std::size(test::kLayouts)];
    const std::string trace =
        test::repeating_trace(loop_with(event, in_args, member), kTurns, layout, tried_ % 3);
    std::ofstream(path_, std::ios::binary) << trace;
    const Capture plain = load(kineto::Reading::plain, path_, trace.size() + 1, 1);
    constexpr std::size_t kBorders = kMostChunks * kDistances * kMostThreads;
    for (std::size_t border = 0; border < kBorders; ++border) {
      if (!extent_.all_borders && border != tried_ % kBorders) continue;
      const std::size_t chunks = 1 + border % kMostChunks,
                        distance = border / kMostChunks % kDistances;
      const auto threads = static_cast<unsigned>(1 + border / (kMostChunks * kDistances));
      // An event is some 150 bytes: the border lies before, in and behind each of its parts.
      const std::size_t bytes = trace.size() / chunks + distance * 23;
      const auto what = [&] {
        return "key " + std::string(member.key) + ", kind " +
               std::to_string(static_cast<int>(member.kind)) + ", manner " +
               std::to_string(static_cast<int>(member.manner)) + ", " + std::to_string(chunks) +
               " chunks, " + std::to_string(threads) + " threads\n" + trace.substr(0, 6000);
      };
      ASSERT_EQ(test::difference(plain, load(kineto::Reading::fast, path_, bytes, threads)), "")
          << what();
      ASSERT_EQ(
          test::difference(plain, load(kineto::Reading::learned, path_, bytes, threads, &counts_)),
          "")
          << what();
    }
  }

  const Extent extent_;
  test::TempDir folder_;
  const std::string path_;
  kineto::ReadBy counts_;
  std::size_t field_ = 0, tried_ = 0;
};

}  // namespace

TEST(KinetoValues, EveryFieldKindMannerAndBorderIsReadAlike) {
  Suite suite(asked_extent());
  for (const auto& [key, field] : kineto::kEvent) {
    suite.try_field(key, false);
    if (HasFatalFailure()) return;
  }
  for (const auto& [key, field] : kineto::kArgs) {
    suite.try_field(key, true);
    if (HasFatalFailure()) return;
  }
  const auto& by = suite.counts();
  const auto all = by.pattern + by.layout + by.fast + by.plain;
  std::printf("%zu traces, %lld events: %.1f %% by patterns, %.1f %% by layouts\n", suite.tried(),
              static_cast<long long>(all),
              100.0 * static_cast<double>(by.pattern) / static_cast<double>(all),
              100.0 * static_cast<double>(by.layout) / static_cast<double>(all));
  EXPECT_GT(by.pattern, all / 10);  // small chunks on several threads leave little to learn from
  EXPECT_GT(by.pattern + by.layout, all / 4 * 3);
}

}  // namespace gf
