// Work in short, for `analyze`: achieved operations a second, utilization, items per second, and
// what is left of the memory.
#include <algorithm>
#include <cmath>
#include <span>

#include "analyze/work/ceilings.h"
#include "analyze/work/sections.h"
#include "analyze/work/work.h"
#include "model/metrics.h"

namespace gf {
namespace {

using work::KernelWorks;

/// Kernels of one device and what they did in its window.
struct DeviceWork {
  double asked = 0;           // operations that the model asks for
  double at_peak = 0;         // seconds that these take at the peak
  double multiplying_ns = 0;  // of kernels that multiply
  double known_ns = 0;        // of these, with known operations
  double measured = 0;        // tensor operations that counters saw
  std::size_t counted = 0;    // kernels with these
  double others = 0;          // operations of instructions that counters saw
  std::size_t others_counted = 0;
};

DeviceWork work_of(const Context& context, const KernelWorks& works, std::size_t first,
                   std::size_t last, double peak) {
  DeviceWork sum;
  for (std::size_t i = first; i < last; ++i) {
    const work::KernelWork& kernel = works.kernels[i];
    const auto& instance = context.kernels[i];
    const auto ns = static_cast<double>(instance.exclusive_ns);
    const auto phase = static_cast<TrainingPhase>(context.attribution.phase[instance.activity]);
    const double asked = phase == TrainingPhase::recompute ? 0 : kernel.flops - kernel.recomputed;
    sum.asked += asked;
    // As in the account: a kernel cannot have done more than its time allows.
    if (peak > 0) sum.at_peak += std::min(asked / peak, ns * 1e-9);
    if (kernel.multiplies) sum.multiplying_ns += ns;
    if (kernel.multiplies && kernel.known) sum.known_ns += ns;
    const double others = works.counted.other_operations(instance.activity);
    if (!std::isnan(others)) {
      sum.others += others;
      ++sum.others_counted;
    }
    const double measured = works.counted.tensor_operations(instance.activity);
    if (std::isnan(measured)) continue;
    sum.measured += measured;
    ++sum.counted;
  }
  return sum;
}

/// All devices together.
class Headline {
 public:
  Headline(const Context& context, const Analysis& analysis, const KernelWorks& works)
      : context_(context), analysis_(analysis), works_(works) {}

  void fill(WorkHeadline& headline) {
    std::size_t first = 0;
    const auto devices = std::min(context_.devices.size(), analysis_.devices.size());
    for (std::size_t number = 0; number < devices; ++number) {
      const auto& rows = context_.devices[number].rows;
      const auto kernels = static_cast<std::size_t>(std::ranges::count_if(rows, [&](auto row) {
        return context_.capture.activities.kind[row] == ActivityKind::kernel;
      }));
      add_device(number, first, first + kernels);
      first += kernels;
    }
    give(headline);
  }

 private:
  void add_device(std::size_t number, std::size_t first, std::size_t last) {
    const double seconds = static_cast<double>(analysis_.devices[number].span_ns) * 1e-9;
    if (!(seconds > 0) || first == last) return;
    const gf::Product* product = work::product_of(context_, number);
    double peak = 0;
    std::string_view type;
    if (product) {
      type = work::peak_type(*product, works_.kernels, first, last);
      peak = stated_peak(*product, type).value_or(0);
    }
    const DeviceWork of_device = work_of(context_, works_, first, last, peak);
    all_counted_ = all_counted_ && of_device.counted == last - first;
    measured_rate_ += of_device.measured / seconds;
    others_counted_ = others_counted_ && of_device.others_counted == last - first;
    others_rate_ += of_device.others / seconds;
    any_ = true;
    multiplying_ns_ += of_device.multiplying_ns;
    known_ns_ += of_device.known_ns;
    if (!(of_device.known_ns > 0)) return;
    asked_rate_ += of_device.asked / seconds;
    if (!(peak > 0)) return;
    possible_ &= work::is_possible(of_device.asked, peak, of_device.known_ns);
    at_peak_s_ += of_device.at_peak;
    whole_s_ += seconds;
    peak_ += peak;
    if (peak > best_peak_) type_ = type;
    best_peak_ = std::max(best_peak_, peak);
  }

  void give(WorkHeadline& headline) const {
    if (any_ && all_counted_) headline.measured_flops_per_s = measured_rate_;
    if (multiplying_ns_ > 0) headline.coverage = known_ns_ / multiplying_ns_;
    if (known_ns_ > 0) {
      headline.flops_per_s = asked_rate_;
      headline.flops_source = WorkSource::model;
    } else if (const double counted = headline.measured_flops_per_s.value_or(0) +
                                      (any_ && others_counted_ ? others_rate_ : 0);
               counted > 0) {
      // That tensor cores did nothing does not say that nothing was done.
      headline.flops_per_s = counted;
      headline.flops_source = WorkSource::measured;
    }
    if (!(whole_s_ > 0)) return;
    if (possible_) headline.mfu = at_peak_s_ / whole_s_;
    headline.peak_type = type_;
    headline.peak_flops_per_s = peak_;
  }

  const Context& context_;
  const Analysis& analysis_;
  const KernelWorks& works_;
  bool any_ = false, all_counted_ = true, others_counted_ = true, possible_ = true;
  double asked_rate_ = 0, measured_rate_ = 0, others_rate_ = 0, multiplying_ns_ = 0, known_ns_ = 0;
  double at_peak_s_ = 0, whole_s_ = 0, peak_ = 0, best_peak_ = 0;
  std::string_view type_;
};

std::vector<MemoryRoom> rooms(const std::vector<DeviceMemory>& devices) {
  std::vector<MemoryRoom> rooms;
  for (const auto& memory : devices) {
    const auto peak = work::peak_bytes(memory);
    if (!peak) continue;
    MemoryRoom room{memory.device,  memory.source,       *peak, memory.capacity, memory.headroom,
                    memory.growing, memory.fitting_batch};
    rooms.push_back(std::move(room));
  }
  return rooms;
}

bool knows_memory(const Capture& capture) {
  return !capture.memory_events.empty() || capture.strings.find("memory.used"_metric) != Text::none;
}

}  // namespace

WorkHeadline work_headline(const Context& context, const Analysis& analysis) {
  WorkHeadline headline;
  const KernelWorks& works = *context.works;
  if (work::works_of(context)) Headline(context, analysis, works).fill(headline);
  headline.throughput = work::throughput(context, analysis, works);
  if (knows_memory(context.capture))
    headline.memory = rooms(work::memory_use(context, works, headline.throughput));
  return headline;
}

EnergyUse with_joules_an_item(EnergyUse energy, const Throughput& throughput) {
  if (!throughput.items) return energy;
  for (auto& device : energy.devices)
    if (device.step && !device.step->joules_per_item)
      device.step->joules_per_item = device.step->joules / static_cast<double>(*throughput.items);
  return energy;
}

}  // namespace gf
