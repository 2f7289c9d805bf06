#include "analyze/match/symbols.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "analyze/match/canonical_name.h"
#include "model/kernel_name.h"

namespace gf {

namespace {

/// Similarity below which two names of one short name are still taken for different kernels.
constexpr double kSameKernel = 0.5;

/// The short name without its scope: tools leave different scopes out.
std::string base_name(std::string_view name) {
  std::string text = short_kernel_name(name);
  return text.substr(text.rfind(':') + 1);
}

/// Gives every distinct canonical name a number, and pairs up names that only one side has.
class NameIds {
 public:
  std::uint32_t id(const Capture& capture, Text name, bool of_report) {
    auto [at, fresh] = by_text_.try_emplace(static_cast<std::uint32_t>(name), 0);
    if (fresh) {
      std::string canonical = canonical_kernel_name(capture.text(name));
      const auto [known, added] =
          by_canonical_.try_emplace(canonical, static_cast<std::uint32_t>(names_.size()));
      if (added) names_.push_back({std::move(canonical), base_name(capture.text(name))});
      at->second = known->second;
    }
    (of_report ? names_[at->second].in_report : names_[at->second].in_trace) = true;
    return at->second;
  }

  /// After all names are in: the number that stands for each, and how sure it is.
  void pair_leftovers() {
    representative_.resize(names_.size());
    certainty_.assign(names_.size(), 1.0F);
    for (std::uint32_t i = 0; i < names_.size(); ++i) representative_[i] = i;
    struct Candidate {
      double similarity;
      std::uint32_t trace, report;
    };
    std::vector<Candidate> candidates;
    for (std::uint32_t report_name = 0; report_name < names_.size(); ++report_name) {
      if (!names_[report_name].in_report || names_[report_name].in_trace) continue;
      for (std::uint32_t trace_name = 0; trace_name < names_.size(); ++trace_name) {
        if (!names_[trace_name].in_trace || names_[trace_name].in_report) continue;
        const bool mangled = names_[trace_name].canonical.starts_with("_Z") !=
                             names_[report_name].canonical.starts_with("_Z");
        if (!mangled && names_[trace_name].base != names_[report_name].base) continue;
        const double similarity =
            name_similarity(names_[trace_name].canonical, names_[report_name].canonical);
        if (similarity >= kSameKernel) candidates.push_back({similarity, trace_name, report_name});
      }
    }
    std::ranges::stable_sort(candidates, [](const Candidate& left, const Candidate& right) {
      return left.similarity > right.similarity;
    });
    std::vector<bool> taken(names_.size());
    for (const Candidate& candidate : candidates) {
      if (taken[candidate.trace] || taken[candidate.report]) continue;
      taken[candidate.trace] = taken[candidate.report] = true;
      representative_[candidate.report] = candidate.trace;
      certainty_[candidate.trace] = static_cast<float>(candidate.similarity);
      names_[candidate.trace].in_report = true;
    }
  }

  std::uint32_t representative(std::uint32_t id) const { return representative_[id]; }
  float certainty(std::uint32_t id) const { return certainty_[representative_[id]]; }
  void count(Symbols& symbols) const {
    for (std::uint32_t i = 0; i < names_.size(); ++i) {
      if (representative_[i] != i) continue;
      symbols.trace_names += names_[i].in_trace;
      symbols.report_names += names_[i].in_report;
      symbols.shared_names += names_[i].in_trace && names_[i].in_report;
    }
  }

 private:
  struct Name {
    std::string canonical, base;
    bool in_trace = false, in_report = false;
  };
  std::vector<Name> names_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_text_;
  std::unordered_map<std::string, std::uint32_t> by_canonical_;
  std::vector<std::uint32_t> representative_;
  std::vector<float> certainty_;
};

constexpr std::size_t kFields = 4;  // grid, block, registers, shared memory
using Key = std::array<std::int64_t, 9>;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = 0x9E3779B97F4A7C15ull;
    for (std::int64_t part : key) {
      hash = (hash ^ static_cast<std::uint64_t>(part)) * 0xFF51AFD7ED558CCDull;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

/// Launch attributes of one row; the activities and report_kernels tables name them alike.
template <class Table>
Key shape(const Table& table, std::uint32_t row) {
  return {0,
          table.grid_x[row],
          table.grid_y[row],
          table.grid_z[row],
          table.block_x[row],
          table.block_y[row],
          table.block_z[row],
          table.registers[row],
          table.shared_bytes[row]};
}

constexpr std::array<std::array<std::size_t, 2>, kFields> kFieldParts{
    {{1, 4}, {4, 7}, {7, 8}, {8, 9}}};

std::array<std::size_t, kFields> known_fields(const auto& table, const auto& rows) {
  std::array<std::size_t, kFields> known{};
  for (std::uint32_t row : rows) {
    const Key key = shape(table, row);
    for (std::size_t field = 0; field < kFields; ++field)
      known[field] += key[kFieldParts[field][0]] >= 0;
  }
  return known;
}

}  // namespace

Symbols make_symbols(const Capture& capture, const std::vector<std::uint32_t>& rows) {
  const auto& activities = capture.activities;
  const auto& report_kernels = capture.report_kernels;
  std::vector<std::uint32_t> report_rows(report_kernels.size());
  for (std::uint32_t i = 0; i < report_rows.size(); ++i) report_rows[i] = i;

  NameIds names;
  std::vector<std::uint32_t> trace_name(rows.size()), report_name(report_kernels.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    trace_name[i] = names.id(capture, activities.name[rows[i]], false);
  for (std::uint32_t i = 0; i < report_kernels.size(); ++i)
    report_name[i] = names.id(capture, report_kernels.name[i], true);
  names.pair_leftovers();

  // An attribute takes part when nearly every kernel of both sides has it; what only some have
  // cannot tell kernels apart.
  const auto in_trace = known_fields(activities, rows),
             in_report = known_fields(report_kernels, report_rows);
  std::array<bool, kFields> use{};
  float compared = 0;
  for (std::size_t field = 0; field < kFields; ++field) {
    use[field] = in_trace[field] * 20 >= rows.size() * 19 &&
                 in_report[field] * 20 >= report_kernels.size() * 19;
    if (use[field]) {
      compared += 1.0F;
    } else {
      compared += 0.0F;
    }
  }
  const float by_shape = 0.6F + 0.4F * compared / kFields;

  Symbols out;
  out.trace.assign(activities.size(), kNoRow);
  out.report.assign(report_kernels.size(), kNoRow);
  std::unordered_map<Key, std::uint32_t, KeyHash> symbols;
  auto symbol = [&](std::uint32_t name, Key key) {
    key[0] = names.representative(name);
    for (std::size_t field = 0; field < kFields; ++field)
      if (!use[field])
        for (std::size_t part = kFieldParts[field][0]; part < kFieldParts[field][1]; ++part)
          key[part] = -1;
    const auto [at, fresh] = symbols.try_emplace(key, static_cast<std::uint32_t>(symbols.size()));
    if (fresh) out.certainty.push_back(names.certainty(name) * by_shape);
    return at->second;
  };
  for (std::size_t i = 0; i < rows.size(); ++i)
    out.trace[rows[i]] = symbol(trace_name[i], shape(activities, rows[i]));
  for (std::uint32_t i = 0; i < report_kernels.size(); ++i)
    out.report[i] = symbol(report_name[i], shape(report_kernels, i));
  names.count(out);
  return out;
}

}  // namespace gf
