// Shared by all C++ servers: settings from the environment.
#pragma once

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace settings {

// The value of a variable. Throws if it is not set.
inline std::string Text(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') throw std::runtime_error(std::string(name) + " is not set");
  return value;
}

// The value of a variable as an integer. Throws if it is not one from `least` to `most`.
inline unsigned Number(const char* name, unsigned least, unsigned most) {
  const std::string text = Text(name);
  unsigned value = 0;
  const char* end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || parsed != end || value < least || value > most) {
    throw std::runtime_error(std::string(name) + ": \"" + text + "\" is not a whole number from " +
                             std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

inline std::string Host() { return Text("RPCBENCH_HOST"); }

inline unsigned Port() { return Number("RPCBENCH_PORT", 0, 65535); }

inline unsigned Cpus() { return Number("RPCBENCH_CPUS", 1, 65535); }

}  // namespace settings
