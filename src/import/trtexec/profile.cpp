// Layers of an engine by trtexec --exportProfile: sums over the queries of a slower run, without
// times, so that they are read as a report of kernels.
#include <algorithm>
#include <string>

#include "core/text.h"
#include "import/formats.h"
#include "import/json_rows.h"
#include "import/trace_rows.h"

namespace gf::trtexec {

int sniff_profile(std::string_view, std::string_view head) {
  const auto has = [head](std::string_view part) { return contains(head, part); };
  return head.starts_with('[') && has("\"averageMs\"") && has("\"percentage\"") ? 93 : 0;
}

Result<Capture> load_profile(const std::string& path, const ImportOptions& options) {
  return load_json_text(
      path, options, "trtexec_profile", [](std::string_view text, Capture& capture) -> Status {
        constexpr int kPicoseconds = 9;  // of milliseconds
        TraceRows devices(capture);
        devices.device(0, "nvidia");
        std::int64_t queries = 1;
        auto& layers = capture.report_kernels;
        JsonWalk walk;
        const bool whole = walk.run(
            text, [](std::string_view where) { return where.empty(); },
            [&](std::string_view, const JsonRow& row) {
              if (!row.has("name")) {
                queries = std::max<std::int64_t>(row.integer("count", 1), 1);
                return;
              }
              const auto time = row.decimal("timeMs", kPicoseconds);
              if (!time || *time < 0) return devices.bad_row();
              ++capture.events;
              const auto at = layers.add();
              layers.id[at] = static_cast<std::int64_t>(at);
              layers.name[at] = capture.strings.intern(row.text("name"));
              layers.device[at] = 0;
              layers.launches[at] = queries;
              layers.duration_ns[at] =
                  static_cast<double>(*time) / 1000 / static_cast<double>(queries);
            });
        if (!whole)
          return fail("holds the layers of trtexec, and ends early or is damaged", {}, -1,
                      "run trtexec --exportProfile=profile.json again");
        return {};
      });
}

}  // namespace gf::trtexec
