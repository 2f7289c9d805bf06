// Launches of a group are those that share all columns of its row, and no two groups do.
#include "analyze/kernels/launch_groups.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>

#include "analyze/analyze.h"
#include "analyze/context.h"
#include "import/importer.h"
#include "support/capture_builder.h"

namespace gf {
namespace {

bool equal(double left, double right) {
  return left == right || (std::isnan(left) && std::isnan(right));
}

/// True where there were kernels to be grouped.
bool expect_grouped(const Capture& capture, const std::string& name) {
  std::optional<Context> context;
  if (!analyze(capture, {}, &context) || context->kernels.empty()) return false;
  const LaunchGroups& launches = *context->launch_groups;
  EXPECT_EQ(launches.of.size(), context->kernels.size()) << name;
  const auto& rows = capture.activities;
  const auto key = [&](std::uint32_t row) {
    const auto op = context->attribution.op[row];
    return std::tuple(rows.name[row], op == kNoRow ? Text::none : capture.host_ops.name[op],
                      rows.program_op[row], rows.device[row], rows.grid_x[row], rows.grid_y[row],
                      rows.grid_z[row], rows.block_x[row], rows.block_y[row], rows.block_z[row],
                      rows.registers[row], rows.shared_bytes[row],
                      std::bit_cast<std::uint64_t>(rows.occupancy[row]),
                      context->attribution.layer[row], context->attribution.phase[row]);
  };
  std::map<decltype(key(0)), std::uint32_t> numbers;  // in order of first launches
  std::vector<Nanos> time;
  std::vector<std::int64_t> count;
  for (std::size_t at = 0; at < context->kernels.size(); ++at) {
    const auto row = context->kernels[at].activity;
    const auto [known, first] =
        numbers.try_emplace(key(row), static_cast<std::uint32_t>(numbers.size()));
    EXPECT_EQ(launches.of[at], known->second) << name << " at " << at;
    if (first) {
      time.push_back(0);
      count.push_back(0);
      const LaunchGroup& group = launches.groups[known->second];
      const Launch& launch = group;
      const auto own =
          std::tuple(launch.name, launch.operation, launch.program_op, launch.device, launch.grid_x,
                     launch.grid_y, launch.grid_z, launch.block_x, launch.block_y, launch.block_z,
                     launch.registers, launch.shared_bytes, launch.occupancy_bits, launch.type,
                     static_cast<std::uint8_t>(launch.phase));
      EXPECT_EQ(own, key(row)) << name << " at " << at;
      EXPECT_EQ(group.word, context->names.kernel(launch.name));
      EXPECT_TRUE(equal(group.blocks_per_sm, blocks_per_sm(capture, row))) << name;
      EXPECT_TRUE(equal(group.threads_of_block, threads_of_block(capture, row))) << name;
    }
    time[known->second] += context->kernels[at].exclusive_ns;
    ++count[known->second];
  }
  EXPECT_EQ(launches.groups.size(), numbers.size()) << name;
  for (std::size_t number = 0; number < time.size(); ++number) {
    EXPECT_EQ(launches.groups[number].exclusive_ns, time[number]) << name;
    EXPECT_EQ(launches.groups[number].kernels, count[number]) << name;
  }
  return true;
}

}  // namespace

TEST(LaunchGroups, GroupsOfExamplesAreThoseOfAMap) {
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator("examples"))
    if (const auto capture = import_file(entry.path().string(), {})) {
      read += expect_grouped(*capture, entry.path().filename().string());
    }
  EXPECT_GE(read, 8u);
}

TEST(LaunchGroups, GroupsOfRandomLaunchesAreThoseOfAMap) {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    test::CaptureBuilder builder;
    auto& rows = builder.capture.activities;
    const int shapes = 1 + round % 7, kernels = 1 << (round % 12);
    const auto few = [&] { return static_cast<int>(random() % static_cast<unsigned>(shapes)); };
    for (int i = 0; i < kernels; ++i) {
      const Nanos start = i * 100;
      const auto row =
          builder.launch("k" + std::to_string(few()), {start, start + 5}, {start + 10, start + 90});
      rows.grid_x[row] = few();
      rows.grid_y[row] = few();
      rows.block_x[row] = few();
      rows.block_z[row] = few();
      rows.registers[row] = few();
      rows.shared_bytes[row] = few();
      if (few() == 1) rows.occupancy[row] = 0.25 * few();
    }
    EXPECT_TRUE(expect_grouped(builder.capture, "round " + std::to_string(round)));
  }
}

}  // namespace gf
