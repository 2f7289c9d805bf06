#include "cli/live/serve/otlp_push.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "cli/output.h"

namespace gf::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(5);  // for one request

/// A connection that nothing waits for beyond the deadline.
class Connection {
 public:
  explicit Connection(Clock::time_point deadline) : deadline_(deadline) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(); }

  Status open(const OtlpEndpoint& endpoint) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int code =
            ::getaddrinfo(endpoint.host.c_str(), endpoint.port.c_str(), &wanted, &found);
        code != 0)
      return fail(fmt::format("{}: {}", endpoint.host, ::gai_strerror(code)));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
    std::string why = "no address";
    for (const addrinfo* one = found; one; one = one->ai_next) {
      if (connect_to(*one)) return {};
      why = std::strerror(errno);
      close();
    }
    return fail(why);
  }

  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count > 0)
        bytes.remove_prefix(static_cast<std::size_t>(count));
      else if (!(errno == EAGAIN || errno == EINTR) || !ready(POLLOUT))
        return false;
    }
    return true;
  }

  /// Reads up to the end of the line, without the line end.
  std::string line() {
    constexpr std::size_t kLongest = 1024;
    std::string text;
    for (char letter = 0; text.size() < kLongest && letter != '\n';) {
      const auto count = ::recv(socket_, &letter, 1, 0);
      if (count == 1)
        text += letter;
      else if (count == 0 || !(errno == EAGAIN || errno == EINTR) || !ready(POLLIN))
        break;
    }
    return text.substr(0, text.find_first_of("\r\n"));
  }

 private:
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }

  bool connect_to(const addrinfo& to) {
    socket_ = ::socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol);
    if (socket_ < 0) return false;
    if (::connect(socket_, to.ai_addr, to.ai_addrlen) == 0) return true;
    if (errno != EINPROGRESS || !ready(POLLOUT)) return false;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    return error == 0;
  }

  bool ready(short events) {
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
      pollfd wait{socket_, events, 0};
      const int count = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
      if (count > 0) return true;
      if (count < 0 && errno == EINTR) continue;
      errno = ETIMEDOUT;
      return false;
    }
  }

  Clock::time_point deadline_;
  int socket_ = -1;
};

Status post(const OtlpEndpoint& endpoint, std::string_view body) {
  Connection connection(Clock::now() + kPatience);
  if (auto opened = connection.open(endpoint); !opened) return opened;
  const bool six = endpoint.host.find(':') != std::string::npos;
  const std::string head = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}{}{}:{}\r\nContent-Type: application/x-protobuf\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n",
      endpoint.path, six ? "[" : "", endpoint.host, six ? "]" : "", endpoint.port, body.size());
  if (!connection.write(head) || !connection.write(body)) return fail(std::strerror(errno));
  const std::string answer = connection.line();  // HTTP/1.1 200 OK
  const auto space = answer.find(' ');
  if (!answer.starts_with("HTTP/") || space == std::string::npos)
    return fail(answer.empty() ? "no answer" : "an answer that is not HTTP");
  if (answer.substr(space + 1, 1) != "2") return fail("it answered " + answer.substr(space + 1));
  return {};
}

}  // namespace

std::string OtlpEndpoint::url() const {
  const bool six = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}{}", six ? "[" : "", host, six ? "]" : "", port, path);
}

Result<OtlpEndpoint> parse_otlp_endpoint(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  if (url.starts_with("https://"))
    return fail("https is not spoken", {}, -1,
                "send to a collector on this machine, http://localhost:4318, which passes it on");
  if (!url.starts_with(kScheme)) return fail(fmt::format("'{}' is not http://HOST:PORT", url));
  url.remove_prefix(kScheme.size());
  OtlpEndpoint endpoint{"", "4318", "/v1/metrics"};
  const auto slash = std::min(url.find('/'), url.size());
  if (url.size() - slash > 1) endpoint.path = url.substr(slash);
  std::string_view host = url.substr(0, slash);
  const auto bracket = host.rfind(']');
  const auto colon = host.rfind(':');
  if (colon != host.npos && (bracket == host.npos || colon > bracket)) {
    endpoint.port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  endpoint.host = host;
  const bool printable =
      std::ranges::all_of(url, [](unsigned char letter) { return letter > ' ' && letter < 0x7f; });
  if (endpoint.host.empty() || endpoint.port.empty() || !printable)
    return fail(fmt::format("'http://{}' is not http://HOST:PORT", url));
  return endpoint;
}

OtlpPush::OtlpPush(OtlpEndpoint endpoint)
    : endpoint_(std::move(endpoint)), thread_([this] { run(); }) {}

OtlpPush::~OtlpPush() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wakes_.notify_one();
  thread_.join();
}

void OtlpPush::send(std::string request) {
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(request);
  }
  wakes_.notify_one();
}

void OtlpPush::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wakes_.wait(lock, [this] { return ends_ || waiting_; });
    if (!waiting_) return;
    const std::string request = std::move(*waiting_);
    waiting_.reset();
    lock.unlock();
    report(post(endpoint_, request));
    lock.lock();
  }
}

void OtlpPush::report(const Status& sent) {
  if (!sent && !failing_)
    complain(fmt::format("{}: cannot be sent to: {}", endpoint_.url(), sent.error().what),
             kBadInput);
  if (sent && failing_) complain(fmt::format("{}: answers again", endpoint_.url()), kWhole);
  failing_ = !sent;
}

}  // namespace gf::cli
