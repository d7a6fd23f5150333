// The contract's methods, for both APIs.
#pragma once

#include "echo.pb.h"

// Requests are const in both APIs, so their content is copied, as in every service on them.
namespace rpcbench::v1 {

inline void Echo(const TextRequest& request, TextReply* reply) { reply->set_echo(request.text()); }

inline void Echo(const RecordRequest& request, RecordReply* reply) {
  if (request.has_record()) *reply->mutable_echo() = request.record();
}

inline void Echo(const DtoRequest& request, DtoReply* reply) {
  if (request.has_dto()) *reply->mutable_echo() = request.dto();
}

inline void Echo(const TreeRequest& request, TreeReply* reply) {
  if (request.has_tree()) *reply->mutable_echo() = request.tree();
}

}  // namespace rpcbench::v1
