// The server among clients that come in a crowd.
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/live/serve/http_server.h"

namespace gf::cli {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr auto kBriefly = std::chrono::milliseconds(50);

struct CrowdedServer : testing::Test {
  void serve(std::size_t connections, Nanos grace) {
    HttpLimits limits;
    limits.connections = connections;
    limits.grace = grace;
    const auto handler = [](const HttpRequest&) { return http_answer(200, "all is well"); };
    auto bound = HttpServer::bind("127.0.0.1", 0, handler, limits);
    ASSERT_TRUE(bound);
    server = std::move(*bound);
    server->listen();
  }
  tcp::socket connect() {
    tcp::socket socket(context);
    const auto port = static_cast<std::uint16_t>(server->port());
    socket.connect(tcp::endpoint(asio::ip::make_address("127.0.0.1"), port));
    return socket;
  }
  /// The server's answer to a request on this connection; empty: it has hung up.
  std::string answer_on(tcp::socket& socket) {
    boost::system::error_code error;
    asio::write(socket, asio::buffer(std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n")), error);
    std::string answer;
    asio::read(socket, asio::dynamic_buffer(answer), error);
    return answer;
  }

  asio::io_context context;
  std::unique_ptr<HttpServer> server;
};

TEST_F(CrowdedServer, AnswersOneThatCameBeforeTheCrowdAndAsksAfterIt) {
  serve(4, 30 * kNsPerSecond);
  auto client = connect();
  std::vector<tcp::socket> crowd;
  crowd.reserve(12);
  for (int i = 0; i < 12; ++i) crowd.push_back(connect());
  std::this_thread::sleep_for(kBriefly);
  EXPECT_NE(answer_on(client).find("all is well"), std::string::npos);
}

TEST_F(CrowdedServer, RefusesTwoHosts) {
  serve(4, 1);
  auto client = connect();
  asio::write(
      client,
      asio::buffer(std::string("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")));
  client.shutdown(tcp::socket::shutdown_send);
  std::string answer;
  boost::system::error_code error;
  asio::read(client, asio::dynamic_buffer(answer), error);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
}

TEST_F(CrowdedServer, ClosesTheOldestWhenItsTimeIsOver) {
  serve(4, 1);
  auto client = connect();
  std::vector<tcp::socket> crowd;
  crowd.reserve(12);
  for (int i = 0; i < 12; ++i) crowd.push_back(connect());
  std::this_thread::sleep_for(kBriefly);
  EXPECT_EQ(answer_on(client), "");
  EXPECT_NE(answer_on(crowd.back()).find("all is well"), std::string::npos);
}

}  // namespace
}  // namespace gf::cli
