#include "services/api/conversion/review.h"

#include <utility>

#include "events/base/api_version.h"
#include "events/base/utf8.h"
#include "events/kinds/whole_numbers.h"
#include "services/api/admission/metadata.h"

// Source: webhook_converter.go of k8s.io/apiextensions-apiserver.

namespace shiplog::api {
namespace {

const std::string kGroup = "apiextensions.k8s.io/";
constexpr size_t kLongestQuote = 2048;  // of what the webhook answered

/// As Go prints a GroupVersionKind.
std::string shown_kind(const Value& object) { return object["apiVersion"].str() + ", Kind=" + object["kind"].str(); }

Error failure(const Value& object, const std::string& why) {
  return {ErrorCode::kInternal, "conversion webhook for " + shown_kind(object) + " " + printable(why, kLongestQuote)};
}

Error returned_invalid(const Value& original, const std::string& what, const std::string& why) {
  return failure(original, "returned invalid " + what + ": " + why);
}

/// What the webhook answered to the question, or why that is nothing.
Result<Value> answered_objects(const std::string& version, const Value& answer, const std::string& uid) {
  const auto wrong = [](const std::string& why) { return Error{ErrorCode::kInternal, why}; };
  if (version == "v1" &&
      (answer["kind"].as_string() != "ConversionReview" || answer["apiVersion"].as_string() != kGroup + "v1")) {
    return wrong("expected webhook response of " + kGroup + "v1, Kind=ConversionReview, got " + shown_kind(answer));
  }
  const Value& response = answer["response"];
  if (!response.is_object()) return wrong("no response provided");
  if (version == "v1" && response["uid"].as_string() != uid) {
    return wrong("expected response.uid=\"" + uid + "\", got \"" + response["uid"].str() + "\"");
  }
  const Value& result = response["result"];
  if (result["status"].as_string() == "Success") return response["convertedObjects"];
  const std::string message = result["message"].str();
  if (!message.empty()) return wrong(message);
  return wrong("response.result.status was '" + result["status"].str() + "', not 'Success'");
}

/// What makes it another object; "": nothing.
std::string changed_identity(const Value& original, const Value& converted) {
  const Value& before = original["metadata"];
  const Value& after = converted["metadata"];
  constexpr std::pair<const char*, const char*> kFields[] = {
      {"name", "name"}, {"namespace", "namespace"}, {"uid", "UID"}};
  for (const auto& [field, shown] : kFields) {
    if (before[field].as_string() == after[field].as_string()) continue;
    return std::string{"must have the same "} + shown + ": " + before[field].str() + " != " + after[field].str();
  }
  return "";
}

/// Labels and annotations by which roles know what belongs to them: a converter that changed them could release an
/// object from its policy or from protection.
bool is_of_control_plane(std::string_view key) {
  const std::string_view domain = key.substr(0, key.find('/'));
  if (domain.size() == key.size()) return false;
  for (const std::string_view owned : {"karmada.io", "shiplog.io"}) {
    if (domain == owned) return true;
    if (domain.ends_with(owned) && domain[domain.size() - owned.size() - 1] == '.') return true;
  }
  return false;
}

/// The labels or annotations that the webhook answered with, but those of the control plane as they were.
Value merged_texts(const Value& original, const Value& converted) {
  Value merged = Value::object();
  for (const auto& member : converted.members()) {
    if (!is_of_control_plane(member.key())) merged.set(member.key(), member.value);
  }
  for (const auto& member : original.members()) {
    if (is_of_control_plane(member.key())) merged.set(member.key(), member.value);
  }
  return merged;
}

std::string first_problem(const Causes& causes) {
  return causes.empty() ? "" : causes.list()[0].field + ": " + causes.list()[0].message;
}

/// What is wrong with labels or annotations; "": nothing.
std::string wrong_texts(const char* field, const Value& texts) {
  if (!texts.is_object()) return std::string{"invalid metadata."} + field + " in converted object: it is no object";
  for (const auto& member : texts.members()) {
    if (member.value.is_string()) continue;
    return std::string{"metadata."} + field + "[" + std::string{member.key()} +
           "] must be a string in converted object";
  }
  return "";
}

/// `converted` with the metadata of `original`, but for labels and annotations.
Result<Value> with_restored_metadata(const Value& original, Value converted) {
  if (!converted["metadata"].is_object()) return Error{ErrorCode::kInternal, "missing metadata in converted object"};
  Value metadata = original["metadata"];
  for (const char* field : {"labels", "annotations"}) {
    const Value given = converted["metadata"][field].is_null() ? Value::object() : converted["metadata"][field];
    if (std::string problem = wrong_texts(field, given); !problem.empty()) return Error{ErrorCode::kInternal, problem};
    const Value& before = original["metadata"][field];
    Value texts = merged_texts(before, given);
    if (texts != before) {
      Causes causes;
      if (std::string_view{field} == "labels") check_labels(texts, "metadata.labels", causes);
      if (std::string_view{field} == "annotations") check_annotations(texts, causes);
      if (!causes.empty()) return Error{ErrorCode::kInternal, first_problem(causes)};
    }
    if (texts.size() == 0) {
      metadata.erase(field);
    } else {
      metadata.set(field, std::move(texts));
    }
  }
  converted.set("metadata", std::move(metadata));
  return converted;
}

}  // namespace

std::string conversion_review_version(const Value& conversion) {
  for (const Value& version : conversion["conversionReviewVersions"].items()) {
    if (version.as_string() == "v1" || version.as_string() == "v1beta1") return version.str();
  }
  return "";
}

Value conversion_review(const std::string& version, const std::vector<Value>& objects,
                        const std::string& desired_api_version, const std::string& uid) {
  Value request = Value::object({{"uid", uid}, {"desiredAPIVersion", desired_api_version}});
  request.set("objects", Value::array(objects));
  return Value::object(
      {{"kind", "ConversionReview"}, {"apiVersion", kGroup + version}, {"request", std::move(request)}});
}

Error conversion_failed(const Value& object, const std::string& why) { return failure(object, "failed: " + why); }

Result<std::vector<Value>> converted_objects(const std::string& version, const std::vector<Value>& originals,
                                             const std::string& desired_api_version, const Value& answer,
                                             const std::string& uid) {
  if (originals.empty()) return std::vector<Value>{};
  const auto objects = answered_objects(version, answer, uid);
  if (!objects) return conversion_failed(originals[0], objects.error().message);
  const size_t count = originals.size();
  if (objects.value().size() != count) {
    return failure(originals[0], "returned " + std::to_string(objects.value().size()) + " objects, expected " +
                                     std::to_string(count));
  }
  std::vector<Value> converted;
  converted.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const Value& original = originals[i];
    const Value& object = objects.value()[i];
    // Upstream names the index of a single object only where its version or kind is wrong.
    const std::string at = " at index " + std::to_string(i);
    const std::string place = count == 1 ? "" : at;
    const std::string what = count == 1 ? "object" : "converted object";
    if (!object.is_object()) return returned_invalid(original, what + place, "it is no object");
    if (object["apiVersion"].as_string() != desired_api_version) {
      return returned_invalid(
          original, what + at,
          "invalid groupVersion (expected " + desired_api_version + ", received " + object["apiVersion"].str() + ")");
    }
    if (object["kind"] != original["kind"]) {
      return returned_invalid(
          original, what + at,
          "invalid kind (expected " + original["kind"].str() + ", received " + object["kind"].str() + ")");
    }
    if (const std::string changed = changed_identity(original, object); !changed.empty()) {
      return returned_invalid(original, what + place, changed);
    }
    auto restored = with_restored_metadata(original, with_whole_numbers(object));
    if (!restored) {
      return returned_invalid(original, (count == 1 ? "metadata" : "metadata in object") + place,
                              restored.error().message);
    }
    converted.push_back(std::move(restored).value());
  }
  return converted;
}

}  // namespace shiplog::api
