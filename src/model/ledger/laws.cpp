#include "model/ledger/laws.h"

#include <algorithm>

namespace gf {

namespace {
const LawRow& row_of(Law law) { return kLaws[static_cast<std::size_t>(law)]; }
}  // namespace

bool beyond_bound(Law law, const Breach& breach) {
  const std::int64_t one_in = row_of(law).one_in;
  return (breach.of > 0 && breach.count - breach.excused > breach.of / one_in) ||
         (breach.of_time > 0 && breach.time > breach.of_time / one_in);
}

void tell(Capture& capture, Law law, const Breach& breach, std::string_view detail) {
  const LawRow& row = row_of(law);
  capture.note_quality(beyond_bound(law, breach) ? row.beyond : row.within, detail, breach.count,
                       breach.time);
}

bool breaks_a_law(std::string_view code) {
  return makes_partial(code) &&
         std::ranges::any_of(kLaws, [&](const LawRow& row) { return code == name_of(row.beyond); });
}

}  // namespace gf
