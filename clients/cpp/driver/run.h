// Makes calls from `start` to `stop`.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "load.h"
#include "wire.h"

namespace driver {

class Run {
 public:
  Run(Load& load, const nlohmann::json& message, Wire& wire) : wire_(wire), at_(message.at("at_ns")) {
    if (const std::int64_t calls = message.value("calls", std::int64_t{0}); calls > 0) limit_ = calls;
    slots_ = &load.slots;
    if (!message.contains("schedule")) return;
    const long in_flight_max = message.at("in_flight_max");
    if (in_flight_max < 1) throw std::runtime_error("in_flight_max must be 1 or more");
    ReadSchedule(message.at("schedule"));
    open_loop_slots_ = load.NewSlots(static_cast<std::size_t>(in_flight_max));
    slots_ = &open_loop_slots_;
    is_open_loop_ = true;
  }

  // Starts no call from this instant on.
  void Stop(std::int64_t instant) {
    const std::lock_guard lock(mutex_);
    stop_at_ = instant;
    changed_.notify_all();
  }

  // Makes the calls, and returns their number when the last one has ended.
  std::int64_t Make() {
    std::thread flusher([this] { FlushUntilEnded(); });
    SleepUntilStart();
    if (is_open_loop_) {
      Dispatch();
    } else {
      Begin(slots_->size());
      for (const auto& slot : *slots_) Repeat(*slot);
    }
    End();
    flusher.join();
    return started_;
  }

 private:
  // How long to poll the clock before the start, in nanoseconds.
  static constexpr std::int64_t kSpin = 2'000'000;
  static constexpr std::chrono::milliseconds kFlushEvery{5};

  // Reads a file of due times.
  void ReadSchedule(const std::string& path) {
    const std::string data = ReadFile(path);
    const auto calls = std::min<std::int64_t>(limit_, data.size() / sizeof(std::int64_t));
    schedule_.resize(static_cast<std::size_t>(calls));
    std::memcpy(schedule_.data(), data.data(), schedule_.size() * sizeof(std::int64_t));
  }

  void FlushUntilEnded() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kFlushEvery, [this] { return pending_ == 0; })) wire_.Flush();
  }

  void SleepUntilStart() {
    if (at_ == 0) at_ = Now();
    std::this_thread::sleep_for(std::chrono::nanoseconds(at_ - kSpin - Now()));
    while (Now() < at_) std::this_thread::yield();
  }

  void Begin(std::size_t number) {
    const std::lock_guard lock(mutex_);
    pending_ += number;
  }

  // Ends a slot, a call or the run, which may be destroyed afterwards.
  void End() {
    const std::lock_guard lock(mutex_);
    if (--pending_ == 0) changed_.notify_all();
  }

  // Makes the calls of a slot, one after another.
  void Repeat(Slot& slot) {
    const std::int64_t start = Now();
    if (start >= stop_at_ || claimed_++ >= limit_) return End();
    started_++;
    slot.Call([this, &slot, start](Outcome outcome) {
      wire_.Record(start, Now(), slot.number, outcome);
      Repeat(slot);
    });
  }

  // Starts each call when it is due.
  void Dispatch() {
    for (const auto& slot : *slots_) idle_.push_back(slot.get());
    for (std::uint32_t index = 0; index < schedule_.size(); index++) {
      const std::int64_t due = at_ + schedule_[index];
      if (!SleepUntil(due)) return;
      started_++;
      if (Slot* slot = TakeIdle()) {
        Begin(1);
        slot->Call([this, slot, index, due](Outcome outcome) {
          wire_.Record(due, Now(), index, outcome);
          GiveIdle(slot);
          End();
        });
      } else {
        wire_.Record(due, Now(), index, kNotSent);
      }
    }
  }

  Slot* TakeIdle() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    Slot* slot = idle_.back();
    idle_.pop_back();
    return slot;
  }

  void GiveIdle(Slot* slot) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(slot);
  }

  // Waits for a due time. False if the run stops before it.
  bool SleepUntil(std::int64_t due) {
    std::unique_lock lock(mutex_);
    while (due < stop_at_) {
      const std::int64_t rest = due - Now();
      if (rest <= 0) return true;
      changed_.wait_for(lock, std::chrono::nanoseconds(rest));
    }
    return false;
  }

  Wire& wire_;
  std::int64_t at_;
  std::int64_t limit_ = std::numeric_limits<std::int64_t>::max();
  // The load's (closed loop) or open_loop_slots_.
  Slots* slots_;
  Slots open_loop_slots_;
  bool is_open_loop_ = false;
  std::vector<std::int64_t> schedule_;
  std::atomic<std::int64_t> stop_at_{std::numeric_limits<std::int64_t>::max()};
  std::atomic<std::int64_t> claimed_{0};
  std::atomic<std::int64_t> started_{0};
  // Slots (closed loop) or calls (open loop) that have not ended, plus one for the run.
  std::size_t pending_ = 1;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot*> idle_;
};

}  // namespace driver
