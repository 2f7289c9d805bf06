#include <fmt/format.h>

#include <set>
#include <string>

#include "cli/terminal.h"
#include "cli/verbs.h"
#include "import/stranger.h"
#include "model/formats.h"
#include "report/text/format.h"

namespace gf::cli {

std::string formats_help() {
  constexpr std::size_t kIndent = 6;
  const auto width = static_cast<std::size_t>(text_style(false).width);
  std::string out = wrap(
      "Files that are read, and how they are made. The content tells the format, not the name; "
      "gzip and zstd are unpacked.",
      width);
  for (const auto& format : kFormats)
    if (!format.name.empty())
      out += fmt::format("\n  {}\n{}", format.name, wrap(format.made_by, width, kIndent));
  std::string tools;
  std::set<std::string_view> named;
  for (const auto& stranger : strangers())
    if (!stranger.writer.empty() && named.insert(stranger.writer).second)
      tools += fmt::format("{}{}", tools.empty() ? "" : ", ", stranger.writer);
  return out + "\n" +
         wrap(fmt::format("Not read, but recognized, so that the message says what to do instead: "
                          "files of {}.",
                          tools),
              width);
}

}  // namespace gf::cli
