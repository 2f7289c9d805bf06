#include "cli/input_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "analyze/window.h"
#include "import/telemetry/timestamps.h"

namespace gf::cli {

namespace {

constexpr const char* kForms = "auto, all, steps, stable, step:N or START:END, such as 1.5ms:20ms";

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char letter) { return std::isdigit(letter); });
}

/// What is wrong with a window before any capture is read; empty when nothing is.
std::string window_complaint(const std::string& text) {
  const std::string no_window = fmt::format("'{}' is not {}", text, kForms);
  if (text.starts_with("step:"))
    return is_number(std::string_view(text).substr(5)) ? std::string() : no_window;
  const auto colon = text.find(':');
  if (colon == std::string::npos) {
    const std::vector<std::string> words{"auto", "all", "steps", "stable"};
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    const auto meant = nearest(text, words);
    return no_window + (meant.empty() ? "" : fmt::format(": did you mean {}?", meant));
  }
  const auto start = parse_span_time(text.substr(0, colon));
  const auto end = parse_span_time(text.substr(colon + 1));
  const bool open_start = colon == 0, open_end = colon + 1 == text.size();
  if ((!start && !open_start) || (!end && !open_end)) return no_window;
  if (!open_start && !open_end && *start >= *end)
    return fmt::format("'{}' is empty: START must come before END", text);
  return {};
}

}  // namespace

void add_input_options(Verb& verb, InputOptions& options) {
  verb.argument("FILE", options.trace, "trace or capture file").must().input();
  verb.option("--counters", options.counters, "FILE",
              "counter report of the same program: .ncu-rep, or CSV of ncu")
      .input();
  verb.option("--power", options.power, "FILE",
              "power log over the same time: CSV of nvidia-smi or of NVML")
      .input();
  auto& zone = verb.option("--zone", options.zone, "ZONE",
                           "time zone of a log in local time, such as +01:00 (default UTC)");
  zone.set = [set = zone.set](const std::string& text) {
    return telemetry::parse_zone(text) ? set(text)
                                       : "'" + text + "' is not a zone such as +01:00 or -0530";
  };
  add_limit_options(verb, options.max_bytes, options.threads);
}

void add_peers_option(Verb& verb, std::vector<std::string>& peers) {
  verb.option("--ranks", peers, "FILE",
              "captures of the job's other ranks, or their folder: waiting for them is separated "
              "from work")
      .input();
}

void add_limit_options(Verb& verb, std::uint64_t& max_bytes, unsigned& threads) {
  verb.option("--max-bytes", max_bytes, "SIZE",
              "stop when an input unpacks to more (default 64GiB)")
      .size();
  verb.option("--threads", threads, "N", "threads to read with (default: all)");
}

void add_window_option(Verb& verb, std::string& window, std::string help) {
  auto& added = verb.option("--window", window, "W", std::move(help));
  added.set = [set = added.set](const std::string& text) {
    const auto wrong = window_complaint(text);
    return wrong.empty() ? set(text) : wrong;
  };
}

}  // namespace gf::cli
