// Counters that PM sampling asks for. The hardware counts a limited choice at once; a set that
// needs several passes cannot be sampled at all. Schedules depend on the chip, so the choice is
// made at run time by asking CUPTI's host interface.
// Reasons why PM sampling may be refused.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collect/cupti/cupti.h"
#include "core/error.h"

namespace gf {

/// A metric of the catalog and the counters that give it, best first: names differ from chip to
/// chip.
struct PmMetric {
  const char* id;
  std::vector<std::string> counters;
  double scale;       // from the counter's unit to the catalog's
  bool is_count;      // a count over the sample; else a share of it
  std::string share;  // ratio that the counter is multiplied by, empty: none; 0 where it is
                      // undefined because nothing was counted
};
/// In order of importance: what does not fit one pass is left out from the end.
std::span<const PmMetric> pm_metrics();
/// Those and L1's, which a tenth more of the recorder's time goes into.
std::span<const PmMetric> pm_cache_metrics();
/// Metrics that the energy model needs: instructions by pipe, wavefronts, accesses by level. One
/// pass on GH100.
std::span<const PmMetric> pm_energy_metrics();

/// The most that a sample of the levels or of energy takes in the GPU's buffer, as seen on an H200
/// (docs/results/record_buffers_h200.json).
inline constexpr std::int64_t kPmSampleBytes = 20 << 10, kPmEnergySampleBytes = 640 << 10;

struct PmSet {
  std::span<const PmMetric> metrics;
  std::int64_t sample_bytes;
};
/// The counters that `record --metrics` names: levels, caches or energy.
PmSet pm_set(std::string_view name);

/// The choice for one chip.
struct PmChoice {
  std::vector<const PmMetric*> metrics;
  std::vector<const char*>
      counters;  // one for each of metrics, then the ratios that some are multiplied by
  std::vector<std::size_t> share_of;  // by metric: place of its ratio in counters, 0: none
  std::vector<std::uint8_t> config;   // image for cuptiPmSamplingSetConfig
  std::vector<std::string> left_out;  // ids that the chip does not have, or that did not fit
};

/// Chooses as many of `wanted` as fit one pass. `availability` may be empty (the chip's full set is
/// assumed then).
Result<PmChoice> choose_pm_metrics(const CuptiFunctions& cupti, const std::string& chip,
                                   std::vector<std::uint8_t>& availability,
                                   std::span<const PmMetric> wanted = pm_metrics());

/// The reason why one GPU cannot be sampled: permission, another sampler, an unsupported chip...
enum class PmRefusal { none, permission, in_use, unsupported, driver, other };

/// The reason why a session could not start, as a label: what, and what to do.
const char* advice_for(PmRefusal why);
/// The same of what a call of CUPTI answered.
PmRefusal refusal_of(CUptiResult code);

}  // namespace gf
