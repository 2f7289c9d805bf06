// Traces whose events come again with small changes, which the reader that guesses and learns is
// made for: the input's bytes choose a loop's events, the kinds and manners of their values, the
// layout, and where chunks end. All readers must give the same capture. At the end it prints the
// share of events by each of them.
#include <cstdio>
#include <cstdlib>
#include <span>

#include "import/kineto/fields.h"
#include "import/kineto/reading.h"
#include "memory_file.h"
#include "same_captures.h"
#include "support/repeating_trace.h"

namespace {

using gf::kineto::Reading;
using gf::test::EventShape;
using gf::test::Manner;
using gf::test::Member;
using gf::test::ValueKind;

/// Choices from the input's bytes; zeros behind their end.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::size_t below(std::size_t limit) {
    if (bytes_.empty()) return 0;
    const std::size_t chosen = bytes_[0] % limit;
    bytes_ = bytes_.subspan(1);
    return chosen;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::span<const std::uint8_t> bytes_;
};

/// Mostly numbers that count or stay; each event with a text that needs the plain reader is read by
/// it, so those are rare.
ValueKind kind_of(Choices& choices) {
  const std::size_t chosen = choices.below(64);
  if (chosen < gf::test::kValueKinds) return static_cast<ValueKind>(chosen);
  constexpr ValueKind kOften[] = {ValueKind::integer, ValueKind::integer,  ValueKind::fraction,
                                  ValueKind::null,    ValueKind::negative, ValueKind::text};
  return kOften[chosen % std::size(kOften)];
}

Member member_of(Choices& choices, std::string_view key) {
  return {key, kind_of(choices), static_cast<Manner>(choices.below(gf::test::kManners)),
          choices.below(256)};
}

void change(EventShape& shape, Choices& choices) {
  const bool in_args = !shape.args.empty() && choices.below(4) != 0;
  auto& members = in_args ? shape.args : shape.members;
  const std::string_view key =
      in_args ? gf::kineto::kArgs[choices.below(std::size(gf::kineto::kArgs))].first
              : gf::kineto::kEvent[choices.below(std::size(gf::kineto::kEvent))].first;
  const Member member = member_of(choices, key);
  const std::size_t place = choices.below(members.size() + 1);
  for (auto& other : members)
    if (other.key == key) {
      other = member;
      return;
    }
  if (in_args || (key != "ph" && key != "cat" && key != "name"))
    members.insert(members.begin() + static_cast<std::ptrdiff_t>(place), member);
}

std::vector<EventShape> loop_of(Choices& choices) {
  const auto known = gf::test::profiled_loop();
  std::vector<EventShape> loop;
  for (std::size_t count = 1 + choices.below(12); count > 0; --count) {
    loop.push_back(known[choices.below(known.size())]);
    for (std::size_t changes = choices.below(4); changes > 0; --changes)
      change(loop.back(), choices);
  }
  return loop;
}

struct Shares : gf::kineto::ReadBy {
  ~Shares() {
    const auto all = pattern + layout + fast + plain;
    if (all == 0) return;
    const auto percent = [&](std::int64_t part) {
      return 100.0 * static_cast<double>(part) / static_cast<double>(all);
    };
    std::fprintf(
        stderr,
        "%lld events: %.2f %% by patterns, %.2f %% by layouts, %.2f %% fast, %.2f %% plain\n",
        static_cast<long long>(all), percent(pattern), percent(layout), percent(fast),
        percent(plain));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static gf::fuzz::MemoryFile file;
  static Shares shares;
  Choices choices({data, size});
  gf::ImportOptions options;
  options.max_bytes = 16 << 20;
  options.threads = static_cast<unsigned>(1 + choices.below(8) / 5 * choices.below(4));
  const std::size_t turns = 8 + choices.below(64), lead = choices.below(200),
                    pieces = 1 + choices.below(5), shift = choices.below(256);
  const auto& layout = gf::test::kLayouts[choices.below(std::size(gf::test::kLayouts))];
  const std::string trace = gf::test::repeating_trace(loop_of(choices), turns, layout, lead);
  file.fill(reinterpret_cast<const std::uint8_t*>(trace.data()), trace.size());
  options.chunk_bytes = trace.size() / pieces + shift;
  const auto learned = gf::kineto::load_by(Reading::learned, file.path(), options, &shares);
  const auto fast = gf::kineto::load_by(Reading::fast, file.path(), options);
  options.threads = 1;
  options.chunk_bytes = trace.size() + 1;
  auto plain = gf::kineto::load_by(Reading::plain, file.path(), options);
  if (!plain || !fast || !learned) std::abort();
  if (!gf::fuzz::same(*plain, *fast) || !gf::fuzz::same(*plain, *learned)) {
    std::fprintf(stderr, "%s\n", trace.c_str());
    std::abort();
  }
  return 0;
}
