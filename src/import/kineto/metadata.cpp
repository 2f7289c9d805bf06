#include "import/kineto/metadata.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "core/secrets.h"
#include "import/kineto/event.h"
#include "import/kineto/read_slow.h"
#include "import/kineto/scan.h"

namespace gf::kineto {

namespace {

namespace dom = simdjson::dom;

std::string text_of(const dom::element& value) {
  switch (value.type()) {
    case dom::element_type::STRING:
      return std::string(value.get_string().value_unsafe());
    case dom::element_type::DOUBLE:
      return fmt::format("{}", value.get_double().value_unsafe());
    default:
      return simdjson::minify(value);
  }
}

std::int64_t integer(const dom::object& object, const char* key) {
  std::int64_t value = -1;
  if (object.at_key(key).get(value)) return -1;
  return value;
}

std::int32_t small(const dom::object& object, const char* key) {
  const auto wide = integer(object, key);
  if (wide >= 0 && wide <= INT32_MAX) return static_cast<std::int32_t>(wide);
  return -1;
}

void add_device(Capture& capture, const dom::object& object) {
  const auto id = small(object, "id");
  if (id < 0) return;
  auto& devices = capture.devices;
  const auto row = capture.device_row(id);
  std::string_view name;
  if (object.at_key("name").get(name)) name = {};
  devices.name[row] = capture.strings.intern(name);
  auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  // Only AMD's wavefronts have 64 lanes; its devices may come without a name.
  if (has("AMD") || has("Radeon") || has("Instinct") || integer(object, "warpSize") == 64)
    devices.vendor[row] = capture.strings.intern("amd");
  else if (has("NVIDIA") || has("Tesla") || has("Quadro") || has("GeForce"))
    devices.vendor[row] = capture.strings.intern("nvidia");
  devices.compute_major[row] = small(object, "computeMajor");
  devices.compute_minor[row] = small(object, "computeMinor");
  devices.sm_count[row] = small(object, "numSms");
  devices.memory_bytes[row] = integer(object, "totalGlobalMem");
  devices.max_threads_per_sm[row] = small(object, "maxThreadsPerMultiprocessor");
  devices.registers_per_sm[row] = small(object, "regsPerMultiprocessor");
  devices.shared_bytes_per_sm[row] = std::max(integer(object, "sharedMemPerMultiprocessor"),
                                              integer(object, "maxSharedMemoryPerMultiProcessor"));
}

std::optional<Nanos> take_member(Capture& capture, std::string_view key,
                                 const dom::element& value) {
  if (key == "deviceProperties") {
    dom::array list;
    if (!value.get_array().get(list))
      for (const dom::element& item : list)
        if (dom::object object; !item.get_object().get(object)) add_device(capture, object);
    return std::nullopt;
  }
  if (dom::object object; key == "distributedInfo" && !value.get_object().get(object)) {
    for (auto [name, part] : object)
      capture.set_metadata("distributedInfo." + std::string(name),
                           without_secrets(name, text_of(part)));
    return std::nullopt;
  }
  const std::string text = text_of(value);
  capture.set_metadata(key, without_secrets(key, text));
  if (key != "baseTimeNanoseconds") return std::nullopt;
  const auto base = parse_decimal(text, 0);
  if (base && *base >= 0 && *base < (std::int64_t{1} << 62)) return base;
  capture.note_quality(QualityCode::bad_metadata, "baseTimeNanoseconds is " + text +
                                                      ", which is not a time; times are relative");
  return std::nullopt;
}

/// One object; false when it is not valid JSON.
bool take_object(Capture& capture, const std::string& json, std::optional<Nanos>& base) {
  dom::parser parser;
  dom::object object;
  if (parser.parse(json).get_object().get(object)) return false;
  for (auto [key, value] : object)
    if (auto taken = take_member(capture, key, value)) base = taken;
  return true;
}

}  // namespace

std::optional<Nanos> read_metadata(Capture& capture, std::string members, bool cut) {
  std::optional<Nanos> base;
  // Free of the commas and braces at the seams.
  const auto first = members.find_first_not_of(", \t\r\n");
  if (first == members.npos || members.find_first_not_of("} \t\r\n") == members.npos) return base;
  members.erase(0, first);
  std::string json(1, '{');
  json += members;
  json.erase(json.find_last_not_of(" \t\r\n") + 1);
  if (json.ends_with(',')) json.back() = '}';
  if (take_object(capture, json, base)) return base;
  if (take_object(capture, json + "}", base)) return base;  // cut after a whole member
  if (!cut)
    capture.note_quality(
        QualityCode::bad_metadata,
        "the trace's own description is not valid JSON; what could be found in it was kept");
  repair_text(json);
  json.append(kPadding, '\0');
  const char* end = json.data() + json.size() - kPadding;
  for (const char* key :
       {"schemaVersion", "deviceProperties", "distributedInfo", "cupti_version",
        "cuda_runtime_version", "cuda_driver_version", "hip_runtime_version", "record_shapes",
        "with_stack", "with_modules", "with_flops", "profile_memory", "trace_id", "displayTimeUnit",
        "baseTimeNanoseconds", "traceName"}) {
    const std::string quoted = fmt::format("\"{}\"", key);
    const auto at = json.find(quoted);
    if (at == json.npos) continue;
    const char* cursor = skip_space(json.data() + at + quoted.size());
    if (*cursor != ':') continue;
    cursor = skip_space(cursor + 1);
    const char* stop = nullptr;
    if (*cursor == '"') {
      stop = string_end(cursor + 1, end);
    } else if (*cursor == '[' || *cursor == '{') {
      stop = container_end(cursor, end);
    } else {
      stop = scalar_stop(cursor);
    }
    if (!stop || stop >= end) continue;
    if (*cursor == '"') ++stop;
    take_object(capture,
                fmt::format("{{{}:{}}}", quoted,
                            std::string_view(cursor, static_cast<std::size_t>(stop - cursor))),
                base);
  }
  return base;
}

}  // namespace gf::kineto
