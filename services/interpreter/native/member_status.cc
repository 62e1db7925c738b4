#include "services/interpreter/native/member_status.h"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "events/base/json.h"
#include "events/base/time.h"
#include "events/base/utf8.h"
#include "events/kinds/builtin_schema.h"
#include "events/kinds/field_path.h"

namespace shiplog::interpreter::native {
namespace {

using Type = Schema::Type;

/// Of the statuses of one template together: an object has at most 1.5 MiB.
constexpr size_t kMostBytes = size_t{1} << 20U;
/// What each value counts besides its text.
constexpr size_t kBytesPerValue = 16;
constexpr size_t kLongestQuote = 64;

struct StatusField {
  std::string_view name;
  const Schema* schema;
};
using StatusFields = std::vector<StatusField>;

/// Generations are added to what the member reports (T-5).
const Schema& generation_schema() {
  static const Schema schema = [] {
    Schema made;
    made.type = Type::kInteger;
    made.format = "int64";
    return made;
  }();
  return schema;
}

StatusFields fields_of(const char* message, std::initializer_list<const char*> names, bool with_generations = false) {
  const Schema& schema = *message_schemas().at(message);
  StatusFields fields;
  for (const char* name : names) fields.push_back({name, schema.properties.at(name).get()});
  if (with_generations) {
    for (const char* name : {"generation", "resourceTemplateGeneration"})
      fields.push_back({name, &generation_schema()});
  }
  return fields;
}

const std::map<std::string_view, StatusFields>& fields_by_kind() {
  static const std::map<std::string_view, StatusFields> fields = {
      {"apps/v1/Deployment", fields_of("apps.DeploymentStatus",
                                       {"observedGeneration", "replicas", "readyReplicas", "updatedReplicas",
                                        "availableReplicas", "unavailableReplicas"},
                                       true)},
      {"apps/v1/ReplicaSet", fields_of("apps.ReplicaSetStatus",
                                       {"observedGeneration", "replicas", "readyReplicas", "availableReplicas"}, true)},
      {"apps/v1/DaemonSet",
       fields_of("apps.DaemonSetStatus",
                 {"observedGeneration", "currentNumberScheduled", "desiredNumberScheduled", "numberAvailable",
                  "numberMisscheduled", "numberReady", "updatedNumberScheduled", "numberUnavailable"},
                 true)},
      {"apps/v1/StatefulSet", fields_of("apps.StatefulSetStatus",
                                        {"observedGeneration", "availableReplicas", "currentReplicas", "readyReplicas",
                                         "replicas", "updatedReplicas", "currentRevision", "updateRevision"},
                                        true)},
      {"v1/Service", fields_of("core.ServiceStatus", {"loadBalancer"})},
      {"networking.k8s.io/v1/Ingress", fields_of("networking.IngressStatus", {"loadBalancer"})},
      {"batch/v1/Job",
       fields_of("batch.JobStatus", {"active", "succeeded", "failed", "conditions", "startTime", "completionTime"})},
      {"batch/v1/CronJob", fields_of("batch.CronJobStatus", {"active", "lastScheduleTime", "lastSuccessfulTime"})},
      {"v1/Pod", fields_of("core.PodStatus", {"phase", "containerStatuses", "initContainerStatuses"})},
      {"v1/PersistentVolume", fields_of("core.PersistentVolumeStatus", {"phase"})},
      {"v1/PersistentVolumeClaim", fields_of("core.PersistentVolumeClaimStatus", {"phase"})},
      {"policy/v1/PodDisruptionBudget",
       fields_of("policy.PodDisruptionBudgetStatus",
                 {"currentHealthy", "desiredHealthy", "expectedPods", "disruptionsAllowed", "disruptedPods"})},
      {"autoscaling/v2/HorizontalPodAutoscaler",
       fields_of("autoscaling.HorizontalPodAutoscalerStatus", {"currentReplicas", "desiredReplicas"})},
  };
  return fields;
}

std::string described(const Value& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  return printable(to_json(value), kLongestQuote);
}

Error wrong(const FieldPath& place, const Value& value, const char* wanted) {
  return {ErrorCode::kInvalid, place.text() + " is " + described(value) + ", not " + wanted};
}

Error no_count(const Schema& schema, const Value& value, const FieldPath& place) {
  return wrong(place, value, schema.format == "int32" ? "a whole number of 32 bits" : "a whole number");
}

/// A walk through statuses. Only what the types of Kubernetes could not decode is wrong: unlike in an object that a
/// client writes, fields may be missing, null, or unknown.
class StatusCheck {
 public:
  Result<void> check(const StatusFields& fields, const Value& status) {
    if (status.is_null()) return ok();
    const FieldPath root;
    const FieldPath place{root, "status"};
    if (!status.is_object()) return wrong(place, status, "an object");
    for (const StatusField& field : fields) {
      const Value& value = status[field.name];
      if (value.is_null() || (field.schema->type == Type::kInteger && is_small(value))) continue;
      const FieldPath at{place, field.name};
      if (field.schema->type != Type::kInteger) {
        SHIPLOG_TRY(decode(*field.schema, value, at));
      } else if (!is_whole(*field.schema, value)) {  // summed up, so that the form of the number does not matter
        return no_count(*field.schema, value, at);
      }
    }
    return ok();
  }

