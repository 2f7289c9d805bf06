#include "model/ledger/ledger.h"

#include "model/launches.h"

namespace gf {

void check_evidence(Capture& capture) {
  if (!capture.activities.empty() || !capture.api_calls.empty()) {
    check_launches(capture, join_launches(capture));
    check_streams(capture);
  }
  check_readings(capture);
}

}  // namespace gf
