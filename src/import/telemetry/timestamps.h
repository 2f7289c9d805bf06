// Times of log lines.
#pragma once

#include <optional>
#include <string_view>

#include "core/time.h"

namespace gf::telemetry {

/// "2024/01/31 12:34:56.789" (nvidia-smi, local time without zone) or "2024-01-31T12:34:56.789Z",
/// as nanoseconds since 1970 in the zone it was written in.
std::optional<Nanos> parse_calendar(std::string_view text, bool* zoned = nullptr);

/// How a column counts time: exponent of ten from its unit to nanoseconds (9 for "unix_time_s");
/// empty when it is no time.
std::optional<int> time_column_exponent(std::string_view header);

}  // namespace gf::telemetry
