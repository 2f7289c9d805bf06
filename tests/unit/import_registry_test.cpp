// An importer that is written and not registered would never be asked.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "import/importer.h"
#include "model/formats.h"

namespace gf {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Namespaces that the files of a folder open, as "kineto::".
std::set<std::string> namespaces_in(const std::filesystem::path& folder) {
  std::set<std::string> found;
  const std::regex opened("namespace gf::(\\w+) \\{");
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string text = content_of(file.path());
    for (std::sregex_iterator at(text.begin(), text.end(), opened), end; at != end; ++at)
      found.insert((*at)[1].str() + "::");
  }
  return found;
}

TEST(Importers, EveryFolderIsInTheRegistry) {
  const std::string registry = content_of("src/import/importers.cpp");
  ASSERT_FALSE(registry.empty());
  for (const auto& entry : std::filesystem::directory_iterator("src/import")) {
    if (!entry.is_directory()) continue;
    const auto names = namespaces_in(entry.path());
    EXPECT_TRUE(std::ranges::any_of(
        names,
        [&](const std::string& name) { return registry.find(name + "load") != registry.npos; }))
        << "src/import/importers.cpp does not know " << entry.path().filename().string();
  }
}

TEST(Importers, EachHasANameOfItsOwnAndSaysWhatItReads) {
  std::set<std::string> ids;
  for (const Importer& importer : importers()) {
    EXPECT_TRUE(ids.insert(importer.id).second) << importer.id << " stands there twice";
    EXPECT_FALSE(format_facts(importer.id).name.empty()) << importer.id;
    EXPECT_FALSE(format_facts(importer.id).made_by.empty()) << importer.id;
  }
}

TEST(Importers, EachDeclaresWhatItsFormatSays) {
  for (const Importer& importer : importers()) {
    const std::string_view id = importer.id;
    EXPECT_EQ(format_facts(id).id, id) << "model/formats.def lacks " << id;
  }
}

}  // namespace
}  // namespace gf
