#include "model/ledger/ledger.h"

#include "model/launches.h"

namespace gf {

void check_evidence(Capture& capture) {
  // A capture file says what was told when it was written: nothing is told twice.
  const auto stored = capture.quality;
  if (!capture.activities.empty() || !capture.api_calls.empty()) {
    capture.launches = join_launches(capture);
    check_streams(capture);
    check_launches(capture, capture.launches);
    check_clocks(capture, capture.launches);
    check_numbers(capture);
  }
  check_marks(capture);
  check_programs(capture);
  check_readings(capture);
  for (std::size_t row = 0; row < stored.size(); ++row) {
    capture.quality.count[row] = stored.count[row];
    capture.quality.time_ns[row] = stored.time_ns[row];
  }
}

}  // namespace gf
