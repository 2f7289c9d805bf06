#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "report/events/timeline_data.h"
#include "report/json.h"

namespace gf {

namespace {

struct NamedColumn {
  const char* id;
  TimelineLane::Column TimelineLane::* values;
};

constexpr NamedColumn kColumns[] = {
    {"start", &TimelineLane::start},   {"duration", &TimelineLane::duration},
    {"name", &TimelineLane::name},     {"site", &TimelineLane::site},
    {"call", &TimelineLane::call},     {"correlation", &TimelineLane::correlation},
    {"sm", &TimelineLane::sm},         {"issue", &TimelineLane::issue},
    {"tensor", &TimelineLane::tensor}, {"bytes", &TimelineLane::bytes},
    {"shapes", &TimelineLane::shapes}, {"low", &TimelineLane::low},
    {"depth", &TimelineLane::depth},   {"row", &TimelineLane::row},
    {"events", &TimelineLane::events}, {"filled", &TimelineLane::filled},
};

std::string_view name_of_coding(Coding coding) {
  constexpr std::array<std::string_view, 3> names{"number", "rising", "change"};
  return names[static_cast<std::size_t>(coding)];
}

/// The lane as JSON, and its columns.
void describe_lane(PackedTimeline& packed, const TimelineLane& lane) {
  std::string& json = packed.head;
  json += R"({"kind":)";
  json_string(json, lane.kind);
  json += R"(,"title":)";
  json_string(json, lane.title);
  json += R"(,"group":)";
  json_string(json, lane.group);
  json += fmt::format(R"(,"device":{},"merged":{},"count":{},"columns":[)", lane.device,
                      lane.merged, lane.start.size());
  const char* comma = "";
  for (const auto& [id, column] : kColumns) {
    const auto& values = lane.*column;
    if (!values.says()) continue;
    std::size_t bytes = 0;
    for (const auto block : values.bytes()) {
      bytes += block.size();
      packed.columns.push_back(block);
    }
    json += fmt::format(R"({}{{"id":"{}","coding":"{}","bytes":{}}})", comma, id,
                        name_of_coding(values.coding()), bytes);
    comma = ",";
  }
  json += "]}";
}

}  // namespace

PackedTimeline packed_timeline(const TimelineData& data) {
  PackedTimeline packed;
  std::string& json = packed.head;
  json.assign(4, '\0');  // for its length
  json += fmt::format(
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
    describe_lane(packed, data.lanes[i]);
  }
  json += "]}";
  for (std::size_t byte = 0; byte < 4; ++byte)
    json[byte] = static_cast<char>((json.size() - 4) >> (8 * byte) & 0xff);
  return packed;
}

}  // namespace gf
