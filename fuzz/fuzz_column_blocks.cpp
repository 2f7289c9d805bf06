// Capture files whose blocks of columns are any bytes under their right hash: what mutated bytes of
// a whole file never reach, because the hash of the block refuses them first.
#include <fuzzer/FuzzedDataProvider.h>
#include <zstd.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "import/importer.h"
#include "memory_file.h"
#include "model/check.h"
#include "model/file.h"
#include "model/file_columns.h"

namespace {

constexpr std::uint32_t kRows = 48;

/// A capture file without rows, which the blocks go into.
const std::string& base() {
  static const std::string bytes = [] {
    const auto db = gf::sqlite::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (!db) std::abort();
    sqlite3_exec(db->get(), "PRAGMA page_size = 512", nullptr, nullptr, nullptr);
    gf::Capture capture;
    capture.device_row(0);
    capture.strings.intern("gemm");
    if (!gf::store_capture(db->get(), capture)) std::abort();
    const std::string sql = std::string(gf::kColumnBlocksSchema) +
                            "; PRAGMA application_id = " + std::to_string(gf::kCaptureFileId) +
                            "; PRAGMA user_version = 2";
    if (!gf::sqlite::execute(db->get(), sql, "")) std::abort();
    sqlite3_int64 size = 0;
    unsigned char* data = sqlite3_serialize(db->get(), "main", &size, 0);
    std::string out(reinterpret_cast<char*>(data), static_cast<std::size_t>(size));
    sqlite3_free(data);
    return out;
  }();
  return bytes;
}

/// The tables and their columns.
const std::vector<std::pair<const char*, std::vector<const char*>>>& tables() {
  static const auto all = [] {
    std::vector<std::pair<const char*, std::vector<const char*>>> found;
    gf::Tables{}.each_table([&](const auto& table) {
      auto& columns = found.emplace_back(std::remove_cvref_t<decltype(table)>::kName,
                                         std::vector<const char*>{});
      table.each_column_ref([&](const auto& ref) { columns.second.push_back(ref.info.name); });
    });
    return found;
  }();
  return all;
}

/// As the packer writes it, with bytes of the input in place of what it would say.
std::string block_data(FuzzedDataProvider& input, std::uint32_t rows) {
  if (input.ConsumeIntegralInRange(0, 7) == 0) return input.ConsumeRandomLengthString(64);
  const auto width = input.PickValueInArray<std::uint8_t>({0, 0, 1, 2, 4, 8, 3, 255});
  const bool packed = input.ConsumeBool();
  std::string out{static_cast<char>(input.ConsumeIntegralInRange(0, 2)), static_cast<char>(width),
                  static_cast<char>(packed)};
  for (int number = 0; number < 2; ++number) {  // base, and what came before
    const auto value = input.ConsumeIntegral<std::int64_t>() >> input.ConsumeIntegralInRange(0, 63);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string units = input.ConsumeBytesAsString(std::size_t{width} * rows);
  if (input.ConsumeIntegralInRange(0, 7) != 0) units.resize(std::size_t{width} * rows);
  if (packed && input.ConsumeIntegralInRange(0, 7) != 0) {
    std::string frame(ZSTD_compressBound(units.size()), '\0');
    frame.resize(ZSTD_compress(frame.data(), frame.size(), units.data(), units.size(), 1));
    units = frame;
  }
  return out + units;
}

gf::BlockPlace place(FuzzedDataProvider& input) {
  gf::BlockPlace place;
  const auto& table = tables()[input.ConsumeIntegralInRange<std::size_t>(0, tables().size() - 1)];
  place.table = table.first;
  if (!table.second.empty())
    place.column =
        table.second[input.ConsumeIntegralInRange<std::size_t>(0, table.second.size() - 1)];
  if (input.ConsumeIntegralInRange(0, 31) == 0) place.column = input.ConsumeRandomLengthString(8);
  place.rows =
      input.ConsumeIntegralInRange(0, 7) == 0 ? input.ConsumeIntegral<std::uint32_t>() : kRows;
  place.row = input.ConsumeIntegralInRange(0, 15) == 0
                  ? input.ConsumeIntegral<std::uint32_t>()
                  : kRows * input.ConsumeIntegralInRange<std::uint32_t>(0, 1);
  constexpr const char* kNames[] = {"", "kernel,memcpy,memset", "launch,sync,,other", "nothing"};
  place.names = input.PickValueInArray(kNames);
  return place;
}

void insert(sqlite3* db, const gf::BlockPlace& place, const std::string& data) {
  const auto statement = gf::sqlite::prepare(
      db,
      "INSERT INTO column_blocks(\"table\", \"column\", row, rows, names, hash, data) "
      "VALUES(?,?,?,?,?,?,?)",
      "");
  if (!statement) std::abort();
  sqlite3_stmt* raw = statement->get();
  const auto text = [&](int at, const std::string& value) {
    sqlite3_bind_text(raw, at, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
  };
  text(1, place.table);
  text(2, place.column);
  sqlite3_bind_int64(raw, 3, place.row);
  sqlite3_bind_int64(raw, 4, place.rows);
  text(5, place.names);
  sqlite3_bind_int64(raw, 6, static_cast<std::int64_t>(gf::block_hash(place, data)));
  sqlite3_bind_blob64(raw, 7, data.data(), data.size(), SQLITE_STATIC);
  sqlite3_step(raw);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  static gf::fuzz::MemoryFile file;
  const auto db = gf::sqlite::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!db) std::abort();
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(base().size()));
  std::copy(base().begin(), base().end(), copy);
  const auto bytes = static_cast<sqlite3_int64>(base().size());
  sqlite3_deserialize(db->get(), "main", copy, bytes, bytes,
                      SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  for (int blocks = input.ConsumeIntegralInRange(1, 12); blocks > 0; --blocks) {
    const gf::BlockPlace where = place(input);
    insert(db->get(), where, block_data(input, std::min(where.rows, kRows)));
  }
  sqlite3_int64 written = 0;
  unsigned char* image = sqlite3_serialize(db->get(), "main", &written, 0);
  file.fill(image, static_cast<std::size_t>(written));
  sqlite3_free(image);
  gf::ImportOptions options;
  options.max_bytes = 16 << 20;
  options.threads = 1;
  auto capture = gf::import_file(file.path(), options);
  if (!capture) {
    if (capture.error().what.empty()) std::abort();
    return 0;
  }
  if (!capture->check() || !gf::check_references(*capture, file.path())) std::abort();
  return 0;
}
