// Every field that a trace's reader can predict, with every kind of value, however the value moves,
// at each distance from a border of chunks, in one to five chunks and on one to four threads: the
// reader that guesses and learns, the fast one and the plain one give the same capture, column by
// column. GPUFATHOM_WHOLE_PROPERTIES=1 tries all of them together, which takes an hour; without it
// every field meets every kind in every manner, and the rest goes round.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "import/kineto/fields.h"
#include "import/kineto/reading.h"
#include "support/captures.h"
#include "support/repeating_trace.h"

namespace gf {

namespace {

using test::EventShape;
using test::Layout;
using test::Manner;
using test::Member;
using test::ValueKind;

constexpr std::size_t kTurns = 40, kEvents = 4;
constexpr std::size_t kMostChunks = 5, kMostThreads = 4, kDistances = 7;

struct Way {
  std::size_t chunks, distance;
  unsigned threads;
};

/// The same trace by all readers; says what differs.
std::string differs(const std::string& path, std::size_t bytes, const Way& way,
                    kineto::ReadBy& counts) {
  ImportOptions options;
  options.threads = way.threads;
  options.chunk_bytes = bytes / way.chunks + way.distance;
  ImportOptions one;
  one.threads = 1;
  one.chunk_bytes = bytes + 1;
  const auto plain = kineto::load_by(kineto::Reading::plain, path, one);
  const auto fast = kineto::load_by(kineto::Reading::fast, path, options);
  const auto learned = kineto::load_by(kineto::Reading::learned, path, options, &counts);
  if (!plain || !fast || !learned) return "refused";
  if (const auto found = test::difference(*plain, *fast); !found.empty())
    return "plain and fast: " + found;
  if (const auto found = test::difference(*fast, *learned); !found.empty())
    return "fast and learned: " + found;
  return "";
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

class Suite {
 public:
  explicit Suite(bool whole) : whole_(whole), path_(folder_.file("trace.json")) {}

  void try_field(std::string_view key, bool in_args) {
    const auto events = test::profiled_loop().size();
    for (std::size_t event = 0; event < events; ++event) {
      if (in_args && test::profiled_loop()[event].args.empty()) continue;
      for (std::size_t kind = 0; kind < test::kValueKinds; ++kind)
        for (std::size_t manner = 0; manner < test::kManners; ++manner) {
          ++round_;
          // One event in each turn of the others: which of them meets what goes round.
          if (!whole_ && (kind + manner + event) % events != round_field_ % events) continue;
          try_value(
              event, in_args,
              {key, static_cast<ValueKind>(kind), static_cast<Manner>(manner), 3 + round_ % 5});
          if (::testing::Test::HasFatalFailure()) return;
        }
    }
    ++round_field_;
  }

  const kineto::ReadBy& counts() const { return counts_; }
  std::size_t tried() const { return tried_; }

 private:
  void try_value(std::size_t event, bool in_args, const Member& member) {
    const auto& layout = test::kLayouts[round_ % std::size(test::kLayouts)];
    const std::string trace =
        test::repeating_trace(loop_with(event, in_args, member), kTurns, layout, round_ % 3);
    std::ofstream(path_, std::ios::binary) << trace;
    for (std::size_t chunks = 1; chunks <= kMostChunks; ++chunks)
      for (std::size_t distance = 0; distance < kDistances; ++distance)
        for (unsigned threads = 1; threads <= kMostThreads; ++threads) {
          const std::size_t here = (chunks * kDistances + distance) * kMostThreads + threads;
          if (!whole_ && here % (kMostChunks * kDistances * kMostThreads) !=
                             tried_ % (kMostChunks * kDistances * kMostThreads))
            continue;
          // An event is some 150 bytes: the border lies before, in and behind each of its parts.
          const std::string found =
              differs(path_, trace.size(), {chunks, distance * 23, threads}, counts_);
          ASSERT_EQ(found, "") << "key " << member.key << ", kind " << static_cast<int>(member.kind)
                               << ", manner " << static_cast<int>(member.manner) << ", event "
                               << event << ", " << chunks << " chunks, " << threads << " threads\n"
                               << trace.substr(0, 6000);
        }
    ++tried_;
  }

  const bool whole_;
  test::TempDir folder_;
  const std::string path_;
  kineto::ReadBy counts_;
  std::size_t round_ = 0, round_field_ = 0, tried_ = 0;
};

}  // namespace

TEST(KinetoValues, EveryFieldKindMannerAndBorderIsReadAlike) {
  Suite suite(std::getenv("GPUFATHOM_WHOLE_PROPERTIES") != nullptr);
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
  EXPECT_GT(by.pattern, all / 4);
  EXPECT_GT(by.layout, 0);
}

}  // namespace gf
