// A capture: everything known about one run, on one clock.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/strings.h"
#include "model/quality.h"
#include "model/sample_block.h"
#include "model/tables.h"

namespace gf {

struct Capture : Tables {
  StringPool strings;
  // Samples of a recording, in order of time for each device. Read them through counter_values.h,
  // with those of counter_samples.
  std::vector<PackedBlock> sample_blocks;
  // The result of join_launches (launches.h), kept from the checks behind import for the analysis;
  // null where nobody asked yet. Who adds activities or calls resets it.
  std::shared_ptr<const std::vector<std::uint32_t>> launches;

  // The source.
  std::string path;
  std::string format;       // importer id: kineto, nsight_compute_csv, nsight_compute_rep, ...
  std::string framework;    // pytorch, jax, tensorflow or empty
  std::int64_t events = 0;  // events that the source holds, damaged ones included
  std::int64_t bytes = 0;   // bytes of the source after decompression

  std::string_view text(Text id) const { return strings.view(id); }

  /// Counts `count` more of a kind of damage or suspected error, and as much more time of kernels
  /// that may be missing for it or too much, where that is known. The first detail given for a code
  /// is kept.
  void note_quality(QualityCode code, std::string_view detail, std::int64_t count = 1,
                    Nanos time = -1);
  /// True if a kind of damage or suspected error was counted.
  bool noted(QualityCode code) const;
  /// Takes over what another capture's quality says.
  void add_quality(const Capture& other);
  void set_metadata(std::string_view key, std::string_view value);
  /// The value of a metadata key, empty when absent.
  std::string_view metadata_value(std::string_view key) const;

  /// True if a recording was never finished: its recorder was killed, or is still at work.
  bool unfinished_recording() const;
  void note_unfinished_recording();

  /// Row of the device with this number, added when new.
  std::uint32_t device_row(std::int32_t id);
  /// Takes the rows of `other` (a counter report, a power log) beside this capture's own: texts are
  /// renamed, references follow their rows. Rows with keys (devices, threads, metadata, quality)
  /// that both have are one row: this capture's values stay, what it does not know is taken over.
  void join(const Capture& other);

  /// The border: called once after every load, by import_file. Fails when a reference points at
  /// nothing; rows that cannot be true are taken out and counted as quality (model/check.h).
  Status check();
};

}  // namespace gf
