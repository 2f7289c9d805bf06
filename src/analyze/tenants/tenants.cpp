#include "analyze/tenants/tenants.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <set>
#include <unordered_map>

#include "analyze/sampled/levels.h"
#include "analyze/tenants/presence.h"
#include "core/apportion.h"
#include "model/metrics.h"

namespace gf {

namespace {

constexpr std::string_view kHeld = "memory.process.";
/// The share of a sample's time in which some process must work for its rate to say how fast the
/// device can be.
constexpr double kTelling = 0.2;

/// Processes that hold memory on a device, by what the driver said while it was recorded.
std::set<std::int64_t> holders(const Capture& capture, std::uint32_t device) {
  std::set<std::int64_t> out;
  std::map<Text, std::int64_t> pids;
  const auto& samples = capture.counter_samples;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples.device[i] != device) continue;
    const auto [known, added] = pids.try_emplace(samples.metric[i], -1);
    if (added) {
      const auto id = capture.text(samples.metric[i]);
      if (id.starts_with(kHeld))
        std::from_chars(id.data() + kHeld.size(), id.data() + id.size(), known->second);
    }
    if (known->second >= 0) out.insert(known->second);
  }
  return out;
}

/// Processes of which the recording says what they did.
bool recorded(const Capture& capture, std::int64_t pid) {
  const auto& threads = capture.threads.pid;
  const auto& windows = capture.recording_windows.pid;
  return std::find(threads.begin(), threads.end(), pid) != threads.end() ||
         std::find(windows.begin(), windows.end(), pid) != windows.end();
}

}  // namespace

std::vector<std::int64_t> other_processes(const Capture& capture, std::uint32_t device) {
  std::set<std::int64_t> others = holders(capture, device);
  std::erase_if(others, [&](std::int64_t pid) { return recorded(capture, pid); });
  for (std::size_t i = 0; i < capture.activities.size(); ++i)
    others.erase(capture.activities.pid[i]);
  return {others.begin(), others.end()};
}

bool knows_processes(const Capture& capture, std::uint32_t device) {
  return !holders(capture, device).empty();
}

