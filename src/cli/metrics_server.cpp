#include "cli/metrics_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <charconv>
#include <mutex>
#include <thread>

#include "report/json.h"
#include "report/openmetrics.h"

namespace gf::cli {

struct MetricsServer::State {
  httplib::Server server;
  std::thread thread;
  std::mutex mutex;
  LiveTable table;
  std::string host;
  int port = 0;
  bool dcgm_names = false;

  LiveTable snapshot() {
    std::lock_guard lock(mutex);
    return table;
  }
};

MetricsServer::MetricsServer() : state_(std::make_unique<State>()) {}

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const std::string& address,
                                                            bool dcgm_names) {
  const auto colon = address.rfind(':');
  std::string host = colon == std::string::npos ? "" : address.substr(0, colon);
  const std::string digits = colon == std::string::npos ? address : address.substr(colon + 1);
  int port = -1;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (code != std::errc() || end != digits.data() + digits.size() || port < 0 || port > 65535)
    return fail(fmt::format("'{}' is no address to serve on", address), {}, -1,
                "give ADDR:PORT, such as 127.0.0.1:9400 or :9400");
  if (host.size() > 1 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  if (host.empty()) host = "127.0.0.1";
  std::unique_ptr<MetricsServer> out(new MetricsServer);
  auto& s = *out->state_;
  s.dcgm_names = dcgm_names;
  s.host = host;
  // A connection holds a thread: one answer each, and little patience with clients that say
  // nothing, so that none shuts others out.
  s.server.new_task_queue = [] { return new httplib::ThreadPool(16); };
  s.server.set_keep_alive_max_count(1);
  s.server.set_keep_alive_timeout(1);
  s.server.set_read_timeout(1);
  s.server.set_write_timeout(2);
  s.server.set_payload_max_length(4096);
  s.server.set_tcp_nodelay(true);  // a page is one small answer: do not wait to fill packets
  // Without SO_REUSEPORT, which the library sets: a second monitor would share the port, each with
  // half of the scrapes.
  s.server.set_socket_options([](int socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  s.server.Get("/metrics", [&s](const httplib::Request& request, httplib::Response& response) {
    OpenMetricsOptions o;
    o.openmetrics = request.get_header_value("Accept").find("application/openmetrics-text") !=
                    std::string::npos;
    o.dcgm_names = s.dcgm_names;
    response.set_content(open_metrics(s.snapshot(), o), open_metrics_type(o));
  });
  s.server.Get("/json", [&s](const httplib::Request&, httplib::Response& response) {
    std::string json;
    to_json(json, s.snapshot());
    response.set_content(json + "\n", "application/json");
  });
  s.server.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("ok\n", "text/plain");
  });
  s.server.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("gpufathom monitor: /metrics (Prometheus), /json, /healthz\n",
                         "text/plain");
  });
  s.port = port;
  if (port == 0)
    s.port = s.server.bind_to_any_port(host);
  else if (!s.server.bind_to_port(host, port))
    s.port = -1;
  if (s.port <= 0)
    return fail(fmt::format("cannot listen on {}", address), {}, -1,
                "is the port taken, or the address not this machine's?");
  s.thread = std::thread([&s] { s.server.listen_after_bind(); });
  return out;
}

MetricsServer::~MetricsServer() {
  state_->server.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

void MetricsServer::publish(const LiveTable& table) {
  std::lock_guard lock(state_->mutex);
  state_->table = table;
}

std::string MetricsServer::url() const {
  const bool six = state_->host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", six ? "[" : "", state_->host, six ? "]" : "",
                     state_->port);
}

}  // namespace gf::cli
