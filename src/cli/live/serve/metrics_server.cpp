#include "cli/live/serve/metrics_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "core/read_file.h"
#include "core/when.h"

namespace gf::cli {

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
  std::string digits = text;
  if (colon != std::string::npos) digits = text.substr(colon + 1);
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
                          when(file.empty(), " of GPUFATHOM_TOKEN"), kShortestToken, kLongestToken),
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
  return fmt::format("http://{}{}{}:{}", when(six, "["), host_, when(six, "]"), server_->port());
}

Result<std::string> read_token(const std::string& file) {
  if (file.empty()) {
    const char* set = std::getenv("GPUFATHOM_TOKEN");
    if (set) return checked_token(set, file);
    return std::string();
  }
  constexpr std::uint64_t kMost = 64 << 10;
  const auto content = read_small_file(file, kMost);
  if (!content) return tl::unexpected(content.error());
  if (content->empty()) return fail("holds no token", file);
  std::string line = content->substr(0, content->find('\n'));
  if (line.ends_with('\r')) line.pop_back();
  return checked_token(line, file);
}

}  // namespace gf::cli
