#include "events/state/identity.h"

#include <string>

namespace shiplog {
namespace {

bool same_or_empty(const Value& a, const Value& b) { return a == b || (a.is_empty() && b.is_empty()); }

}  // namespace

Result<void> same_identity(const Value& object, const Value& result) {
  if (!result.is_object()) return Error{ErrorCode::kInvalid, "the result is not an object"};
  if (!result["metadata"].is_object()) return Error{ErrorCode::kInvalid, "the result has no metadata"};
  std::string changed;
  const auto compare = [&](const char* field, const Value& before, const Value& after) {
    if (!same_or_empty(before, after)) changed += (changed.empty() ? "" : ", ") + std::string{field};
  };
  compare("apiVersion", object["apiVersion"], result["apiVersion"]);
  compare("kind", object["kind"], result["kind"]);
  compare("metadata.namespace", object["metadata"]["namespace"], result["metadata"]["namespace"]);
  compare("metadata.name", object["metadata"]["name"], result["metadata"]["name"]);
  if (changed.empty()) return ok();
  return Error{ErrorCode::kInvalid, "the result is another object than " + object["kind"].str() + " " +
                                        object["metadata"]["name"].str() + ": it changes " + changed};
}

}  // namespace shiplog
