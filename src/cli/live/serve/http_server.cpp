#include "cli/live/serve/http_server.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <list>
#include <thread>
#include <utility>

namespace gf::cli {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

namespace {

constexpr std::size_t kMostDrained = 64 << 10;
constexpr auto kAcceptAgain = std::chrono::milliseconds(50);

std::chrono::nanoseconds after(Nanos time) { return std::chrono::nanoseconds(time); }

/// The error of a request that could not be read; empty: the client went away, or was too
/// slow, and is told nothing.
std::optional<HttpAnswer> refusal(const beast::error_code& error, bool has_request_line) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    if (!has_request_line) return http_answer(414, "the request line is too long");
    return http_answer(431, "the headers are too long");
  }
  if (error == http::error::body_limit) return http_answer(413, "no body is taken");
  const bool of_http = error.category() == make_error_code(http::error::bad_version).category();
  if (!of_http || error == http::error::end_of_stream || error == http::error::partial_message)
    return {};
  return http_answer(400, "this is not an HTTP request");
}

std::string head_of(const HttpAnswer& answer) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(answer.status));
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nConnection: close\r\n{}\r\n",
      answer.status, std::string(reason), answer.type, answer.body->size(), answer.more_headers);
}

/// One connection: a request is read, answered, and what else the client says is thrown away until
/// it hangs up. Each step has its time.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, const HttpHandler& handler, const HttpLimits& limits)
      : stream_(std::move(socket)), handler_(handler), limits_(limits), buffer_(limits.head_bytes) {
    parser_.header_limit(static_cast<std::uint32_t>(limits.head_bytes));
    parser_.body_limit(0);
  }

  std::chrono::nanoseconds age() const { return std::chrono::steady_clock::now() - begin_; }
  void start() {
    stream_.expires_after(after(limits_.head_time));
    http::async_read_header(
        stream_, buffer_, parser_,
        [self = shared_from_this()](beast::error_code error, std::size_t) { self->take(error); });
  }
  void close() {
    beast::error_code ignored;
    stream_.socket().close(ignored);
  }

 private:
  void take(const beast::error_code& error) {
    if (!error) return reply(respond());
    if (auto answer = refusal(error, !parser_.get().target().empty())) reply(std::move(*answer));
  }

  HttpAnswer respond() {
    const auto& request = parser_.get();
    if (parser_.chunked()) return http_answer(413, "no body is taken");
    without_body_ = request.method() == http::verb::head;
    const bool post = request.method() == http::verb::post;
    if (!without_body_ && !post && request.method() != http::verb::get)
      return http_method_refused();
    // A proxy before us may go by the one, and we by the other.
    if (request.count(http::field::host) > 1)
      return http_answer(400, "more than one Host is given");
    const auto text = [&](http::field field) { return std::string(request[field]); };
    const std::string target(request.target());
    return handler_({target.substr(0, target.find('?')), text(http::field::host),
                     text(http::field::accept), text(http::field::authorization),
                     request.version() < 11, post});
  }

  void reply(HttpAnswer answer) {
    body_ = std::move(answer.body);
    answer.body = body_;
    head_ = head_of(answer);
    const std::array<asio::const_buffer, 2> parts{
        asio::buffer(head_), without_body_ ? asio::const_buffer() : asio::buffer(*body_)};
    stream_.expires_after(after(limits_.answer_time));
    asio::async_write(stream_, parts,
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        self->body_.reset();
                        if (error) return;
                        self->stream_.socket().shutdown(tcp::socket::shutdown_send, error);
                        if (!error) self->drain();
                      });
  }

  /// A connection closed with bytes unread is reset, and the client may lose the answer.
  void drain() {
    stream_.async_read_some(
        asio::buffer(scratch_),
        [self = shared_from_this()](beast::error_code error, std::size_t count) {
          self->drained_ += count;
          if (!error && self->drained_ < kMostDrained) self->drain();
        });
  }

  beast::tcp_stream stream_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const HttpHandler& handler_;
  const HttpLimits& limits_;
  beast::flat_buffer buffer_;
  http::request_parser<http::empty_body> parser_;
  bool without_body_ = false;
  std::string head_;
  std::shared_ptr<const std::string> body_;
  std::array<char, 2048> scratch_{};
  std::size_t drained_ = 0;
};

