#include "session/ranks.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>

#include "analyze/attribution/attribution.h"
#include "analyze/ranks/measure_rank.h"
#include "core/machine.h"
#include "core/parallel.h"
#include "core/text.h"
#include "import/importer.h"

namespace gf {

namespace {

namespace files = std::filesystem;

/// The beginning of a part, without the spaces and lines that a program may have written into it.
constexpr std::string_view kPartStart = R"({"schema":"gpufathom.rank/)";

struct Candidate {
  std::string path;
  bool named = false;  // by the user, not found in a folder
};

Result<std::vector<Candidate>> candidates_of(const std::vector<std::string>& paths) {
  std::vector<Candidate> out;
  for (const auto& path : paths) {
    std::error_code error;
    if (!files::is_directory(path, error)) {
      if (!files::exists(path, error)) return fail("does not exist", path);
      out.push_back({path, true});
      continue;
    }
    std::vector<Candidate> inside;
    for (files::recursive_directory_iterator at(path, error), end; !error && at != end;
         at.increment(error))
      if (at->is_regular_file(error) && looks_like_capture(at->path().string()))
        inside.push_back({at->path().string(), false});
    if (error) return fail("cannot be listed: " + error.message(), path);
    if (inside.empty())
      return fail("contains no captures", path, -1, "give the files of the ranks, or their folder");
    std::sort(inside.begin(), inside.end(),
              [](const Candidate& left, const Candidate& right) { return left.path < right.path; });
    out.insert(out.end(), inside.begin(), inside.end());
  }
  return out;
}

bool is_rank_part(std::string_view head) {
  std::string start;
  for (const char letter : head) {
    if (letter != ' ' && letter != '\n' && letter != '\r' && letter != '\t') start += letter;
    if (start.size() == kPartStart.size()) break;
  }
  return start == kPartStart;
}

/// A part a line, or one in several lines that ends with a brace on its own.
Result<std::vector<RankPart>> read_parts(const std::string& path, std::uint64_t max_bytes) {
  auto input = Input::open(path, max_bytes);
  if (!input) return tl::unexpected(input.error());
  std::vector<RankPart> parts;
  std::string buffer;
  std::vector<char> block(std::size_t{1} << 20);
  bool more = true;
  while (more) {
    const auto got = input->read(block.data(), block.size());
    if (!got) return tl::unexpected(got.error());
    more = *got > 0;
    buffer.append(block.data(), *got);
    std::size_t from = 0, line = 0;
    for (auto end = buffer.find('\n'); end != buffer.npos || (!more && line < buffer.size());
         end = buffer.find('\n', line)) {
      const std::string_view all(buffer);
      const auto text = all.substr(line, end - line);
      const auto whole = trimmed(all.substr(from, end - from));
      const bool last = end == buffer.npos;
      const bool first = line == from;
      line = last ? buffer.size() : end + 1;
      if (whole.empty()) from = line;
      const bool ends =
          last || (first && whole.ends_with('}')) || (!first && text.starts_with('}'));
      if (whole.empty() || !ends) continue;
      from = line;
      auto part = read_rank_part(whole, path);
      if (!part) return tl::unexpected(part.error());
      parts.push_back(std::move(*part));
    }
    buffer.erase(0, from);
  }
  if (!trimmed(buffer, " \t\r\n").empty())
    return fail("ends inside a part", path, -1, "make it again with gpufathom ranks --map");
  return parts;
}

class Loader {
 public:
  Loader(const RankInputs& inputs, std::vector<Capture> graphs, const Progress& progress)
      : progress_(progress), graphs_(std::move(graphs)) {
    workers_ = worker_threads(inputs.threads);
    options_.max_bytes = inputs.max_bytes;
    devices_ = inputs.devices;
    window_ = inputs.window;
  }

  LoadedRanks load(const std::vector<Candidate>& candidates) {
    // One file has all threads; many have one each.
    options_.threads = candidates.size() < workers_ ? workers_ : 1;
    std::vector<std::vector<RankPart>> parts(candidates.size());
    for_each_parallel(candidates.size(), workers_, [&](std::size_t i) {
      parts[i] = load_one(candidates[i], candidates.size());
    });
    for (auto& some : parts)
      for (auto& part : some) out_.parts.push_back(std::move(part));
    std::sort(out_.failed.begin(), out_.failed.end(),
              [](const Error& left, const Error& right) { return left.file < right.file; });
    std::sort(out_.left_out.begin(), out_.left_out.end());
    return std::move(out_);
  }

 private:
  std::vector<RankPart> load_one(const Candidate& candidate, std::size_t all) {
    auto parts = parts_of(candidate);
    const std::lock_guard lock(mutex_);
    ++done_;
    if (progress_ && !progress_("reading", static_cast<double>(done_) / static_cast<double>(all)))
      out_.failed.push_back({"reading was stopped", candidate.path, -1, {}});
    if (parts) return std::move(*parts);
    out_.failed.push_back(parts.error());
    return {};
  }

