#include "collect/record/watched_sensors.h"

namespace gf {

namespace {

constexpr Nanos kSensorPatience = kNsPerSecond;
constexpr Nanos kHangs = 500 * kNsPerMs;  // a call that takes longer does not come back soon

}  // namespace

WatchedSensors::WatchedSensors(std::shared_ptr<Nvml> nvml, std::vector<GpuInfo> gpus,
                               std::vector<std::uint32_t> device_rows,
                               const std::vector<bool>& with_gpm, bool fine_energy)
    : state_(std::shared_ptr<State>(
          new State{nvml,
                    Sensors(*nvml, std::move(gpus), std::move(device_rows), with_gpm, fine_energy),
                    {}})) {}

void WatchedSensors::watch(ActivityWatch& watch) { state_->sensors.watch(watch); }

void WatchedSensors::add_instance(const GpuInfo& gpu, const MigInstance& instance,
                                  std::uint32_t device_row) {
  state_->sensors.add_instance(gpu, instance, device_row);
}

void WatchedSensors::call(Capture& capture, bool last, int wake_fd) {
  if (thread_.wait(0) == CallEnd::returned) move_rows(capture);  // of a call that took long
  const auto end = thread_.run(
      [state = state_, last] {
        if (last)
          state->sensors.finish(state->rows);
        else
          state->sensors.poll(state->rows);
      },
      kSensorPatience, wake_fd);
  if (end == CallEnd::returned) move_rows(capture);
}

void WatchedSensors::poll(Capture& capture, int wake_fd) { call(capture, false, wake_fd); }
void WatchedSensors::finish(Capture& capture) { call(capture, true, -1); }

void WatchedSensors::move_rows(Capture& capture) {
  auto& from = state_->rows.counter_samples;
  auto& to = capture.counter_samples;
  for (std::uint32_t row = 0; row < from.size(); ++row) {
    const auto added = to.add();
    to.start_ns[added] = from.start_ns[row];
    to.duration_ns[added] = from.duration_ns[row];
    to.device[added] = from.device[row];
    to.metric[added] = capture.strings.intern(state_->rows.text(from.metric[row]));
    to.value[added] = from.value[row];
  }
  from.clear();
  capture.add_quality(state_->rows);
  state_->rows.quality.clear();
}

Nanos WatchedSensors::hangs_for() const {
  const Nanos since = thread_.running_for();
  if (since > kHangs) return since;
  return 0;
}

void WatchedSensors::fill(std::size_t gpu, RecordedDevice& out) const {
  if (thread_.running_for() == 0) state_->sensors.fill(gpu, out);
}

bool WatchedSensors::lost(std::size_t gpu) const {
  return thread_.running_for() == 0 && state_->sensors.lost(gpu);
}

}  // namespace gf
