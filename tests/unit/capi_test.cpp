// The C interface as another program uses it: only its functions and the Arrow structs.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "capi/arrow.h"
#include "capi/gpufathom.h"
#include "core/version.h"
#include "import/importer.h"
#include "model/file.h"
#include "support/captures.h"

namespace gf {
namespace {

bool is_valid(const ArrowArray& a, std::int64_t i) {
  const auto* bits = static_cast<const std::uint8_t*>(a.buffers[0]);
  return !bits || (bits[i / 8] >> (i % 8) & 1);
}

std::string_view dictionary_text(const ArrowArray& a, std::uint32_t index) {
  const auto* offsets = static_cast<const std::int64_t*>(a.dictionary->buffers[1]);
  return {static_cast<const char*>(a.dictionary->buffers[2]) + offsets[index],
          static_cast<std::size_t>(offsets[index + 1] - offsets[index])};
}

/// The shape of a table before any of it is made.
template <class Table>
void expect_shape(const gpufathom_capture& capture, const Table& table, const Capture& expected,
                  char* error) {
  long long rows = -1;
  char* columns = nullptr;
  ASSERT_EQ(gpufathom_shape(&capture, table.kName, &rows, &columns, &error), 0) << error;
  std::size_t packed = 0;
  if (std::string_view(table.kName) == "counter_samples")
    for (const auto& block : expected.sample_blocks) packed += block.values;
  EXPECT_EQ(rows, static_cast<long long>(table.size() + packed));
  std::string names;
  table.each_column_ref(
      [&](const auto& column) { (names += names.empty() ? "" : ",") += column.info.name; });
  EXPECT_EQ(names, columns);
  gpufathom_free(columns);
}

template <class Declared>
void expect_column(const Capture& c, const ColumnRef<Declared>& column, const ArrowArray& a,
                   const ArrowSchema& s) {
  using T = ValueOf<Declared>;
  ASSERT_STREQ(s.name, column.info.name);
  ASSERT_EQ(a.length, static_cast<std::int64_t>(column.column.size()));
  std::int64_t nulls = 0;
  for (std::int64_t i = 0; i < a.length; ++i) {
    const T expected = column.column[static_cast<std::size_t>(i)];
    if (!is_valid(a, i)) {
      ++nulls;
      if constexpr (std::is_same_v<T, F64>) {
        EXPECT_TRUE(std::isnan(expected));
      } else {
        EXPECT_EQ(expected, column.fallback) << s.name << i;
      }
      continue;
    }
    if constexpr (std::is_same_v<T, Text>) {
      EXPECT_NE(expected, Text::none);
      const auto text = dictionary_text(a, static_cast<const std::uint32_t*>(a.buffers[1])[i]);
      // Texts that are valid UTF-8 come through as they are.
      if (text.find("\xef\xbf\xbd") == text.npos) {
        EXPECT_EQ(text, c.text(expected));
      }
    } else if constexpr (std::is_enum_v<T>) {
      const auto code = static_cast<const std::uint32_t*>(a.buffers[1])[i];
      EXPECT_EQ(dictionary_text(a, code), name_of(expected));
    } else {
      const T value = static_cast<const T*>(a.buffers[1])[i];
      EXPECT_EQ(value, expected) << s.name << i;
      if constexpr (!std::is_same_v<T, F64>) {
        EXPECT_TRUE(expected != column.fallback || column.fallback == 0) << s.name << i;
      }
    }
  }
  EXPECT_EQ(a.null_count, nulls) << s.name;
}

/// The rest of the stream are the packed samples, as rows.
void expect_packed(const Capture& c, ArrowArrayStream& stream, const ArrowSchema& schema) {
  counter_samples_table rows;
  BlockUnpacker unpacker;
  for (const auto& block : c.sample_blocks) expand(unpacker.unpack(block), rows);
  if (c.sample_blocks.empty()) return;
  ArrowArray batch{};
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  ASSERT_NE(batch.release, nullptr);
  ASSERT_EQ(batch.length, static_cast<std::int64_t>(rows.size()));
  std::int64_t child = 0;
  rows.each_column_ref([&](const auto& column) {
    expect_column(c, column, *batch.children[child], *schema.children[child]);
    ++child;
  });
  batch.release(&batch);
}

TEST(CInterface, EveryTableComesThroughArrow) {
  test::TempDir dir;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    ASSERT_TRUE(write_capture(test::random_capture(seed, 30), dir.file("a.gpf")).has_value());
    auto expected = import_file(dir.file("a.gpf"));
    ASSERT_TRUE(expected->check().has_value());
    gpufathom_capture* capture = nullptr;
    char* error = nullptr;
    ASSERT_EQ(gpufathom_open(dir.file("a.gpf").c_str(), &capture, &error), 0) << error;
    expected->each_table([&](const auto& table) {
      ArrowArrayStream stream{};
      ASSERT_EQ(gpufathom_table(capture, table.kName, &stream, &error), 0) << error;
      ArrowSchema schema{};
      ArrowArray batch{}, end{};
      ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
      ASSERT_EQ(stream.get_next(&stream, &batch), 0);
      if (std::string_view(table.kName) == "counter_samples")
        expect_packed(*expected, stream, schema);
      ASSERT_EQ(stream.get_next(&stream, &end), 0);
      EXPECT_EQ(end.release, nullptr);
      stream.release(&stream);  // what was taken from it lives on
      EXPECT_EQ(stream.release, nullptr);
      EXPECT_STREQ(schema.format, "+s");
      EXPECT_EQ(batch.length, static_cast<std::int64_t>(table.size()));
      ASSERT_EQ(schema.n_children, batch.n_children);
      std::int64_t child = 0;
      table.each_column_ref([&](const auto& c) {
        ASSERT_LT(child, batch.n_children);
        expect_column(*expected, c, *batch.children[child], *schema.children[child]);
        ++child;
      });
      EXPECT_EQ(child, batch.n_children);
      expect_shape(*capture, table, *expected, error);
      schema.release(&schema);
      batch.release(&batch);
    });
    gpufathom_close(capture);
  }
}

TEST(CInterface, ErrorsAreTexts) {
  gpufathom_capture* capture = nullptr;
  char* error = nullptr;
  EXPECT_EQ(gpufathom_open("no/such/file.json", &capture, &error), 1);
  EXPECT_NE(std::strstr(error, "no/such/file.json"), nullptr) << error;
  gpufathom_free(error);

  ASSERT_EQ(gpufathom_open("examples/lenet_inf_b1.json.gz", &capture, &error), 0) << error;
  ArrowArrayStream stream{};
  EXPECT_EQ(gpufathom_table(capture, "nothing", &stream, &error), 1);
  EXPECT_NE(std::strstr(error, "activities"), nullptr) << error;
  gpufathom_free(error);

  long long rows = 0;
  char* columns = nullptr;
  EXPECT_EQ(gpufathom_shape(capture, "nothing", &rows, &columns, &error), 1);
  EXPECT_NE(std::strstr(error, "activities"), nullptr) << error;
  gpufathom_free(error);

  char* json = nullptr;
  EXPECT_EQ(gpufathom_analyze(capture, "all", &json, &error), 0) << error;
  EXPECT_EQ(std::string_view(json).substr(0, 33), R"({"schema":"gpufathom.analysis/1",)");
  gpufathom_free(json);
  EXPECT_EQ(gpufathom_analyze(capture, "step:999", &json, &error), 1);
  EXPECT_GT(std::strlen(error), 0u);
  gpufathom_free(error);
  gpufathom_close(capture);
}

// Programs bring the options of the version that they were compiled with.
TEST(CInterface, OptionsOfOtherSizesAreReadAsFarAsTheyGo) {
  gpufathom_capture* capture = nullptr;
  char* error = nullptr;
  ASSERT_EQ(gpufathom_open("examples/lenet_inf_b1.json.gz", &capture, &error), 0) << error;
  const auto report = [&](const void* options) {
    char* text = nullptr;
    error = nullptr;
    const int failed = gpufathom_report(capture, static_cast<const gpufathom_options*>(options),
                                        GPUFATHOM_JSON, &text, &error);
    const std::string said = failed ? error : text;
    gpufathom_free(text);
    gpufathom_free(error);
    return std::pair(failed, said);
  };
  gpufathom_options options{sizeof options, "all", 0, nullptr};
  const auto whole = report(&options);
  ASSERT_EQ(whole.first, 0) << whole.second;
  // An older program: nothing behind its struct is read.
  options.batch = 7;
  options.energy_model = "nowhere.json";
  options.size = offsetof(gpufathom_options, batch);
  EXPECT_EQ(report(&options), whole);
  options.size = sizeof options;
  EXPECT_EQ(report(&options).first, 1);
  // A newer program may not ask for what is not known.
  struct {
    gpufathom_options known;
    void* more;
  } newer{{sizeof newer, "all", 0, nullptr}, nullptr};
  EXPECT_EQ(report(&newer), whole);
  newer.more = &newer;
  EXPECT_NE(report(&newer).second.find("this version does not have"), std::string::npos);
  // A program that knew no size: an address, or nothing.
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{1} << 47}) {
    options = {size, "all", 0, nullptr};
    EXPECT_NE(report(&options).second.find("sizeof(gpufathom_options)"), std::string::npos);
  }
  gpufathom_close(capture);
}

