// The contract's messages, and their JSON: 64-bit integers are decimal strings, and bytes are base64.
//
// nlohmann-json's macros map the types, and throw if a value has another type. So do the functions added here.
#pragma once

#include <absl/strings/escaping.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace messages {

using nlohmann::json;

// A 64-bit integer, in JSON a decimal string.
template <class Integer>
struct Decimal {
  Integer value = 0;
};

template <class Integer>
void to_json(json& to, const Decimal<Integer>& from) {
  to = std::to_string(from.value);
}

template <class Integer>
void from_json(const json& from, Decimal<Integer>& to) {
  const std::string& text = from.get_ref<const std::string&>();
  const char* end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, to.value);
  if (error != std::errc() || parsed != end) throw std::invalid_argument("not an integer of 64 bits: " + text);
}

using Int64 = Decimal<std::int64_t>;
using Uint64 = Decimal<std::uint64_t>;

struct Bytes {
  std::string value;
};

inline void to_json(json& to, const Bytes& from) { to = absl::Base64Escape(from.value); }

inline void from_json(const json& from, Bytes& to) {
  if (!absl::Base64Unescape(from.get_ref<const std::string&>(), &to.value)) {
    throw std::invalid_argument("not base64");
  }
}

enum class Status { kUnspecified, kActive, kSuspended, kClosed };

inline constexpr const char* kStatuses[] = {"STATUS_UNSPECIFIED", "STATUS_ACTIVE", "STATUS_SUSPENDED", "STATUS_CLOSED"};

inline void to_json(json& to, Status from) { to = kStatuses[static_cast<std::size_t>(from)]; }

// The library's macro for enums maps unknown names to the first value.
inline void from_json(const json& from, Status& to) {
  const std::string& name = from.get_ref<const std::string&>();
  const auto* found = std::find(std::begin(kStatuses), std::end(kStatuses), name);
  if (found == std::end(kStatuses)) throw std::invalid_argument("not a status: " + name);
  to = static_cast<Status>(found - std::begin(kStatuses));
}

struct FlatRecord {
  std::string field1;
  std::int32_t field2 = 0, field3 = 0;
  std::string field4;
  std::vector<Uint64> field5;
  std::int32_t field6 = 0;
  std::string field7, field9;
  bool field12 = false, field13 = false, field14 = false;
  std::int32_t field16 = 0;
  bool field17 = false;
  std::string field18;
  Int64 field22;
  std::int32_t field23 = 0;
  bool field24 = false;
  std::int32_t field25 = 0, field29 = 0;
  bool field30 = false, field59 = false;
  std::int32_t field60 = 0, field67 = 0, field68 = 0;
  bool field78 = false, field80 = false, field81 = false;
  std::int32_t field100 = 0, field101 = 0;
  std::string field102, field103;
  std::int32_t field104 = 0, field128 = 0;
  std::string field129;
  std::int32_t field130 = 0, field131 = 0, field150 = 0, field271 = 0, field272 = 0, field280 = 0;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FlatRecord, field1, field2, field3, field4, field5, field6, field7, field9, field12,
                                   field13, field14, field16, field17, field18, field22, field23, field24, field25,
                                   field29, field30, field59, field60, field67, field68, field78, field80, field81,
                                   field100, field101, field102, field103, field104, field128, field129, field130,
                                   field131, field150, field271, field272, field280)

struct PropertyDto {
  std::string prop1, prop2, prop3;
  std::int32_t prop4 = 0, prop5 = 0, prop6 = 0;
  double prop7 = 0, prop8 = 0, prop9 = 0;
  bool prop10 = false, prop11 = false, prop12 = false;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PropertyDto, prop1, prop2, prop3, prop4, prop5, prop6, prop7, prop8, prop9, prop10,
                                   prop11, prop12)

struct Tag {
  std::string key, value;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Tag, key, value)

struct Branch {
  std::string name;
  Uint64 id;
  std::vector<Tag> tags;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Branch, name, id, tags)

// Fields that every tree has.
struct TreeValues {
  std::string name;
  Bytes digest;
  std::int32_t age = 0;
  Int64 balance;
  Uint64 serial;
  double score = 0;
  float ratio = 0;
  bool active = false;
  Status status = Status::kUnspecified;
  std::map<std::string, Int64> counters;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TreeValues, name, digest, age, balance, serial, score, ratio, active, status,
                                   counters)

struct TreeNode : TreeValues {
  std::optional<std::string> email;
  std::optional<Uint64> phone;
  std::optional<Branch> left, right;
};

// The library has no optional members.
template <class T>
void Put(json& to, const char* key, const std::optional<T>& member) {
  if (member) to[key] = *member;
}

template <class T>
void Get(const json& from, const char* key, std::optional<T>& member) {
  if (const auto found = from.find(key); found != from.end()) member = found->get<T>();
}

inline void to_json(json& to, const TreeNode& from) {
  to_json(to, static_cast<const TreeValues&>(from));
  Put(to, "email", from.email);
  Put(to, "phone", from.phone);
  Put(to, "left", from.left);
  Put(to, "right", from.right);
}

inline void from_json(const json& from, TreeNode& to) {
  from_json(from, static_cast<TreeValues&>(to));
  Get(from, "email", to.email);
  Get(from, "phone", to.phone);
  Get(from, "left", to.left);
  Get(from, "right", to.right);
  if (to.email && to.phone) throw std::invalid_argument("tree: email and phone exclude each other");
}

}  // namespace messages
