#include <fmt/format.h>

#include "import/load_text.h"
#include "import/nsight_compute/csv_pages.h"
#include "import/nsight_compute/csv_table.h"
#include "import/nsight_compute/nsight_compute.h"

namespace gf::ncu {

namespace {

/// UTF-16 with a byte order mark (what a Windows shell writes for "ncu ... > file") as UTF-8; other
/// text as it is.
std::string from_utf16(std::string_view content) {
  const bool little = content.starts_with("\xFF\xFE");
  std::string out;
  out.reserve(content.size() / 2);
  auto unit = [&](std::size_t at) -> unsigned {
    const auto low = static_cast<unsigned char>(content[at]),
               high = static_cast<unsigned char>(content[at + 1]);
    if (little) return low | high << 8;
    return low << 8 | high;
  };
  for (std::size_t i = 2; i + 1 < content.size(); i += 2) {
    unsigned code = unit(i);
    if (code >= 0xD800 && code < 0xDC00 && i + 3 < content.size()) {
      code = 0x10000 + ((code - 0xD800) << 10) + ((unit(i + 2) - 0xDC00) & 0x3FF);
      i += 2;
    }
    if (code < 0x80)
      out += static_cast<char>(code);
    else if (code < 0x800)
      out += {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
    else if (code < 0x10000)
      out += {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 63)),
              static_cast<char>(0x80 | (code & 63))};
    else
      out += {static_cast<char>(0xF0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 63)),
              static_cast<char>(0x80 | (code >> 6 & 63)), static_cast<char>(0x80 | (code & 63))};
  }
  return out;
}

}  // namespace

int sniff_csv(std::string_view, std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  std::string plain;
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) head = plain = from_utf16(head);
  if (head.substr(0, 4096).find('\0') != head.npos) return 0;  // not a text
  const bool table =
      head.find("\"ID\",\"Process ID\"") != head.npos || head.find("ID,Process ID,") != head.npos ||
      head.find("\"ID\";\"Process ID\"") != head.npos || head.find("ID;Process ID;") != head.npos;
  if (table && head.find("Kernel Name") != head.npos) return 95;
  if (table || head.starts_with("==PROF==") || head.find("\n==PROF==") != head.npos ||
      head.find("ERR_NVGPUCTRPERM") != head.npos)
    return 70;
  return 0;
}

Result<Capture> parse_csv(std::string_view content, const std::string& path) {
  std::string plain;
  const std::size_t all = content.size();
  if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF"))
    content = plain = from_utf16(content);
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  if (content.find_first_not_of(" \t\r\n") == content.npos)
    return fail("the export is empty", path, -1,
                "ncu prints nothing when HOME is not writable: set HOME to a writable folder and "
                "export again");
  const auto table = find_table(content, path);
  if (!table) return tl::unexpected(table.error());

  Capture capture;
  capture.path = path;
  capture.format = "nsight_compute_csv";
  capture.bytes = static_cast<std::int64_t>(all);
  note_profiler_messages(capture, content.substr(0, table->offset));
  Status read;
  if (is_details_page(*table)) {
    read = read_details_page(capture, *table, path);
  } else {
    read = read_raw_page(capture, *table, path);
  }
  if (!read) return tl::unexpected(read.error());
  capture.events = static_cast<std::int64_t>(capture.report_kernels.size());
  return capture;
}

Result<Capture> load_csv(const std::string& path, const ImportOptions& options) {
  return load_text(path, options, parse_csv);
}

}  // namespace gf::ncu
