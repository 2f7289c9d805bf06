// Times of log lines.
#pragma once

#include <optional>
#include <string_view>

#include "core/time.h"
#include "model/capture.h"

namespace gf::telemetry {

/// "2024/01/31 12:34:56.789" (nvidia-smi, local time without zone) or "2024-01-31T12:34:56.789Z",
/// as nanoseconds since 1970 in the zone it was written in.
std::optional<Nanos> parse_calendar(std::string_view text, bool* zoned = nullptr);

/// The date that a text begins with, in numbers: 2021-03-04, 04.03.2021, 3/4/2021.
struct WrittenDate {
  int first, second, third;
  bool year_first;
  std::size_t end;  // of the date in the text
};
std::optional<WrittenDate> split_date(std::string_view text);

/// parse_calendar() of any such date and a time of day behind it.
std::optional<Nanos> parse_date_and_time(std::string_view text, bool month_first,
                                         bool* zoned = nullptr);

/// "+01:00", "-0530", "+2", "UTC" as nanoseconds ahead of UTC.
std::optional<Nanos> parse_zone(std::string_view text);

/// Takes the zone that the user named off the times of a log in local time, and its note with it.
void leave_local_time(Capture& capture, Nanos zone);

/// The unit of a column of times: exponent of ten from its unit to nanoseconds (9 for
/// "unix_time_s"); empty when it is no time.
std::optional<int> time_column_exponent(std::string_view header);

}  // namespace gf::telemetry
