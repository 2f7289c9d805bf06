#include <gtest/gtest.h>

#include <fstream>

#include "import/formats.h"
#include "import/importer.h"
#include "support/captures.h"

namespace gf {

TEST(Stranger, SaysWhatToGiveInstead) {
  struct Case {
    const char *file, *content, *what, *advice;
  };
  const test::TempDir dir;
  for (const auto& c :
       {Case{"report.nsys-rep", "NSYS", "Nsight Systems", "nsys export --type sqlite"},
        Case{"report.qdrep", "x", "Nsight Systems", "nsys export --type sqlite"},
        Case{"report.qdstrm", "x", "unfinished", "QdstrmImporter"},
        Case{"et.json", R"({"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 1, "ctrl_deps": 0}]})",
             "execution trace", "export_chrome_trace"}}) {
    const std::string path = dir.file(c.file);
    std::ofstream(path, std::ios::binary) << c.content;
    const auto capture = import_file(path);
    ASSERT_FALSE(capture) << c.file;
    EXPECT_NE(capture.error().message().find(c.what), std::string::npos) << c.file;
    EXPECT_NE(capture.error().message().find(c.advice), std::string::npos) << c.file;
  }
}

TEST(Stranger, TracesAreNone) {
  EXPECT_EQ(describe_stranger("t.json", R"({"schemaVersion": 1, "traceEvents": []})").what, "");
  EXPECT_EQ(describe_stranger("run.sqlite", "SQLite format 3").what, "");
}

}  // namespace gf
