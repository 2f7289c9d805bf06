#include "session/baseline.h"

#include <fmt/format.h>
#include <simdjson.h>
#include <unistd.h>

#include <concepts>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/files.h"
#include "core/version.h"
#include "core/xxh64.h"
#include "report/json.h"
#include "session/from_json.h"

namespace gf {

// Fields that only a baseline has. The arguments' namespace finds these.

template <class One, class Other>
void to_json(std::string& out, const std::pair<One, Other>& both) {
  out += '[';
  to_json(out, both.first);
  out += ',';
  to_json(out, both.second);
  out += ']';
}
template <class Key, class T>
  requires(!std::same_as<Key, std::string>)
void to_json(std::string& out, const std::map<Key, T>& values) {
  to_json(out, std::vector<std::pair<Key, T>>(values.begin(), values.end()));
}
void to_json(std::string& out, const Interval& span) {
  to_json(out, std::pair(span.start, span.end));
}

namespace {

constexpr std::string_view kBaselineForm = "gpufathom.baseline/1";
constexpr std::string_view kAnyForm = "gpufathom.baseline/";
constexpr const char* kSaveAgain =
    "save it again from its captures: gpufathom compare --baseline FILE --save CAPTURE ...";

/// The first line; the second is what it seals.
struct BaselineHead {
  std::string schema, program, seal;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("schema", &BaselineHead::schema, "name and version of the form");
    visit("program", &BaselineHead::program, "version of the program that saved it");
    visit("seal", &BaselineHead::seal, "hash of the second line");
  }
};

std::string seal_of(std::string_view body) { return fmt::format("{:016x}", xxh64(body, 0)); }

/// Empty: the file is no baseline of any form.
std::optional<BaselineHead> head_of(std::string_view text) {
  const std::string line(text.substr(0, text.find('\n')));
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  BaselineHead head;
  if (parser.parse(line).get(element) || !FromJson::read(element, head) ||
      !head.schema.starts_with(kAnyForm))
    return std::nullopt;
  return head;
}

}  // namespace

Status write_baseline(const std::string& path, const ComparedVersion& version) {
  constexpr std::uint64_t kAll = std::uint64_t{64} << 30;
  if (::access(path.c_str(), F_OK) == 0) {
    const auto there = read_small_file(path, kAll);
    if (!there) return tl::unexpected(there.error());
    if (!head_of(*there))
      return fail("the file exists and is no baseline", path, -1, "give another name");
  }
  std::string body;
  to_json(body, version);
  std::string text;
  to_json(text, BaselineHead{std::string(kBaselineForm), kVersion, seal_of(body)});
  auto file = OutFile::open(path);
  if (!file) return tl::unexpected(file.error());
  if (auto written = file->write(text + "\n" + body + "\n"); !written) return written;
  return file->commit();
}

Result<ComparedVersion> read_baseline(const std::string& path) {
  auto text = read_small_file(path);
  if (!text) return tl::unexpected(text.error());
  const auto head = head_of(*text);
  if (!head)
    return fail("is no baseline", path, -1,
                "gpufathom compare --baseline FILE --save CAPTURE ... writes one");
  if (head->schema != kBaselineForm)
    return fail(fmt::format("is a baseline of the form {}, which gpufathom {} wrote, and gpufathom "
                            "{} reads {}",
                            head->schema, head->program, kVersion, kBaselineForm),
                path, -1, kSaveAgain);
  if (head->program != kVersion)
    return fail(fmt::format("was saved by gpufathom {}, which may divide time otherwise than "
                            "gpufathom {}",
                            head->program, kVersion),
                path, -1, kSaveAgain);
  std::string_view body(*text);
  body.remove_prefix(body.find('\n') + 1);
  if (body.ends_with('\n')) body.remove_suffix(1);
  if (seal_of(body) != head->seal)
    return fail("is damaged: it is not as it was sealed", path, -1, kSaveAgain);
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  ComparedVersion version;
  if (parser.parse(body.data(), body.size()).get(element) || !FromJson::read(element, version))
    return fail("is sealed, and holds something else than a baseline does", path, -1, kSaveAgain);
  return version;
}

}  // namespace gf
