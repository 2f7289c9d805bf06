// The answer that `./dev demo` begins with: `gpufathom analyze TRACE --counters REPORT` for a trace
// of PyTorch and a report of Nsight Compute. It links what these need and no more, so that it is
// there long before the program is (cmake/first_answer.cmake).
#include <fmt/format.h>

#include <array>

#include "cli/terminal.h"
#include "import/formats.h"
#include "report/text/reports.h"
#include "session/answer.h"

namespace gf {

std::span<const Importer> importers() {
  static constexpr std::array kRead{
      Importer{"kineto", kineto::sniff, kineto::load},
      Importer{"nsight_compute_csv", ncu::sniff_csv, ncu::load_csv},
  };
  return kRead;
}

Result<Capture> import_folder(const std::string& path, const ImportOptions&) {
  return fail("is a folder", path, -1, "the program itself reads more: ninja -C build gpufathom");
}

}  // namespace gf

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: {} TRACE REPORT\n", argv[0]);
    return 2;
  }
  gf::InputOptions input;
  input.trace = argv[1];
  input.counters = argv[2];
  const auto give_up = [](const gf::Error& error) {
    fmt::print(stderr, "gpufathom: {}\n", error.message());
    return 1;
  };
  const auto loaded = gf::load_capture(input, {});
  if (!loaded) return give_up(loaded.error());
  gf::Question question;
  question.brief = true;
  const auto answer = gf::answer_question(*loaded, question);
  if (!answer) return give_up(answer.error());
  fmt::print("{}", gf::short_text(answer->analysis, gf::cli::text_style(false),
                                  answer->context ? answer->context->omitted : gf::OmittedParts{}));
}
