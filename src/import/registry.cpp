#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "core/files.h"
#include "import/importer.h"
#include "import/sqlite_file.h"
#include "import/stranger.h"
#include "model/check.h"
#include "model/chips.h"
#include "model/ledger/ledger.h"

namespace gf {

namespace {

/// An input may ask for more memory than there is; what was made of it is given back by then.
Result<Capture> load_with(const Importer& importer, const std::string& path,
                          const ImportOptions& options) {
  try {
    return importer.load(path, options);
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  } catch (const std::system_error&) {  // a thread that cannot be started
  }
  return fail(std::string("needs more memory than there is, read as ") + importer.id, path, -1,
              "give the process more memory, or record a shorter run");
}

/// What the analysis needs of devices and their names tell where the source does not.
void complete_devices(Capture& capture) {
  auto& devices = capture.devices;
  for (std::size_t row = 0; row < devices.size(); ++row)
    devices.sm_count[row] = sms_of(capture.text(devices.name[row]), devices.sm_count[row]);
}

constexpr std::string_view kListed = "gpufathom help formats lists what is read";

}  // namespace

tl::unexpected<Error> refuse(const Stranger& stranger, const std::string& path) {
  return fail(fmt::format("cannot be read: it is {}", stranger.what), path, -1,
              fmt::format("{}; {}", stranger.next, kListed));
}

namespace {

/// The owner of a file: an importer's, or another tool's; neither is unknown.
struct Recognized {
  const Importer* importer = nullptr;
  const Stranger* stranger = nullptr;
  int score = 0;  // of the importer
};

Recognized recognize(const std::string& path, std::string_view head) {
  constexpr int kSure = 90;
  const Importer* best = nullptr;
  int best_score = 0;
  for (const Importer& candidate : importers())
    if (const int score = candidate.sniff(path, head); score > best_score) {
      best = &candidate;
      best_score = score;
    }
  // Most traces are that sure, and need not be looked through for the marks of all others.
  return {best, best_score < kSure ? find_stranger(path, head) : nullptr, best_score};
}

tl::unexpected<Error> refuse_unknown(std::string_view looks, const std::string& path) {
  if (looks.empty()) return fail("has an unknown format", path, -1, std::string(kListed));
  return fail(fmt::format("is not a trace or report that can be read: it looks like {}", looks),
              path, -1, std::string(kListed));
}

}  // namespace

Result<Capture> checked(Result<Capture> capture, const std::string& path) {
  if (!capture) return capture;
  capture->path = path;
  if (const auto sound = capture->check(); !sound) return tl::unexpected(sound.error());
  complete_devices(*capture);
  check_evidence(*capture);
  return capture;
}

std::string_view format_of_file(const std::string& path) {
  if (is_folder(path)) return {};
  auto head = read_head(path);
  if (!head) return {};
  *head = with_schema(path, std::move(*head));
  const auto [importer, stranger, score] = recognize(path, *head);
  return importer && !stranger ? importer->id : "";
}

tl::unexpected<Error> refuse_folder(const std::string& path, Error unknown) {
  constexpr std::size_t kMostFiles = 8;
  constexpr int kGuess = 50;
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error))
    files.push_back(at->path());
  std::ranges::sort(files);
  if (files.size() > kMostFiles) files.resize(kMostFiles);
  for (const auto& file : files) {
    if (is_folder(file.string())) continue;
    auto head = read_head(file.string());
    if (!head) continue;
    const auto [importer, stranger, score] =
        recognize(file.string(), with_schema(file.string(), std::move(*head)));
    if (stranger) return refuse(*stranger, file.string());
    if (importer && score >= kGuess)
      return fail(fmt::format("is a directory; {} in it can be read", file.filename().string()),
                  path, -1, "name a file; for the ranks of a job: gpufathom ranks FOLDER");
  }
  return tl::unexpected(std::move(unknown));
}

Result<Capture> import_file(const std::string& path, const ImportOptions& options) {
  if (is_folder(path)) return import_folder(path, options);
  auto head = read_head(path);
  if (!head) return tl::unexpected(head.error());
  *head = with_schema(path, std::move(*head));
  const auto [best, stranger, score] = recognize(path, *head);
  if (stranger) return refuse(*stranger, path);
  if (!best) return refuse_unknown(describe_content(*head), path);
  auto capture = load_with(*best, path, options);
  if (!capture) return capture;
  if (capture->format.empty()) capture->format = best->id;
  if (best->id != std::string_view("gpf")) return checked(std::move(capture), path);
  // read_capture has checked where the references of a capture file point.
  capture->path = path;
  drop_impossible_rows(*capture);
  complete_devices(*capture);
  check_evidence(*capture);
  return capture;
}

}  // namespace gf
