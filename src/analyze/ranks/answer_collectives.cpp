// Collectives and their rates.
#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>

#include "analyze/ranks/answer.h"
#include "analyze/ranks/collective_type.h"
#include "core/statistics.h"
#include "model/chips.h"

namespace gf {

namespace {

struct Facts {
  CollectiveType type = CollectiveType::other;
  std::int64_t bytes = -1, sequence = -1;
  Nanos transfer = 0;  // of the last rank
  std::int64_t ranks = 0;
};

Facts facts_of(const JobView& view, std::size_t number) {
  const auto& shared = view.job.shared[number];
  const WaitSplit& split = view.splits[number];
  const Arrival last = shared.arrivals[split.last];
  const auto& table = view.job.parts[last.part].collectives;
  Facts facts;
  facts.type = static_cast<CollectiveType>(table.type[last.row]);
  facts.bytes = table.bytes[last.row];
  facts.sequence = table.sequence[last.row];
  facts.transfer = split.ranks[split.last].duration - split.ranks[split.last].wait;
  facts.ranks = std::max(view.job.groups[shared.group].size,
                         static_cast<std::int64_t>(shared.arrivals.size()));
  return facts;
}

double per_second(const Facts& facts) {
  return static_cast<double>(facts.bytes) / static_cast<double>(facts.transfer);  // GB/s
}

/// What a GPU's links carry in one direction, by the vendor's data sheets, in GB/s; 0: not known.
double link_rate(std::string_view device) {
  const Product* product = find_product(device);
  if (!product || device.find("PCIe") != device.npos || device.find("PCIE") != device.npos)
    return 0;
  switch (product->chip) {
    case ChipId::GV100:
      return 150;
    case ChipId::GA100:
      return 300;
    case ChipId::GH100:
      return 450;
    case ChipId::GB100:
      return 900;
    default:
      return 0;
  }
}

/// Only where all ranks sit in one host: between hosts other links count.
double link_of(const Job& job) {
  constexpr std::size_t kOneHost = 8;
  if (job.parts.empty() || job.parts.size() > kOneHost) return 0;
  if (job.parts.front().world_size > static_cast<std::int64_t>(kOneHost)) return 0;
  for (const auto& part : job.parts)
    if (part.host != job.parts.front().host || part.device != job.parts.front().device) return 0;
  return link_rate(job.parts.front().device);
}

CollectiveRow row_of(const JobView& view, std::size_t number) {
  const auto& shared = view.job.shared[number];
  const WaitSplit& split = view.splits[number];
  const Facts facts = facts_of(view, number);
  const RankPart& last = view.job.parts[shared.arrivals[split.last].part];
  CollectiveRow row;
  row.group = view.job.groups[shared.group].name;
  row.sequence = facts.sequence;
  row.type = facts.type;
  row.bytes = facts.bytes;
  const auto step = last.collectives.step[shared.arrivals[split.last].row];
  if (step >= 0) row.step = last.steps[static_cast<std::size_t>(step)].index;
  row.last_rank = last.rank;
  row.margin_ns = split.margin;
  row.doubt_ns = split.doubt;
  row.wait_ns = split.wait;
  if (split.sure()) row.cause = view.charges[number].cause;
  if (facts.bytes > 0 && facts.transfer > 0)
    row.bus_gb_per_s = per_second(facts) * bus_factor(facts.type, facts.ranks);
  for (std::size_t i = 0; i < shared.arrivals.size(); ++i) {
    const auto& one = split.ranks[i];
    row.ranks.push_back({view.job.parts[shared.arrivals[i].part].rank, one.start, one.duration,
                         one.wait, one.duration - one.wait, one.exposed});
  }
  return row;
}

}  // namespace

std::vector<CollectiveRow> collective_rows(const JobView& view, std::size_t rows) {
  std::vector<std::size_t> kept(view.splits.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  if (rows > 0 && rows < kept.size()) {
    std::stable_sort(kept.begin(), kept.end(), [&](auto left, auto right) {
      return view.splits[left].wait > view.splits[right].wait;
    });
    kept.resize(rows);
    std::sort(kept.begin(), kept.end());
  }
  std::vector<CollectiveRow> out;
  for (const auto number : kept) out.push_back(row_of(view, number));
  return out;
}

std::vector<CollectiveRate> collective_rates(const JobView& view) {
  struct Class {
    std::vector<double> bytes, transfer, rate;
  };
  std::map<std::tuple<CollectiveType, std::int64_t, int>, Class> classes;
  for (std::size_t number = 0; number < view.splits.size(); ++number) {
    const Facts facts = facts_of(view, number);
    if (facts.bytes <= 0 || facts.transfer <= 0) continue;
    auto& one =
        classes[{facts.type, facts.ranks, std::bit_width(static_cast<std::uint64_t>(facts.bytes))}];
    one.bytes.push_back(static_cast<double>(facts.bytes));
    one.transfer.push_back(static_cast<double>(facts.transfer));
    one.rate.push_back(per_second(facts));
  }
  const double link = link_of(view.job);
  std::vector<CollectiveRate> rates;
  for (auto& [key, one] : classes) {
    CollectiveRate rate;
    rate.type = std::get<0>(key);
    rate.ranks = std::get<1>(key);
    rate.count = static_cast<std::int64_t>(one.rate.size());
    rate.bytes = static_cast<std::int64_t>(median(one.bytes));
    rate.transfer_ns = static_cast<Nanos>(median(one.transfer));
    rate.algorithm_gb_per_s = median(one.rate);
    rate.factor = bus_factor(rate.type, rate.ranks);
    rate.bus_gb_per_s = rate.algorithm_gb_per_s * rate.factor;
    if (link > 0) rate.of_link = rate.bus_gb_per_s / link;
    rates.push_back(rate);
  }
  return rates;
}

}  // namespace gf
