#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyze/match/match.h"

namespace gf {

namespace {

struct Anchor {
  std::size_t a = 0, b = 0, length = 0;  // a[a, a + length) equals b[b, b + length)
};

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

/// A chain of stretches of at least `width` equal symbols whose first `width` have at most 64
/// places in b, in order of a: the one that covers the most and drifts the least, that is, advances
/// alike on both sides between stretches. Inside the chain b grows too; with `cyclic` it may start
/// over, as a report does that is laid over several steps of a trace. Time grows with the number of
/// stretches, not with a.size() * b.size().
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
    // Neighbors may overlap where the sequences agree by chance beyond the place where they part:
    // x then starts later.
    const auto follow = [&](std::uint32_t candidate) {
      const Anchor& before = all[candidate];
      const std::size_t a_end = before.a + before.length, b_end = before.b + before.length;
      std::size_t late = a_end > here.a ? a_end - here.a : 0;
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

using SymbolSpan = std::span<const std::uint32_t>;
using Cost = std::function<double(std::size_t, std::size_t)>;

// Problems by their cells, trace length times report length. A cell costs about 3 ns.
constexpr std::size_t kSmall = 1u << 20;  // solved in one piece without further thought
constexpr std::size_t kExactCells =
    32u << 20;  // solved in one piece when the trace does not repeat the report word for word
constexpr std::size_t kLargestGap = 64u
                                    << 20;  // beyond this a gap without any anchor stays unpaired
constexpr std::size_t kCellsEach =
    256;  // cells in gaps for each symbol of the trace that are worth no narrower anchors
constexpr std::size_t kAnchorWidth =
    8;  // short enough to survive noise, so that drift tells true stretches from chance
constexpr double kWordForWord =
    0.95;  // share of the trace in anchors that makes them as good as an exact solution

/// One lap: trace [a0, a1) runs beside report [b0, b1), from its first pair to its last.
struct Lap {
  std::size_t a0, a1, b0, b1;
};

/// Finds the laps by the best path through trace x report in which the report may start over.
/// A pair is worth kPairWorth, a report kernel left out costs nearly as much, so that a stretch of
/// which the trace has less than half is no lap; a trace kernel left out costs little, since a
/// report may cover a small part of a step; starting over costs kOver (half a short report's worth)
/// at the report's end and kCutShort before it. The path may begin anywhere in the report: a window
/// may open inside a step.
class LapFinder {
 public:
  LapFinder(SymbolSpan trace, SymbolSpan report)
      : a_(trace),
        b_(report),
        columns_(report.size() + 1),
        steps_((trace.size() + 1) * columns_),
        over_from_(trace.size() + 1, 0) {}

  std::vector<Lap> find() {
    std::vector<std::int32_t> previous(columns_), current(columns_);
    for (std::size_t j = 1; j < columns_; ++j) previous[j] = -1;
    for (std::size_t i = 1; i <= a_.size(); ++i) {
      fill_row(i, previous, current);
      std::swap(previous, current);
    }
    return trace_back(
        static_cast<std::size_t>(std::ranges::max_element(previous) - previous.begin()));
  }

 private:
  static constexpr std::int32_t kPairWorth = 10, kSkipTrace = 1, kSkipReport = 8, kOver = 20,
                                kCutShort = 150;
  enum Step : std::uint8_t { none, pair, skip_a, skip_b, over };

  void fill_row(std::size_t trace, const std::vector<std::int32_t>& previous,
                std::vector<std::int32_t>& current) {
    std::uint8_t* steps = steps_.data() + trace * columns_;
    const std::uint32_t symbol = a_[trace - 1];
    current[0] = previous[0] - kSkipTrace;
    steps[0] = skip_a;
    std::int32_t best = current[0];
    std::size_t best_at = 0;
    for (std::size_t j = 1; j < columns_; ++j) {
      std::int32_t value = previous[j] - kSkipTrace;
      std::uint8_t step = skip_a;
      if (current[j - 1] - kSkipReport > value) {
        value = current[j - 1] - kSkipReport;
        step = skip_b;
      }
      if (symbol == b_[j - 1] && previous[j - 1] + kPairWorth >= value) {
        value = previous[j - 1] + kPairWorth;
        step = pair;
      }
      current[j] = value;
      steps[j] = step;
      if (value > best) {
        best = value;
        best_at = j;
      }
    }
    // Starting over: from the end, or from the best other column.
    std::int32_t restart =
        current[columns_ - 1] -
        std::min<std::int32_t>(kOver, static_cast<std::int32_t>(kPairWorth / 2 * b_.size()));
    std::size_t from = columns_ - 1;
    if (best - kCutShort > restart) {
      restart = best - kCutShort;
      from = best_at;
    }
    if (restart <= current[0]) return;
    current[0] = restart;
    steps[0] = over;
    over_from_[trace] = static_cast<std::uint32_t>(from);
    for (std::size_t j = 1; j < columns_ && current[j - 1] - kSkipReport > current[j]; ++j) {
      current[j] = current[j - 1] - kSkipReport;
      steps[j] = skip_b;
    }
  }

  std::vector<Lap> trace_back(std::size_t report) const {
    std::vector<Lap> laps;
    Lap lap{};
    bool open = false;  // a pair of the current lap was seen
    const auto close = [&] {
      if (open) laps.push_back(lap);
      open = false;
    };
    for (std::size_t i = a_.size(); i > 0;) {
      switch (steps_[i * columns_ + report]) {
        case pair:
          if (!open) {
            lap.a1 = i;
            lap.b1 = report;
          }
          open = true;
          lap.a0 = --i;
          lap.b0 = --report;
          break;
        case skip_b:
          --report;
          break;
        case over:
          close();
          report = over_from_[i];  // the column that was left was reached without starting over in
                                   // this row
          break;
        default:
          --i;
          break;
      }
    }
    close();
    std::ranges::reverse(laps);
    return laps;
  }

  SymbolSpan a_, b_;
  std::size_t columns_;
  std::vector<std::uint8_t> steps_;
  std::vector<std::uint32_t> over_from_;
};

class Layer {
 public:
  Layer(SymbolSpan trace, SymbolSpan report, const Cost& cost)
      : a_(trace), b_(report), cost_(cost) {
    out_.partner.assign(trace.size(), SequenceMatch::kNone);
    out_.ambiguous.assign(trace.size(), false);
  }

  Laying run() {
    if (a_.empty() || b_.empty()) return std::move(out_);
    std::size_t cells =
        !(b_.size() > kLargestGap / a_.size()) ? a_.size() * b_.size() : kLargestGap;
    std::vector<Anchor> chain;
    if (cells > kSmall) chain = chain_anchors(a_, b_, kAnchorWidth, true);
    if (cells <= kSmall ||
        (cells <= kExactCells && covered(chain) < kWordForWord * static_cast<double>(a_.size()))) {
      const auto laps = LapFinder(a_, b_).find();
      for (const Lap& lap : laps) exactly(lap.a0, lap.a1, positions(lap.b0, lap.b1 - lap.b0));
      out_.laps = laps.size();
    } else {
      in_pieces(std::move(chain));
    }
    return std::move(out_);
  }

 private:
  /// `count` positions of the report from `first` on, starting over at its end.
  std::vector<std::uint32_t> positions(std::size_t first, std::size_t count) const {
    std::vector<std::uint32_t> out(count);
    for (std::size_t place = 0; place < count; ++place)
      out[place] = static_cast<std::uint32_t>((first + place) % b_.size());
    return out;
  }

  void exactly(std::size_t a0, std::size_t a1, const std::vector<std::uint32_t>& at) {
    std::vector<std::uint32_t> part(at.size());
    for (std::size_t place = 0; place < at.size(); ++place) part[place] = b_[at[place]];
    const SequenceMatch found = align_exactly(
        a_.subspan(a0, a1 - a0), part,
        cost_ ? Cost([&](std::size_t i, std::size_t j) { return cost_(a0 + i, at[j]); }) : Cost());
    for (std::size_t i = 0; i < found.partner.size(); ++i)
      if (found.partner[i] != SequenceMatch::kNone) {
        out_.partner[a0 + i] = at[found.partner[i]];
        out_.ambiguous[a0 + i] = found.ambiguous[i];
      }
  }

  static double covered(const std::vector<Anchor>& chain) {
    std::size_t count = 0;
    for (const Anchor& anchor : chain) count += anchor.length;
    return static_cast<double>(count);
  }

  /// A long sequence: anchors, narrower ones where wide ones leave too much between them, then the
  /// gaps.
  void in_pieces(std::vector<Anchor> best) {
    for (std::size_t width = kAnchorWidth / 2;
         width > 0 && (best.empty() || gap_cells(best) > kCellsEach * a_.size()); width /= 2) {
      auto chain = chain_anchors(a_, b_, width, true);
      if (!chain.empty() && (best.empty() || gap_cells(chain) < gap_cells(best)))
        best = std::move(chain);
    }
    if (best.empty()) {
      word_for_word();
      return;
    }
    out_.laps = 1;
    each_gap(best, [&](std::size_t a0, std::size_t a1, std::size_t b0, std::size_t count,
                       bool laps_over) {
      if (laps_over) out_.laps += 1;
      gap(a0, a1, positions(b0, count), kAnchorWidth / 2);
    });
    for (const Anchor& anchor : best)
      for (std::size_t place = 0; place < anchor.length; ++place)
        out_.partner[anchor.a + place] = static_cast<std::uint32_t>(anchor.b + place);
  }

  /// f(a0, a1, b0, count, starts over) for what lies before, between and behind the anchors of a
  /// chain.
  template <class F>
  void each_gap(const std::vector<Anchor>& chain, F&& apply) const {
    // At the ends the report's part is as long as the trace's, and half as much
    // again.
    const Anchor& first = chain.front();
    const std::size_t before = std::min(first.b, first.a + first.a / 2 + 16);
    apply(0, first.a, first.b - before, before, false);
    for (std::size_t i = 1; i < chain.size(); ++i) {
      const std::size_t a0 = chain[i - 1].a + chain[i - 1].length,
                        b0 = chain[i - 1].b + chain[i - 1].length;
      const bool over = chain[i].b < b0;
      apply(a0, chain[i].a, b0, over ? b_.size() - b0 + chain[i].b : chain[i].b - b0, over);
    }
    const std::size_t a0 = chain.back().a + chain.back().length,
                      b0 = chain.back().b + chain.back().length, left = a_.size() - a0;
    apply(a0, a_.size(), b0, std::min(b_.size() - b0, left + left / 2 + 16), false);
  }

  std::size_t gap_cells(const std::vector<Anchor>& chain) const {
    std::size_t cells = 0;
    each_gap(chain, [&](std::size_t a0, std::size_t a1, std::size_t, std::size_t count, bool) {
      cells += (a1 - a0) * count;
    });
    return cells;
  }

  /// Matches the part between two anchors: exactly if it is small, else cut by narrower anchors.
  void gap(std::size_t a0, std::size_t a1, const std::vector<std::uint32_t>& at,
           std::size_t width) {
    if (a0 == a1 || at.empty()) return;
    if ((a1 - a0) * at.size() <= kSmall) {
      exactly(a0, a1, at);
      return;
    }
    std::vector<std::uint32_t> part(at.size());
    for (std::size_t place = 0; place < at.size(); ++place) part[place] = b_[at[place]];
    for (; width > 0; width /= 2) {
      const auto chain = chain_anchors(a_.subspan(a0, a1 - a0), part, width, false);
      if (chain.empty()) continue;
      std::size_t left = a0, right = 0;
      for (std::size_t i = 0; i <= chain.size(); ++i) {
        const std::size_t a_end = i < chain.size() ? a0 + chain[i].a : a1,
                          b_end = i < chain.size() ? chain[i].b : at.size();
        gap(left, a_end,
            {at.begin() + static_cast<std::ptrdiff_t>(right),
             at.begin() + static_cast<std::ptrdiff_t>(b_end)},
            width / 2);
        if (i == chain.size()) break;
        for (std::size_t place = 0; place < chain[i].length; ++place)
          out_.partner[a_end + place] = at[b_end + place];
        left = a_end + chain[i].length;
        right = b_end + chain[i].length;
      }
      return;
    }
    if ((a1 - a0) * at.size() <= kLargestGap) exactly(a0, a1, at);
  }

  /// A report so repetitive that no place in it is rare: position by position, and every pair is in
  /// doubt.
  void word_for_word() {
    for (std::size_t i = 0; i < a_.size(); ++i)
      if (const std::size_t report = i % b_.size(); a_[i] == b_[report]) {
        out_.partner[i] = static_cast<std::uint32_t>(report);
        out_.ambiguous[i] = true;
      }
    out_.laps = (a_.size() + b_.size() - 1) / b_.size();
  }

  SymbolSpan a_, b_;
  const Cost& cost_;
  Laying out_;
};

}  // namespace

Laying lay_over(std::span<const std::uint32_t> trace, std::span<const std::uint32_t> report,
                const std::function<double(std::size_t, std::size_t)>& cost) {
  return Layer(trace, report, cost).run();
}

}  // namespace gf
