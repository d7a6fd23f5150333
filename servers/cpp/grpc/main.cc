// The contract's gRPC service on grpc++.
//
// `server` uses the callback API, `server completion-queue` the other one. Address and number of CPUs come from the environment.

#include <grpcpp/grpcpp.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "api.h"
#include "callback.h"
#include "completion_queue.h"
#include "settings.h"

namespace {

// How long calls in flight may take after SIGTERM.
constexpr std::chrono::seconds kDrainTimeout{2};

std::unique_ptr<Api> Make(const std::string& kind) {
  const unsigned cpus = settings::Cpus();
  if (kind.empty()) return std::make_unique<callback::Callback>();
  if (kind == "completion-queue") return std::make_unique<completion_queue::CompletionQueues>(cpus);
  throw std::runtime_error("unknown API \"" + kind + "\"; expected completion-queue, or none for callbacks");
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// TLS if RPCBENCH_TLS_CERT is set. Clients need no certificate.
std::shared_ptr<grpc::ServerCredentials> Credentials() {
  if (std::getenv("RPCBENCH_TLS_CERT") == nullptr) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options;
  options.pem_key_cert_pairs.push_back(
      {Read(settings::Text("RPCBENCH_TLS_KEY")), Read(settings::Text("RPCBENCH_TLS_CERT"))});
  return grpc::SslServerCredentials(options);
}

// The library's defaults: messages up to 4 MiB, no limit on streams per connection, TCP_NODELAY.
std::unique_ptr<grpc::Server> Start(Api& api) {
  const std::string address = settings::Host() + ":" + std::to_string(settings::Port());
  grpc::ServerBuilder builder;
  // By default a second server would share the port unnoticed.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // By default, calls that wait in a frozen server are cancelled after 30 s. The contract allows freezes of minutes.
  builder.AddChannelArgument("grpc.server_max_unrequested_time_in_server", 3600);
  builder.AddListeningPort(address, Credentials());
  api.Register(builder);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) throw std::runtime_error("cannot listen on " + address);
  api.Start();
  return server;
}

void Serve(const std::string& kind) {
  // Blocked before the library starts its threads, so that only sigwait below receives it.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  if (const int error = pthread_sigmask(SIG_BLOCK, &stop, nullptr); error != 0) {
    throw std::runtime_error(std::string("cannot wait for SIGTERM: ") + std::strerror(error));
  }
  const std::unique_ptr<Api> api = Make(kind);
  const std::unique_ptr<grpc::Server> server = Start(*api);
  int signal = 0;
  sigwait(&stop, &signal);
  server->Shutdown(std::chrono::system_clock::now() + kDrainTimeout);
  api->Stop();
}

}  // namespace

int main(int count, char** arguments) {
  try {
    Serve(count > 1 ? arguments[1] : "");
  } catch (const std::exception& error) {
    std::cerr << "cpp-grpc: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
