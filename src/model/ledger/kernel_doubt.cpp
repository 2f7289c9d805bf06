#include "model/ledger/kernel_doubt.h"

#include <algorithm>

namespace gf {

KernelDoubt kernel_doubt(const Capture& capture) {
  KernelDoubt doubt;
  const auto& quality = capture.quality;
  for (std::uint32_t row = 0; row < quality.size(); ++row) {
    const auto code = enum_from<QualityCode>(capture.text(quality.code[row]));
    if (!code) continue;
    const auto time = static_cast<double>(std::max<Nanos>(0, quality.time_ns[row]));
    switch (*code) {
      case QualityCode::no_kernel:
      case QualityCode::few_without_kernel:
      case QualityCode::calls_missing:
        doubt.missing += time;
        if (quality.time_ns[row] < 0) doubt.launches += quality.count[row];
        break;
      case QualityCode::repeated_kernel:
      case QualityCode::few_repeated:
        doubt.repeated += time;
        break;
      case QualityCode::stream_overlap:
      case QualityCode::few_overlaps:
        doubt.overlap += time;
        break;
      case QualityCode::few_lost_records:
        doubt.records += quality.count[row];
        break;
      default:
        break;
    }
  }
  return doubt;
}

}  // namespace gf