/// No more connections than file descriptors leave room for.
std::size_t affordable(std::size_t wanted) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
  return std::clamp<std::size_t>(files.rlim_cur / 2, 4, wanted);
}

}  // namespace

HttpAnswer http_method_refused() {
  auto answer = http_answer(405, "only GET and HEAD are answered");
  answer.more_headers = "Allow: GET, HEAD\r\n";
  return answer;
}

HttpAnswer http_answer(int status, std::string text) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = std::make_shared<const std::string>(std::move(text) + "\n");
  return answer;
}

struct HttpServer::State {
  HttpHandler handler;
  HttpLimits limits;
  std::list<std::weak_ptr<Session>> sessions;  // the oldest first
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer again{context};
  std::thread thread;

  void close_oldest() {
    if (sessions.empty()) return;
    if (const auto oldest = sessions.front().lock()) oldest->close();
    sessions.pop_front();
  }

  void accept() {
    if (const auto wait = wait_for_room(); wait.count() > 0) return accept_after(wait);
    acceptor.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (!error) {
        open(std::move(socket));
        return accept();
      }
      if (error == asio::error::operation_aborted) return;
      close_oldest();  // most likely no descriptor is left
      accept_after(kAcceptAgain);
    });
  }
  void accept_after(std::chrono::nanoseconds time) {
    again.expires_after(time);
    again.async_wait([this](beast::error_code stopped) {
      if (!stopped) accept();
    });
  }

  /// The time that the oldest connection of a full server may still stay: those that come in a
  /// crowd must not push out one that connected just before them and is about to ask.
  std::chrono::nanoseconds wait_for_room() {
    sessions.remove_if([](const auto& session) { return session.expired(); });
    if (sessions.size() < limits.connections) return {};
    const auto oldest = sessions.front().lock();
    return oldest ? after(limits.grace) - oldest->age() : std::chrono::nanoseconds{};
  }

  /// A request for which memory ran out costs its connection alone.
  void serve() {
    for (;;) {
      try {
        context.run();
        return;
      } catch (const std::exception&) {
        close_oldest();
      }
    }
  }

  void open(tcp::socket socket) {
    while (sessions.size() >= limits.connections) close_oldest();
    const auto session = std::make_shared<Session>(std::move(socket), handler, limits);
    sessions.push_back(session);
    session->start();
  }
};

HttpServer::HttpServer() : state_(std::make_unique<State>()) {}

Result<std::unique_ptr<HttpServer>> HttpServer::bind(const std::string& host, int port,
                                                     HttpHandler handler, HttpLimits limits) {
  std::unique_ptr<HttpServer> server(new HttpServer);
  auto& state = *server->state_;
  state.handler = std::move(handler);
  state.limits = limits;
  state.limits.connections = affordable(limits.connections);
  beast::error_code error;
  tcp::resolver resolver(state.context);
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
  if (error) return fail("nobody knows that name");
  for (const auto& entry : found) {
    const auto endpoint = entry.endpoint();
    state.acceptor = tcp::acceptor(state.context);
    state.acceptor.open(endpoint.protocol(), error);
    // Not SO_REUSEPORT: a second monitor would share the port, each with half of the scrapes.
    if (!error) state.acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) state.acceptor.bind(endpoint, error);
    if (!error) state.acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (!error) return server;
  }
  return fail(error.message());
}

void HttpServer::listen() {
  state_->accept();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  state_->thread = std::thread([this] { state_->serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

HttpServer::~HttpServer() {
  state_->context.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

int HttpServer::port() const { return state_->acceptor.local_endpoint().port(); }

bool HttpServer::loopback() const {
  return state_->acceptor.local_endpoint().address().is_loopback();
}

}  // namespace gf::cli
