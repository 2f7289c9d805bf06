// What a recording says of itself when it is over.
#include <fmt/format.h>

#include <algorithm>

#include "collect/record/recording.h"

namespace gf {

void Recording::tell_hang(const char* what, Nanos since) {
  std::string text = fmt::format("the driver does not answer: {} end early", what);
  if (since > 0)
    text += fmt::format(" ({:.1f} s before the end)", static_cast<double>(since) * 1e-9);
  if (std::find(notes_.begin(), notes_.end(), text) != notes_.end()) return;
  note(notes_, text);
  capture_.note_quality(QualityCode::counters_ended, text);
}

/// Up to 1 % of the samples leave what the others say whole.
void Recording::note_lost(const RecordedDevice& device) {
  if (device.lost == 0) return;
  auto code = QualityCode::few_lost_samples;
  if (device.lost * 100 > device.samples + device.lost) code = QualityCode::lost_samples;
  capture_.note_quality(
      code, "counter samples that never arrived: the rate was too high for this machine",
      device.lost);
}

RecordSummary Recording::summary(Nanos started, Nanos ended) {
  RecordSummary summary;
  summary.path = o_.output;
  summary.command = capture_.metadata_value("record.command");
  summary.duration_ns = ended - started;
  if (tree_) {
    summary.host_cpu_seconds = last_use_.cpu_seconds - base_use_.cpu_seconds;
    summary.host_memory_peak_bytes = host_memory_peak_;
  }
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    RecordedDevice device;
    device.index = gpus_[i].index;
    device.name = gpus_[i].name;
    device.source = sources_[i];
    sensors_->fill(i, device);
    for (const auto& source : counters_.sources()) {
      if (source.device != rows_[i]) continue;
      source.summary.fill(device);
      device.lost = source.sampler->lost() + source.dropped;
      note_lost(device);
      if (source.sampler->overflows() > 0)
        capture_.note_quality(QualityCode::buffer_overflow, "the GPU's sample buffer overflowed",
                              source.sampler->overflows());
      if (!source.error.empty()) {
        note(notes_, fmt::format("GPU {}: counters ended early: {}", device.index, source.error));
        capture_.note_quality(QualityCode::counters_ended, source.error);
      }
      capture_.set_metadata(fmt::format("record.clock_offset_ns.{}", device.index),
                            std::to_string(source.sampler->clock_offset_ns()));
      capture_.set_metadata(
          fmt::format("record.cpu_seconds.{}", device.index),
          fmt::format("decode {:.3f} evaluate {:.3f} empty {:.3f}", source.sampler->cost().decode_s,
                      source.sampler->cost().evaluate_s, source.sampler->cost().reset_s));
    }
    if (counters_.hangs() && sources_[i] == "pm_sampling") tell_hang("the hardware counters", 0);
    if (sensors_->lost(i))
      note(notes_, fmt::format("GPU {} was lost during the recording", device.index));
    summary.devices.push_back(std::move(device));
  }
  if (const Nanos since = sensors_->hangs_for(); since > 0)
    tell_hang("power, clocks and memory", since);
  kernels_.fill(summary, capture_);
  if (dropped_ > 0) {
    note(notes_,
         fmt::format("{} samples were dropped because the file could not be written", dropped_));
    capture_.note_quality(QualityCode::unwritten_samples,
                          "samples dropped because the file could not be written", dropped_);
  }
  return summary;
}

}  // namespace gf
