#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/events/timeline_data.h"
#include "report/json.h"

namespace gf {

namespace {

enum class Coding : std::uint8_t { number, rising, change };

struct ColumnForm {
  const char* id;
  TimelineLane::Column TimelineLane::* values;
  Coding coding;
};

constexpr std::array kColumns{
    ColumnForm{"start", &TimelineLane::start, Coding::rising},
    ColumnForm{"duration", &TimelineLane::duration, Coding::number},
    ColumnForm{"name", &TimelineLane::name, Coding::number},
    ColumnForm{"site", &TimelineLane::site, Coding::number},
    ColumnForm{"call", &TimelineLane::call, Coding::change},
    ColumnForm{"correlation", &TimelineLane::correlation, Coding::change},
    ColumnForm{"sm", &TimelineLane::sm, Coding::number},
    ColumnForm{"issue", &TimelineLane::issue, Coding::number},
    ColumnForm{"tensor", &TimelineLane::tensor, Coding::number},
    ColumnForm{"bytes", &TimelineLane::bytes, Coding::number},
    ColumnForm{"shapes", &TimelineLane::shapes, Coding::number},
    ColumnForm{"low", &TimelineLane::low, Coding::number},
    ColumnForm{"depth", &TimelineLane::depth, Coding::number},
    ColumnForm{"row", &TimelineLane::row, Coding::number},
    ColumnForm{"events", &TimelineLane::events, Coding::number},
    ColumnForm{"filled", &TimelineLane::filled, Coding::number},
};

constexpr std::size_t kLongest = 10;  // bytes of a number

/// The place behind the number.
char* put_varint(char* at, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>((value & 0x7f) | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

template <Coding kCoding>
std::string coded_as(const TimelineLane::Column& values) {
  std::string out;
  out.reserve(values.size() * 2);
  constexpr std::size_t kTogether = 512;
  std::array<char, kTogether * kLongest> part;
  std::uint64_t last = 0;
  for (std::size_t from = 0; from < values.size(); from += kTogether) {
    char* at = part.data();
    const std::size_t to = std::min(from + kTogether, values.size());
    for (std::size_t i = from; i < to; ++i) {
      const auto now = static_cast<std::uint64_t>(values[i]);
      const std::uint64_t step = now - last;
      if constexpr (kCoding == Coding::number)
        at = put_varint(at, now);
      else if constexpr (kCoding == Coding::rising)
        at = put_varint(at, step);
      else
        at = put_varint(at, (step << 1) ^ (0 - (step >> 63)));
      last = now;
    }
    out.append(part.data(), at);
  }
  return out;
}

std::string coded(const TimelineLane::Column& values, Coding coding) {
  if (coding == Coding::number) return coded_as<Coding::number>(values);
  if (coding == Coding::rising) return coded_as<Coding::rising>(values);
  return coded_as<Coding::change>(values);
}

std::string_view name_of_coding(Coding coding) {
  constexpr std::array<std::string_view, 3> names{"number", "rising", "change"};
  return names[static_cast<std::size_t>(coding)];
}

/// The lane as JSON; its columns go to the end of `bytes`.
void describe_lane(std::string& json, std::string& bytes, const TimelineLane& lane) {
  json += R"({"kind":)";
  json_string(json, lane.kind);
  json += R"(,"title":)";
  json_string(json, lane.title);
  json += R"(,"group":)";
  json_string(json, lane.group);
  json += fmt::format(R"(,"device":{},"merged":{},"count":{},"columns":[)", lane.device,
                      lane.merged, lane.start.size());
  const char* comma = "";
  for (const auto& column : kColumns) {
    const auto& values = lane.*column.values;
    if (values.empty()) continue;
    const std::string packed = coded(values, column.coding);
    json += fmt::format(R"({}{{"id":"{}","coding":"{}","bytes":{}}})", comma, column.id,
                        name_of_coding(column.coding), packed.size());
    bytes += packed;
    comma = ",";
  }
  json += "]}";
}

}  // namespace

std::string packed_timeline(const TimelineData& data) {
  std::string bytes;
  std::string json = fmt::format(
      R"({{"start_ns":{},"duration_ns":{},"origin_ns":{},"shown":{},"total":{},"whole":[)",
      data.start_ns, data.duration_ns, data.origin_ns, data.shown, data.total);
  for (std::size_t i = 0; i < data.whole.size(); ++i)
    json += fmt::format("{}[{},{}]", i > 0 ? "," : "", data.whole[i].start, data.whole[i].end);
  json += R"(],"texts":)";
  to_json(json, data.texts);
  json += R"(,"things":)";
  to_json(json, data.things);
  json += R"(,"sites":)";
  to_json(json, data.sites);
  json += R"(,"lanes":[)";
  for (std::size_t i = 0; i < data.lanes.size(); ++i) {
    if (i > 0) json += ',';
    describe_lane(json, bytes, data.lanes[i]);
  }
  json += "]}";
  std::string out;
  out.reserve(4 + json.size() + bytes.size());
  for (std::size_t byte = 0; byte < 4; ++byte)
    out += static_cast<char>(json.size() >> (8 * byte) & 0xff);
  out += json;
  return out += bytes;
}

}  // namespace gf
