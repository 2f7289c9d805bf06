#include "model/capture.h"

#include <algorithm>
#include <string>
#include <vector>

namespace gf {

namespace {

void note(Capture& capture, std::string_view code, std::string_view detail, std::int64_t count) {
  auto& quality = capture.quality;
  const Text id = capture.strings.intern(code);
  for (std::size_t i = 0; i < quality.size(); ++i)
    if (quality.code[i] == id) {
      quality.count[i] = checked_add(quality.count[i], count).value_or(INT64_MAX);
      return;
    }
  const auto row = quality.add();
  quality.code[row] = id;
  quality.count[row] = count;
  quality.detail[row] = capture.strings.intern(detail);
}

}  // namespace

void Capture::note_quality(QualityCode code, std::string_view detail, std::int64_t count) {
  note(*this, name_of(code), detail, count);
}

void Capture::add_quality(const Capture& other) {
  for (std::size_t i = 0; i < other.quality.size(); ++i)
    note(*this, other.text(other.quality.code[i]), other.text(other.quality.detail[i]),
         other.quality.count[i]);
}

void Capture::set_metadata(std::string_view key, std::string_view value) {
  const Text id = strings.intern(key), text = strings.intern(value);
  for (std::size_t i = 0; i < metadata.size(); ++i)
    if (metadata.key[i] == id) {
      metadata.value[i] = text;
      return;
    }
  const auto row = metadata.add();
  metadata.key[row] = id;
  metadata.value[row] = text;
}

std::string_view Capture::metadata_value(std::string_view key) const {
  for (std::size_t i = 0; i < metadata.size(); ++i)
    if (text(metadata.key[i]) == key) return text(metadata.value[i]);
  return {};
}

void Capture::note_unfinished_recording() {
  if (metadata_value("record.command").empty() || !metadata_value("record.complete").empty())
    return;
  const Text code = strings.find(name_of(QualityCode::incomplete_recording));
  if (code != Text::none && std::ranges::find(quality.code, code) != quality.code.end()) return;
  note_quality(QualityCode::incomplete_recording,
               "the recording has no end: its recorder was killed, or is still at work");
}

std::uint32_t Capture::device_row(std::int32_t id) {
  for (std::uint32_t i = 0; i < devices.size(); ++i)
    if (devices.id[i] == id) return i;
  const auto row = devices.add();
  devices.id[row] = id;
  return row;
}

}  // namespace gf
