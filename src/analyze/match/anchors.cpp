#include "analyze/match/anchors.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace gf {

namespace {

constexpr std::size_t kRare = 64;  // places in b that a window may have; layers of a model repeat
constexpr std::size_t kLookBack =
    128;  // stretches that ended or began last, of which one may come before
constexpr double kDrift =
    0.5;  // what each symbol costs by which the two sides advance differently between stretches
constexpr double kStartOver = 200;  // what any jump costs at most, in symbols
constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15ull;

/// Polynomial hashes of every window of `width` symbols.
std::vector<std::uint64_t> window_hashes(std::span<const std::uint32_t> samples,
                                         std::size_t width) {
  std::vector<std::uint64_t> out;
  if (samples.size() < width) return out;
  out.reserve(samples.size() - width + 1);
  std::uint64_t hash = 0, top = 1;
  for (std::size_t i = 0; i + 1 < width; ++i) top *= kBase;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i >= width) hash -= top * (samples[i - width] + 1ull);
    hash = hash * kBase + (samples[i] + 1ull);
    if (i + 1 >= width) out.push_back(hash);
  }
  return out;
}

/// All stretches: starts where a window matches a rare one of b, grown to the right as far as the
/// symbols agree.
std::vector<Anchor> stretches(std::span<const std::uint32_t> left,
                              std::span<const std::uint32_t> right, std::size_t width) {
  const auto ha = window_hashes(left, width), hb = window_hashes(right, width);
  struct Places {
    std::uint32_t count = 0, first = 0;
  };
  std::unordered_map<std::uint64_t, Places> rare;
  rare.reserve(hb.size());
  std::vector<std::uint32_t> next(hb.size(), UINT32_MAX);  // the next place with the same window
  for (std::size_t j = hb.size(); j-- > 0;) {
    Places& places = rare[hb[j]];
    if (places.count++ > 0) next[j] = places.first;
    places.first = static_cast<std::uint32_t>(j);
  }
  std::vector<Anchor> out;
  std::unordered_map<std::ptrdiff_t, std::size_t>
      covered;  // by diagonal: a up to where a stretch was grown already
  for (std::size_t i = 0; i < ha.size(); ++i) {
    const auto found = rare.find(ha[i]);
    if (found == rare.end() || found->second.count > kRare) continue;
    for (std::uint32_t j = found->second.first; j != UINT32_MAX; j = next[j]) {
      std::size_t& end = covered[static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(j)];
      if (i < end) continue;
      std::size_t length = 0;
      while (i + length < left.size() && j + length < right.size() &&
             left[i + length] == right[j + length])
        ++length;
      end = i + std::max<std::size_t>(length, 1);
      if (length >= width) out.push_back({i, j, length});  // shorter: the hashes collided
    }
  }
  return out;
}

}  // namespace

std::vector<Anchor> chain_anchors(std::span<const std::uint32_t> left,
                                  std::span<const std::uint32_t> right, std::size_t width,
                                  bool cyclic) {
  const std::vector<Anchor> all = stretches(left, right, width);  // in order of a
  struct Link {
    double score;
    std::uint32_t before;
    std::size_t trimmed;
  };
  std::vector<Link> links(all.size());
  std::vector<std::uint32_t> by_end(all.size());
  for (std::uint32_t i = 0; i < by_end.size(); ++i) by_end[i] = i;
  std::ranges::sort(by_end, [&](std::uint32_t one, std::uint32_t two) {
    return all[one].a + all[one].length < all[two].a + all[two].length;
  });
  const auto number = [](std::size_t count) { return static_cast<double>(count); };
  std::uint32_t best_ended = UINT32_MAX;
  std::size_t ended = 0;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const Anchor& here = all[i];
    for (; ended < by_end.size() && all[by_end[ended]].a + all[by_end[ended]].length <= here.a;
         ++ended)
      if (best_ended == UINT32_MAX || links[by_end[ended]].score > links[best_ended].score)
        best_ended = by_end[ended];
    Link best{number(here.length) - (here.b > 0 ? 1 : 0), UINT32_MAX, 0};
    const auto offer = [&](std::uint32_t candidate, double drift, std::size_t trimmed) {
      const double score = links[candidate].score + number(here.length - trimmed) -
                           std::min(kStartOver, kDrift * std::fabs(drift));
      if (score > best.score) best = {score, candidate, trimmed};
    };
    // Neighbours may overlap where the sequences agree by chance beyond the place where they part:
    // x then starts later.
    const auto follow = [&](std::uint32_t candidate) {
      const Anchor& before = all[candidate];
      const std::size_t a_end = before.a + before.length, b_end = before.b + before.length;
      std::size_t late = 0;
      if (a_end > here.a) late = a_end - here.a;
      const double gap_a = number(here.a) - number(a_end);
      if (const std::size_t trimmed = std::max(late, b_end > here.b ? b_end - here.b : 0);
          here.b + here.length > b_end && trimmed < here.length)
        offer(candidate, number(here.b) - number(b_end) - gap_a, trimmed);
      if (cyclic && late < here.length)
        offer(candidate, number(right.size() - b_end) + number(here.b) - gap_a, late);
    };
    for (std::size_t at = ended; at > 0 && at + kLookBack > ended; --at) follow(by_end[at - 1]);
    for (std::uint32_t j = i; j > 0 && j + kLookBack > i; --j) follow(j - 1);
    if (best_ended != UINT32_MAX) follow(best_ended);
    links[i] = best;
  }
  std::vector<Anchor> chain;
  std::uint32_t at = UINT32_MAX;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (at == UINT32_MAX || links[i].score > links[at].score) at = i;
  for (; at != UINT32_MAX; at = links[at].before) {
    const std::size_t trimmed = links[at].trimmed;
    chain.push_back({all[at].a + trimmed, all[at].b + trimmed, all[at].length - trimmed});
  }
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace gf