  Result<std::vector<RankPart>> parts_of(const Candidate& candidate) {
    auto head = read_head(candidate.path);
    if (!head) return tl::unexpected(head.error());
    if (is_rank_part(*head)) return read_parts(candidate.path, options_.max_bytes);
    if (!candidate.named && !known(candidate.path, *head)) {
      const std::lock_guard lock(mutex_);
      out_.left_out.push_back(candidate.path);
      return std::vector<RankPart>{};
    }
    auto capture = import_file(candidate.path, options_);
    if (!capture) return tl::unexpected(capture.error());
    link_captured_nodes(*capture);
    if (!graphs_.empty()) {
      const auto told = link_captured_nodes(*capture, graphs_);
      if (!told) return tl::unexpected(told.error());
      const std::lock_guard lock(mutex_);
      out_.told_by_graphs += *told;
    }
    auto ranks = measure_ranks(*capture, nullptr, devices_, window_);
    if (!ranks) return ranks;
    const std::lock_guard lock(mutex_);
    for (const auto& rank : *ranks) ++out_.captures[rank.source];
    return ranks;
  }

  static bool known(const std::string& path, std::string_view head) {
    constexpr int kSure = 50;
    return std::any_of(importers().begin(), importers().end(), [&](const Importer& importer) {
      return importer.sniff(path, head) >= kSure;
    });
  }

  const Progress& progress_;
  const std::vector<Capture> graphs_;
  ImportOptions options_;
  std::string devices_, window_;
  unsigned workers_ = 1;
  std::mutex mutex_;
  std::size_t done_ = 0;
  LoadedRanks out_;
};

/// A worker and when it was recorded, of a name such as run/host_4711.1700000000000.pt.trace.json.
struct WorkerTime {
  std::string worker;
  std::pair<std::size_t, std::string> time;  // digits and their number, which order it
};

std::optional<WorkerTime> worker_of(std::string_view path) {
  const auto end = path.rfind(".pt.trace.json");
  if (end == path.npos || path.find('/', end) != path.npos) return {};
  const auto dot = path.substr(0, end).rfind('.');
  if (dot == path.npos || dot + 1 == end) return {};
  const auto time = path.substr(dot + 1, end - dot - 1);
  if (time.find_first_not_of("0123456789") != time.npos) return {};
  return WorkerTime{std::string(path.substr(0, dot)), {time.size(), std::string(time)}};
}

}  // namespace

std::set<std::string> earlier_captures(const std::vector<std::string>& paths) {
  std::map<std::string, std::pair<std::size_t, std::string>> latest;
  for (const auto& path : paths)
    if (const auto found = worker_of(path)) {
      auto& time = latest[found->worker];
      time = std::max(time, found->time);
    }
  std::set<std::string> earlier;
  for (const auto& path : paths)
    if (const auto found = worker_of(path); found && found->time < latest[found->worker])
      earlier.insert(path);
  return earlier;
}

Result<LoadedRanks> load_ranks(const RankInputs& inputs, const Progress& progress) {
  auto candidates = candidates_of(inputs.paths);
  if (!candidates) return tl::unexpected(candidates.error());
  std::erase_if(*candidates, [&](const Candidate& candidate) {
    std::error_code error;
    return !inputs.without.empty() && files::equivalent(candidate.path, inputs.without, error);
  });
  std::vector<std::string> paths;
  for (const auto& candidate : *candidates) paths.push_back(candidate.path);
  auto earlier = earlier_captures(paths);
  std::erase_if(*candidates,
                [&](const Candidate& candidate) { return earlier.contains(candidate.path); });
  ImportOptions options;
  options.max_bytes = inputs.max_bytes;
  options.threads = inputs.threads;
  auto graphs = read_graphs(inputs.graphs, options);
  if (!graphs) return tl::unexpected(graphs.error());
  auto loaded = Loader(inputs, std::move(*graphs), progress).load(*candidates);
  loaded.earlier = std::move(earlier);
  return loaded;
}

std::vector<std::string> captures_of_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> found;
  if (!files::is_directory(path, error)) return found;
  for (files::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(error) && looks_like_capture(at->path().string()) &&
        !at->path().string().ends_with(".xplane.pb"))
      found.push_back(at->path().string());
  return found;
}

bool looks_like_capture(std::string_view path) {
  for (const std::string_view end : {".json", ".json.gz", ".json.zst", ".jsonl", ".gpf", ".gpf.gz",
                                     ".sqlite", ".xplane.pb", ".xplane.pb.gz"})
    if (path.ends_with(end)) return true;
  return false;
}

Result<std::optional<JobWaiting>> find_waiting(const std::vector<std::string>& peers,
                                               const InputOptions& input, const Capture& capture,
                                               const Progress& progress,
                                               const std::function<void(const Error&)>& tell) {
  if (peers.empty()) return std::nullopt;
  auto loaded =
      load_ranks({peers, input.max_bytes, input.threads, input.trace, input.graphs}, progress);
  if (!loaded) return tl::unexpected(loaded.error());
  const unsigned workers = worker_threads(input.threads);
  auto waiting = find_job_waiting(capture, std::move(loaded->parts), workers);
  if (!waiting) {
    for (const auto& error : loaded->failed) tell(error);
    return tl::unexpected(waiting.error());
  }
  for (const auto& error : loaded->failed)
    waiting->job.quality.push_back({std::string(kMissingRanks), 1, error.message()});
  return std::optional(std::move(*waiting));
}

}  // namespace gf
