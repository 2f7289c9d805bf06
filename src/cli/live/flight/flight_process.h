// The flight recorder of `monitor --flight`, in a process of its own: a driver that hangs in one of
// them stops nothing of the other.
#pragma once

#include <sys/types.h>

#include <string>

#include "collect/flight/flight.h"

namespace gf::cli {

struct FlightRun {
  FlightOptions flight;
  RecordOptions record;  // devices, source and rate
  bool quiet = false;    // the screen is a table: moments go to the log alone
};

class FlightProcess {
 public:
  /// Forks: before any driver or thread starts. Errors: the folder cannot be used.
  static Result<FlightProcess> start(const FlightRun& run);
  FlightProcess(FlightProcess&& other) noexcept;
  FlightProcess& operator=(FlightProcess&&) = delete;
  ~FlightProcess();  // the recording ends, and its last file is closed

  /// A capture around now; `why` is one line. From any thread. False: the recorder has ended.
  bool ask(const std::string& why) const;
  /// In words, once, when the recorder has ended although nobody asked it to; else empty.
  std::string ended_early();

 private:
  FlightProcess(pid_t process, int orders) : process_(process), orders_(orders) {}
  pid_t process_ = -1;
  int orders_ = -1;
};

}  // namespace gf::cli