 private:
  /// Nearly every number that a member reports: no more is to be known of its field than that it is one.
  static bool is_small(const Value& value) {
    if (!value.is_int()) return false;
    const int64_t number = value.as_int();
    return number == static_cast<int32_t>(number);
  }

  static bool is_whole(const Schema& schema, const Value& value) {
    if (is_small(value)) return true;
    const bool whole = value.is_int() || (value.is_number() && std::trunc(value.as_double()) == value.as_double());
    const double size = std::abs(value.as_double());
    return whole && size <= (schema.format == "int32" ? double{std::numeric_limits<int32_t>::max()} : 9.2e18);
  }

  Result<void> decode(const Schema& schema, const Value& value, const FieldPath& place) {
    SHIPLOG_TRY(count(kBytesPerValue + value.as_string().size(), place));
    switch (schema.type) {
      case Type::kInteger:
        // Copied as it is written, and 80.0 is no integer for typed clients.
        if (value.is_int() && is_whole(schema, value)) break;
        return no_count(schema, value, place);
      case Type::kBoolean:
        if (value.is_bool()) break;
        return wrong(place, value, "a boolean");
      case Type::kString:
        return decode_text(schema, value, place);
      case Type::kArray:
        return decode_list(schema, value, place);
      case Type::kObject:
        return decode_object(schema, value, place);
      case Type::kAny:
      case Type::kNumber:
      case Type::kIntOrString:
        break;  // no such field reaches a template
    }
    return ok();
  }

  Result<void> count(size_t bytes, const FieldPath& place) {
    bytes_ += bytes;
    if (bytes_ <= kMostBytes) return ok();
    return Error{ErrorCode::kTooLarge, place.text() + " makes the status larger than " + std::to_string(kMostBytes) +
                                           " bytes, more than a template can have"};
  }

  static Result<void> decode_text(const Schema& schema, const Value& value, const FieldPath& place) {
    if (!value.is_string()) return wrong(place, value, "a string");
    if (schema.format == "date-time" && !parse_rfc3339(value.as_string())) return wrong(place, value, "a time");
    return ok();
  }

  Result<void> decode_list(const Schema& schema, const Value& value, const FieldPath& place) {
    if (!value.is_array()) return wrong(place, value, "a list");
    for (size_t index = 0; schema.items != nullptr && index < value.size(); ++index) {
      SHIPLOG_TRY(decode(*schema.items, value[index], FieldPath{place, index}));
    }
    return ok();
  }

  Result<void> decode_object(const Schema& schema, const Value& value, const FieldPath& place) {
    if (!value.is_object()) return wrong(place, value, "an object");
    for (const auto& member : value.members()) {
      const auto known = schema.properties.find(member.key());
      const bool defined = known != schema.properties.end();
      const Schema* below = defined ? known->second.get() : schema.additional.get();
      const FieldPath field{place, member.key()};
      SHIPLOG_TRY(count(member.key().size() + (below == nullptr ? to_json(member.value).size() : 0), field));
      if (below == nullptr || (defined && member.value.is_null())) continue;
      SHIPLOG_TRY(decode(*below, member.value, field));
    }
    return ok();
  }

  size_t bytes_ = 0;
};

}  // namespace

Result<void> check_member_status(std::string_view kind, const Value& status) {
  const auto fields = fields_by_kind().find(kind);
  if (fields == fields_by_kind().end()) return ok();
  return StatusCheck{}.check(fields->second, status);
}

Result<void> check_member_items(std::string_view kind, const Value& items) {
  const auto fields = fields_by_kind().find(kind);
  if (fields == fields_by_kind().end()) return ok();
  StatusCheck check;
  for (const Value& item : items.items()) {
    if (auto checked = check.check(fields->second, item["status"]); !checked) {
      return checked.error().context("member cluster " + item["clusterName"].str());
    }
  }
  return ok();
}

}  // namespace shiplog::interpreter::native
