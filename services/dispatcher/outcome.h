#pragma once

#include <string>
#include <vector>

#include "events/decision.h"

namespace shiplog::dispatcher {

/// Which targets of a binding or namespace could not be rendered. One that fails holds up no other, and its Work stays
/// as it is (B-6, B-21).
class Outcome {
 public:
  explicit Outcome(ObjectKey source) : source_{std::move(source)} {}
  void failed(const std::string& cluster, const Error& error);
  /// Adds WorksSynced where the object's condition says something else.
  void report(const Object& object, Decision& decision) const;

 private:
  ObjectKey source_;
  std::vector<ClusterExplanation> failures_;
};

}  // namespace shiplog::dispatcher
