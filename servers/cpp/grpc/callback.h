// The callback API: the library's threads call a method for each call.
#pragma once

#include <grpcpp/grpcpp.h>

#include "api.h"
#include "echo.grpc.pb.h"
#include "echo.h"

namespace callback {

namespace pb = rpcbench::v1;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

template <class Request, class Reply>
ServerUnaryReactor* Answer(CallbackServerContext* context, const Request* request, Reply* reply) {
  pb::Echo(*request, reply);
  ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

class Service final : public pb::Echo::CallbackService {
  ServerUnaryReactor* Text(CallbackServerContext* context, const pb::TextRequest* request,
                           pb::TextReply* reply) override {
    return Answer(context, request, reply);
  }

  ServerUnaryReactor* Record(CallbackServerContext* context, const pb::RecordRequest* request,
                             pb::RecordReply* reply) override {
    return Answer(context, request, reply);
  }

  ServerUnaryReactor* Dto(CallbackServerContext* context, const pb::DtoRequest* request,
                          pb::DtoReply* reply) override {
    return Answer(context, request, reply);
  }

  ServerUnaryReactor* Tree(CallbackServerContext* context, const pb::TreeRequest* request,
                           pb::TreeReply* reply) override {
    return Answer(context, request, reply);
  }
};

// Runs on the library's threads: half as many as the machine has CPUs, at least 2 and at most 16.
// ResourceQuota::SetMaxThreads does not limit them, so only the kernel enforces the number of CPUs.
class Callback final : public Api {
 public:
  void Register(grpc::ServerBuilder& builder) override { builder.RegisterService(&service_); }

 private:
  Service service_;
};

}  // namespace callback
