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
std::vector<std::uint64_t> window_hashes(std::span<const std::uint32_t> s, std::size_t width) {
  std::vector<std::uint64_t> out;
  if (s.size() < width) return out;
  out.reserve(s.size() - width + 1);
  std::uint64_t hash = 0, top = 1;
  for (std::size_t i = 0; i + 1 < width; ++i) top *= kBase;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (i >= width) hash -= top * (s[i - width] + 1ull);
    hash = hash * kBase + (s[i] + 1ull);
    if (i + 1 >= width) out.push_back(hash);
  }
  return out;
}

/// All stretches: starts where a window matches a rare one of b, grown to the right as far as the
/// symbols agree.
std::vector<Anchor> stretches(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                              std::size_t width) {
  const auto ha = window_hashes(a, width), hb = window_hashes(b, width);
  struct Places {
    std::uint32_t count = 0, first = 0;
  };
  std::unordered_map<std::uint64_t, Places> rare;
  rare.reserve(hb.size());
  std::vector<std::uint32_t> next(hb.size(), UINT32_MAX);  // the next place with the same window
  for (std::size_t j = hb.size(); j-- > 0;) {
    Places& p = rare[hb[j]];
    if (p.count++ > 0) next[j] = p.first;
    p.first = static_cast<std::uint32_t>(j);
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
      while (i + length < a.size() && j + length < b.size() && a[i + length] == b[j + length])
        ++length;
      end = i + std::max<std::size_t>(length, 1);
      if (length >= width) out.push_back({i, j, length});  // shorter: the hashes collided
    }
  }
  return out;
}

}  // namespace

std::vector<Anchor> chain_anchors(std::span<const std::uint32_t> a,
                                  std::span<const std::uint32_t> b, std::size_t width,
                                  bool cyclic) {
  const std::vector<Anchor> all = stretches(a, b, width);  // in order of a
  struct Link {
    double score;
    std::uint32_t before;
    std::size_t trimmed;
  };
  std::vector<Link> links(all.size());
  std::vector<std::uint32_t> by_end(all.size());
  for (std::uint32_t i = 0; i < by_end.size(); ++i) by_end[i] = i;
  std::ranges::sort(by_end, [&](std::uint32_t x, std::uint32_t y) {
    return all[x].a + all[x].length < all[y].a + all[y].length;
  });
  const auto number = [](std::size_t n) { return static_cast<double>(n); };
  std::uint32_t best_ended = UINT32_MAX;
  std::size_t ended = 0;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const Anchor& x = all[i];
    for (; ended < by_end.size() && all[by_end[ended]].a + all[by_end[ended]].length <= x.a;
         ++ended)
      if (best_ended == UINT32_MAX || links[by_end[ended]].score > links[best_ended].score)
        best_ended = by_end[ended];
    Link best{number(x.length) - (x.b > 0 ? 1 : 0), UINT32_MAX, 0};
    const auto offer = [&](std::uint32_t j, double drift, std::size_t trimmed) {
      const double score = links[j].score + number(x.length - trimmed) -
                           std::min(kStartOver, kDrift * std::fabs(drift));
      if (score > best.score) best = {score, j, trimmed};
    };
    // Neighbours may overlap where the sequences agree by chance beyond the place where they part:
    // x then starts later.
    const auto follow = [&](std::uint32_t j) {
      const Anchor& y = all[j];
      const std::size_t a_end = y.a + y.length, b_end = y.b + y.length;
      const std::size_t late = a_end > x.a ? a_end - x.a : 0;
      const double gap_a = number(x.a) - number(a_end);
      if (const std::size_t trimmed = std::max(late, b_end > x.b ? b_end - x.b : 0);
          x.b + x.length > b_end && trimmed < x.length)
        offer(j, number(x.b) - number(b_end) - gap_a, trimmed);
      if (cyclic && late < x.length) offer(j, number(b.size() - b_end) + number(x.b) - gap_a, late);
    };
    for (std::size_t k = ended; k > 0 && k + kLookBack > ended; --k) follow(by_end[k - 1]);
    for (std::uint32_t j = i; j > 0 && j + kLookBack > i; --j) follow(j - 1);
    if (best_ended != UINT32_MAX) follow(best_ended);
    links[i] = best;
  }
  std::vector<Anchor> chain;
  std::uint32_t at = UINT32_MAX;
  for (std::uint32_t i = 0; i < all.size(); ++i)
    if (at == UINT32_MAX || links[i].score > links[at].score) at = i;
  for (; at != UINT32_MAX; at = links[at].before) {
    const std::size_t t = links[at].trimmed;
    chain.push_back({all[at].a + t, all[at].b + t, all[at].length - t});
  }
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace gf
