#include "services/runtime/interpreter/interpreter.h"

#include "events/state/policy.h"
#include "services/runtime/interpreter/native/native.h"

namespace shiplog::interpreter {
namespace {

/// B-31: what cannot be looked for makes the whole list worthless.
Result<void> check(const std::vector<Dependency>& dependencies, const Value& object) {
  for (size_t at = 0; at < dependencies.size(); ++at) {
    const Dependency& one = dependencies[at];
    const char* wrong = nullptr;
    if (one.api_version.empty()) {
      wrong = "apiVersion is missing";
    } else if (one.kind.empty()) {
      wrong = "kind is missing";
    } else if (one.name.empty() && one.label_selector.is_null()) {
      wrong = "it has neither name nor labelSelector";
    } else if (!one.label_selector.is_null() && !label_selector_from(one.label_selector).valid) {
      wrong = "labelSelector is not valid";
    }
    if (wrong != nullptr) {
      return Error{ErrorCode::kInvalid, "dependencies of " + object["kind"].str() + " " +
                                            object["metadata"]["name"].str() + ": dependencies[" + std::to_string(at) +
                                            "]: " + wrong};
    }
  }
  return ok();
}

}  // namespace

Result<std::optional<Replicas>> replicas(const State& /*state*/, const Value& object, UtcMillis /*now*/) {
  return native::replicas(object);
}

Result<std::optional<std::vector<Component>>> components(const State& /*state*/, const Value& /*object*/,
                                                         UtcMillis /*now*/) {
  return std::nullopt;
}

Result<std::optional<Value>> revise_replica(const State& /*state*/, const Value& object, int64_t count,
                                            UtcMillis /*now*/) {
  return native::revise_replica(object, count);
}

Result<std::optional<Value>> retain(const State& /*state*/, const Value& desired, const Value& observed,
                                    UtcMillis /*now*/) {
  return native::retain(desired, observed);
}

Result<std::optional<Value>> aggregate_status(const State& /*state*/, const Value& object, const Value& items,
                                              UtcMillis now) {
  return native::aggregate_status(object, items, now);
}

Result<Value> reflect_status(const State& /*state*/, const Value& object, UtcMillis /*now*/) {
  return native::reflect_status(object);
}

Result<std::optional<bool>> health(const State& /*state*/, const Value& object, UtcMillis /*now*/) {
  return native::health(object);
}

Result<std::optional<std::vector<Dependency>>> dependencies(const State& /*state*/, const Value& object,
                                                            UtcMillis /*now*/) {
  auto found = native::dependencies(object);
  if (found) {
    SHIPLOG_TRY(check(*found, object));
  }
  return found;
}

}  // namespace shiplog::interpreter
