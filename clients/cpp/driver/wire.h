// Frames to and from rpcbench.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace driver {

// How a call ended, with the protocol's status if there is one.
struct Outcome {
  std::uint8_t kind;
  std::uint16_t status = 0;
};

inline constexpr Outcome kOk{0};
inline constexpr Outcome kWrongAnswer{1};
inline constexpr Outcome Status(int code) { return {2, static_cast<std::uint16_t>(code)}; }
inline constexpr Outcome kTimeout{3};
inline constexpr Outcome kTransport{4};
inline constexpr Outcome kNotSent{5};

// CLOCK_MONOTONIC in nanoseconds.
inline std::int64_t Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// Writes frames in order, from any thread. Headers and records are written as structs: little-endian on x86 and ARM, without padding.
class Wire {
 public:
  explicit Wire(const std::string& path) : socket_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error(path + ": too long");
    std::memcpy(address.sun_path, path.c_str(), path.size());
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error(path + ": " + std::strerror(errno));
    }
    records_.reserve(kRecordsBytes);
  }

  // Adds a call that ended.
  void Record(std::int64_t start, std::int64_t done, std::uint32_t call, Outcome outcome) {
    const Entry entry{start, done, call, outcome.kind, 0, outcome.status};
    const std::lock_guard lock(mutex_);
    records_.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    if (records_.size() >= kRecordsBytes) WriteRecords();
  }

  // Sends the pending records.
  void Flush() {
    const std::lock_guard lock(mutex_);
    WriteRecords();
  }

  // Sends a message after the pending records.
  void Send(const nlohmann::json& message) {
    const std::lock_guard lock(mutex_);
    WriteRecords();
    Write(kMessage, message.dump());
  }

  // Reads the next message. Empty if rpcbench has closed the socket, even within a message.
  std::optional<nlohmann::json> Read() {
    Header header;
    if (!Fill(&header, sizeof header)) return std::nullopt;
    if (header.kind != kMessage || header.length > kMaxFrame) {
      throw std::runtime_error("a frame of kind " + std::to_string(header.kind) + " with " +
                               std::to_string(header.length) + " bytes; expected kind 1 with at most 65536");
    }
    std::string text(header.length, '\0');
    if (!Fill(text.data(), text.size())) return std::nullopt;
    return nlohmann::json::parse(text);
  }

 private:
  struct Header {
    std::uint32_t length;
    std::uint32_t kind;
  };
  struct Entry {
    std::int64_t start;
    std::int64_t done;
    std::uint32_t call;
    std::uint8_t outcome;
    std::uint8_t zero;
    std::uint16_t status;
  };
  static_assert(sizeof(Entry) == 24);

  static constexpr std::uint32_t kMessage = 1;
  static constexpr std::uint32_t kRecords = 2;
  static constexpr std::uint32_t kMaxFrame = 65536;
  // Payload of a full frame of records.
  static constexpr std::size_t kRecordsBytes = 4096 / sizeof(Entry) * sizeof(Entry);

  void WriteRecords() {
    if (records_.empty()) return;
    Write(kRecords, records_);
    records_.clear();
  }

  void Write(std::uint32_t kind, const std::string& content) {
    const Header header{static_cast<std::uint32_t>(content.size()), kind};
    std::string frame(reinterpret_cast<const char*>(&header), sizeof header);
    frame += content;
    for (std::size_t sent = 0; sent < frame.size();) {
      const ssize_t written = send(socket_, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
      // rpcbench has closed the socket.
      if (written < 0) _exit(0);
      sent += static_cast<std::size_t>(written);
    }
  }

  bool Fill(void* target, std::size_t length) {
    return recv(socket_, target, length, MSG_WAITALL) == static_cast<ssize_t>(length);
  }

  const int socket_;
  std::mutex mutex_;
  std::string records_;
};

}  // namespace driver
