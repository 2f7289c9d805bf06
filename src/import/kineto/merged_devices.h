// The devices of a trace, and what merged traces do to their numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "import/kineto/processes.h"
#include "model/capture.h"

namespace gf::kineto {

/// Kineto writes a device's number as the process of what ran on it. Tools that merge the traces of
/// several ranks into one change the processes, so that device 0 of two hosts stays apart ("[TP00]
/// 0" and "[TP01] 0"; 0 and 100000): there, process and number together are the device. Where the
/// process is that of a program in the file, its devices are numbered as those of the others.
class MergedDevices {
 public:
  explicit MergedDevices(Capture& capture) : capture_(capture) {}

  /// Row of the device with this number, where the process is the number, too.
  std::uint32_t row(std::uint32_t id);
  /// Row of what another process calls by this number.
  std::uint32_t row(std::uint32_t id, const std::string& process);

  /// After the last event, and before processes get their names: one row for each device, with a
  /// number of its own; and the process of each activity, where the file tells it.
  void settle(const std::vector<ProcessTurn>& turns);

 private:
  struct Place {
    std::uint32_t row, id;
    std::string process;
    std::int64_t kernels = 0;
    std::int64_t pid = -1;    // of the program
    bool is_program = false;  // the process is the program's own
  };
  std::vector<Place> places() const;
  void find_programs(std::vector<Place>& places) const;
  void tell_programs(const std::vector<Place>& places);
  void number(const std::vector<Place>& places);
  void split_shared();
  void note_merged(const std::string& told, std::int64_t more);
  void place_unnumbered();
  void join_described(std::uint32_t active);
  /// The table of devices as it shall be.
  struct Numbering {
    std::vector<std::uint32_t> to;  // row by the row before
    struct Device {
      std::uint32_t source;  // row before, which describes it
      std::int32_t id;
    };
    std::vector<Device> devices;
  };
  void take(const Numbering& now);

  Capture& capture_;
  std::unordered_map<std::uint32_t, std::uint32_t> plain_;  // by number
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> placed_;
};

}  // namespace gf::kineto
