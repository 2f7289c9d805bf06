// Answers of `monitor --serve` (/metrics, /json, /healthz, /captures), and who may ask.
// Serves the monitor's newest table over HTTP.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/live/serve/http_server.h"
#include "core/error.h"
#include "model/live.h"

namespace gf::cli {

struct PageOptions {
  bool dcgm_names = false;
  bool job_labels = false;  // whose work a GPU does, on each of its series
  std::string token;        // asked for as "Authorization: Bearer TOKEN"; empty: none
  std::function<bool(const std::string& why)>
      flight;            // asks for a capture; false: the recorder has ended; empty: there is none
  std::string captures;  // folder of the flight recorder; empty: there is none
  std::vector<std::string> hosts;  // names, besides this machine's own, that requests may ask for
};

/// Captures of the flight recorder, for a browser: a list, the files, and the page of one, which a
/// process of its own makes when it is asked for. Of the server's thread alone.
class CapturePages {
 public:
  explicit CapturePages(std::string folder) : folder_(std::move(folder)) {}
  CapturePages(const CapturePages&) = delete;
  ~CapturePages();
  /// `path` begins with /captures.
  HttpAnswer answer(const std::string& path);

 private:
  HttpAnswer list() const;
  HttpAnswer page_of(const std::string& name);
  void look_at_maker();

  const std::string folder_;
  std::string made_of_;                      // the capture that the page is of, or will be
  std::shared_ptr<const std::string> page_;  // null: it is being made, or could not be
  int maker_ = 0;                            // the process; 0: none
  Nanos maker_until_ = 0;
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
  HttpAnswer flight() const;
  HttpAnswer captures(const HttpRequest& request);
  bool may_ask(const HttpRequest& request) const;
  std::string render(Page which, Nanos now);
  LiveTable fresh(Nanos now);
  bool host_is_ours(const std::string& host) const;

  PageOptions options_;
  std::string host_name_;
  std::mutex mutex_;  // over the table
  LiveTable table_;
  std::array<Rendered, kPages> rendered_;   // of the server's thread alone
  std::unique_ptr<CapturePages> captures_;  // null: there is no flight recorder
};

/// True if two secrets are equal, in a time that does not tell where they differ.
bool same_secret(std::string_view one, std::string_view other);

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
