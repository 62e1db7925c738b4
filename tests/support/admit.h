#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/admission/admission.h"

// What the tests of admission have in common.

namespace shiplog::api {

inline Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? std::move(value).value() : Value{};
}

/// The default namespace's path, or the cluster's; at a fixed time.
inline Admission admission_for(const char* type, std::string name = "") {
  Admission admission;
  admission.kinds = &Kinds::compiled();
  admission.kind = admission.kinds->find_type(type);
  EXPECT_NE(admission.kind, nullptr) << type;
  if (admission.kind->namespaced) admission.ns = "default";
  admission.name = std::move(name);
  admission.name_suffix = "bcdfg";
  admission.now = parse_rfc3339("2026-01-02T03:04:05Z").value();
  return admission;
}

inline Result<Value> create(const char* type, const Value& object) {
  Admission admission = admission_for(type);
  return admit_create(admission, object);
}

/// As it would be stored: with what the fold adds.
inline Value stored(const char* type, const Value& object) {
  auto created = create(type, object);
  EXPECT_TRUE(created.has_value()) << (created ? "" : created.error().message);
  if (!created) return Value{};
  Value value = std::move(created).value();
  value.edit("metadata").set("uid", "uid-1");
  value.edit("metadata").set("resourceVersion", "7");
  value.edit("metadata").set("creationTimestamp", "2026-01-01T00:00:00Z");
  return value;
}

inline Result<Value> update(const char* type, const Value& old, const Value& object) {
  Admission admission = admission_for(type, old["metadata"]["name"].str());
  return admit_update(admission, old, object);
}

template <class T>
std::string message_of(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

/// The fields of an error's causes, in order: "spec.a,spec.b".
template <class T>
std::string fields_of(const Result<T>& result) {
  if (result) return "no error";
  std::string fields;
  for (const FieldCause& cause : result.error().causes) fields += (fields.empty() ? "" : ",") + cause.field;
  return fields.empty() ? result.error().message : fields;
}

/// The warnings about a new object, one a line.
inline std::string warnings_of(const char* type, const Value& object) {
  Admission admission = admission_for(type);
  const auto created = admit_create(admission, object);
  EXPECT_TRUE(created.has_value()) << message_of(created);
  std::string all;
  for (const std::string& each : admission.warnings) all += (all.empty() ? "" : "\n") + each;
  return all;
}

}  // namespace shiplog::api
