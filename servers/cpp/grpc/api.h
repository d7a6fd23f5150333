// The library's two APIs, selected by the server's first argument.
#pragma once

#include <grpcpp/grpcpp.h>

// How a server receives its calls.
class Api {
 public:
  virtual ~Api() = default;

  // Called before the server is built.
  virtual void Register(grpc::ServerBuilder& builder) = 0;

  // Called when the server listens.
  virtual void Start() {}

  // Called when the server has shut down.
  virtual void Stop() {}
};
