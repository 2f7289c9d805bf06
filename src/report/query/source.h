// What statements are about: a capture in memory, or a file of which columns are read once a
// statement needs them.
#pragma once

#include <memory>
#include <optional>

#include "model/capture.h"
#include "model/file_reader.h"

namespace gf {

class QuerySource {
 public:
  explicit QuerySource(std::shared_ptr<const Capture> capture) : capture_(std::move(capture)) {}
  /// Reads quality and metadata at once: what every question to a file must know.
  static Result<std::shared_ptr<QuerySource>> open(const std::string& path,
                                                   std::uint64_t max_bytes);

  const Capture& capture() const { return *capture_; }
  Status need(TableId table, std::uint64_t columns);
  Status need_samples();
  Result<std::size_t> rows(TableId table);
  /// What went wrong inside a statement, if anything.
  const Status& status() const { return status_; }

 private:
  std::optional<CaptureReader> reader_;
  std::shared_ptr<const Capture> capture_;
  Status status_;
};

}  // namespace gf
