// The laws of docs/evidence.md as a table, and the one rule for what a breach of one means.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/capture.h"

namespace gf {

enum class Law : std::uint8_t {
#define GF_LAW(id, one_in, beyond, within, holds, source) id,
#include "model/ledger/laws.def"
#undef GF_LAW
  count
};

struct LawRow {
  std::int64_t one_in;
  QualityCode beyond, within;
  std::string_view holds, source;
};
inline constexpr std::array<LawRow, static_cast<std::size_t>(Law::count)> kLaws{{
#define GF_LAW(id, one_in, beyond, within, holds, source) \
  {one_in, QualityCode::beyond, QualityCode::within, holds, source},
#include "model/ledger/laws.def"
#undef GF_LAW
}};

/// A breach of a law.
struct Breach {
  std::int64_t count = 0, of = 0;  // records; none of which the law is about: only time counts
  std::int64_t excused = 0;        // of the records: not held against the bound
  Nanos time = -1, of_time = 0;    // of kernels: how much may be missing or too much, of how much
};

bool beyond_bound(Law law, const Breach& breach);

/// Notes a breach as what its law says, with its time.
void tell(Capture& capture, Law law, const Breach& breach, std::string_view detail);

/// True if a code says that the records contradict each other, so that nothing can be advised.
bool breaks_a_law(std::string_view code);

}  // namespace gf
