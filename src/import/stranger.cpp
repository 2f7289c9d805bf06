#include <algorithm>
#include <string>
#include <utility>

#include "import/formats.h"
#include "import/input.h"

namespace gf {

namespace {

using namespace std::string_view_literals;

constexpr std::pair<std::string_view, std::string_view> kMagics[] = {
    {"\x89PNG"sv, "a PNG image"},
    {"\xff\xd8\xff"sv, "a JPEG image"},
    {"GIF8"sv, "a GIF image"},
    {"\x7f"
     "ELF"sv,
     "an ELF program or library"},
    {"MZ"sv, "a Windows program"},
    {"PK\x03\x04"sv, "a zip archive: unpack it first (a PyTorch checkpoint is one too)"},
    {"%PDF"sv, "a PDF document"},
    {"SQLite format 3\0"sv, "an SQLite database"},
    {"PAR1"sv, "a Parquet file"},
    {"\x89HDF"sv, "an HDF5 file"},
    {"NVR\0"sv, "an Nsight Compute report (.ncu-rep)"},
    {"\x80\x02"sv, "a Python pickle"},
    {"\x80\x04"sv, "a Python pickle"},
    {"#!"sv, "a script"},
    {"<!DOCTYPE"sv, "an HTML page"},
    {"<html"sv, "an HTML page"},
    {"<?xml"sv, "an XML document"},
    {"==PROF=="sv, "the terminal output of Nsight Compute"},
};

bool is_text(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char letter) {
    return static_cast<unsigned char>(letter) < 0x20 && letter != '\n' && letter != '\r' &&
           letter != '\t' && letter != '\f';
  });
}

/// A protobuf message with a length-delimited field 1 inside the file: what an XSpace or a Perfetto
/// trace begins with.
bool is_protobuf_list(std::string_view head) {
  if (head.size() < 16 || head[0] != '\x0a') return false;
  std::uint64_t length = 0;
  for (std::size_t i = 1, shift = 0; i < 6; ++i, shift += 7) {
    length |= static_cast<std::uint64_t>(head[i] & 0x7f) << shift;
    if (!(head[i] & 0x80)) return length > 1;
  }
  return false;
}

}  // namespace

Stranger describe_stranger(std::string_view path, std::string_view head) {
  constexpr std::string_view kGiveTrace =
      "give the profiler's own trace: torch.profiler.profile(...), export_chrome_trace";
  auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  auto is = [&](std::string_view ending) {
    return path.ends_with(ending) || path.ends_with(std::string(ending) + ".gz");
  };
  if (is(".nsys-rep") || is(".qdrep"))
    return {"is a report of Nsight Systems in its own format, which only nsys reads",
            "export it: nsys export --type sqlite FILE"};
  if (is(".qdstrm"))
    return {"is an unfinished recording of Nsight Systems",
            "make a report of it with QdstrmImporter, and export that: nsys export --type sqlite"};
  if (head.starts_with("{\"schema\":\"gpufathom.") ||
      has("name=\"generator\" content=\"gpufathom\""))
    return {"is an answer of gpufathom, no capture",
            "give the capture that it was made from, which it names (source.path)"};
  if (has("\"nodes\"") && has("\"schema\"") && (has("\"ctrl_deps\"") || has("\"rf_id\"")))
    return {"is an execution trace of PyTorch: the graph of its operations, without GPU work",
            kGiveTrace};
  return {};
}

std::string_view describe_content(std::string_view head) {
  for (const auto& [magic, what] : kMagics)
    if (head.starts_with(magic)) return what;
  if (head.size() > 262 && head.substr(257, 5) == "ustar")
    return "a tar archive: unpack it first, and name the file or folder in it";
  if (head.find_first_not_of('\0') == head.npos)
    return "zeros only: a file that was reserved but never written";
  const auto first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == head.npos) return "blank text";
  if (is_text(head)) {
    if (head[first] == '{' || head[first] == '[') return "JSON of an unknown format";
    const auto line = head.substr(first, head.find('\n', first) - first);
    if (std::count(line.begin(), line.end(), ',') > 1) return "a CSV table of an unknown format";
    return "plain text";
  }
  if (is_protobuf_list(head)) return "perhaps a protobuf message (XSpace, Perfetto)";
  return "";
}

}  // namespace gf
