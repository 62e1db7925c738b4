#pragma once

#include <string>
#include <utility>

#include "services/http/byte_stream.h"

namespace shiplog::testing {

/// A ByteStream without a network: the test is the peer. Callbacks run at once. Threads: one.
class ScriptedStream final : public ByteStream {
 public:
  void read(Received received) override {
    received_ = std::move(received);
    deliver();
  }
  void write(std::string bytes, Done done) override {
    if (closed_) return done(Error{ErrorCode::kUnavailable, "closed"});
    written_ += bytes;
    if (holds_writes_) {
      held_ = std::move(done);
    } else {
      done(boost::outcome_v2::success());
    }
  }
  void close() override {
    closed_ = true;
    if (const auto received = std::exchange(received_, nullptr)) {
      received(Error{ErrorCode::kUnavailable, "closed"});
    }
    if (const auto held = std::exchange(held_, nullptr)) held(Error{ErrorCode::kUnavailable, "closed"});
  }

  /// The peer sends bytes, or ends.
  void send(std::string bytes) {
    pending_ += bytes;
    deliver();
  }
  void end() {
    ended_ = true;
    deliver();
  }
  /// The peer stops to take what is written.
  void hold_writes() { holds_writes_ = true; }
  /// What was written since the last call.
  std::string take() { return std::exchange(written_, {}); }
  bool closed() const { return closed_; }
  bool reading() const { return received_ != nullptr; }

 private:
  void deliver() {
    while (received_ && (!pending_.empty() || ended_)) {
      auto received = std::exchange(received_, nullptr);
      received(std::exchange(pending_, {}));
      if (ended_ && pending_.empty()) ended_ = received_ != nullptr;
    }
  }

  Received received_;
  Done held_;
  std::string pending_, written_;
  bool closed_ = false;
  bool ended_ = false;
  bool holds_writes_ = false;
};

}  // namespace shiplog::testing
