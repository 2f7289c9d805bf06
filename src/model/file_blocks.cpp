#include "model/file_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <vector>

#include "core/machine.h"
#include "core/pipeline.h"
#include "core/strings.h"
#include "core/xxh64.h"
#include "model/check.h"
#include "model/sample_block.h"

namespace gf {

namespace {

constexpr std::uint64_t kTextCost = 48;  // bytes that a text takes besides its own

}  // namespace

Status FileStrings::read(sqlite3* db, StringPool& pool, sqlite::ReadBudget& budget,
                         const std::string& file) {
  auto count = sqlite::integer(db, "SELECT count(*) FROM strings", file);
  if (!count) return tl::unexpected(count.error());
  const std::int64_t limit = *count + 1;
  texts_.assign(static_cast<std::size_t>(limit), kMissing);
  auto rows = sqlite::prepare(db, "SELECT id, text FROM strings ORDER BY id", file);
  if (!rows) return tl::unexpected(rows.error());
  int code;
  while ((code = sqlite3_step(rows->get())) == SQLITE_ROW) {
    const std::int64_t id = sqlite3_column_int64(rows->get(), 0);
    const std::string_view text = sqlite::column_text(rows->get(), 1);
    if (auto ok = budget.spend(kTextCost + text.size()); !ok) return ok;
    if (id < -limit || id >= limit)
      return fail(fmt::format("string number {} is out of order", id), file, -1, kDamagedFile);
    if (id >= 0) {
      texts_[static_cast<std::size_t>(id)] = pool.intern(text);
      continue;
    }
    const auto name = static_cast<std::size_t>(-id - 1);
    if (name >= names_.size()) names_.resize(name + 1);
    names_[name] = text;
  }
  if (code != SQLITE_DONE) return sqlite::failure(db, "cannot be read", file);
  return {};
}

namespace {

constexpr unsigned kMostWorkers = 8;  // that check blocks: reading feeds no more

std::uint64_t unpacked_bytes(const PackedBlock& block) {
  return std::uint64_t{block.samples} * (block.metrics.size() * sizeof(float) + 2 * sizeof(I64));
}

/// A row of sample_blocks on its way through the workers.
struct BlockSlot {
  std::int64_t device = 0, samples = 0;  // no samples: the row names a device or a text in vain
  std::vector<Text> metrics;
  std::string data;
  std::optional<std::uint64_t> hash;  // of data; none: an older program wrote it
  std::optional<PackedBlock> told;    // what the row says of data that need not be looked at
  std::optional<PackedBlock> block;
};

/// The metrics of a row, texts by their numbers in the file; empty when one of them does not exist.
std::optional<std::vector<Text>> metrics_of_block(std::string_view ids,
                                                  const FileStrings& strings) {
  std::vector<Text> metrics;
  while (!ids.empty()) {
    const auto comma = std::min(ids.find(','), ids.size());
    const auto id = parse_decimal(ids.substr(0, comma), 0);
    if (!id) return std::nullopt;
    if (*id == 0) {
      metrics.push_back(Text::none);
    } else if (const Text* text = strings.text(*id)) {
      metrics.push_back(*text);
    } else {
      return std::nullopt;
    }
    ids.remove_prefix(std::min(comma + 1, ids.size()));
  }
  return metrics;
}

void take_block_row(sqlite3_stmt* row, std::size_t devices, const FileStrings& strings,
                    BlockSlot& slot) {
  slot.device = sqlite3_column_int64(row, 0);
  slot.samples = sqlite3_column_int64(row, 1);
  slot.metrics.clear();
  if (slot.device < 0 || slot.device >= static_cast<std::int64_t>(devices)) slot.samples = 0;
  if (slot.samples > 0) {
    auto metrics = metrics_of_block(sqlite::column_text(row, 2), strings);
    if (!metrics) slot.samples = 0;
    slot.metrics = std::move(metrics).value_or(std::vector<Text>{});
  }
  slot.data = sqlite::column_text(row, 3);
  slot.hash.reset();
  if (sqlite3_column_type(row, 4) != SQLITE_NULL)
    slot.hash = static_cast<std::uint64_t>(sqlite3_column_int64(row, 4));
  slot.told.reset();
  const std::int64_t values = sqlite3_column_int64(row, 7);
  if (!slot.hash || sqlite3_column_type(row, 7) != SQLITE_INTEGER || values < 0 ||
      slot.samples > UINT32_MAX || slot.samples <= 0)
    return;
  slot.told = {static_cast<std::uint32_t>(slot.device),
               static_cast<std::uint32_t>(slot.samples),
               slot.metrics,
               {},
               sqlite3_column_int64(row, 5),
               sqlite3_column_int64(row, 6),
               static_cast<std::uint64_t>(values),
               false};
}

/// Keeps blocks in their order, and says when it is enough.
class BlockKeeper {
 public:
  BlockKeeper(Capture& capture, std::int64_t total, std::uint64_t max_bytes,
              const Progress& progress)
      : capture_(capture), total_(total), max_bytes_(max_bytes), progress_(progress) {}
  void keep(BlockSlot& slot) {
    if (++seen_ % 256 == 0 && progress_ &&
        !progress_("reading samples", static_cast<double>(seen_) / static_cast<double>(total_)))
      stopped_ = true;
    if (slot.block) unpacked_ += unpacked_bytes(*slot.block);
    if (too_large()) stopped_ = true;
    if (slot.block)
      capture_.sample_blocks.push_back(std::move(*slot.block));
    else
      capture_.note_quality(QualityCode::bad_sample_block,
                            "a block of packed samples is damaged: its samples are missing");
  }
  bool too_large() const { return unpacked_ > max_bytes_; }
  bool stopped() const { return stopped_; }

