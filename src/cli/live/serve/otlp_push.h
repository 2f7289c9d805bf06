// Sends readings to an OpenTelemetry collector: OTLP over HTTP (`monitor --otlp-endpoint`).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/error.h"

namespace gf::cli {

struct OtlpEndpoint {
  std::string host, port, path;
  std::string url() const;
};

/// "http://HOST[:4318][/v1/metrics]". Errors: another scheme, no host.
Result<OtlpEndpoint> parse_otlp_endpoint(std::string_view url);

/// Posts requests from a thread of its own, so that a collector that does not answer holds no
/// reading up: of what waits only the newest is sent. Says on standard error when sending begins to
/// fail, and when it works again.
class OtlpPush {
 public:
  explicit OtlpPush(OtlpEndpoint endpoint);
  OtlpPush(const OtlpPush&) = delete;
  OtlpPush& operator=(const OtlpPush&) = delete;
  /// Waits for the last request, a few seconds at most.
  ~OtlpPush();

  const OtlpEndpoint& endpoint() const { return endpoint_; }
  void send(std::string request);

 private:
  void run();
  void report(const Status& sent);

  OtlpEndpoint endpoint_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::optional<std::string> waiting_;
  bool ends_ = false;
  bool failing_ = false;  // of the thread alone
  std::thread thread_;
};

}  // namespace gf::cli
