#include "model/ledger/ledger.h"

#include "model/launches.h"

namespace gf {

void check_evidence(Capture& capture) {
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
}

}  // namespace gf
