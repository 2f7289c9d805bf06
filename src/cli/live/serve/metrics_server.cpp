#include "cli/live/serve/metrics_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "cli/output.h"
#include "collect/live/live_sampler.h"
#include "core/files.h"
#include "core/text.h"
#include "core/time.h"
#include "report/json.h"
#include "report/openmetrics.h"

namespace gf::cli {

namespace {

constexpr Nanos kRenderedFor = 250 * kNsPerMs;

/// Without the port, and without the brackets of an IPv6 address.
std::string name_of(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

/// NAME, ADDRESS or [ADDRESS], with or without a port, and nothing else: what is more than a host,
/// such as a user's name, another program may read in another way.
bool is_host(std::string_view host) {
  std::size_t end = host.find(':');
  if (host.starts_with('[')) end = host.find(']') + 1;
  const auto name = host.substr(0, end);
  const auto port = host.substr(std::min(end, host.size()));
  const bool six = name.starts_with('[') && name.ends_with(']');
  const char* letters = six ? "0123456789abcdefABCDEF:.[]"
                            : "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_";
  if (name.empty() || name.find_first_not_of(letters) != name.npos) return false;
  return port.empty() || (port[0] == ':' && port.size() <= 6 &&
                          port.find_first_not_of("0123456789", 1) == port.npos);
}

bool is_address(const std::string& name) {
  in6_addr parsed{};
  return inet_pton(AF_INET, name.c_str(), &parsed) == 1 ||
         inet_pton(AF_INET6, name.c_str(), &parsed) == 1;
}

}  // namespace

bool same_secret(std::string_view one, std::string_view other) {
  unsigned differs = one.size() != other.size();
  for (std::size_t i = 0; i < one.size(); ++i) {
    char theirs = '\0';
    if (!other.empty()) theirs = other[i % other.size()];
    const int bits = static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(theirs);
    differs |= static_cast<unsigned>(bits);
  }
  return differs == 0;
}

MetricsPages::MetricsPages(PageOptions options)
    : options_(std::move(options)), host_name_(lower_case(host_name())) {
  for (auto& name : options_.hosts) name = lower_case(name);
}

void MetricsPages::publish(LiveTable table) {
  const std::lock_guard lock(mutex_);
  table_ = std::move(table);
}

/// A page of another site may give its own name this machine's address and have a visitor's browser
/// ask here: so the name that was asked for must be ours. Addresses cannot be given away like that.
bool MetricsPages::host_is_ours(const std::string& host) const {
  const std::string name = lower_case(name_of(host));
  if (name == "localhost" || name.ends_with(".localhost") || is_address(name)) return true;
  if (!host_name_.empty() && (name == host_name_ || name.starts_with(host_name_ + ".")))
    return true;
  return std::find(options_.hosts.begin(), options_.hosts.end(), name) != options_.hosts.end();
}

HttpAnswer MetricsPages::answer(const HttpRequest& request) {
  if (request.host.empty() && !request.old_protocol) return http_answer(400, "no Host is given");
  if (!request.host.empty() && !is_host(request.host))
    return http_answer(400, "the Host is not a name or address with a port");
  if (!request.host.empty() && !host_is_ours(request.host))
    return http_answer(421,
                       "this is not the host that was asked for (--allow-host NAME lets it in)");
  const bool flight_asked = request.path == "/flight";
  if (request.post != flight_asked) return http_method_refused();
  if (request.path == "/healthz") return health();
  const std::string wanted = "Bearer " + options_.token;
  if (!options_.token.empty() && !same_secret(wanted, request.authorization)) {
    auto refused = http_answer(401, "a token is required: Authorization: Bearer TOKEN");
    refused.more_headers = "WWW-Authenticate: Bearer\r\n";
    return refused;
  }
  if (request.path == "/metrics") {
    const bool asked = request.accept.find("application/openmetrics-text") != std::string::npos;
    return page(asked ? openmetrics : prometheus);
  }
  if (request.path == "/json") return page(json);
  if (flight_asked) return flight();
  if (request.path == "/")
    return http_answer(200, "gpufathom monitor: /metrics (Prometheus), /json, /healthz");
  return http_answer(404, "there are /metrics, /json and /healthz");
}

/// Without a token, a page of another site could ask through its visitors' browsers.
HttpAnswer MetricsPages::flight() const {
  if (!options_.flight) return http_answer(404, "the monitor runs without --flight");
  if (options_.token.empty()) return http_answer(403, "captures are asked for with a token");
  if (!options_.flight("asked for over HTTP"))
    return http_answer(503, "the flight recorder has ended");
  return http_answer(202, "a capture around now follows");
}

LiveTable MetricsPages::fresh(Nanos now) {
  LiveTable table;
  {
    const std::lock_guard lock(mutex_);
    table = table_;
  }
  drop_stale(table, now);
  return table;
}

std::string MetricsPages::render(Page which, Nanos now) {
  const LiveTable table = fresh(now);
  if (which == json) return json_line(table);
  return open_metrics(table, {which == openmetrics, options_.dcgm_names, options_.job_labels, now});
}

HttpAnswer MetricsPages::page(Page which) {
  const Nanos now = host_now();
  auto& rendered = rendered_[which];
  if (!rendered.text || now - rendered.time_ns > kRenderedFor)
    rendered = {now, std::make_shared<const std::string>(render(which, now))};
  HttpAnswer answer;
  answer.body = rendered.text;
  if (which == json) {
    answer.type = "application/json";
  } else {
    answer.type = open_metrics_type({.openmetrics = which == openmetrics});
  }
  return answer;
}

HttpAnswer MetricsPages::health() {
  const LiveTable table = fresh(host_now());
  std::string stale;
  for (const auto& gpu : table.gpus)
    if (gpu.stale) stale += fmt::format("GPU {}: {}\n", gpu.index, gpu.missing);
  if (stale.empty()) return http_answer(200, "ok");
  stale.pop_back();
  return http_answer(503, stale);
}

namespace {

constexpr std::size_t kShortestToken = 16, kLongestToken = 4096;

struct Address {
  std::string host;
  int port = 0;
};

Result<Address> parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  Address address;
  if (colon != std::string::npos) address.host = text.substr(0, colon);
  std::string digits = colon != std::string::npos ? text.substr(colon + 1) : text;
  const char* last = digits.data() + digits.size();
  const auto [end, code] = std::from_chars(digits.data(), last, address.port);
  if (code != std::errc() || end != last || address.port < 0 || address.port > 65535)
    return fail(fmt::format("'{}' is not an address to serve on", text), {}, -1,
                "give ADDR:PORT, such as 127.0.0.1:9400 or :9400");
  auto& host = address.host;
  if (host.size() > 1 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  if (host.empty()) host = "127.0.0.1";
  return address;
}

Result<std::string> checked_token(const std::string& token, const std::string& file) {
  const bool printable = std::all_of(token.begin(), token.end(), [](unsigned char letter) {
    return letter > 0x20 && letter < 0x7f;
  });
  if (printable && token.size() >= kShortestToken && token.size() <= kLongestToken) return token;
  return fail(fmt::format("the token{} is not {} to {} printable characters without spaces",
                          file.empty() ? " of GPUFATHOM_TOKEN" : "", kShortestToken, kLongestToken),
              file, -1, "make one with: openssl rand -hex 32");
}

}  // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const std::string& text,
                                                            PageOptions options) {
  const auto address = parse_address(text);
  if (!address) return tl::unexpected<Error>(address.error());
  const bool has_token = !options.token.empty();
  std::unique_ptr<MetricsServer> out(new MetricsServer(std::move(options)));
  auto server = HttpServer::bind(
      address->host, address->port,
      [&pages = out->pages_](const HttpRequest& request) { return pages.answer(request); });
  if (!server)
    return fail(fmt::format("cannot listen on {}: {}", text, server.error().what), {}, -1,
                "is the port taken, or the address not this machine's?");
  if (!(*server)->loopback() && !has_token)
    return fail(fmt::format("{} can be reached from other machines, and no token is set", text), {},
                -1,
                "give --token-file FILE or GPUFATHOM_TOKEN, and put a proxy that speaks TLS before "
                "it; or serve 127.0.0.1");
  out->host_ = address->host;
  out->server_ = std::move(*server);
  out->server_->listen();
  return out;
}

std::string MetricsServer::url() const {
  const bool six = host_.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", six ? "[" : "", host_, six ? "]" : "", server_->port());
}

Result<std::string> read_token(const std::string& file) {
  if (file.empty()) {
    const char* set = std::getenv("GPUFATHOM_TOKEN");
    return set ? checked_token(set, file) : std::string();
  }
  constexpr std::uint64_t kMost = 64 << 10;
  const auto content = read_small_file(file, kMost);
  if (!content) return tl::unexpected(content.error());
  if (content->empty()) return fail("contains no token", file);
  std::string line = content->substr(0, content->find('\n'));
  if (line.ends_with('\r')) line.pop_back();
  return checked_token(line, file);
}

}  // namespace gf::cli
