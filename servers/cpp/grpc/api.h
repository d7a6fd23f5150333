// The library's two APIs, selected by the server's first argument.
#pragma once

#include <grpcpp/grpcpp.h>

// Receives a server's calls, from before it is built until it has shut down.
class Api {
 public:
  virtual ~Api() = default;

  // Registers with the builder.
  virtual void Register(grpc::ServerBuilder& builder) = 0;

  // The server listens.
  virtual void Start() {}

  // The server has shut down: no more events.
  virtual void Stop() {}
};
