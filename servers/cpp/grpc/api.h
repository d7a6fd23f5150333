// The library's two ways of taking calls, told apart by the first argument of the server.
#pragma once

#include <grpcpp/grpcpp.h>

// What takes the calls of a server, from before it is built until it has shut down.
class Api {
 public:
  virtual ~Api() = default;

  // Tells the builder what the server needs.
  virtual void Register(grpc::ServerBuilder& builder) = 0;

  // The server listens.
  virtual void Start() {}

  // The server has shut down: nothing more comes.
  virtual void Stop() {}
};
