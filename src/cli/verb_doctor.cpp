#include <fmt/format.h>

#include <memory>

#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "collect/doctor.h"
#include "report/json.h"
#include "report/text/format.h"

namespace gf::cli {

namespace {

std::string text_of(const DoctorReport& report, const TextStyle& style) {
  std::string out;
  auto line = [&](const DoctorCheck& c) {
    const char* mark = c.status == "ok" ? "ok " : c.status == "warning" ? "?  " : "no ";
    const std::string head = fmt::format("{}{:<18}", mark, c.name);
    std::string body = wrap(c.detail, static_cast<std::size_t>(style.width), head.size());
    out += head + body.substr(std::min(head.size(), body.size()));
    if (!c.advice.empty())
      out += wrap("-> " + c.advice, static_cast<std::size_t>(style.width), head.size());
  };
  for (const auto& c : report.checks) line(c);
  out += "\nWhat the verbs can do here\n";
  for (const auto& c : report.verbs) line(c);
  return out;
}

int doctor(const OutputOptions& o) {
  const auto report = examine();
  std::string out;
  if (chosen_format(o) == "json") {
    to_json(out, report);
    out += '\n';
  } else {
    out = text_of(report, text_style(o.to_file()));
  }
  if (const auto written = write_answer(o, out); !written) return complain(written.error());
  for (const auto& c : report.checks)
    if (c.status == "missing" &&
        (c.name == "driver" || c.name.starts_with("gpu") || c.name.starts_with("pm sampling")))
      return kBadInput;
  return kWhole;
}

}  // namespace

Verb doctor_verb() {
  Verb verb{"doctor", "what can be recorded on this machine, and what to do about the rest"};
  const auto o = std::make_shared<OutputOptions>();
  add_output_options(verb, *o, {"text", "json"});
  add_format_flags(verb, o->format, {"json"});
  verb.run = [o] { return doctor(*o); };
  return verb;
}

}  // namespace gf::cli
