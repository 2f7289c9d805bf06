// Steps of serving engines for the monitor: now and then a window of kernels of the programs under
// `gpufathom run`, recorded and analyzed by processes of their own, so that neither holds a reading
// up.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collect/flight/kernel_windows.h"
#include "core/temporary_folder.h"
#include "core/time.h"
#include "model/live.h"

namespace gf::cli {

class ServedSteps {
 public:
  ServedSteps(Nanos length, Nanos every);
  ~ServedSteps();
  ServedSteps(const ServedSteps&) = delete;
  ServedSteps& operator=(const ServedSteps&) = delete;

  /// Begins and takes what is due, without waiting, and adds the newest answers to the table.
  void look(LiveTable& table, Nanos now);

 private:
  struct Reader {  // analyzes a window
    pid_t process = 0;
    KernelWindows::Window window;
  };
  void begin(const LiveTable& table, Nanos now);
  void analyze(const KernelWindows::Window& window);
  bool take(const Reader& reader, Nanos now);

  const TemporaryFolder folder_{"steps"};
  const Nanos every_;
  KernelWindows windows_;
  Nanos next_ = 0;
  std::int64_t number_ = 0;  // of windows, for the names of files
  std::vector<Reader> readers_;
  std::map<std::int64_t, LiveServing> newest_;  // by process
};

}  // namespace gf::cli
