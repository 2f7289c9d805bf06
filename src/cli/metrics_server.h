// Serves the monitor's newest table over HTTP. Scrapes render a snapshot: they never read the
// driver, so a scraper cannot disturb the GPU however often it asks.
#pragma once

#include <memory>
#include <string>

#include "core/error.h"
#include "model/live.h"

namespace gf::cli {

class MetricsServer {
 public:
  /// Listens on "ADDR:PORT", ":PORT" or "PORT"; without an address on 127.0.0.1 alone. Port 0 takes
  /// a free one.
  static Result<std::unique_ptr<MetricsServer>> start(const std::string& address, bool dcgm_names);
  ~MetricsServer();
  void publish(const LiveTable& table);
  /// "http://ADDR:PORT".
  std::string url() const;

 private:
  MetricsServer();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gf::cli
