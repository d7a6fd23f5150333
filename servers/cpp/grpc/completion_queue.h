// The asynchronous API: a completion queue per CPU, and a thread that handles its events.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "api.h"
#include "echo.grpc.pb.h"
#include "echo.h"

namespace completion_queue {

namespace pb = rpcbench::v1;
using grpc::ServerCompletionQueue;
using Service = pb::Echo::AsyncService;

// Calls of a method that a queue can accept at the same time; others wait in the library.
constexpr int kReady = 100;

// The handler of an event. Deletes itself after its last one.
class Step {
 public:
  virtual ~Step() = default;

  // `ok`: the event happened; if not, it never will. `stopping`: no further call may be requested.
  virtual void Next(bool ok, bool stopping) = 0;
};

// One call: awaited, answered, done.
template <class Request, class Reply>
class Call final : public Step {
 public:
  using Responder = grpc::ServerAsyncResponseWriter<Reply>;
  using Wait = void (Service::*)(grpc::ServerContext*, Request*, Responder*, grpc::CompletionQueue*,
                                 ServerCompletionQueue*, void*);

  Call(Service& service, Wait wait, ServerCompletionQueue& queue)
      : service_(service), wait_(wait), queue_(queue), responder_(&context_) {
    (service_.*wait_)(&context_, &request_, &responder_, &queue_, &queue_, this);
  }

  void Next(bool ok, bool stopping) override {
    if (!ok || answered_) {
      delete this;
      return;
    }
    if (!stopping) new Call(service_, wait_, queue_);
    pb::Echo(request_, &reply_);
    answered_ = true;
    responder_.Finish(reply_, grpc::Status::OK, this);
  }

 private:
  Service& service_;
  const Wait wait_;
  ServerCompletionQueue& queue_;
  grpc::ServerContext context_;
  Request request_;
  Reply reply_;
  Responder responder_;
  bool answered_ = false;
};

// A queue with its thread.
class Worker {
 public:
  Worker(Service& service, std::unique_ptr<ServerCompletionQueue> queue)
      : service_(service), queue_(std::move(queue)) {}

  void Start() {
    for (int i = 0; i < kReady; ++i) {
      new Call<pb::TextRequest, pb::TextReply>(service_, &Service::RequestText, *queue_);
      new Call<pb::RecordRequest, pb::RecordReply>(service_, &Service::RequestRecord, *queue_);
      new Call<pb::DtoRequest, pb::DtoReply>(service_, &Service::RequestDto, *queue_);
      new Call<pb::TreeRequest, pb::TreeReply>(service_, &Service::RequestTree, *queue_);
    }
    thread_ = std::thread([this] { Run(); });
  }

  // Nothing may be added to a queue after its shutdown, so the thread that adds to it shuts it down.
  void Stop() {
    stop_.Set(queue_.get(), std::chrono::system_clock::now(), nullptr);
    thread_.join();
  }

 private:
  void Run() {
    bool stopping = false;
    void* tag = nullptr;
    bool ok = false;
    while (queue_->Next(&tag, &ok)) {
      if (tag == nullptr) {
        stopping = true;
        queue_->Shutdown();
      } else {
        static_cast<Step*>(tag)->Next(ok, stopping);
      }
    }
  }

  Service& service_;
  std::unique_ptr<ServerCompletionQueue> queue_;
  grpc::Alarm stop_;
  std::thread thread_;
};

class CompletionQueues final : public Api {
 public:
  explicit CompletionQueues(unsigned cpus) : cpus_(cpus) {}

  void Register(grpc::ServerBuilder& builder) override {
    builder.RegisterService(&service_);
    for (unsigned i = 0; i < cpus_; ++i) {
      workers_.push_back(std::make_unique<Worker>(service_, builder.AddCompletionQueue()));
    }
  }

  void Start() override {
    for (const auto& worker : workers_) worker->Start();
  }

  void Stop() override {
    for (const auto& worker : workers_) worker->Stop();
  }

 private:
  const unsigned cpus_;
  Service service_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace completion_queue
