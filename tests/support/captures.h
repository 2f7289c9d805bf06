// Captures for tests: random ones that use every column, and comparison by meaning.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>
#include <string>

#include "model/capture.h"

namespace gf::test {

/// A fresh directory that goes away with the object.
struct TempDir {
  std::filesystem::path path;
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "gpufathom-test-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file(const char* name) const { return (path / name).string(); }
};

/// Fills `c` with up to `rows` rows in every table; values include the extremes of their types,
/// NaN, infinities, texts with NUL and invalid UTF-8. References point to existing rows or to none.
inline void add_random_rows(Capture& c, std::mt19937_64& random, std::size_t rows) {
  auto below = [&](std::uint64_t n) { return n == 0 ? 0 : random() % n; };
  auto text = [&]() -> Text {
    static const std::string odd[] = {"",
                                      "kernel",
                                      "op",
                                      std::string("a\0b", 3),
                                      "\xff\xfe",
                                      "caf\xc3\xa9",
                                      "\xf0\x9f\x94\xa5",
                                      "'quoted\"",
                                      "\xed\xa0\x80",
                                      std::string(5000, 'x')};
    if (below(4) == 0) return c.strings.intern(odd[below(std::size(odd))]);
    std::string s(below(12), ' ');
    for (char& ch : s) ch = static_cast<char>(below(256));
    return c.strings.intern(s);
  };
  auto integer = [&]<class T>(T) -> T {
    switch (below(6)) {
      case 0:
        return std::numeric_limits<T>::max();
      case 1:
        return std::numeric_limits<T>::min();
      case 2:
        return static_cast<T>(-1);
      case 3:
        return 0;
      default:
        return static_cast<T>(random());
    }
  };
  auto real = [&]() -> double {
    switch (below(6)) {
      case 0:
        return NAN;
      case 1:
        return std::numeric_limits<double>::infinity();
      case 2:
        return -std::numeric_limits<double>::denorm_min();
      case 3:
        return std::numeric_limits<double>::max();
      default:
        return std::bit_cast<double>(random());
    }
  };
  c.each_table([&](auto& table) {
    const std::size_t first = table.size(), n = below(rows + 1);
    for (std::size_t i = 0; i < n; ++i) table.add();
    table.each_column_ref([&](const auto& field) {
      using Column = std::remove_cvref_t<decltype(field)>;
      using Declared = typename Column::Declared;
      using Value = typename Column::Value;
      for (std::size_t i = first; i < field.column.size(); ++i) {
        if (below(8) == 0) continue;  // stays at its default
        if constexpr (kIsText<Declared>)
          field.column[i] = text();
        else if constexpr (kIsListed<Declared>)
          field.column[i] = static_cast<Value>(below(EnumNames<Value>::names.size()));
        else if constexpr (std::is_same_v<Value, double>)
          field.column[i] = real();
        else if constexpr (std::is_same_v<Declared, declared::Bool>)
          field.column[i] = static_cast<Value>(below(2));
        else if constexpr (!kIsRef<Declared>)
          field.column[i] = integer(Value{});
      }
    });
  });
  const PerTable rows_now = c.row_counts();
  c.each_table([&](auto& table) {
    table.each_column_ref([&](const auto& column) {
      using Declared = typename std::remove_cvref_t<decltype(column)>::Declared;
      if constexpr (kIsRef<Declared>) {
        const std::size_t limit = of(rows_now, kRefTable<Declared>);
        for (auto& v : column.column)
          if (v == kNoRow && limit > 0 && below(2) == 0) v = static_cast<U32>(below(limit));
      }
    });
  });
  for (std::uint64_t n = c.devices.empty() ? 0 : below(4); n > 0; --n) {
    SampleBlock block;
    block.device = static_cast<U32>(below(c.devices.size()));
    for (std::uint64_t m = below(5); m > 0; --m) block.metrics.push_back(text());
    for (std::uint64_t samples = 1 + below(rows + 1); samples > 0; --samples) {
      block.start_ns.push_back(integer(I64{}));
      block.end_ns.push_back(integer(I64{}));
      for (std::size_t m = 0; m < block.metrics.size(); ++m)
        block.values.push_back(
            std::bit_cast<float>(static_cast<std::uint32_t>(below(4) ? random() : 0x7fc00000u)));
    }
    c.sample_blocks.push_back(pack(block));
  }
  c.path = "some/where.json";
  c.format = "kineto";
  c.framework = below(2) ? "pytorch" : "";
  c.events = integer(I64{});
  c.bytes = integer(I64{});
}

inline Capture random_capture(std::uint64_t seed, std::size_t rows) {
  std::mt19937_64 random(seed);
  Capture c;
  add_random_rows(c, random, rows);
  return c;
}

/// The first difference between two captures, texts compared by content and NaN equal to NaN; empty
/// when there is none.
inline std::string difference(const Capture& a, const Capture& b) {
  std::string found;
  if (a.sample_blocks.size() != b.sample_blocks.size()) return "sample_blocks";
  for (std::size_t i = 0; i < a.sample_blocks.size(); ++i) {
    const PackedBlock &x = a.sample_blocks[i], &y = b.sample_blocks[i];
    const bool same = x.device == y.device && x.samples == y.samples && x.data == y.data &&
                      x.first_ns == y.first_ns && x.last_ns == y.last_ns && x.values == y.values;
    if (!same || !std::equal(x.metrics.begin(), x.metrics.end(), y.metrics.begin(), y.metrics.end(),
                             [&](Text p, Text q) { return a.text(p) == b.text(q); }))
      return "sample_blocks[" + std::to_string(i) + "]";
  }
  if (a.path != b.path || a.format != b.format || a.framework != b.framework ||
      a.events != b.events || a.bytes != b.bytes)
    return "source";
  b.each_table([&](const auto& tb) {
    a.each_table([&](const auto& ta) {
      if constexpr (std::is_same_v<decltype(ta), decltype(tb)>) {
        const std::string table = std::remove_cvref_t<decltype(ta)>::kName;
        if (ta.size() != tb.size()) {
          if (found.empty())
            found = table + ": " + std::to_string(ta.size()) + " and " + std::to_string(tb.size()) +
                    " rows";
          return;
        }
        ta.each_column([&](const ColumnInfo& ia, const auto& ca) {
          tb.each_column([&](const ColumnInfo& ib, const auto& cb) {
            if constexpr (std::is_same_v<decltype(ca), decltype(cb)>) {
              if (std::string_view(ia.name) != ib.name) return;
              for (std::size_t i = 0; i < ca.size() && found.empty(); ++i) {
                bool same;
                if constexpr (std::is_same_v<std::remove_cvref_t<decltype(ca[i])>, Text>)
                  same = a.text(ca[i]) == b.text(cb[i]);
                else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(ca[i])>, double>)
                  same = ca[i] == cb[i] || (std::isnan(ca[i]) && std::isnan(cb[i]));
                else
                  same = ca[i] == cb[i];
                if (!same) found = table + "." + ia.name + "[" + std::to_string(i) + "]";
              }
            }
          });
        });
      }
    });
  });
  return found;
}

}  // namespace gf::test
