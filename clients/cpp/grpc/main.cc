// Calls the contract's service with grpc++'s callback API.

#include <google/protobuf/stubs/common.h>
#include <google/protobuf/util/message_differencer.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "driver/driver.h"
#include "driver/method.h"
#include "echo.grpc.pb.h"

namespace {

namespace pb = rpcbench::v1;
using google::protobuf::util::MessageDifferencer;
using std::chrono::system_clock;

constexpr std::chrono::seconds kOpenTimeout{10};
// Backoff after a failed attempt to connect, during which calls fail at once. The default is a second.
constexpr int kReconnectMillis = 100;

// A channel has one connection.
class Channel final : public driver::Client {
 public:
  // The library's defaults, without retries, and with a connection per channel: by default, channels to the same target share one.
  explicit Channel(const driver::Target& target) : timeout(target.timeout) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMillis);
    channel_ = grpc::CreateCustomChannel(target.address, grpc::InsecureChannelCredentials(), arguments);
    stub = pb::Echo::NewStub(channel_);
    channel_->GetState(true);
  }

  void AwaitOpen() override {
    const auto deadline = system_clock::now() + kOpenTimeout;
    for (;;) {
      const grpc_connectivity_state state = channel_->GetState(true);
      if (state == GRPC_CHANNEL_READY) return;
      if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || !channel_->WaitForStateChange(state, deadline)) {
        throw std::runtime_error("no connection within 10 s, or it was refused");
      }
    }
  }

  const std::chrono::nanoseconds timeout;
  std::unique_ptr<pb::Echo::Stub> stub;

 private:
  std::shared_ptr<grpc::Channel> channel_;
};

using Async = pb::Echo::StubInterface::async_interface;
template <class Request, class Reply>
using Start = void (Async::*)(grpc::ClientContext*, const Request*, Reply*, std::function<void(grpc::Status)>);

// What all methods have in common.
template <class Q, class R>
struct Method {
  using Request = Q;
  using Reply = R;

  static Request Decode(const std::string& data) {
    Request request;
    if (!request.ParseFromString(data)) throw std::runtime_error("a request can't be decoded");
    return request;
  }
};

struct Text : Method<pb::TextRequest, pb::TextReply> {
  static constexpr Start<Request, Reply> kStart = &Async::Text;
  static std::string& Sent(Request& request) { return *request.mutable_text(); }
  static const std::string& Echoed(const Reply& reply) { return reply.echo(); }
  static bool Equal(const Request&, const Reply&) { return true; }
};

struct Record : Method<pb::RecordRequest, pb::RecordReply> {
  static constexpr Start<Request, Reply> kStart = &Async::Record;
  static std::string& Sent(Request& request) { return *request.mutable_record()->mutable_field1(); }
  static const std::string& Echoed(const Reply& reply) { return reply.echo().field1(); }
  static bool Equal(const Request& request, const Reply& reply) {
    return MessageDifferencer::Equals(request.record(), reply.echo());
  }
};

struct Dto : Method<pb::DtoRequest, pb::DtoReply> {
  static constexpr Start<Request, Reply> kStart = &Async::Dto;
  static std::string& Sent(Request& request) { return *request.mutable_dto()->mutable_prop1(); }
  static const std::string& Echoed(const Reply& reply) { return reply.echo().prop1(); }
  static bool Equal(const Request& request, const Reply& reply) {
    return MessageDifferencer::Equals(request.dto(), reply.echo());
  }
};

struct Tree : Method<pb::TreeRequest, pb::TreeReply> {
  static constexpr Start<Request, Reply> kStart = &Async::Tree;
  static std::string& Sent(Request& request) { return *request.mutable_tree()->mutable_name(); }
  static const std::string& Echoed(const Reply& reply) { return reply.echo().name(); }
  static bool Equal(const Request& request, const Reply& reply) {
    return MessageDifferencer::Equals(request.tree(), reply.echo());
  }
};

// UNAVAILABLE may be the library's or the server's.
driver::Outcome OutcomeOf(const grpc::Status& status) {
  const std::string message = status.error_message();
  switch (status.error_code()) {
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return driver::kTimeout;
    case grpc::StatusCode::UNAVAILABLE:
      return driver::kTransport;
    default:
      // The library's message for a reset.
      return message.rfind("Stream removed", 0) == 0 ? driver::kTransport : driver::Status(status.error_code());
  }
}

template <class M>
class Calls final : public driver::Caller {
 public:
  explicit Calls(const std::vector<std::string>& encoded) : requests_(encoded) {}

  void Call(driver::Client& client, driver::Callback done) override {
    auto& channel = static_cast<Channel&>(client);
    context_.emplace();
    context_->set_deadline(system_clock::now() + channel.timeout);
    auto on_status = [this, done = std::move(done)](const grpc::Status& status) {
      context_.reset();
      // The library reports a reply that it can't decode as an empty one.
      done(status.ok() ? requests_.Check(reply_) : OutcomeOf(status));
    };
    (channel.stub->async()->*M::kStart)(&*context_, &requests_.Next(), &reply_, std::move(on_status));
  }

 private:
  driver::Requests<M> requests_;
  std::optional<grpc::ClientContext> context_;
  typename M::Reply reply_;
};

std::unique_ptr<driver::Caller> MakeCaller(const std::string& shape, const std::vector<std::string>& requests) {
  if (shape == "text") return std::make_unique<Calls<Text>>(requests);
  if (shape == "record") return std::make_unique<Calls<Record>>(requests);
  if (shape == "dto") return std::make_unique<Calls<Dto>>(requests);
  if (shape == "tree") return std::make_unique<Calls<Tree>>(requests);
  throw std::runtime_error("unknown shape '" + shape + "'");
}

}  // namespace

int main() {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  // Otherwise the library logs a line for each reply that it can't decode. Later versions log with Abseil.
  google::protobuf::SetLogHandler(nullptr);
#endif
  const auto connect = [](const driver::Target& target) { return std::make_unique<Channel>(target); };
  return driver::Main({"grpc++", grpc::Version(), connect, MakeCaller});
}
