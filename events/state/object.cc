#include "events/state/object.h"

#include <algorithm>

#include "events/base/json.h"

namespace shiplog {

Hash128 hash_of(const ObjectKey& key, const Value& object) {
  std::string hashed = to_string(key);
  hashed += '\n';
  append_json(object, hashed);
  return siphash128(hashed);
}

Result<Object> object_from(const ObjectKey& key, std::string_view json) {
  auto value = parse_stored_json(json);
  if (!value) return Error{ErrorCode::kCorrupt, "object " + to_string(key) + ": " + value.error().message};
  Object object{Revision{}, std::move(value).value(), {}};
  for (const char digit : object.value["metadata"]["resourceVersion"].as_string()) {
    object.revision.value = object.revision.value * 10 + static_cast<uint64_t>(digit - '0');
  }
  const std::string name = to_string(key);
  std::string hashed;
  hashed.reserve(name.size() + 1 + json.size());
  ((hashed += name) += '\n') += json;
  object.hash = siphash128(hashed);
  return object;
}

void share_texts(ObjectKey& key, const Value& object) {
  const Value& metadata = object["metadata"];
  const Value& name = metadata["name"];
  if (name.as_string() == key.name) key.name = SharedText::of(name);
  if (key.ns.empty()) return;
  const Value& ns = metadata["namespace"];
  if (ns.as_string() == key.ns) key.ns = SharedText::of(ns);
}

bool has_finalizer(const Value& object, std::string_view finalizer) {
  const auto finalizers = object["metadata"]["finalizers"].items();
  return std::any_of(finalizers.begin(), finalizers.end(),
                     [&](const Value& item) { return item.as_string() == finalizer; });
}

}  // namespace shiplog
