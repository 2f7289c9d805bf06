#include "model/sample_block.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "model/file.h"

namespace gf {
namespace {

RC_GTEST_PROP(SampleBlock, UnpackGivesBackEveryBit, (const std::vector<std::pair<std::int64_t, std::int64_t>>& spans, std::uint8_t metric_count)) {
  SampleBlock block;
  const std::size_t metrics = metric_count % 5;
  for (std::size_t k = 0; k < metrics; ++k) block.metrics.push_back(Text{static_cast<std::uint32_t>(k + 1)});
  for (const auto& [start, end] : spans) {
    block.start_ns.push_back(start);
    block.end_ns.push_back(end);
    for (std::size_t k = 0; k < metrics; ++k) {
      const auto bits = *rc::gen::arbitrary<std::uint32_t>();
      float value;
      std::memcpy(&value, &bits, 4);
      block.values.push_back(value);
    }
  }
  const auto back = unpack(pack(block), metrics, block.samples());
  RC_ASSERT(back.has_value());
  RC_ASSERT(back->start_ns == block.start_ns);
  RC_ASSERT(back->end_ns == block.end_ns);
  RC_ASSERT(back->values.size() == block.values.size());
  // The parentheses keep || from being taken apart, which would compare null pointers.
  RC_ASSERT((block.values.empty() || std::memcmp(back->values.data(), block.values.data(), 4 * block.values.size()) == 0));
}

RC_GTEST_PROP(SampleBlock, DamagedBytesAreRefusedOrRead, (std::string bytes, std::uint16_t metrics, std::uint16_t samples)) { (void)unpack(bytes, metrics, samples); }

TEST(SampleBlock, ComesBackFromTheFileAsRows) {
  const std::string path = testing::TempDir() + "sample_block.gpf";
  Capture c;
  const auto device = c.device_row(3);
  auto writer = CaptureWriter::create(path);
  ASSERT_TRUE(writer);
  SampleBlock block{device, {c.strings.intern("gpu.busy"), c.strings.intern("dram.read")}, {100, 200}, {200, 300}, {0.5f, 7e9f, 0.25f, NAN}};
  ASSERT_TRUE(writer->append(c, {&block, 1}));
  const auto back = read_capture(path);
  ASSERT_TRUE(back) << back.error().message();
  ASSERT_EQ(back->counter_samples.size(), 3u);
  EXPECT_EQ(back->counter_samples.start_ns[2], 200);
  EXPECT_EQ(back->counter_samples.duration_ns[2], 100);
  EXPECT_EQ(back->text(back->counter_samples.metric[1]), "dram.read");
  EXPECT_EQ(back->counter_samples.value[1], 7e9f);
  EXPECT_EQ(back->devices.id[back->counter_samples.device[0]], 3);
}

}  // namespace
}  // namespace gf
