// A connection: reads and answers requests in sequence, for as long as the client wants.
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream_base.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "echo.h"

namespace echo {

// Maximum size of a request in bytes: twice the contract's longest text. The library's default is 1 MiB.
inline constexpr std::size_t kMaxBody = 8 * 1024 * 1024;

using Plain = boost::beast::tcp_stream;
using Secure = boost::beast::ssl_stream<Plain>;

// At most one operation is pending at a time, so no strand is needed.
template <class Stream>
class Session final : public std::enable_shared_from_this<Session<Stream>> {
 public:
  // `stopping`: close the connection after the next reply. `stream`: arguments of the stream's constructor.
  template <class... Parts>
  explicit Session(const std::atomic<bool>& stopping, Parts&&... stream)
      : stream_(std::forward<Parts>(stream)...), stopping_(stopping) {}

  void Start() {
    if constexpr (std::is_same_v<Stream, Secure>) {
      stream_.async_handshake(boost::asio::ssl::stream_base::server, Next(&Session::OnHandshake));
    } else {
      Read();
    }
  }

 private:
  using ErrorCode = boost::beast::error_code;

  template <class Step>
  auto Next(Step step) {
    return boost::beast::bind_front_handler(step, this->shared_from_this());
  }

  void OnHandshake(ErrorCode error) {
    if (!error) Read();
  }

  void Read() {
    parser_.emplace();
    parser_->body_limit(kMaxBody);
    http::async_read(stream_, buffer_, *parser_, Next(&Session::OnRead));
  }

  // The connection ends if the client closes it or sends invalid HTTP.
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
    http::async_write(stream_, response_, Next(&Session::OnWrite));
  }

  void OnWrite(ErrorCode error, std::size_t /*bytes*/) {
    if (error || response_.need_eof()) return End();
    Read();
  }

  void End() {
    if constexpr (std::is_same_v<Stream, Secure>) {
      stream_.async_shutdown(Next(&Session::OnShutdown));
    } else {
      OnShutdown({});
    }
  }

  void OnShutdown(ErrorCode /*error*/) {
    ErrorCode ignored;
    boost::beast::get_lowest_layer(stream_).socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  }

  Stream stream_;
  const std::atomic<bool>& stopping_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  Response response_;
};

}  // namespace echo
