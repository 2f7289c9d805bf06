#include "capi/arrow.h"

#include <memory>
#include <string>
#include <utility>

#include "capi/arrow_node.h"
#include "capi/kernels.h"

namespace gf {

namespace {

std::shared_ptr<const Texts> texts_of(const StringPool& pool) {
  auto texts = std::make_shared<Texts>();
  for (std::uint32_t i = 0; i < pool.size(); ++i) texts->add(pool.view(Text{i}));
  return texts;
}

/// The packed samples, unpacked a batch at a time.
NextBatch packed_samples(std::shared_ptr<const Capture> capture,
                         std::shared_ptr<const Texts> texts) {
  constexpr std::uint64_t kBatch = 1 << 20;  // values
  auto unpacker = std::make_shared<BlockUnpacker>();
  return [=, next = std::size_t{0}](ArrowArray& out) mutable {
    const auto& blocks = capture->sample_blocks;
    if (next == blocks.size()) return false;
    auto rows = std::make_shared<counter_samples_table>();
    for (; next < blocks.size() && (rows->empty() || rows->size() + blocks[next].values <= kBatch);
         ++next)
      expand(unpacker->unpack(blocks[next]), *rows);
    fill(table_node(rows, *rows, texts), out);
    return true;
  };
}

}  // namespace

bool table_stream(std::shared_ptr<const Capture> capture, std::string_view name,
                  ArrowArrayStream& stream) {
  const auto texts = texts_of(capture->strings);
  Node table;
  bool found = false;
  capture->each_table([&](const auto& each) {
    if (each.kName != name) return;
    found = true;
    table = table_node(capture, each, texts);
  });
  if (!found) return false;
  NextBatch more;
  if (name == counter_samples_table::kName) more = packed_samples(std::move(capture), texts);
  make_stream(std::move(table), std::move(more), stream);
  return true;
}

void kernels_stream(const std::shared_ptr<const AttributedKernels>& kernels,
                    ArrowArrayStream& stream) {
  Node table = table_node(kernels, kernels->activities, texts_of(kernels->capture->strings));
  const auto texts = texts_of(kernels->texts);
  kernels->each_fact_ref(
      [&](const auto& column) { table.children.push_back(column_node(kernels, column, texts)); });
  make_stream(std::move(table), {}, stream);
}

}  // namespace gf
