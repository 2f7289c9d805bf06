#include "report/query/source.h"

namespace gf {

Result<std::shared_ptr<QuerySource>> QuerySource::open(const std::string& path,
                                                       std::uint64_t max_bytes) {
  auto reader = CaptureReader::open(path, max_bytes);
  if (!reader) return tl::unexpected(reader.error());
  for (const TableId table : {TableId::quality, TableId::metadata})
    if (auto ok = reader->load(table); !ok) return tl::unexpected(ok.error());
  auto source = std::make_shared<QuerySource>(reader->shared_capture());
  source->reader_.emplace(std::move(*reader));
  return source;
}

Status QuerySource::need(TableId table, std::uint64_t columns) {
  if (!reader_ || !status_) return status_;
  // What of the samples is damaged is known once they are read.
  if (table == TableId::quality) return need_samples();
  return status_ = reader_->load(table, columns);
}

Status QuerySource::need_samples() {
  if (!reader_ || !status_) return status_;
  status_ = reader_->load(TableId::counter_samples);
  if (status_) status_ = reader_->load_samples();
  return status_;
}

Result<std::size_t> QuerySource::rows(TableId table) {
  std::size_t size = 0;
  capture_->each_table([&](const auto& each) {
    if (each.kId == table) size = each.size();
  });
  // Those of which the reader finds some itself are read already.
  if (!reader_ || size > 0 || table == TableId::quality) return size;
  auto rows = reader_->rows(table);
  if (!rows && status_) status_ = tl::unexpected(rows.error());
  return rows;
}

}  // namespace gf
