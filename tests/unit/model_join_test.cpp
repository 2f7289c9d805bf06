// Joining follows the declarations of tables.def: no column is forgotten, whatever it is.
#include <gtest/gtest.h>

#include "model/check.h"
#include "support/captures.h"

namespace gf {
namespace {

/// Random rows in every table; keys differ, so that every row stays its own.
Capture with_every_column(std::uint64_t seed) {
  Capture c = test::random_capture(seed, 20);
  c.each_table([&](auto& table) {
    table.each_column_ref([&](const auto& column) {
      using Declared = typename std::remove_cvref_t<decltype(column)>::Declared;
      if constexpr (kIsKey<Declared>)
        for (std::size_t row = 0; row < column.column.size(); ++row)
          column.column[row] = [&] {
            if constexpr (kIsText<Declared>)
              return c.strings.intern("key " + std::to_string(row));
            else
              return static_cast<ValueOf<Declared>>(row);
          }();
    });
  });
  return c;
}

TEST(Join, EveryColumnOfEveryTableIsTaken) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Capture c = with_every_column(seed);
    Capture joined;
    joined.strings.intern("texts have other numbers here");
    joined.path = c.path;
    joined.format = c.format;
    joined.framework = c.framework;
    joined.events = c.events;
    joined.bytes = c.bytes;
    joined.join(c);
    EXPECT_EQ(test::difference(c, joined), "") << seed;
  }
}

TEST(Join, ReferencesFollowTheirRows) {
  auto part = [](int device, const char* kernel) {
    Capture c;
    c.threads.add();
    const auto activity = c.activities.add();
    c.activities.device[activity] = c.device_row(device);
    c.activities.name[activity] = c.strings.intern(kernel);
    const auto collective = c.collectives.add();
    c.collectives.activity[collective] = activity;
    return c;
  };
  Capture c = part(0, "first");
  c.join(part(1, "second"));
  c.join(part(0, "third"));
  ASSERT_EQ(c.devices.size(), 2u);
  EXPECT_EQ(c.threads.size(), 1u);
  ASSERT_EQ(c.collectives.size(), 3u);
  const char* const names[] = {"first", "second", "third"};
  for (std::uint32_t row = 0; row < 3; ++row) {
    ASSERT_EQ(c.collectives.activity[row], row);
    EXPECT_EQ(c.text(c.activities.name[row]), names[row]);
    EXPECT_EQ(c.devices.id[c.activities.device[row]], row == 1 ? 1 : 0);
  }
}

TEST(Join, OneRowForOneKey) {
  Capture c;
  c.device_row(0);
  c.devices.sm_count[0] = 132;
  c.note_quality(QualityCode::bad_event, "first words", 2);
  c.set_metadata("cuda", "12.8");
  Capture log;
  log.device_row(0);
  log.devices.sm_count[0] = 1;
  log.devices.clock_khz[0] = 1980000;
  log.note_quality(QualityCode::bad_event, "other words", 3);
  log.set_metadata("cuda", "11");
  log.set_metadata("driver", "570");
  c.join(log);
  ASSERT_EQ(c.devices.size(), 1u);
  EXPECT_EQ(c.devices.sm_count[0], 132);       // known here: stays
  EXPECT_EQ(c.devices.clock_khz[0], 1980000);  // not known here: taken over
  ASSERT_EQ(c.quality.size(), 1u);
  EXPECT_EQ(c.quality.count[0], 5);
  EXPECT_EQ(c.text(c.quality.detail[0]), "first words");
  EXPECT_EQ(c.metadata_value("cuda"), "12.8");
  EXPECT_EQ(c.metadata_value("driver"), "570");
}

}  // namespace
}  // namespace gf
