// Words and colors of causes, bars, phases, levels and findings: each has them, and each is where
// a reader looks for it.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "analyze/finding_ids.h"
#include "model/metrics.h"
#include "report/labels.h"
#include "report/reference/pages.h"

namespace gf {
namespace {

std::string file(const char* path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

void expect_words(const Label& label) {
  EXPECT_FALSE(label.text.empty()) << label.id;
  EXPECT_FALSE(label.short_text.empty()) << label.id;
  EXPECT_LE(label.short_text.size(), 8u) << label.id << ": a column of a table has no more room";
  EXPECT_TRUE(label.meaning.ends_with('.')) << label.id << ": " << label.meaning;
}

/// Every theme of the page must define the color.
void expect_colour(const Label& label, const std::string& theme) {
  const std::string variable = "--" + std::string(label.colour) + ":";
  std::size_t themes = 0;
  for (auto at = theme.find(variable); at != std::string::npos; at = theme.find(variable, at + 1))
    ++themes;
  EXPECT_EQ(themes, 3u) << label.id << ": web/src/style/theme.css lacks " << variable;
}

void expect_row(const Label& label, const std::string& page, const char* name) {
  EXPECT_NE(page.find("`" + std::string(label.id) + "`"), std::string::npos)
      << "docs/" << name << " does not say what " << label.id << " is";
}

TEST(Labels, EveryCauseHasWordsColourAndARowInTheDocs) {
  const std::string theme = file("web/src/style/theme.css"), page = file("docs/idle.md");
  ASSERT_EQ(cause_labels().size(), EnumNames<IdleReason>::names.size());
  for (const Label& label : cause_labels()) {
    expect_words(label);
    expect_colour(label, theme);
    expect_row(label, page, "idle.md");
  }
}

TEST(Labels, EveryBarHasWordsColourAndARowInTheDocs) {
  const std::string theme = file("web/src/style/theme.css"), page = file("docs/ladder.md");
  const std::string classes = file("web/src/style/parts.css");
  for (const Label& label : bar_labels()) {
    expect_colour(label, theme);
    expect_row(label, page, "ladder.md");
    EXPECT_NE(classes.find("." + std::string(label.colour) + " {"), std::string::npos)
        << label.id << ": web/src/style/parts.css lacks ." << label.colour;
    EXPECT_FALSE(long_label(*enum_from<Bar>(label.id)).empty());
    EXPECT_TRUE(label.meaning.ends_with('.')) << label.id;
  }
}

TEST(Labels, EveryPhaseHasWordsColourAndARowInTheDocs) {
  const std::string theme = file("web/src/style/theme.css"), page = file("docs/runtime.md");
  for (const Label& label : phase_labels()) {
    expect_words(label);
    expect_colour(label, theme);
    expect_row(label, page, "runtime.md");
  }
}

TEST(Labels, EveryMetricHasWords) {
  for (const Metric& metric : metrics()) expect_words(label_of_metric(metric.id));
}

TEST(Labels, EveryFindingHasARowInTheDocs) {
  const std::string page = findings_page();
  for (const auto id : EnumNames<FindingId>::names)
    EXPECT_NE(page.find("| `" + std::string(id) + "` |"), std::string::npos) << id;
  EXPECT_EQ(page.find("|  |"), std::string::npos) << "a finding without label or condition";
}

}  // namespace
}  // namespace gf
