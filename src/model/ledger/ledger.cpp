#include "model/ledger/ledger.h"

#include <array>
#include <future>

#include "model/launches.h"

namespace gf {

namespace {

void check_device_work(Capture& capture) {
  std::array<Capture, 3> notes;
  const auto apart = [](auto&& check) { return std::async(std::launch::async, check); };
  auto streams = apart([&] { check_streams(capture, notes[0]); });
  auto numbers = apart([&] { check_numbers(capture, notes[2]); });
  capture.launches = join_launches(capture).shared();
  auto clocks = apart([&] { check_clocks(capture, *capture.launches, notes[1]); });
  streams.get();
  check_launches(capture, *capture.launches, notes[0]);
  clocks.get();
  numbers.get();
  for (const auto& each : notes) capture.add_quality(each);
}

}  // namespace

void check_evidence(Capture& capture) {
  // A capture file says what was told when it was written: nothing is told twice.
  const auto stored = capture.quality;
  if (!capture.activities.empty() || !capture.api_calls.empty()) check_device_work(capture);
  check_marks(capture);
  check_programs(capture);
  check_readings(capture);
  for (std::size_t row = 0; row < stored.size(); ++row) {
    capture.quality.count[row] = stored.count[row];
    capture.quality.time_ns[row] = stored.time_ns[row];
  }
}

}  // namespace gf
