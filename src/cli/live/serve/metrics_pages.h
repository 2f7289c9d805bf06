// What `monitor --serve` answers: /metrics, /json, /healthz; and to whom.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "cli/live/serve/http_server.h"
#include "model/live.h"

namespace gf::cli {

struct PageOptions {
  bool dcgm_names = false;
  bool job_labels = false;         // whose work a GPU does, on each of its series
  std::string token;               // asked for as "Authorization: Bearer TOKEN"; empty: none
  std::vector<std::string> hosts;  // names, besides this machine's own, that requests may ask for
};

/// Scrapes render the newest table, at most four times a second: they never read the driver, so a
/// scraper cannot disturb the GPU however often it asks.
class MetricsPages {
 public:
  explicit MetricsPages(PageOptions options);
  void publish(LiveTable table);
  HttpAnswer answer(const HttpRequest& request);

 private:
  enum Page { prometheus, openmetrics, json, kPages };
  struct Rendered {
    Nanos time_ns = 0;
    std::shared_ptr<const std::string> text;
  };
  HttpAnswer page(Page which);
  HttpAnswer health();
  std::string render(Page which, Nanos now);
  LiveTable fresh(Nanos now);
  bool host_is_ours(const std::string& host) const;

  PageOptions options_;
  std::string host_name_;
  std::mutex mutex_;  // over the table
  LiveTable table_;
  std::array<Rendered, kPages> rendered_;  // of the server's thread alone
};

/// Whether two secrets are equal, in a time that does not tell where they differ.
bool same_secret(std::string_view one, std::string_view other);

}  // namespace gf::cli
