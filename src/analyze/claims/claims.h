// Statements of a publication as rules over measured rows: rows, value, limits.
// claims.def has the statements; this judges them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/sweep/sweep.h"
#include "core/error.h"
#include "model/enums.h"

namespace gf {

enum class Study : std::uint8_t { date24, dsd22, asap24, itu23 };
template <>
struct EnumNames<Study> {
  static constexpr const char* type = "Study";
  static constexpr auto names =
      std::to_array<std::string_view>({"date24", "dsd22", "asap24", "itu23"});
};

/// A series is all rows that are alike but for their numbers.
///   each         the value of each row
///   best         of each series the row with the highest `against`
///   pairs        the value over that of the same row with `against` in the place of `rows`
///   least_pairs  the same of the least value of each series
///   best_pairs   "x=y by column": the same of the row of each series with the highest column
///   growth       of each series the last value over the one before, where `against` doubles
///   spread       of each series the largest value over the smallest
///   rises, falls of each series the last over the first, or the first over the last, in the order
///                of `against`; without a limit it is kept where every step goes that way
///   ranks        of each series the rank correlation of the value with `against`; "x by word": of
///                the rows with the highest value of each series with the same word
enum class RuleKind : std::uint8_t {
  each,
  best,
  pairs,
  least_pairs,
  best_pairs,
  growth,
  spread,
  rises,
  falls,
  ranks
};
template <>
struct EnumNames<RuleKind> {
  static constexpr const char* type = "RuleKind";
  static constexpr auto names =
      std::to_array<std::string_view>({"each", "best", "pairs", "least_pairs", "best_pairs",
                                       "growth", "spread", "rises", "falls", "ranks"});
};

enum class RuleUnit : std::uint8_t { percent, points, times, plain };
template <>
struct EnumNames<RuleUnit> {
  static constexpr const char* type = "RuleUnit";
  static constexpr auto names =
      std::to_array<std::string_view>({"percent", "points", "times", "plain"});
};

/// The share of cases for which a publication makes its statement; without such a word, all.
enum class RuleWord : std::uint8_t { all, generally, seldom };
template <>
struct EnumNames<RuleWord> {
  static constexpr const char* type = "RuleWord";
  static constexpr auto names = std::to_array<std::string_view>({"all", "generally", "seldom"});
};

enum class ClaimVerdict : std::uint8_t {
  holds,
  does_not_hold,
  partly,
  within_noise,  // other repeats of the same runs would turn it
  not_measured
};
template <>
struct EnumNames<ClaimVerdict> {
  static constexpr const char* type = "ClaimVerdict";
  static constexpr auto names = std::to_array<std::string_view>(
      {"holds", "does_not_hold", "partly", "within_noise", "not_measured"});
};

///   lines   of each row a point of its series: the curve over `x`
///   course  of each row a line: its lists give the points
///   bars    of each row a bar a curve
///   groups  of each row and curve a bar for each column that begins as the curve says
///   parts   of each row one bar, whose parts are the curves and what is left of 1
enum class FigureKind : std::uint8_t { lines, course, bars, groups, parts };
template <>
struct EnumNames<FigureKind> {
  static constexpr const char* type = "FigureKind";
  static constexpr auto names =
      std::to_array<std::string_view>({"lines", "course", "bars", "groups", "parts"});
};

enum class FigureAxis : std::uint8_t { plain, percent, twos, tens };
template <>
struct EnumNames<FigureAxis> {
  static constexpr const char* type = "FigureAxis";
  static constexpr auto names =
      std::to_array<std::string_view>({"plain", "percent", "twos", "tens"});
};

/// The source of a figure's line: the files given, of the tables that ship, of the
/// publication.
enum class FigureSource : std::uint8_t { yours, ours, paper };
template <>
struct EnumNames<FigureSource> {
  static constexpr const char* type = "FigureSource";
  static constexpr auto names = std::to_array<std::string_view>({"yours", "ours", "paper"});
};

#define GF_RESULTS "analyze/results/reproduction.def"
#include "analyze/declare_results.inl"

struct Rule {
  RuleKind kind;
  std::string_view about;
  std::string_view value;    // + - * / ( ) over columns; "a | b": b where a is not known
  std::string_view rows;     // "word=a|b, word!=c, number>=1": all must hold; empty: every row
  std::string_view against;  // as `kind` says
  double low, high;          // NaN: no limit
  RuleWord word;             // sets the share that must be kept
  RuleUnit unit;
};

struct Claim {
  Study study;
  std::string_view id, section, statement, original, needs;
  std::vector<Rule> rules;
};

std::span<const Claim> all_claims();
/// Publication of a study: "DATE 2024, ...".
std::string_view title_of(Study study);

/// A number, and what it ranges over in the repeats of its row: nothing, where there are none.
struct Measured {
  double value = 0, least = 0, most = 0;
  Measured() = default;
  Measured(double all) : value(all), least(all), most(all) {}
  Measured(double middle, double low, double high) : value(middle), least(low), most(high) {}
};

/// The widest that the ranges of both allow.
Measured operator/(const Measured& one, const Measured& other);

/// One measured row. Words are its axes and names, `table` and `file` among them.
struct FactRow {
  std::map<std::string, std::string, std::less<>> words;
  std::map<std::string, Measured, std::less<>> numbers;
  std::map<std::string, std::vector<double>, std::less<>> lists;  // numbers that are a course
  std::string name;

