// A connection: reads and answers requests in sequence, for as long as the client wants.
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "echo.h"

namespace echo {

// Longest request in bytes: twice the contract's longest text. The library's default is 1 MiB.
inline constexpr std::size_t kLongestBody = 8 * 1024 * 1024;

class Session final : public std::enable_shared_from_this<Session> {
 public:
  // `stopping`: the next reply is the last one of its connection.
  Session(boost::asio::ip::tcp::socket socket, const std::atomic<bool>& stopping)
      : stream_(std::move(socket)), stopping_(stopping) {}

  // Only one step is under way at a time, so no strand is needed.
  void Read() {
    parser_.emplace();
    parser_->body_limit(kLongestBody);
    http::async_read(stream_, buffer_, *parser_,
                     boost::beast::bind_front_handler(&Session::OnRead, shared_from_this()));
  }

 private:
  using ErrorCode = boost::beast::error_code;

  // Anything but HTTP ends the connection, and so does the client's closing it.
  void OnRead(ErrorCode error, std::size_t /*bytes*/) {
    if (error == http::error::body_limit) {
      response_ = Response(http::status::payload_too_large, 11);
      response_.keep_alive(false);
      response_.prepare_payload();
    } else if (error) {
      return End();
    } else {
      response_ = Answer(parser_->get());
    }
    if (stopping_.load(std::memory_order_relaxed)) response_.keep_alive(false);
    http::async_write(stream_, response_,
                      boost::beast::bind_front_handler(&Session::OnWrite, shared_from_this()));
  }

  void OnWrite(ErrorCode error, std::size_t /*bytes*/) {
    if (error || response_.need_eof()) return End();
    Read();
  }

  void End() {
    ErrorCode ignored;
    stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  }

  boost::beast::tcp_stream stream_;
  const std::atomic<bool>& stopping_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  Response response_;
};

}  // namespace echo
