// The contract's service as JSON on Boost.Beast. Address and number of CPUs come from the environment.

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "session.h"
#include "settings.h"

namespace {

using boost::asio::ip::tcp;
namespace ssl = boost::asio::ssl;
using ErrorCode = boost::beast::error_code;

// How long calls in flight may take after SIGTERM.
constexpr std::chrono::seconds kDrainTimeout{2};

// Delay before accepting again when the system is out of resources.
constexpr std::chrono::milliseconds kPause{100};

// Accepts connections. Its handlers run on a strand: on any thread, but never two at a time.
class Listener {
 public:
  // Connections speak TLS if `tls` has a context.
  Listener(boost::asio::io_context& context, const tcp::endpoint& endpoint, std::optional<ssl::context> tls)
      : context_(context), tls_(std::move(tls)), acceptor_(boost::asio::make_strand(context)), pause_(acceptor_.get_executor()) {
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen();
    Accept();
  }

  // Stops accepting; open connections end with their next reply.
  void Stop() {
    stopping_ = true;
    boost::asio::post(acceptor_.get_executor(), [this] {
      acceptor_.close();
      pause_.cancel();
    });
  }

 private:
  void Accept() {
    acceptor_.async_accept(context_,
                           [this](ErrorCode error, tcp::socket socket) { OnAccept(error, std::move(socket)); });
  }

  void OnAccept(ErrorCode error, tcp::socket socket) {
    if (stopping_) return;
    if (error) {
      pause_.expires_after(kPause);
      pause_.async_wait([this](ErrorCode) { Accept(); });
      return;
    }
    // If this fails, the connection is gone, as its first read will report.
    socket.set_option(tcp::no_delay(true), error);
    if (tls_) {
      std::make_shared<echo::Session<echo::Secure>>(stopping_, std::move(socket), *tls_)->Start();
    } else {
      std::make_shared<echo::Session<echo::Plain>>(stopping_, std::move(socket))->Start();
    }
    Accept();
  }

  boost::asio::io_context& context_;
  std::optional<ssl::context> tls_;
  std::atomic<bool> stopping_{false};
  tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
};

// Blocks SIGTERM, so that only sigwait receives it. Must be called before the first thread starts.
sigset_t BlockSigterm() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  if (const int error = pthread_sigmask(SIG_BLOCK, &signals, nullptr); error != 0) {
    throw std::runtime_error(std::string("cannot wait for SIGTERM: ") + std::strerror(error));
  }
  return signals;
}

// TLS 1.2 and 1.3 with the defaults of the distribution's OpenSSL, if the environment names a certificate. Clients need none.
std::optional<ssl::context> Tls() {
  if (std::getenv("RPCBENCH_TLS_CERT") == nullptr) return std::nullopt;
  std::optional<ssl::context> context(ssl::context::tls_server);
  context->set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  context->use_certificate_chain_file(settings::Text("RPCBENCH_TLS_CERT"));
  context->use_private_key_file(settings::Text("RPCBENCH_TLS_KEY"), ssl::context::pem);
  return context;
}

std::unique_ptr<Listener> Listen(boost::asio::io_context& context) {
  const std::string host = settings::Host();
  const std::string port = std::to_string(settings::Port());
  std::optional<ssl::context> tls = Tls();
  try {
    const tcp::endpoint endpoint = *tcp::resolver(context).resolve(host, port, tcp::resolver::passive).begin();
    return std::make_unique<Listener>(context, endpoint, std::move(tls));
  } catch (const boost::system::system_error& error) {
    throw std::runtime_error("cannot listen on " + host + ":" + port + ": " + error.code().message());
  }
}

// Serves until SIGTERM, with a thread per CPU.
void Serve() {
  const sigset_t signals = BlockSigterm();
  const unsigned cpus = settings::Cpus();
  boost::asio::io_context context(static_cast<int>(cpus));
  const std::unique_ptr<Listener> listener = Listen(context);
  std::vector<std::future<void>> threads;
  for (unsigned i = 0; i < cpus; ++i) {
    threads.push_back(std::async(std::launch::async, [&context]() noexcept { context.run(); }));
  }
  int signal = 0;
  sigwait(&signals, &signal);
  listener->Stop();
  const auto deadline = std::chrono::steady_clock::now() + kDrainTimeout;
  for (const auto& thread : threads) thread.wait_until(deadline);
  context.stop();
  for (auto& thread : threads) thread.get();
}

}  // namespace

int main() {
  try {
    Serve();
  } catch (const std::exception& error) {
    std::cerr << "cpp-beast: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
