// The contract's methods as HTTP and JSON.
#pragma once

#include <boost/beast/http.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "messages.h"

namespace echo {

namespace http = boost::beast::http;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

// The reply to a request with its content under `key`. Throws if it can't be decoded.
template <class Content>
std::string Echo(const std::string& body, const char* key) {
  auto content = nlohmann::json::parse(body).at(key).get<Content>();
  nlohmann::json reply;
  reply["echo"] = std::move(content);
  return reply.dump();
}

using Method = std::string (*)(const std::string& body);

inline Method Find(std::string_view path) {
  static const std::map<std::string_view, Method> methods = {
      {"/rpcbench.v1.Echo/Text", [](const std::string& body) { return Echo<std::string>(body, "text"); }},
      {"/rpcbench.v1.Echo/Record", [](const std::string& body) { return Echo<messages::FlatRecord>(body, "record"); }},
      {"/rpcbench.v1.Echo/Dto", [](const std::string& body) { return Echo<messages::PropertyDto>(body, "dto"); }},
      {"/rpcbench.v1.Echo/Tree", [](const std::string& body) { return Echo<messages::TreeNode>(body, "tree"); }},
  };
  const auto found = methods.find(path);
  return found == methods.end() ? nullptr : found->second;
}

inline Response Answer(const Request& request) {
  Response response(http::status::ok, request.version());
  response.keep_alive(request.keep_alive());
  response.set(http::field::content_type, "text/plain");
  const Method method = Find({request.target().data(), request.target().size()});
  if (method == nullptr) {
    response.result(http::status::not_found);
  } else if (request.method() != http::verb::post) {
    response.result(http::status::method_not_allowed);
    response.set(http::field::allow, "POST");
  } else {
    try {
      response.body() = method(request.body());
      response.set(http::field::content_type, "application/json");
    } catch (const nlohmann::json::exception& error) {
      response.result(http::status::bad_request);
      response.body() = error.what();
    } catch (const std::invalid_argument& error) {
      response.result(http::status::bad_request);
      response.body() = error.what();
    }
  }
  response.prepare_payload();
  return response;
}

}  // namespace echo
