// Words for the page: what labels.h and the catalog of metrics say, as JSON.
// The HTML report: one file that works offline. Its front end is web/, bundled by the build; this
// puts the data in.
// The page of a job of several ranks.
// The page of many runs over their settings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/claims/claims.h"
#include "analyze/compare/compare.h"
#include "analyze/context.h"
#include "analyze/ranks/ranks.h"
#include "analyze/result.h"
#include "analyze/sweep/sweep.h"
#include "analyze/work/ceilings.h"
#include "core/error.h"
#include "report/labels.h"

namespace gf {

// Bytes inside a page.

/// Of text, fast makes hardly more than small does; of columns a third more where they repeat.
enum class GzipLevel { fast, small };

/// gzip of the parts one after the other, in parts of a number of bytes that three divides, but for
/// the last; the same bytes for the same parts on the same kind of processor.
using Gzipped = std::vector<std::string>;
Gzipped gzipped(std::span<const std::string_view> parts, GzipLevel level);

/// The page around its two blocks of data, the answer and the timeline's events; made by
/// web/build.mjs, empty in a build without Node.
extern const std::string_view kPageBefore, kPageBetween, kPageAfter;

/// The page with the answer put in. Error: a build without the page.
Result<std::string> filled_page(std::string_view answer);

struct PageLabel {
  std::string id, text, short_text, meaning;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("id", &PageLabel::id, "id");
    visit("text", &PageLabel::text, "for people");
    visit("short_text", &PageLabel::short_text, "for a column");
    visit("meaning", &PageLabel::meaning, "one sentence");
  }
};

struct PageLabels {
  std::vector<PageLabel> levels, causes, bars, phases, energy, readings;
  template <class Visit>
  static void fields(Visit&& visit) {
    visit("levels", &PageLabels::levels, "levels");
    visit("causes", &PageLabels::causes, "idle causes");
    visit("bars", &PageLabels::bars, "bars of the waterfall");
    visit("phases", &PageLabels::phases, "runtime phases");
    visit("energy", &PageLabels::energy, "components of energy");
    visit("readings", &PageLabels::readings, "metrics over time");
  }
};

/// Labels with their meanings; the catalog knows metrics best.
std::vector<PageLabel> page_labels(std::span<const Label> labels);
/// The labels of all levels.
std::vector<PageLabel> level_page_labels();

/// The first section of the page: time breakdown or energy.
enum class PageOrder : std::uint8_t { time, energy };

/// The report as one page. `context` gives the timeline; without it the page has none. Without
/// `ceilings` those of the data sheet hold. Error: a build without the page.
Result<std::string> analysis_html(const Analysis& analysis, const Context* context,
                                  PageOrder order = PageOrder::time,
                                  const CeilingsFile* ceilings = nullptr);

/// A comparison as one page; of layers and kernels `rows` are shown at first. The same error.
Result<std::string> comparison_html(const Comparison& comparison, std::size_t rows);

/// One file that works offline. Error: a build without the page.
Result<std::string> ranks_html(const JobRanks& job);

/// One file that works offline. Error: a build without the page.
Result<std::string> sweep_html(const Sweep& sweep);

/// The statements of a publication, and with `sweep` its charts. The same error.
Result<std::string> reproduction_html(const Reproduction& answer, const Sweep* sweep);

}  // namespace gf
