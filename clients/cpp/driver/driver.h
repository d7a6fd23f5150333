// Shared by the client programs in C++: everything in contract/clients.md except the calls.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "load.h"
#include "run.h"
#include "wire.h"

namespace driver {

class Driver {
 public:
  Driver(const Library& library, const std::string& path) : library_(library), wire_(path) {}

  // Executes rpcbench's commands until it closes the socket.
  void Serve() {
    wire_.Send({{"type", "hello"},
                {"version", 1},
                {"language", "C++"},
                {"library", library_.name},
                {"library_version", library_.version},
                {"runtime", "g++ " __VERSION__},
                {"checks",
                 "text: the whole string; others: the field with the nonce, and on every 16th call the whole message"},
                {"clock_ns", Now()}});
    while (const auto message = wire_.Read()) {
      const std::string type = message->at("type");
      if (type == "start" || type == "stop") wire_.Send({{"type", "ack"}, {"of", type}, {"received_ns", Now()}});
      try {
        Obey(type, *message);
      } catch (const std::exception& error) {
        wire_.Send({{"type", "failed"}, {"error", type + ": " + error.what()}});
      }
    }
  }

 private:
  void Obey(const std::string& type, const nlohmann::json& message) {
    const std::shared_ptr<Run> run = std::atomic_load(&run_);
    if (type == "stop") {
      if (run) run->Stop(message.at("at_ns"));
      return;
    }
    if (run) throw std::runtime_error("a load is running; stop it first");
    if (type == "open") return Open(message);
    if (type == "start") return Start(message);
    if (type != "close") throw std::runtime_error("unknown type; expected open, start, stop or close");
    load_.reset();
  }

  void Open(const nlohmann::json& message) {
    if (load_) throw std::runtime_error("connections are open; close them first");
    auto load = std::make_unique<Load>(library_, message);
    const std::size_t connections = load->Open();
    load_ = std::move(load);
    wire_.Send({{"type", "opened"}, {"connections", connections}});
  }

  void Start(const nlohmann::json& message) {
    if (!load_) throw std::runtime_error("no connections are open; send 'open' first");
    auto run = std::make_shared<Run>(*load_, message, wire_);
    std::atomic_store(&run_, run);
    std::thread([this, run = std::move(run)] {
      const std::int64_t calls = run->Make();
      std::atomic_store(&run_, std::shared_ptr<Run>());
      wire_.Send({{"type", "stopped"}, {"calls", calls}});
    }).detach();
  }

  const Library& library_;
  Wire wire_;
  std::unique_ptr<Load> load_;
  // The run in progress, if any; accessed with std::atomic_load and std::atomic_store.
  std::shared_ptr<Run> run_;
};

// Ends the process when rpcbench closes the socket or sends SIGTERM.
inline int Main(const Library& library) {
  const char* path = std::getenv("RPCBENCH_SOCKET");
  if (path == nullptr) {
    std::cerr << library.name << ": RPCBENCH_SOCKET is not set; rpcbench starts this program\n";
    return EXIT_FAILURE;
  }
  // As the first process of a container, this would ignore SIGTERM without a handler.
  signal(SIGTERM, [](int) { _exit(0); });
  try {
    Driver driver(library, path);
    driver.Serve();
    // Without destructors: calls may be in flight.
    _exit(EXIT_SUCCESS);
  } catch (const std::exception& error) {
    std::cerr << library.name << ": " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}

}  // namespace driver