TEST(CInterface, NullPointersAreErrors) {
  EXPECT_STREQ(gpufathom_version(), kVersion);
  gpufathom_capture* capture = nullptr;
  char* error = nullptr;
  char* json = nullptr;
  ArrowArrayStream stream{};
  const auto says = [&](int code, const char* argument) {
    ASSERT_EQ(code, 1);
    ASSERT_NE(error, nullptr);
    EXPECT_NE(std::strstr(error, argument), nullptr) << error;
    gpufathom_free(error);
    error = nullptr;
  };
  says(gpufathom_open(nullptr, &capture, &error), "path");
  says(gpufathom_open("x", nullptr, &error), "capture");
  EXPECT_EQ(gpufathom_open("no/such/file", &capture, nullptr), 1);
  EXPECT_EQ(capture, nullptr);
  says(gpufathom_table(nullptr, "activities", &stream, &error), "capture");
  says(gpufathom_analyze(nullptr, "all", &json, &error), "capture");
  ASSERT_EQ(gpufathom_open("examples/lenet_inf_b1.json.gz", &capture, &error), 0);
  says(gpufathom_table(capture, nullptr, &stream, &error), "table");
  says(gpufathom_table(capture, "activities", nullptr, &error), "stream");
  says(gpufathom_analyze(capture, "all", nullptr, &error), "json");
  says(gpufathom_report(capture, nullptr, GPUFATHOM_JSON, nullptr, &error), "text");
  says(gpufathom_report(nullptr, nullptr, GPUFATHOM_JSON, &json, &error), "capture");
  says(gpufathom_kernels(capture, nullptr, nullptr, &error), "stream");
  says(gpufathom_kernels(nullptr, nullptr, &stream, &error), "capture");
  gpufathom_close(capture);
  gpufathom_close(nullptr);
  gpufathom_free(nullptr);
}

}  // namespace
}  // namespace gf
