// A small HTTP server that nobody can wear out: one thread, a bounded number of connections, one
// answer each, bounded bytes and seconds for everything that a client sends or takes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/error.h"
#include "core/time.h"

namespace gf::cli {

struct HttpRequest {
  std::string path;  // without the query
  std::string host, accept, authorization;
  bool old_protocol = false;  // HTTP/1.0, which needs no Host
  bool post = false;          // else GET or HEAD
};

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;  // shared: many slow readers hold one page
  std::string more_headers;                 // whole lines, each with its line end
};
HttpAnswer http_answer(int status, std::string text);
HttpAnswer http_method_refused();

struct HttpLimits {
  std::size_t connections = 256;       // the oldest goes when another one comes, which waits for
  Nanos grace = kNsPerSecond / 10;     // a client that had no time yet to say what it wants
  std::size_t head_bytes = 8192;       // request line and headers; no body is read
  Nanos head_time = 2 * kNsPerSecond;  // from connecting to the last byte of the request
  Nanos answer_time = 5 * kNsPerSecond;
};

/// Called on the server's thread, one request at a time: GET, HEAD and POST
/// (without a body) alone come here.
using HttpHandler = std::function<HttpAnswer(const HttpRequest&)>;

class HttpServer {
 public:
  /// Takes the address and port (0: a free one), and answers from listen() on.
  static Result<std::unique_ptr<HttpServer>> bind(const std::string& host, int port,
                                                  HttpHandler handler, HttpLimits limits = {});
  ~HttpServer();
  void listen();
  int port() const;
  /// True if only this machine can reach it.
  bool loopback() const;

 private:
  HttpServer();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gf::cli
