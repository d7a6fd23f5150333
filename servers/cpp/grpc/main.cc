// The contract's gRPC service on grpc++, callback API. The address comes from the environment.

#include <grpcpp/grpcpp.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "echo.grpc.pb.h"
#include "settings.h"

namespace {

namespace pb = rpcbench::v1;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

// How long open connections may take to finish their calls after SIGTERM.
constexpr std::chrono::seconds kDrain{2};

ServerUnaryReactor* Done(CallbackServerContext* context) {
  ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

// The library hands requests out as const, so their content is copied, as it is in every service on this API.
class EchoService final : public pb::Echo::CallbackService {
  ServerUnaryReactor* Text(CallbackServerContext* context, const pb::TextRequest* request,
                           pb::TextReply* reply) override {
    reply->set_echo(request->text());
    return Done(context);
  }

  ServerUnaryReactor* Record(CallbackServerContext* context, const pb::RecordRequest* request,
                             pb::RecordReply* reply) override {
    if (request->has_record()) *reply->mutable_echo() = request->record();
    return Done(context);
  }

  ServerUnaryReactor* Dto(CallbackServerContext* context, const pb::DtoRequest* request,
                          pb::DtoReply* reply) override {
    if (request->has_dto()) *reply->mutable_echo() = request->dto();
    return Done(context);
  }

  ServerUnaryReactor* Tree(CallbackServerContext* context, const pb::TreeRequest* request,
                           pb::TreeReply* reply) override {
    if (request->has_tree()) *reply->mutable_echo() = request->tree();
    return Done(context);
  }
};

// The library's defaults stand: messages up to 4 MiB, no limit on streams per connection, TCP_NODELAY.
//
// The callback API's threads are the library's own: half as many as the machine has CPUs, at least 2 and at most 16.
// ResourceQuota::SetMaxThreads does not reach them, so the number of CPUs is only checked here; the kernel enforces it.
std::unique_ptr<grpc::Server> Start(EchoService& service) {
  const std::string address = settings::Host() + ":" + std::to_string(settings::Port());
  settings::Cpus();
  grpc::ServerBuilder builder;
  // By default a second server would share the port unnoticed.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) throw std::runtime_error("cannot listen on " + address);
  return server;
}

void Serve() {
  // Blocked before the library starts its threads, so that only sigwait below takes it.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  if (const int error = pthread_sigmask(SIG_BLOCK, &stop, nullptr); error != 0) {
    throw std::runtime_error(std::string("cannot wait for SIGTERM: ") + std::strerror(error));
  }
  EchoService service;
  const std::unique_ptr<grpc::Server> server = Start(service);
  int signal = 0;
  sigwait(&stop, &signal);
  server->Shutdown(std::chrono::system_clock::now() + kDrain);
}

}  // namespace

int main() {
  try {
    Serve();
  } catch (const std::exception& error) {
    std::cerr << "cpp-grpc: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
