// A column against a plain vector: whatever is done to it, the rows are the same, folded, narrow or
// wide.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "core/column.h"

namespace gf {
namespace {

using Random = std::mt19937;

/// One of the things that can be done to a column, done to both.
template <class T, class Value>
void step(Column<T>& column, std::vector<T>& rows, const std::vector<T>& other_rows,
          const Column<T>& other, Value&& value, Random& random) {
  const std::size_t count = random() % 4 == 0 ? random() % 5000 : random() % 40;
  const T one = static_cast<T>(value(random));
  std::vector<T> several(count);
  for (auto& each : several) each = random() % 2 ? one : static_cast<T>(value(random));
  switch (random() % 11) {
    case 0:
    case 1:
      for (const auto& each : several) column.push_back(each);
      rows.insert(rows.end(), several.begin(), several.end());
      break;
    case 2:
      column.append(std::span<const T>(several));
      rows.insert(rows.end(), several.begin(), several.end());
      break;
    case 3:
      column.append(other);
      rows.insert(rows.end(), other_rows.begin(), other_rows.end());
      break;
    case 4:
      column.resize(rows.size() + count, one);
      rows.resize(rows.size() + count, one);
      break;
    case 5:
      if (random() % 3) break;
      column.clear();
      rows.clear();
      break;
    case 6:
      if (rows.empty()) break;
      column[rows.size() / 2] = one;
      rows[rows.size() / 2] = one;
      break;
    case 7:
      column.transform(
          [&](const T& each) { return each == one ? static_cast<T>(value(random)) : each; });
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::as_const(column)[i];
      break;
    case 8:
      random() % 2 ? column.shrink_to_fit() : column.reserve(count * 10);
      break;
    case 9:
      std::ranges::copy(several, column.extend(count).begin());
      rows.insert(rows.end(), several.begin(), several.end());
      break;
    default: {
      Column<T> copy(column);
      if (random() % 2) column = std::move(copy);
    }
  }
}

template <class T, class Value>
void compare(Value&& value) {
  Random random(27);
  for (int round = 0; round < 150; ++round) {
    std::vector<T> rows[2];
    Column<T> columns[2];
    for (int i = 0; i < 40; ++i) {
      const std::size_t which = random() % 2;
      step(columns[which], rows[which], rows[1 - which], columns[1 - which], value, random);
      for (std::size_t side = 0; side < 2; ++side) {
        const auto& column = std::as_const(columns[side]);
        ASSERT_EQ(column.size(), rows[side].size());
        std::size_t row = 0;  // millions of rows, of which an assertion each takes seconds
        while (row < rows[side].size() && column[row] == rows[side][row]) ++row;
        ASSERT_EQ(row, rows[side].size()) << "of round " << round;
        if (random() % 16 == 0) {
          ASSERT_TRUE(std::ranges::equal(column.span(), rows[side]));
        }
        if (rows[side].size() < 50'000) continue;
        rows[side].clear();
        columns[side].clear();
      }
    }
  }
}

TEST(Column, HoldsWhatAVectorHolds) {
  using Long = std::int64_t;
  compare<Long>([](Random& random) {  // of some hundred numbers one does not fit into 32 bits
    const Long large = random() % 300 == 0 ? Long{1} << (25 + random() % 20) : 1;
    return (static_cast<Long>(random() % 100'000) - 1) * (random() % 2 ? large : -large);
  });
  compare<Long>([](Random& random) { return static_cast<Long>(random() % 3) - 1; });
  compare<Long>([](Random& random) { return static_cast<Long>(random()) << 30; });
  compare<double>([](Random& random) { return static_cast<double>(random() % 3); });
  compare<std::uint32_t>([](Random& random) { return random() % 3; });
}

TEST(Column, WidensUnderReaders) {
  for (int round = 0; round < 20; ++round) {
    Column<std::int64_t> column;
    for (std::int64_t i = 0; i < 20'000; ++i) column.push_back(i % 1000);
    const auto& read = std::as_const(column);
    std::int64_t sums[4] = {};
    {
      std::vector<std::jthread> readers;
      for (int reader = 0; reader < 4; ++reader)
        readers.emplace_back([&, reader] {
          if (reader == 2) sums[reader] = read.span()[0];
          for (std::size_t i = 0; i < read.size(); ++i) sums[reader] += read[i];
        });
    }
    for (const auto sum : sums) EXPECT_EQ(sum, 20 * 499'500);
  }
}

}  // namespace
}  // namespace gf
