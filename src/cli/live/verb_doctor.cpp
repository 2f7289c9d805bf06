#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <tuple>
#include <vector>

#include "cli/live/verbs.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "collect/doctor.h"
#include "report/json.h"
#include "report/text/format.h"

namespace gf::cli {

namespace {

/// Checks of several GPUs that all say the same, in the place of the first.
struct Joined {
  DoctorCheck check;
  std::string what;  // "clocks" of "clocks 3"
  int first = -1, last = -1;
};

std::vector<DoctorCheck> joined(const std::vector<DoctorCheck>& checks) {
  std::vector<Joined> all;
  for (const auto& check : checks) {
    const auto space = check.name.rfind(' ');
    int gpu = -1;
    if (space != std::string::npos)
      std::from_chars(&check.name[space + 1], check.name.data() + check.name.size(), gpu);
    const std::string what = check.name.substr(0, space);
    const auto same = std::find_if(all.begin(), all.end(), [&](const Joined& one) {
      return gpu > 0 && one.last == gpu - 1 && one.what == what &&
             std::tie(one.check.status, one.check.detail, one.check.advice) ==
                 std::tie(check.status, check.detail, check.advice);
    });
    if (same == all.end())
      all.push_back({check, what, gpu, gpu});
    else
      same->last = gpu;
  }
  std::vector<DoctorCheck> out;
  for (auto& one : all) {
    if (one.first != one.last)
      one.check.name = fmt::format("{} {}-{}", one.what, one.first, one.last);
    out.push_back(std::move(one.check));
  }
  return out;
}

std::string text_of(const DoctorReport& report, const TextStyle& style) {
  std::string out;
  auto line = [&](const DoctorCheck& verb, int names = 18) {
    const char* mark = "no ";
    if (verb.status == "ok") {
      mark = "ok ";
    } else if (verb.status == "warning") {
      mark = "?  ";
    }
    const std::string head = fmt::format("{}{:<{}}", mark, verb.name, names);
    std::string body = wrap(verb.detail, static_cast<std::size_t>(style.width), head.size());
    out += head + body.substr(std::min(head.size(), body.size()));
    if (!verb.advice.empty())
      out += wrap("-> " + verb.advice, static_cast<std::size_t>(style.width), head.size());
  };
  for (const auto& check : joined(report.checks)) line(check);
  out += "\nWhat the verbs can do here\n";
  for (const auto& verb : report.verbs) line(verb);
  if (report.tools.empty()) return out;
  out += "\nWhat to take here, and what to read (docs/which-tool.md)\n";
  for (const auto& question : report.tools) line(question, 24);
  return out;
}

int doctor(const OutputOptions& options) {
  const auto report = examine();
  std::string out = chosen_format(options) == "json"
                        ? json_line(report)
                        : text_of(report, text_style(options.to_file()));
  if (const auto written = write_answer(options, out); !written) return complain(written.error());
  for (const auto& check : report.checks)
    if (check.status == "missing" && (check.name == "driver" || check.name.starts_with("gpu") ||
                                      check.name.starts_with("pm sampling")))
      return kBadInput;
  return kWhole;
}

}  // namespace

Verb doctor_verb() {
  Verb verb{"doctor", "check what can be recorded on this machine, and enable the rest"};
  const auto output_options = std::make_shared<OutputOptions>();
  add_output_options(verb, *output_options, {"text", "json"});
  verb.run = [output_options] { return doctor(*output_options); };
  return verb;
}

}  // namespace gf::cli
