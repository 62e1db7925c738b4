#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/decision.h"

namespace shiplog::dispatcher {

/// Which targets of a binding or namespace could not be rendered. One that fails holds up no other, and its Work stays
/// as it is (B-6, B-21).
class Outcome {
 public:
  explicit Outcome(ObjectKey source) : source_{std::move(source)} {}
  /// A target that waits for an answer from outside has not failed, unless the last attempt to get it has.
  /// `reason`: OverrideFailed, where that is the cause; its text is the error's message.
  void failed(const std::string& cluster, const Error& error, Fact reason = {});
  /// Adds WorksSynced where the object's condition says something else. With `generation` not 0 also when every target
  /// is rendered and the condition does not name that generation yet.
  void report(const Object& object, Decision& decision, int64_t generation = 0) const;
  /// The decision; or, with nothing to append, that something has to be asked first.
  Result<std::optional<Decision>> concluded(Decision decision) const;

 private:
  ObjectKey source_;
  struct Failure {
    std::string cluster;
    std::string message;
    Fact reason;
  };
  std::vector<Failure> failures_;
  Error waiting_{ErrorCode::kUnavailable, ""};
};

}  // namespace shiplog::dispatcher
