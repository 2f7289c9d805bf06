// An importer that is written and not registered would never be asked.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "import/importer.h"
#include "model/formats.h"

namespace gf {
namespace {

TEST(Importers, EveryFolderIsInTheRegistry) {
  std::ifstream in("src/import/registry.cpp");
  ASSERT_TRUE(in);
  const std::string registry{std::istreambuf_iterator<char>(in), {}};
  for (const auto& entry : std::filesystem::directory_iterator("src/import"))
    if (entry.is_directory()) {
      const std::string folder = entry.path().filename().string();
      EXPECT_NE(registry.find("\"import/" + folder + "/"), std::string::npos)
          << "src/import/registry.cpp does not know " << folder;
    }
}

TEST(Importers, EachHasANameOfItsOwnAndSaysWhatItReads) {
  std::set<std::string> ids;
  for (const Importer& importer : importers()) {
    EXPECT_TRUE(ids.insert(importer.id).second) << importer.id << " stands there twice";
    EXPECT_FALSE(std::string(importer.description).empty()) << importer.id;
  }
}

TEST(Importers, EachDeclaresWhatItsFormatSays) {
  for (const Importer& importer : importers()) {
    const std::string_view id = importer.id;
    if (id == "gpf") continue;  // holds captures of the others
    EXPECT_EQ(format_facts(id).id, id) << "model/formats.def lacks " << id;
  }
}

}  // namespace
}  // namespace gf
