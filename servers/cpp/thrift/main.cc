// The contract's service on Thrift's C++ library: framed transport, binary protocol. The address comes from the
// environment, the kind of server from the command line.

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <thrift/TConfiguration.h>
#include <thrift/Thrift.h>
#include <thrift/concurrency/ThreadFactory.h>
#include <thrift/concurrency/ThreadManager.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/server/TNonblockingServer.h>
#include <thrift/server/TThreadedServer.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TNonblockingSSLServerSocket.h>
#include <thrift/transport/TNonblockingServerSocket.h>
#include <thrift/transport/TSSLServerSocket.h>
#include <thrift/transport/TSSLSocket.h>
#include <thrift/transport/TServerSocket.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "Echo.h"
#include "settings.h"

namespace {

namespace api = rpcbench::v1;
using apache::thrift::TProcessor;
using apache::thrift::concurrency::ThreadFactory;
using apache::thrift::concurrency::ThreadManager;
using apache::thrift::protocol::TBinaryProtocolFactory;
using apache::thrift::server::TNonblockingServer;
using apache::thrift::server::TServer;
using apache::thrift::server::TServerEventHandler;
using apache::thrift::server::TThreadedServer;
using apache::thrift::transport::TFramedTransportFactory;
using apache::thrift::transport::TNonblockingServerSocket;
using apache::thrift::transport::TNonblockingSSLServerSocket;
using apache::thrift::transport::TServerSocket;
using apache::thrift::transport::TSSLServerSocket;
using apache::thrift::transport::TSSLSocketFactory;

// The library allocates what a length claims before it reads the content, by default without a limit. Texts get the library's
// limit for frames.
constexpr std::int32_t kMaxText = apache::thrift::TConfiguration::DEFAULT_MAX_FRAME_SIZE;
constexpr std::int32_t kMaxElements = 1 << 20;

std::shared_ptr<TBinaryProtocolFactory> Protocol() {
  auto protocol = std::make_shared<TBinaryProtocolFactory>();
  protocol->setStringSizeLimit(kMaxText);
  protocol->setContainerSizeLimit(kMaxElements);
  return protocol;
}

// The library hands requests out as const, so their content is copied, as in every service on it.
class EchoHandler final : public api::EchoIf {
  void Text(api::TextReply& reply, const api::TextRequest& request) override { reply.__set_echo(request.text); }

  void Record(api::RecordReply& reply, const api::RecordRequest& request) override {
    reply.__set_echo(request.record);
  }

  void Dto(api::DtoReply& reply, const api::DtoRequest& request) override { reply.__set_echo(request.dto); }

  void Tree(api::TreeReply& reply, const api::TreeRequest& request) override { reply.__set_echo(request.tree); }
};

// Stops a server on SIGTERM. A separate thread waits for the signal once the server can be stopped.
class StopOnSigterm final : public TServerEventHandler {
 public:
  explicit StopOnSigterm(TServer& server) : server_(server) {}

  // If the server failed, the thread is still waiting.
  ~StopOnSigterm() override {
    if (waiter_.joinable()) waiter_.detach();
  }

  // Blocks the signal for this thread and those that it starts, so that only sigwait receives it. Throws on failure.
  static void Block() {
    const sigset_t signals = Signals();
    if (const int error = pthread_sigmask(SIG_BLOCK, &signals, nullptr); error != 0) {
      throw std::runtime_error(std::string("cannot wait for SIGTERM: ") + std::strerror(error));
    }
  }

  void preServe() override {
    waiter_ = std::thread([&server = server_] {
      const sigset_t signals = Signals();
      int signal = 0;
      sigwait(&signals, &signal);
      server.stop();
    });
  }

  // Call after the server has ended, which may be before stop() returns.
  void Join() { waiter_.join(); }

 private:
  static sigset_t Signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    return signals;
  }

  TServer& server_;
  std::thread waiter_;
};

// A listening socket, with TLS by the distribution's OpenSSL if the environment names a certificate. Clients need none.
template <class Plain, class Secure>
std::shared_ptr<Plain> Listen() {
  const std::string host = settings::Host();
  const int port = static_cast<int>(settings::Port());
  std::shared_ptr<Plain> socket;
  if (std::getenv("RPCBENCH_TLS_CERT") == nullptr) {
    socket = std::make_shared<Plain>(host, port);
  } else {
    const auto factory = std::make_shared<TSSLSocketFactory>();
    factory->loadCertificate(settings::Text("RPCBENCH_TLS_CERT").c_str());
    factory->loadPrivateKey(settings::Text("RPCBENCH_TLS_KEY").c_str());
    factory->authenticate(false);
    socket = std::make_shared<Secure>(host, port, factory);
  }
  socket->setAcceptBacklog(SOMAXCONN);
  return socket;
}

// I/O threads on libevent, one per CPU. With `pool`, the same number of separate threads handle the calls; by default the
// I/O threads do.
std::shared_ptr<TServer> Nonblocking(const std::shared_ptr<TProcessor>& processor, bool pool) {
  const unsigned cpus = settings::Cpus();
  const auto socket = Listen<TNonblockingServerSocket, TNonblockingSSLServerSocket>();
  std::shared_ptr<ThreadManager> handlers;
  if (pool) {
    handlers = ThreadManager::newSimpleThreadManager(cpus);
    handlers->threadFactory(std::make_shared<ThreadFactory>());
    handlers->start();
  }
  const auto server = std::make_shared<TNonblockingServer>(processor, Protocol(), socket, handlers);
  server->setNumIOThreads(cpus);
  return server;
}

// A thread per connection; the number of CPUs is only checked.
std::shared_ptr<TServer> Threaded(const std::shared_ptr<TProcessor>& processor) {
  settings::Cpus();
  const auto socket = Listen<TServerSocket, TSSLServerSocket>();
  return std::make_shared<TThreadedServer>(processor, socket, std::make_shared<TFramedTransportFactory>(),
                                           Protocol());
}

std::shared_ptr<TServer> Make(const std::string& kind) {
  const auto processor = std::make_shared<api::EchoProcessor>(std::make_shared<EchoHandler>());
  if (kind == "nonblocking") return Nonblocking(processor, false);
  if (kind == "nonblocking-pool") return Nonblocking(processor, true);
  if (kind == "threaded") return Threaded(processor);
  throw std::runtime_error("unknown server \"" + kind + "\"; expected nonblocking, nonblocking-pool or threaded");
}

// The library's defaults, except for the accept queue, which is as long as the kernel allows: frames up to 256 MiB
// (nonblocking) or 16 MB (threaded), TCP_NODELAY.
void Serve(const std::string& kind) {
  // The library would log starts, closed connections and failures. Errors at start are also thrown.
  apache::thrift::GlobalOutput.setOutputFunction([](const char*) {});
  StopOnSigterm::Block();
  const std::shared_ptr<TServer> server = Make(kind);
  const auto stop = std::make_shared<StopOnSigterm>(*server);
  server->setServerEventHandler(stop);
  server->serve();
  stop->Join();
}

}  // namespace

int main(int count, char** words) {
  try {
    Serve(count == 2 ? words[1] : "");
  } catch (const std::exception& error) {
    std::cerr << "cpp-thrift: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
