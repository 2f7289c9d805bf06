#include "session/job_energy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/machine.h"
#include "model/quality.h"

namespace gf {

namespace {

/// The parts of a job that one file holds.
using PartsByFile = std::map<std::string, std::vector<std::size_t>>;

PartsByFile parts_by_file(const Job& job) {
  PartsByFile files;
  for (std::size_t part = 0; part < job.parts.size(); ++part)
    files[job.parts[part].source].push_back(part);
  return files;
}

std::string uuid_of(const Capture& capture, std::int64_t device) {
  for (std::size_t row = 0; row < capture.devices.size(); ++row)
    if (capture.devices.id[row] == device)
      return std::string(capture.text(capture.devices.uuid[row]));
  return {};
}

/// The window of the ranks of one file, whose clock is one.
Interval window_of_file(const Job& job, const std::vector<Interval>& windows,
                        const std::vector<std::size_t>& parts) {
  Interval window = windows[parts.front()];
  for (const auto part : parts) {
    if (job.clocks[part].known) return windows[part];
    window = {std::min(window.start, windows[part].start), std::max(window.end, windows[part].end)};
  }
  return window;
}

class JobMeter {
 public:
  JobMeter(const JobEnergyQuestion& question, const WorkedJob& worked, const Progress& progress)
      : question_(question),
        worked_(worked),
        progress_(progress),
        windows_(own_windows(worked.job)) {
    ranks_.resize(worked.job.parts.size());
    facts_.batch = question.batch;
    facts_.window = question.ranks.window;
  }

  /// Parts of `ranks --map` say no energy, and what stands now where they were made may be another
  /// job's.
  void leave_out(const std::vector<std::size_t>& parts) {
    for (const auto part : parts)
      ranks_[part].why_missing = "a part of gpufathom ranks --map has none: give its capture";
  }

  /// What the ranks of a file took. A file that cannot be read now leaves their energy unknown.
  Status measure(const std::string& path, const std::vector<std::size_t>& parts) {
    InputOptions input = question_.input;
    input.trace = path;
    input.graphs = question_.ranks.graphs;
    input.among_others = true;
    const auto loaded = load_capture(input, progress_);
    if (!loaded) {
      for (const auto part : parts) ranks_[part].why_missing = loaded.error().message();
      return {};
    }
    const auto waiting =
        waiting_in(worked_, *loaded->capture, question_.ranks.devices, question_.ranks.window);
    if (!waiting) return tl::unexpected(waiting.error());
    Question question;
    question.model = question_.model;
    question.devices = question_.ranks.devices;
    question.span = window_of_file(worked_.job, windows_, parts);
    question.max_rows = 1;
    question.brief = true;
    question.progress = progress_;
    if (*waiting) question.waiting = &**waiting;
    auto answer = answer_question(*loaded, question);
    if (!answer) return tl::unexpected(answer.error());
    take(std::move(*answer), *loaded->capture, parts);
    return {};
  }

  JobEnergy sum() { return sum_job_energy(worked_.job, std::move(ranks_), facts_); }
  std::vector<std::string> take_missing() { return std::move(missing_); }

 private:
  void take(Answer answer, const Capture& capture, const std::vector<std::size_t>& parts) {
    EnergyUse& use = answer.analysis.energy;
    for (const auto part : parts) {
      const auto device = worked_.job.parts[part].device_id;
      const auto at = std::ranges::find(use.devices, device, &DeviceEnergy::device);
      ranks_[part].uuid = uuid_of(capture, device);
      if (at != use.devices.end())
        ranks_[part].energy = std::move(*at);
      else
        ranks_[part].why_missing = use.why_missing;
    }
    for (auto& text : answer.missing)
      if (std::ranges::find(missing_, text) == missing_.end()) missing_.push_back(std::move(text));
    if (use.devices.empty()) return;
    ++facts_.captures;
    if (answer.analysis.serving) facts_.serving.push_back(std::move(*answer.analysis.serving));
    if (facts_.model.model.empty()) {
      use.devices.clear();
      facts_.model = std::move(use);
    }
  }

  const JobEnergyQuestion& question_;
  const WorkedJob& worked_;
  const Progress& progress_;
  std::vector<Interval> windows_;  // by part
  std::vector<MeasuredRank> ranks_;
  JobFacts facts_;
  std::vector<std::string> missing_;
};

/// Adds a sentence for each rank that has no file, or no energy.
void say_missing_ranks(const JobEnergy& job, const LoadedRanks& loaded,
                       std::vector<std::string>& missing) {
  for (const auto& error : loaded.failed) missing.push_back(error.message());
  if (!job.missing_ranks.empty())
    missing.push_back(fmt::format("of {} ranks these have no file: {}", job.world_size,
                                  fmt::join(job.missing_ranks, ", ")));
  for (const auto& rank : job.ranks)
    if (!rank.nj)
      missing.push_back(
          fmt::format("the energy of rank {} is not known and not in the sum", rank.rank));
}

}  // namespace

Result<JobEnergyAnswer> measure_job_energy(const JobEnergyQuestion& question,
                                           const Progress& progress) {
  auto loaded = load_ranks(question.ranks, progress);
  if (!loaded) return tl::unexpected(loaded.error());
  if (loaded->parts.empty() && !loaded->failed.empty())
    return tl::unexpected(loaded->failed.front());
  const unsigned workers = worker_threads(question.ranks.threads);
  const auto worked = pair_up(std::move(loaded->parts), workers);
  if (!worked) return tl::unexpected(worked.error());
  JobMeter meter(question, *worked, progress);
  for (const auto& [path, parts] : parts_by_file(worked->job))
    if (!loaded->captures.contains(path))
      meter.leave_out(parts);
    else if (const Status measured = meter.measure(path, parts); !measured)
      return tl::unexpected(measured.error());
  JobEnergyAnswer answer;
  answer.energy = meter.sum();
  if (answer.energy.measured_ranks == 0)
    return fail("no energy of any rank: " + answer.energy.ranks.front().why_missing,
                answer.energy.ranks.front().source);
  answer.left_out = loaded->left_out;
  answer.missing = meter.take_missing();
  say_missing_ranks(answer.energy, *loaded, answer.missing);
  return answer;
}

}  // namespace gf
