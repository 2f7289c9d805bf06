// Serves the monitor's newest table over HTTP.
#pragma once

#include <memory>
#include <string>

#include "cli/live/serve/metrics_pages.h"
#include "core/error.h"

namespace gf::cli {

class MetricsServer {
 public:
  /// Listens on "ADDR:PORT", ":PORT" or "PORT"; without an address on 127.0.0.1 alone. Port 0 takes
  /// a free one. An address that other machines reach needs a token.
  static Result<std::unique_ptr<MetricsServer>> start(const std::string& address,
                                                      PageOptions options);
  void publish(const LiveTable& table) { pages_.publish(table); }
  /// "http://ADDR:PORT".
  std::string url() const;

 private:
  explicit MetricsServer(PageOptions options) : pages_(std::move(options)) {}
  MetricsPages pages_;
  std::string host_;
  std::unique_ptr<HttpServer> server_;  // ends first: its thread asks the pages
};

/// The token that scrapers must show: what the file holds, or else what GPUFATHOM_TOKEN says; empty
/// when neither is given. Never an argument, which every user of the machine could read.
Result<std::string> read_token(const std::string& file);

}  // namespace gf::cli