namespace {

std::int64_t count_others(const Capture& capture, std::uint32_t device, const Presence& presence) {
  std::int64_t others = 0;
  for (const auto pid : holders(capture, device))
    others += !std::binary_search(presence.pids.begin(), presence.pids.end(), pid) &&
              !recorded(capture, pid);
  return others;
}

std::string name_of_process(const Capture& capture, std::int64_t pid) {
  const auto& threads = capture.threads;
  for (std::size_t i = 0; i < threads.size(); ++i)
    if (threads.pid[i] == pid)
      if (const auto name = capture.text(threads.process_name[i]); !name.empty())
        return std::string(name);
  return {};
}

Sharing sharing_of(const Capture& capture) {
  const auto said = capture.metadata_value("record.mps");
  if (said == "yes") return Sharing::mps;
  return said == "no" ? Sharing::time_sliced : Sharing::not_known;
}

/// Time of each process and of all together; every nanosecond goes somewhere.
void measure_time(const Presence& presence, SharedDevice& out) {
  std::unordered_map<std::uint64_t, Nanos> by_who;
  for (const auto& piece : presence.pieces) by_who[piece.who] += piece.span.length();
  for (const auto& [who, length] : by_who) {
    const auto together = static_cast<std::size_t>(std::popcount(who));
    if (together == 0) out.rest_ns += length;
    if (together > 1) out.overlap_ns += length;
    const auto shares = apportion(length, std::vector<double>(together, 1));
    auto share = shares.begin();
    for (std::size_t process = 0; process < out.tenants.size(); ++process) {
      if (!(who >> process & 1)) continue;
      auto& tenant = out.tenants[process];
      tenant.active_ns += length;
      if (together == 1) tenant.alone_ns += length;
      tenant.share_ns += *share++;
    }
  }
}

/// The most of each metric that the device does in a nanosecond.
std::vector<double> fastest(const Capture& capture, const Presence& presence,
                            const TenantSamples& samples) {
  std::vector<double> most(samples.metrics.size(), 0);
  PresenceReader reader(presence);
  for (const auto& row : samples.rows) {
    const auto share = reader.share_of(row.span);
    const double active = static_cast<double>(share.active) / static_cast<double>(share.length);
    for (std::size_t metric = 0; active >= kTelling && metric < most.size(); ++metric)
      most[metric] = std::max(most[metric], row.rates[metric] / active);
  }
  for (std::size_t metric = 0; metric < most.size(); ++metric)
    if (!is_count(capture.text(samples.metrics[metric]))) most[metric] = 1;
  return most;
}

TenantAmount amount_of(const std::string& id, const TenantPart& part, double scale) {
  const auto* known = find_metric(id);
  return {id, known ? std::string(known->unit) : std::string(), part.value * scale,
          part.low * scale, part.high * scale};
}

void measure_amounts(const Capture& capture, const Presence& presence, const TenantSamples& samples,
                     SharedDevice& out) {
  const auto most = fastest(capture, presence, samples);
  const auto metrics = samples.metrics.size(), processes = presence.pids.size();
  std::vector<TenantSplit> sums(metrics, TenantSplit{std::vector<TenantPart>(processes), {}});
  std::vector<double> totals(metrics, 0);
  PresenceReader reader(presence);
  for (const auto& row : samples.rows) {
    const auto share = reader.share_of(row.span);
    out.sampled_ns += share.length;
    for (std::size_t metric = 0; metric < metrics; ++metric) {
      const double amount = row.rates[metric] * static_cast<double>(share.length);
      const auto split = split_amount(share, amount, most[metric]);
      totals[metric] += amount;
      for (std::size_t process = 0; process < processes; ++process)
        sums[metric].parts[process].add(split.parts[process]);
      sums[metric].rest.add(split.rest);
    }
  }
  if (out.sampled_ns <= 0) return;
  for (std::size_t metric = 0; metric < metrics; ++metric) {
    const std::string id(capture.text(samples.metrics[metric]));
    const double scale = is_count(id) ? 1.0 : 1 / static_cast<double>(out.sampled_ns);
    auto& sum = sums[metric];
    if (out.others > 0) {  // a process that nobody recorded can have had any of it
      for (auto& part : sum.parts) part.low = 0;
      sum.rest = {sum.rest.value, 0, totals[metric]};
    }
    for (std::size_t process = 0; process < processes; ++process)
      out.tenants[process].amounts.push_back(amount_of(id, sum.parts[process], scale));
    out.rest.push_back(amount_of(id, sum.rest, scale));
    out.total.push_back(amount_of(id, {totals[metric], totals[metric], totals[metric]}, scale));
  }
}

void measure_joules(const TenantEnergy& energy, SharedDevice& out) {
  if (!energy.known) return;
  std::vector<double> weights;
  for (const auto& part : energy.parts) weights.push_back(part.value);
  weights.push_back(energy.rest);
  const auto split = apportion(energy.total_nj, weights);
  out.nj = energy.total_nj;
  out.rest_nj = split.back();
  for (std::size_t process = 0; process < out.tenants.size(); ++process) {
    auto& tenant = out.tenants[process];
    tenant.nj = split[process];
    const auto low = std::llround(energy.parts[process].low * 1e9);
    tenant.low_nj = out.others > 0 ? 0 : std::min<std::int64_t>(low, split[process]);
    tenant.high_nj =
        std::max<std::int64_t>(std::llround(energy.parts[process].high * 1e9), split[process]);
  }
}

std::string what_cannot_be_told(const SharedDevice& device, bool aligned) {
  std::string out;
  if (device.others > 0)
    out = fmt::format(
        "{} more process{} hold memory there and {} not recorded: work attributed to a process can "
        "be theirs, so lower bounds are 0; start them under gpufathom record --kernels too. ",
        device.others, device.others != 1 ? "es" : "", device.others == 1 ? "was" : "were");
  if (device.sampled_ns == 0)
    out += "There are no samples over these spans, so levels are not split. ";
  else if (!aligned)
    out += "Samples and kernels could not be aligned, so levels are split per 100 ms. ";
  if (!device.nj) out += "No power was measured over them, so joules are not split. ";
  if (!out.empty()) out.pop_back();
  return out;
}

SharedDevice shared_device(const Context& context, const DeviceTimeline& timeline,
                           const Presence& presence) {
  const auto& capture = context.capture;
  SharedDevice out;
  out.id = capture.devices.id[timeline.device];
  out.name = capture.text(capture.devices.name[timeline.device]);
  out.sharing = sharing_of(capture);
  out.others = count_others(capture, timeline.device, presence);
  for (std::size_t process = 0; process < presence.pids.size(); ++process) {
    Tenant tenant;
    tenant.pid = presence.pids[process];
    tenant.name = name_of_process(capture, tenant.pid);
    tenant.kernels = presence.kernels[process];
    out.tenants.push_back(std::move(tenant));
  }
  if (presence.pieces.empty()) {
    out.cannot_tell =
        presence.pids.size() > Presence::kMost
            ? fmt::format("more than {} processes are not separated", Presence::kMost)
            : "these processes were never recorded at the same time: record for longer, or with "
              "--window 0";
    return out;
  }
  out.start_ns = presence.known.front().start;
  out.span_ns = total(presence.known);
  measure_time(presence, out);
  const auto samples = tenant_samples(capture, timeline.device, presence.known);
  measure_amounts(capture, presence, samples, out);
  measure_joules(split_energy(capture, timeline.device, presence, samples), out);
  out.cannot_tell = what_cannot_be_told(out, samples.aligned);
  return out;
}

}  // namespace

bool has_tenants(const Context& context) {
  const auto& pids = context.capture.activities.pid;
  return std::ranges::any_of(context.devices, [&](const DeviceTimeline& line) {
    std::int64_t first = -1;
    return std::ranges::any_of(line.rows, [&](std::uint32_t row) {
      const std::int64_t pid = pids[row];
      if (first < 0) first = pid;
      return pid >= 0 && pid != first;
    });
  });
}

std::vector<SharedDevice> measure_tenants(const Context& context) {
  std::vector<SharedDevice> shared;
  for (const auto& timeline : context.devices) {
    const auto presence = find_presence(context.capture, timeline);
    if (presence.pids.size() < 2) continue;
    shared.push_back(shared_device(context, timeline, presence));
  }
  return shared;
}

std::vector<SharedDevice> name_tenants(const Capture& capture) {
  std::vector<SharedDevice> shared;
  for (std::uint32_t device = 0; device < capture.devices.size(); ++device) {
    const auto pids = holders(capture, device);
    if (pids.size() < 2) continue;
    SharedDevice out;
    out.id = capture.devices.id[device];
    out.name = capture.text(capture.devices.name[device]);
    out.sharing = sharing_of(capture);
    for (const auto pid : pids) {
      Tenant tenant;
      tenant.pid = pid;
      tenant.name = name_of_process(capture, pid);
      out.tenants.push_back(std::move(tenant));
    }
    out.cannot_tell =
        "samples cover the whole GPU: attributing them to these processes needs their kernels "
        "(gpufathom record --kernels)";
    shared.push_back(std::move(out));
  }
  return shared;
}

}  // namespace gf