  /// Empty: it has none of that key.
  std::string_view word(std::string_view key) const {
    const auto found = words.find(key);
    return found == words.end() ? std::string_view() : std::string_view(found->second);
  }
};

/// The value of an expression, or the first column that the row lacks (in `missing`).
std::optional<Measured> evaluate(std::string_view expression, const FactRow& row,
                                 std::string& missing);
/// True if the row meets all conditions of a list such as "word=a|b, number>=1, word!=c".
bool matches(std::string_view conditions, const FactRow& row);

/// The `table` of rows that come from an answer of this program, not from a file of rows.
inline constexpr std::string_view kAnswerTable = "answer";

/// Runtime and energy facts of an answer of `analyze` or `energy`, as JSON; empty where
/// it is none. `run`: axes that are known; the name of the answer's capture tells others.
std::optional<FactRow> fact_of_answer(const std::string& json, const SweepRun& run,
                                      const std::string& name);

/// An answer gives one row. Else every list of objects in a file of JSON, and every object of
/// objects, a row an object: texts that name something become words, numbers columns with their
/// path ("phases.wait", "parts.dram.joules"), and those of the file's other tables about the same
/// run ("per_item:kernel_ns_per_item"); lists of numbers, and of objects of numbers, are courses. A
/// JSON text a line is a row a line.
Result<std::vector<FactRow>> read_facts(std::string_view content, const std::string& path);
/// The runs of a sweep, with what its kernels say.
std::vector<FactRow> facts_of(const Sweep& sweep);

/// `from`: whose rows they are.
Reproduction reproduce(Study study, std::span<const FactRow> rows,
                       FigureSource from = FigureSource::yours);

/// The figures of a study for which a row has the numbers, with the publication's own.
std::vector<Figure> figures_of(Study study, std::span<const FactRow> rows, FigureSource from);
/// Puts into each plot the lines of `ours` that another's figure has there.
void put_beside(const Figure& ours, Figure& figure);

/// The tables that ship with the program: measurements of ours that judge the same statements.
struct ShippedTable {
  Study study;
  std::string_view folder, name;  // below its data
};
std::span<const ShippedTable> shipped_tables();
/// Puts what those tables say beside each statement and rule, and into each plot that they have.
void put_beside(const Reproduction& shipped, Reproduction& answer);

}  // namespace gf
