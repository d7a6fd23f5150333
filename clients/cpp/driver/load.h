// Connections, slots and requests.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "wire.h"

namespace driver {

// Where and how to open connections.
struct Target {
  std::string address;
  std::chrono::nanoseconds timeout;
};

// A connection, which carries several calls at a time. Its destructor closes it.
class Client {
 public:
  virtual ~Client() = default;
  virtual void AwaitOpen() = 0;
};

using Callback = std::function<void(Outcome)>;

// Makes the calls of a slot, one at a time, with its requests in turn.
class Caller {
 public:
  virtual ~Caller() = default;
  // `done` runs in another thread, or after this has returned.
  virtual void Call(Client& client, Callback done) = 0;
};

struct Library {
  std::string name;
  std::string version;
  // Opens a connection, or starts to.
  std::function<std::unique_ptr<Client>(const Target&)> connect;
  // Returns a slot's caller for a shape, with these encoded requests.
  std::function<std::unique_ptr<Caller>(const std::string&, const std::vector<std::string>&)> caller;
};

// Closes connections in a separate thread: grpc++ waits for its threads when the last channel closes, so none of them may close it.
class Closer {
 public:
  static void Close(Client* client) {
    static Closer* const closer = new Closer;
    const std::lock_guard lock(closer->mutex_);
    closer->clients_.emplace_back(client);
    closer->changed_.notify_one();
  }

 private:
  Closer() { std::thread([this] { Run(); }).detach(); }

  void Run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !clients_.empty(); });
      auto clients = std::exchange(clients_, {});
      lock.unlock();
      clients.clear();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Client>> clients_;
};

// Opens another client after a number of calls.
class Connection {
 public:
  Connection(const Library& library, const Target& target, long limit)
      : library_(library), target_(target), limit_(limit) {}

  std::shared_ptr<Client> Open() {
    calls_ = 0;
    return client_ = {library_.connect(target_).release(), Closer::Close};
  }

  // Returns the client for the next call. It is closed when the last call on it has ended.
  std::shared_ptr<Client> Take() {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Client> client = client_ ? client_ : Open();
    if (++calls_ == limit_) client_.reset();
    return client;
  }

 private:
  const Library& library_;
  const Target& target_;
  const long limit_;
  std::mutex mutex_;
  std::shared_ptr<Client> client_;
  long calls_ = 0;
};

// Makes calls one at a time on a connection.
class Slot {
 public:
  Slot(std::uint32_t number, Connection& connection, std::unique_ptr<Caller> caller)
      : number(number), connection_(connection), caller_(std::move(caller)) {}

  void Call(Callback done) {
    client_ = connection_.Take();
    caller_->Call(*client_, [this, done = std::move(done)](Outcome outcome) {
      client_.reset();
      done(outcome);
    });
  }

  const std::uint32_t number;

 private:
  Connection& connection_;
  std::unique_ptr<Caller> caller_;
  std::shared_ptr<Client> client_;
};

using Slots = std::vector<std::unique_ptr<Slot>>;

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": can't be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The connections and encoded requests between `open` and `close`.
class Load {
 public:
  Load(const Library& library, const nlohmann::json& message)
      : library_(library),
        shape_(message.at("shape")),
        target_{message.at("target"), std::chrono::nanoseconds(message.at("timeout_ns").get<long>())} {
    const long connections = message.at("connections"), in_flight = message.at("in_flight");
    if (std::min({connections, in_flight, message.at("timeout_ns").get<long>()}) < 1) {
      throw std::runtime_error("connections, in_flight and timeout_ns must be 1 or more");
    }
    ReadRequests(message.at("requests"));
    for (long i = 0; i < connections; i++) {
      const long limit = message.at("calls_per_connection");
      connections_.push_back(std::make_unique<Connection>(library_, target_, limit));
    }
    slots = NewSlots(static_cast<std::size_t>(connections * in_flight));
  }

  // Divides the requests among slots. With fewer requests than slots, several slots have the same one.
  Slots NewSlots(std::size_t number) {
    Slots slots;
    for (std::size_t slot = 0; slot < number; slot++) {
      std::vector<std::string> own;
      for (std::size_t i = slot % requests_.size(); i < requests_.size(); i += number) own.push_back(requests_[i]);
      Connection& connection = *connections_[slot % connections_.size()];
      slots.push_back(std::make_unique<Slot>(slot, connection, library_.caller(shape_, own)));
    }
    return slots;
  }

  // Returns the number of connections.
  std::size_t Open() {
    std::vector<std::shared_ptr<Client>> clients;
    for (const auto& connection : connections_) clients.push_back(connection->Open());
    for (const auto& client : clients) client->AwaitOpen();
    return clients.size();
  }

  Slots slots;

 private:
  // Reads a file of requests, each preceded by its length.
  void ReadRequests(const std::string& path) {
    const std::string data = ReadFile(path);
    for (std::size_t at = 0; at < data.size();) {
      std::uint32_t length = 0;
      const std::size_t rest = data.size() - at;
      if (rest >= sizeof length) std::memcpy(&length, &data[at], sizeof length);
      if (rest < sizeof length || rest - sizeof length < length) {
        throw std::runtime_error(path + ": request " + std::to_string(requests_.size()) + " is cut short");
      }
      requests_.push_back(data.substr(at + sizeof length, length));
      at += sizeof length + length;
    }
    if (requests_.empty()) throw std::runtime_error(path + ": no requests");
  }

  const Library& library_;
  const std::string shape_;
  const Target target_;
  std::vector<std::string> requests_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace driver
