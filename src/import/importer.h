// A format is one folder with `sniff` and `load`, and one line in importers.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/progress.h"
#include "import/input.h"
#include "model/capture.h"

namespace gf {

struct ImportOptions {
  std::uint64_t max_bytes =
      64ull << 30;       // give up when the decompressed input grows past this (zip bombs)
  unsigned threads = 0;  // 0: as many as the machine has
  std::size_t chunk_bytes =
      0;  // size of the pieces a large file is parsed in; 0: the importer's own choice
  Progress progress;
};

struct Importer {
  const char* id;  // of model/formats.def, which says what it is called and how one is made
  /// Confidence that a file is of this format, 0..100, from its name and its first bytes (up to
  /// 256 KiB) after decompression. 100: a magic number; 80: names that only this format uses; below
  /// 50: a guess.
  int (*sniff)(std::string_view path, std::string_view head);
  /// Reads the file (input.h). Sets format, framework, events and bytes; import_file sets path.
  Result<Capture> (*load)(const std::string& path, const ImportOptions& options);
};

std::span<const Importer> importers();

/// Reads a folder that a profiler wrote as a whole. Errors: it holds nothing that can be read.
Result<Capture> import_folder(const std::string& path, const ImportOptions& options);

/// The error of a folder that is no capture itself: what its first files are, else `unknown`.
tl::unexpected<Error> refuse_folder(const std::string& path, Error unknown);

/// The capture that an importer made of `path`, after the checks that every capture passes.
Result<Capture> checked(Result<Capture> capture, const std::string& path);

/// Id of a file's format, by its beginning; empty when no importer reads it.
std::string_view format_of_file(const std::string& path);

/// Finds the importer of a file and loads it. A .gpf capture is read as it is. Errors say what the
/// file is instead, as far as that can be told (empty, a directory, another profiler's, ...), and
/// what to do with the tool that wrote it.
Result<Capture> import_file(const std::string& path, const ImportOptions& options = {});

/// For small text formats: reads a file, decompressed, and parses its content; damage of the
/// compression is noted in the capture beside the parser's own.
inline Result<Capture> load_text(const std::string& path, const ImportOptions& options,
                                 Result<Capture> (*parse)(std::string_view content,
                                                          const std::string& path)) {
  Capture damage;
  const auto content = read_whole(path, options.max_bytes, &damage);
  if (!content) return tl::unexpected(content.error());
  auto capture = parse(*content, path);
  if (capture) capture->add_quality(damage);
  return capture;
}

}  // namespace gf
