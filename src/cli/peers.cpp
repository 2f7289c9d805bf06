#include "cli/peers.h"

#include "analyze/ranks/doubts.h"
#include "cli/load_ranks.h"
#include "cli/output.h"
#include "core/cores.h"

namespace gf::cli {

void add_peers_option(Verb& verb, std::vector<std::string>& peers) {
  verb.option("--ranks", peers, "FILE",
              "captures of the job's other ranks, or their folder: waiting for them is told apart "
              "from work")
      .input();
}

Result<std::optional<JobWaiting>> find_waiting(const std::vector<std::string>& peers,
                                               const InputOptions& input, const Capture& capture,
                                               const Progress& progress) {
  if (peers.empty()) return std::nullopt;
  auto loaded = load_ranks({peers, input.max_bytes, input.threads, input.trace}, progress);
  if (!loaded) return tl::unexpected(loaded.error());
  const unsigned workers = input.threads ? input.threads : usable_cores();
  auto waiting = find_job_waiting(capture, std::move(loaded->parts), workers);
  if (!waiting) {
    for (const auto& error : loaded->failed) complain(error);
    return tl::unexpected(waiting.error());
  }
  for (const auto& error : loaded->failed)
    waiting->job.quality.push_back({std::string(kMissingRanks), 1, error.message()});
  return std::optional(std::move(*waiting));
}

}  // namespace gf::cli
