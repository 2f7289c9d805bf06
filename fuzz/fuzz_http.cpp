// Any bytes to the monitor's server, in any pieces: it answers or hangs up, and goes on.
#include <arpa/inet.h>
#include <fuzzer/FuzzedDataProvider.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "cli/live/serve/http_server.h"

namespace {

gf::cli::HttpServer& server() {
  static const auto running = [] {
    auto bound = gf::cli::HttpServer::bind("127.0.0.1", 0, [](const gf::cli::HttpRequest& request) {
      return gf::cli::http_answer(200, request.path + request.host + request.accept);
    });
    if (!bound) std::abort();
    (*bound)->listen();
    return std::move(*bound);
  }();
  return *running;
}

int connected() {
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(server().port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    std::abort();
  const timeval patience{10, 0};
  ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const linger reset{1, 0};  // no port stays taken after the connection
  ::setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  return client;
}

/// The server's answer until it hung up; "" when it said nothing.
std::string answer(int client) {
  std::string all;
  char piece[4096];
  for (ssize_t got = 0; (got = ::recv(client, piece, sizeof piece, 0)) > 0;)
    all.append(piece, static_cast<std::size_t>(got));
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const bool begins_well = input.ConsumeBool();
  const auto pieces = input.ConsumeIntegralInRange<std::size_t>(1, 4);
  std::string bytes = input.ConsumeRemainingBytesAsString();
  if (begins_well) bytes = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + bytes;
  const int client = connected();
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t from = bytes.size() * piece / pieces,
                      to = bytes.size() * (piece + 1) / pieces;
    if (::send(client, bytes.data() + from, to - from, MSG_NOSIGNAL) < 0) break;
  }
  ::shutdown(client, SHUT_WR);
  const std::string said = answer(client);
  ::close(client);
  if (!said.empty() && !said.starts_with("HTTP/1.1 ")) std::abort();
  return 0;
}
