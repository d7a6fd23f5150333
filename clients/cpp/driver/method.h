// Requests with nonces, and checks of their replies.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "load.h"
#include "wire.h"

namespace driver {

// `Method` has a library's types for a method of the contract, Request and Reply. Its functions `Sent(Request&)` and
// `Echoed(const Reply&)` return the field with the nonce, `Equal(const Request&, const Reply&)` compares whole messages, and
// `Decode(const std::string&)` decodes a request.
template <class Method>
class Requests {
 public:
  using Request = typename Method::Request;
  using Reply = typename Method::Reply;

  explicit Requests(const std::vector<std::string>& encoded) {
    for (const std::string& data : encoded) requests_.push_back(Method::Decode(data));
  }

  // The next request, with a new nonce. A short field gets the last digits that fit.
  const Request& Next() {
    static std::atomic<std::uint64_t> nonces{0};
    current_ = next_;
    next_ = (next_ + 1) % requests_.size();
    nonce_ = ++nonces;
    std::string& field = Method::Sent(requests_[current_]);
    std::uint64_t rest = nonce_;
    for (std::size_t i = std::min(kNonceDigits, field.size()); i > 0; rest /= 10) field[--i] = '0' + rest % 10;
    return requests_[current_];
  }

  // The outcome of a call with the last request.
  Outcome Check(const Reply& reply) {
    Request& request = requests_[current_];
    if (Method::Echoed(reply) != Method::Sent(request)) return kWrongAnswer;
    return nonce_ % kWholeEvery != 0 || Method::Equal(request, reply) ? kOk : kWrongAnswer;
  }

 private:
  static constexpr std::size_t kNonceDigits = 8;
  // Whole messages are compared on every 16th call.
  static constexpr std::uint64_t kWholeEvery = 16;

  std::vector<Request> requests_;
  std::size_t current_ = 0;
  std::size_t next_ = 0;
  std::uint64_t nonce_ = 0;
};

}  // namespace driver
