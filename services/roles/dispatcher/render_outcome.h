#pragma once

#include <string>
#include <vector>

#include "events/decision.h"
#include "services/interpreter/interpreted.h"

namespace shiplog::dispatcher {

/// Which targets of a binding or namespace could not be rendered. One that fails holds up no other, and its Work stays
/// as it is (B-6, B-21).
class RenderOutcome {
 public:
  explicit RenderOutcome(ObjectKey source) : source_{std::move(source)} {}
  /// A target that waits for an answer has not failed, unless the last attempt to get it has.
  /// `reason`: OverrideFailed, where that is the cause; its text is its message.
  void failed(const std::string& cluster, const interpreter::Uninterpreted& why, Fact reason = {});
  /// Adds WorksSynced where the object's condition differs. With `generation` not 0 also when every target
  /// is rendered and the condition does not name that generation yet.
  void report(const Object& object, DecisionBuilder& decision, int64_t generation = 0) const;
  /// The decision; or, with nothing to append, the open questions. Not `whole`: targets are left for another.
  Decided concluded(DecisionBuilder decision, bool whole, UtcMillis now) const;

 private:
  ObjectKey source_;
  struct Failure {
    std::string cluster;
    std::string message;
    Fact reason;
  };
  std::vector<Failure> failures_;
  NeedsAnswers waiting_;
};

}  // namespace shiplog::dispatcher