 private:
  Capture& capture_;
  std::int64_t total_, seen_ = 0;
  std::uint64_t max_bytes_, unpacked_ = 0;
  const Progress& progress_;
  std::atomic<bool> stopped_{false};
};

}  // namespace

Status read_blocks(sqlite3* db, Capture& capture, const FileStrings& strings, Seal seal,
                   std::uint64_t max_bytes, const std::string& file, const Progress& progress) {
  auto there = sqlite::plain_table(db, "sample_blocks", file);
  if (!there) return tl::unexpected(there.error());
  if (!*there) return {};
  auto total = sqlite::integer(db, "SELECT count(*) FROM sample_blocks", file);
  if (!total) return tl::unexpected(total.error());
  // Older programs wrote neither of them.
  const auto newer = sqlite::integer(
      db,
      "SELECT coalesce(sum(CASE name WHEN 'hash' THEN 1 WHEN 'values' THEN 2 END), 0) FROM "
      "pragma_table_info('sample_blocks')",
      file);
  if (!newer) return tl::unexpected(newer.error());
  // The facts that a row gives of its data hold in a file that has not changed since.
  const bool told = (*newer & 2) != 0 && seal == Seal::whole;
  auto statement = sqlite::prepare(
      db,
      fmt::format("SELECT device, samples, metrics, data, {}, start_ns, end_ns, {} FROM "
                  "sample_blocks ORDER BY row",
                  (*newer & 1) != 0 ? "hash" : "NULL", told ? "\"values\"" : "NULL"),
      file);
  if (!statement) return tl::unexpected(statement.error());
  sqlite3_stmt* raw = statement->get();
  BlockKeeper keeper(capture, *total, max_bytes, progress);
  int code = SQLITE_ROW;
  auto produce = [&](BlockSlot& slot) {
    if (keeper.stopped()) return false;
    code = sqlite3_step(raw);
    if (code != SQLITE_ROW) return false;
    take_block_row(raw, capture.devices.size(), strings, slot);
    return true;
  };
  const unsigned workers = std::min(usable_cores(), kMostWorkers);
  std::deque<BlockUnpacker> unpackers(workers);
  auto check = [&](BlockSlot& slot, unsigned worker) {
    slot.block.reset();
    if (slot.samples <= 0 || (slot.hash && *slot.hash != xxh64(slot.data))) return;
    if (slot.told)
      slot.block = told_block(std::move(*slot.told), std::move(slot.data));
    else
      slot.block = unpackers[worker].checked_block(
          static_cast<std::uint32_t>(slot.device), slot.metrics,
          static_cast<std::uint64_t>(slot.samples), std::move(slot.data));
  };
  std::deque<BlockSlot> slots(2 * workers);
  run_in_order(slots, workers, produce, check, [&](BlockSlot& slot) { keeper.keep(slot); });
  if (keeper.too_large())
    return fail("its samples unpack to more than the limit", file, -1, "raise --max-bytes");
  if (keeper.stopped()) return fail("stopped", file);
  if (code != SQLITE_DONE) return sqlite::failure(db, "sample_blocks cannot be read", file);
  return {};
}

}  // namespace gf
