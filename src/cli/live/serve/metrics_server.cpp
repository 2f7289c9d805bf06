#include "cli/live/serve/metrics_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "cli/output.h"
#include "collect/flight/kernel_windows.h"
#include "collect/live/live_sampler.h"
#include "core/base64.h"
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

bool asks_for_captures(const HttpRequest& request) {
  return request.path == "/captures" || request.path.starts_with("/captures/");
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
  if (!options_.captures.empty()) captures_ = std::make_unique<CapturePages>(options_.captures);
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
  if (asks_for_captures(request)) return captures(request);
  if (!options_.token.empty() && !may_ask(request)) {
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
    return http_answer(200, "gpufathom monitor: /metrics (Prometheus), /json, /healthz, /captures");
  return http_answer(404, "there are /metrics, /json, /healthz and /captures");
}

bool MetricsPages::may_ask(const HttpRequest& request) const {
  return same_secret("Bearer " + options_.token, request.authorization);
}

/// A browser asks its user for a name, which may be any, and a password, which is the token. No
/// other page takes it like that: what a browser remembers it sends for pages of other sites, too.
HttpAnswer MetricsPages::captures(const HttpRequest& request) {
  if (!captures_) return http_answer(404, "the monitor runs without --flight");
  if (options_.token.empty()) return http_answer(403, "captures are shown with a token");
  bool allowed = may_ask(request);
  if (const std::string_view given = request.authorization; given.starts_with("Basic ")) {
    const auto both = from_base64(given.substr(6));
    const auto colon = both ? both->find(':') : std::string::npos;
    allowed = colon != std::string::npos && same_secret(options_.token, both->substr(colon + 1));
  }
  if (allowed) return captures_->answer(request.path);
  auto refused = http_answer(401, "a token is required, as the password of any user");
  refused.more_headers = "WWW-Authenticate: Basic realm=\"gpufathom\"\r\n";
  return refused;
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

namespace fs = std::filesystem;

constexpr std::string_view kUnder = "/captures/", kCaptureEnd = ".gpf", kPageEnd = ".html";
constexpr std::uint64_t kMostBytes = 64 << 20;  // of a file that is sent
constexpr Nanos kMaking = 60 * kNsPerSecond;    // a page may take

/// A name that the flight recorder gives, TIME_gpuN_KIND.gpf: it leads to no other folder, and
/// stands in a page as it is.
bool is_capture_name(std::string_view name) {
  constexpr auto kLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-";
  return name.ends_with(kCaptureEnd) && name.front() >= '0' && name.front() <= '9' &&
         name.find_first_not_of(kLetters) == name.npos;
}

/// Asks until the page is there. A page that loads itself again takes the place away from those
/// who read it with a screen reader.
constexpr std::string_view kAskAgain =
    "setInterval(async()=>{if((await fetch(location)).status!==202)location.reload()},1000)";
/// SHA-256 of that script: the page's policy lets in no other.
constexpr std::string_view kAskAgainHash = "s1QVIOj1qFLD8fedCC/GqQb5pOLdvnLzcNo06zRcRy4=";

HttpAnswer html_answer(int status, std::string_view title, const std::string& body) {
  auto answer = http_answer(
      status,
      fmt::format("<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
                  "content=\"width=device-width\"><title>{0}</title><style>:root{{color-scheme:"
                  "light dark;background:Canvas;color:CanvasText}}body{{font:16px/1.6 sans-serif;"
                  "margin:2em auto;max-width:50em;padding:0 1em}}td,th{{padding:4px 1.5em 4px 0;"
                  "text-align:left;overflow-wrap:anywhere}}</style><main><h1>{0}</h1>{1}</main>",
                  title, body));
  answer.type = "text/html; charset=utf-8";
  answer.more_headers = fmt::format(
      "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src "
      "'sha256-{}'; connect-src 'self'\r\n",
      kAskAgainHash);
  return answer;
}

HttpAnswer file_answer(const std::string& path, const char* type) {
  auto bytes = read_small_file(path, kMostBytes);
  if (!bytes) return http_answer(404, bytes.error().message());
  HttpAnswer answer;
  answer.body = std::make_shared<const std::string>(std::move(*bytes));
  answer.type = type;
  return answer;
}

}  // namespace

CapturePages::~CapturePages() {
  if (maker_ <= 0) return;
  ::kill(maker_, SIGKILL);
  ::waitpid(maker_, nullptr, 0);
  std::error_code none;
  fs::remove(folder_ + "/.page.html", none);
}

HttpAnswer CapturePages::answer(const std::string& path) {
  if (path.size() <= kUnder.size()) return list();
  std::string name = path.substr(kUnder.size());
  const bool page = name.ends_with(kPageEnd);
  if (page) name.replace(name.size() - kPageEnd.size(), kPageEnd.size(), kCaptureEnd);
  if (!is_capture_name(name)) return http_answer(404, "that is no capture's name");
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(folder_ + "/" + name, error)))
    return http_answer(404, "there is no such capture (any longer)");
  return page ? page_of(name) : file_answer(folder_ + "/" + name, "application/octet-stream");
}

/// The newest first: time, GPU, kind.
HttpAnswer CapturePages::list() const {
  std::set<std::string, std::greater<>> names;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error))
    if (auto name = at->path().filename().string(); is_capture_name(name)) names.insert(name);
  std::string rows;
  for (const auto& name : names) {
    const std::string stem = name.substr(0, name.size() - kCaptureEnd.size());
    std::string words = stem;
    std::replace(words.begin(), words.end(), '_', ' ');
    rows += fmt::format(
        "<tr><td><a href=\"/captures/{0}.html\">{1}</a><td><a href=\"/captures/{0}.gpf\">{0}.gpf"
        "</a>",
        stem, words);
  }
  return html_answer(200, "Captures around unusual moments",
                     names.empty() ? "<p>Nothing unusual so far."
                                   : "<table><tr><th>Page<th>File" + rows + "</table>");
}

void CapturePages::look_at_maker() {
  if (maker_ <= 0) return;
  if (host_now() > maker_until_) ::kill(maker_, SIGKILL);
  if (::waitpid(maker_, nullptr, WNOHANG) == 0) return;
  maker_ = 0;
  const std::string made = folder_ + "/.page.html";
  if (auto bytes = read_small_file(made, kMostBytes))
    page_ = std::make_shared<const std::string>(std::move(*bytes));
  std::error_code none;
  fs::remove(made, none);
}

HttpAnswer CapturePages::page_of(const std::string& name) {
  look_at_maker();
  if (maker_ == 0 && made_of_ == name && page_) {
    HttpAnswer answer;
    answer.body = page_;
    answer.type = "text/html; charset=utf-8";
    return answer;
  }
  if (maker_ == 0 && made_of_ == name) {
    made_of_.clear();
    return http_answer(500, "no page could be made of this capture");
  }
  if (maker_ == 0) {
    page_.reset();
    made_of_ = name;
    maker_ = start_this_program(
        {"gpufathom", "analyze", folder_ + "/" + name, "-o", folder_ + "/.page.html"});
    maker_until_ = host_now() + kMaking;
  }
  return html_answer(202, "The page is being made",
                     fmt::format("<p role=status>It will be here in a moment. <a href=\"/captures/"
                                 "{}.html\">Look again</a><script>{}</script>",
                                 name.substr(0, name.size() - kCaptureEnd.size()), kAskAgain));
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
