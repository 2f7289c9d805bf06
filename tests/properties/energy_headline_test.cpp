// A headline of energy never leaves out what is not explained: its parts sum to all of it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "report/summary.h"

namespace gf {

RC_GTEST_PROP(EnergyHeadline, SumsToTheEnergyAndAlwaysSaysWhatIsNotExplained, ()) {
  EnergyUse use;
  std::int64_t total = 0;
  for (int devices = *rc::gen::inRange(1, 4); devices > 0; --devices) {
    DeviceEnergy device;
    std::int64_t explained = 0;
    for (const char* component : {"static", "active", "dram", "l2", "tensor.bf16"})
      if (*rc::gen::inRange(0, 3) > 0) {
        const auto nj = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000);
        device.parts.push_back({component, nj, nj, nj, {}});
        explained += nj;
      }
    device.nj = *rc::gen::inRange<std::int64_t>(1, 3'000'000'000'000);
    if (!device.parts.empty()) device.parts.push_back({"rest", device.nj - explained, 0, 0, {}});
    device.span_ns = 1'000'000'000;
    total += device.nj;
    use.devices.push_back(std::move(device));
  }
  const auto parts = energy_headline_parts(use);
  std::int64_t sum = 0;
  for (const auto& part : parts) sum += part.nj;
  RC_ASSERT(sum == total);
  RC_ASSERT(parts.back().name == "not explained");
  Analysis analysis;
  analysis.energy = use;
  RC_ASSERT(headline(analysis).find("not explained ") != std::string::npos);
}

}  // namespace gf
