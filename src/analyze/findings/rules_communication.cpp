// Communication that nothing hides, and with the captures of other ranks how much of it is waiting.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyze/findings/facts.h"
#include "analyze/findings/rules.h"
#include "analyze/ranks/job_waiting.h"
#include "analyze/ranks/names.h"
#include "core/text.h"

namespace gf::trace_rules {

namespace {

bool communicates(const Facts& facts, std::uint32_t row) {
  return facts.context.attribution.layer[row] == LayerType::communication;
}

struct Communication {
  Nanos all = 0, exposed = 0;
};

Communication communication(const Facts& facts) {
  Communication sum;
  for (const auto& line : facts.context.devices) {
    auto kernels = [&](bool communicate) {
      Intervals spans;
      for (std::size_t i = 0; i < line.rows.size(); ++i)
        if (facts.capture().activities.kind[line.rows[i]] == ActivityKind::kernel &&
            communicates(facts, line.rows[i]) == communicate)
          spans.push_back(line.spans[i]);
      return normalised(std::move(spans));
    };
    const Intervals communication = kernels(true);
    if (communication.empty()) continue;
    sum.all += total(communication);
    sum.exposed += total(subtract(communication, kernels(false)));
  }
  return sum;
}

/// The rank that was waited for most, over all devices; empty when none was.
std::string most_waited_for(const Facts& facts) {
  std::vector<NamedTime> ranks;
  for (const auto& line : facts.context.devices) {
    if (!line.waiting) continue;
    for (const auto& rank : line.waiting->ranks) {
      const auto same = std::ranges::find(ranks, rank.name, &NamedTime::name);
      if (same == ranks.end())
        ranks.push_back(rank);
      else
        same->ns += rank.ns;
    }
  }
  const auto most = std::ranges::max_element(ranks, {}, &NamedTime::ns);
  if (most == ranks.end()) return {};
  return most->name;
}

/// " (launch too late in aten::mm)", "" where nothing is known of the rank.
std::string why_late(const JobRanks& job, std::string_view rank) {
  const auto late = std::ranges::find_if(job.stragglers, [&](const Straggler& straggler) {
    return fmt::format("rank {}", straggler.rank) == rank;
  });
  if (late == job.stragglers.end() || late->cause == RankTime::unknown) return {};
  std::string where = late->op;
  if (where.empty()) where = late->module;
  return fmt::format(" ({}{}{})", late_label(late->cause), where.empty() ? "" : " in ", where);
}

/// Waiting of a capture's devices for the last of them inside collectives.
struct LateDevice {
  Nanos waiting = 0;      // of all devices
  std::int64_t late = 0;  // the device that is waited for most
};

/// The n-th collective of each device is one collective where all have as many, of the same names:
/// what it takes longer than on the device where it is shortest is waiting for that one. Durations
/// alone are compared, since clocks of merged captures differ. Empty where devices do not match.
std::optional<LateDevice> late_device(const Facts& facts) {
  const auto& devices = facts.context.devices;
  std::vector<std::vector<std::uint32_t>> collectives(devices.size());  // activities, by start
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (const auto row : devices[i].rows)
      if (facts.capture().activities.kind[row] == ActivityKind::kernel && communicates(facts, row))
        collectives[i].push_back(row);
  std::erase_if(collectives, [](const auto& rows) { return rows.empty(); });
  if (collectives.size() < 2) return {};
  const auto& rows = facts.capture().activities;
  LateDevice found;
  std::map<std::int64_t, Nanos> waited_for;
  for (std::size_t place = 0; place < collectives.front().size(); ++place) {
    std::uint32_t shortest = collectives.front()[place];
    Nanos all = 0;
    for (const auto& device : collectives) {
      if (device.size() != collectives.front().size() ||
          rows.name[device[place]] != rows.name[shortest])
        return {};
      all += rows.duration_ns[device[place]];
      if (rows.duration_ns[device[place]] < rows.duration_ns[shortest]) shortest = device[place];
    }
    const Nanos waiting = all - rows.duration_ns[shortest] * static_cast<Nanos>(collectives.size());
    found.waiting += waiting;
    waited_for[facts.capture().devices.id[rows.device[shortest]]] += waiting;
  }
  found.late =
      std::ranges::max_element(waited_for, {}, [](const auto& of) { return of.second; })->first;
  return found;
}

/// A server has no backward pass to hide it behind.
const char* how_to_hide(const Facts& facts) {
  if (facts.analysis.serving)
    return "Overlap it with the computation of another part of the batch, fuse it with the kernels "
           "beside it, or communicate less: over fewer GPUs, or in a smaller type.";
  return "Start it earlier or in smaller pieces (gradient buckets), overlap it with the backward "
         "pass, or communicate less.";
}

std::string advice(const Facts& facts, Nanos exposed) {
  if (facts.waiting == 0 && facts.context.devices.size() > 1) {
    const auto late = late_device(facts);
    if (late && late->waiting * 2 >= exposed)
      return fmt::format(
          ", most of it waiting inside collectives for the late rank, mostly for GPU {}: {} of {} "
          "on all GPUs. Look at that rank: communicating less recovers none of the waiting time.",
          late->late, say_time(late->waiting), say_time(exposed));
    if (!late) return std::string(", waiting and transfer not separated. ") + how_to_hide(facts);
  }
  if (facts.waiting * 2 < exposed) return std::string(". ") + how_to_hide(facts);
  const std::string rank = most_waited_for(facts);
  return fmt::format(
      ", and {} of the time it only waits for other ranks, mostly for {}{}. Look at that rank: "
      "communicating less recovers none of the waiting time.",
      say_share(facts.of_window(facts.waiting)), rank,
      why_late(facts.context.options.waiting->job, rank));
}

bool holds_collectives_alone(const Facts& facts) {
  const auto& activities = facts.capture().activities;
  if (facts.context.devices.size() < 2) return false;
  for (const auto& line : facts.context.devices)
    for (const auto row : line.rows)
      if (activities.kind[row] != ActivityKind::kernel || !communicates(facts, row)) return false;
  return static_cast<std::size_t>(std::ranges::count(activities.kind, ActivityKind::kernel)) ==
         facts.kernels.size();
}

/// A capture of collectives alone cannot show whether they were exposed.
Said collectives_alone(const Facts& facts) {
  const auto late = late_device(facts);
  std::string waiting;
  if (late && late->waiting > 0)
    waiting = fmt::format(
        " By their durations, {} of {} in them waits for the late rank, mostly "
        "for GPU {}.",
        say_time(late->waiting), say_time(facts.kernel_busy), late->late);
  return {fmt::format("The capture has only collectives: it cannot show whether other kernels "
                      "overlapped them, or when the GPUs were idle.{}",
                      waiting),
          fmt::format("{}, all of them collectives", plural(facts.kernel_count, "kernel"))};
}

/// The process that launches the first kernel of a device; -1 where that is not known.
std::int64_t process_of(const Facts& facts, const DeviceTimeline& line) {
  const auto& capture = facts.capture();
  for (const auto row : line.rows) {
    const auto call = facts.context.launches[row];
    if (call == kNoRow) continue;
    const auto thread = capture.api_calls.thread[call];
    return thread < capture.threads.size() ? capture.threads.pid[thread] : -1;
  }
  return -1;
}

/// When any device of a process runs kernels, by process.
std::map<std::int64_t, Intervals> busy_by_process(const Facts& facts) {
  std::map<std::int64_t, Intervals> busy;
  for (const auto& line : facts.context.devices)
    if (const auto process = process_of(facts, line); process >= 0) {
      auto& spans = busy[process];
      std::ranges::copy(subtract(line.busy, line.copying), std::back_inserter(spans));
    }
  for (auto& [process, spans] : busy) spans = normalised(std::move(spans));
  return busy;
}

/// Idle time of a device while the host waits, and others of its process run kernels.
Intervals waits_for_others(const Facts& facts, std::size_t device, const Intervals& busy) {
  Intervals waits;
  for (const auto& piece : facts.idle_pieces(IdleReason::sync, device))
    for (const auto& span : clip(busy, piece.span())) waits.push_back(span);
  return waits;
}

}  // namespace

std::optional<Said> uneven_devices(const Facts& facts) {
  if (facts.context.devices.size() < 2) return {};
  Nanos time = 0, most = 0;
  Intervals all;
  const DeviceTimeline* waiting = nullptr;
  const auto busy = busy_by_process(facts);
  for (std::size_t device = 0; device < facts.context.devices.size(); ++device) {
    const auto& line = facts.context.devices[device];
    const auto process = busy.find(process_of(facts, line));
    if (process == busy.end()) continue;
    const auto waits = waits_for_others(facts, device, process->second);
    const Nanos own = total(waits);
    time += own;
    if (own > most) {
      most = own;
      waiting = &line;
    }
    all.insert(all.end(), waits.begin(), waits.end());
  }
  all = normalised(std::move(all));
  if (!waiting || facts.of_window(time) < 0.05 || !facts.repeats(all, 0.02)) return {};
  const auto& busiest =
      *std::ranges::max_element(facts.context.devices, {}, &DeviceTimeline::kernel_busy_ns);
  const auto id = [&](const DeviceTimeline& line) {
    return facts.capture().devices.id[line.device];
  };
  time = facts.claim_idle(all, Facts::Goes::alone);
  return Said{
      fmt::format("GPU {} waits for GPU {}, which has more work: {} of the time of all GPUs. "
                  "Balance the work so that both finish at the same time.",
                  id(*waiting), id(busiest), say_share(facts.of_window(time))),
      fmt::format("GPU {} runs kernels for {}, GPU {} for {}; {} of idle time while the host waits "
                  "for the other",
                  id(busiest), say_time(busiest.kernel_busy_ns()), id(*waiting),
                  say_time(waiting->kernel_busy_ns()), say_time(time)),
      time};
}

std::optional<Said> exposed_communication(const Facts& facts) {
  if (holds_collectives_alone(facts)) return collectives_alone(facts);
  const Communication sum = communication(facts);
  if (facts.of_window(sum.exposed) < 0.03) return {};
  std::string evidence =
      fmt::format("{} of {} communication is exposed", say_time(sum.exposed), say_time(sum.all));
  if (facts.waiting > 0)
    evidence += fmt::format(", {} of that waits for other ranks", say_time(facts.waiting));
  return Said{fmt::format("Exposed communication takes {} of the time{}",
                          say_share(facts.of_window(sum.exposed)), advice(facts, sum.exposed)),
              std::move(evidence), sum.exposed};
}

}  // namespace gf::trace_rules
