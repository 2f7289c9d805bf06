// Selects the devices of an answer: those that work, or those that --devices names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/result.h"
#include "core/error.h"
#include "model/capture.h"

namespace gf {

struct Context;

/// Devices by their row in the capture; one that nobody limited holds all.
class ChosenDevices {
 public:
  ChosenDevices() = default;
  explicit ChosenDevices(std::vector<bool> chosen) : chosen_(std::move(chosen)) {}

  bool has(std::uint32_t device) const {
    return chosen_.empty() || (device < chosen_.size() && chosen_[device]);
  }
  void add(std::uint32_t device) {
    if (device < chosen_.size()) chosen_[device] = true;
  }

 private:
  std::vector<bool> chosen_;
};

/// The numbers of --devices, "0,2"; empty for a text that is no such list.
std::optional<std::vector<std::int32_t>> device_numbers(std::string_view wanted);

/// Turns --devices into the devices of the answer.
///   (empty)  those that work: at least a hundredth of the kernel time of the device with most;
///            where no device runs a kernel, all
///   all      all that have activities
///   N,M      those that the source numbers so
/// Errors: a text that is none of these, a number without activities (the message lists those that
/// have some; of a capture of samples alone, of those that it knows).
Result<ChosenDevices> choose_devices(const Capture& capture, std::string_view wanted);

/// Moves the timelines of the other devices from context.devices to context.others. A device that
/// works in the window alone, such as one of a single step, works.
void set_others_aside(Context& context);

/// One for each of context.others.
std::vector<OtherDevice> other_devices(const Context& context);

}  // namespace gf
