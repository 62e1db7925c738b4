#include "services/api/admission/admission.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "events/base/json.h"
#include "events/base/quantity.h"
#include "events/base/time.h"
#include "events/base/utf8.h"
#include "events/kinds/builtin_kinds.h"
#include "events/kinds/field_path.h"
#include "events/kinds/pruned_and_defaulted.h"
#include "events/kinds/status_metadata.h"
#include "events/kinds/validate_change.h"
#include "events/kinds/whole_numbers.h"
#include "events/state/object.h"
#include "events/state/policy.h"
#include "events/state/protection.h"
#include "events/state/system_priority_classes.h"
#include "services/api/admission/addresses.h"
#include "services/api/admission/decoding.h"
#include "services/api/admission/deletion.h"
#include "services/api/admission/embedded_resources.h"
#include "services/api/admission/event_rules.h"
#include "services/api/admission/metadata.h"
#include "services/api/admission/rules.h"
#include "services/api/custom_rules/rule_validation.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

/// etcd's limit for one object, which clients know.
constexpr size_t kMostBytes = 3U << 19U;

Error bad_request(std::string message) { return {ErrorCode::kBadRequest, std::move(message)}; }

StatusDetails subject_of(const Kind& kind, const Value& object) {
  return {kind.group, kind.kind, kind.plural, object["metadata"]["name"].str()};
}

/// Served by an aggregated server upstream, as a Go type: what cannot be decoded is a bad request, and the status is
/// not validated (CL-28).
bool aggregated(const Kind& kind) {
  const std::string type = kind.type();
  return type == type::kCluster || type == "resourceregistries.search.karmada.io";
}

/// The body against the path: META-10, META-11. Fills in what is missing.
Result<void> settle_identity(const Admission& admission, Value& object) {
  const Kind& kind = *admission.kind;
  if (!object.is_object()) return bad_request("the body of the request must be a JSON object");
  if (!kind.builtin) object = with_whole_numbers(std::move(object));  // NEG-9
  for (const char* field : {"apiVersion", "kind"}) {
    const Value& given = object[field];
    if (!given.is_null() && !given.is_string()) return bad_request(std::string{field} + " must be a string");
  }
  const Value& metadata = object["metadata"];
  if (!metadata.is_null() && !metadata.is_object()) return bad_request("metadata must be an object");
  for (const char* field : {"name", "namespace", "generateName", "uid", "resourceVersion"}) {
    const Value& given = metadata[field];
    if (!given.is_null() && !given.is_string()) {
      return bad_request(cannot_be_handled(kind) + "metadata." + field + " must be a string");
    }
  }
  for (const char* field : {"creationTimestamp", "deletionTimestamp"}) {  // what is given is not stored, but is decoded
    const Value& given = metadata[field];
    if (!given.is_null() && !parse_rfc3339(given.as_string())) {
      return bad_request(cannot_be_handled(kind) + "metadata." + field +
                         " must be a time such as 2006-01-02T15:04:05Z");
    }
  }
  const std::string version = object["apiVersion"].str();
  if (!version.empty() && version != kind.api_version()) {
    return bad_request("the API version in the data (" + printable(version, 253) +
                       ") does not match the expected API version (" + kind.api_version() + ")");
  }
  const std::string given_kind = object["kind"].str();
  if (!given_kind.empty() && given_kind != kind.kind && !kind.builtin && !aggregated(kind)) {
    return invalid({kind.group, printable(given_kind, 253), kind.plural, metadata["name"].str()},
                   {{"kind", "FieldValueInvalid",
                     "Invalid value: " + quoted(printable(given_kind, 253)) + ": must be " + kind.kind}});
  }
  if (!given_kind.empty() && given_kind != kind.kind) {
    return bad_request(printable(given_kind, 253) + " in version " + quoted(kind.version) + " cannot be handled as a " +
                       kind.kind + ": the kind in the data does not match the expected kind");
  }
  object.set("apiVersion", kind.api_version());
  object.set("kind", kind.kind);

  Value& editable = object.edit("metadata");
  if (!editable.is_object()) editable = Value::object();
  if (!kind.namespaced) {
    editable.erase("namespace");
  } else if (editable["namespace"].is_empty()) {
    editable.set("namespace", admission.ns);
  } else if (editable["namespace"].as_string() != admission.ns) {
    return admission.name.empty()
               ? bad_request("the namespace of the provided object does not match the namespace sent on the request")
               : bad_request("the namespace of the object (" + printable(editable["namespace"].as_string(), 253) +
                             ") does not match the namespace on the request (" + admission.ns + ")");
  }
  if (!admission.name.empty() && editable["name"].as_string() != admission.name) {
    return bad_request("the name of the object (" + printable(editable["name"].as_string(), 253) +
                       ") does not match the name on the URL (" + admission.name + ")");
  }
  return ok();
}

/// The texts of built-in quantities, which their schema takes for any text.
void check_quantities(const Schema& schema, const Value& value, const FieldPath& place, std::string& wrong) {
  if (!wrong.empty()) return;
  if (schema.format == "quantity" && value.is_string() && !parse_quantity(value.as_string())) {
    wrong = place.text() +
            ": quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$', not " +
            quoted(value.as_string());
    return;
  }
  for (const auto& member : value.members()) {
    const auto known = schema.properties.find(member.key());
    const Schema* below = known != schema.properties.end() ? known->second.get() : schema.additional.get();
    if (below != nullptr) check_quantities(*below, member.value, FieldPath{place, member.key()}, wrong);
  }
  for (size_t i = 0; schema.items != nullptr && value.is_array() && i < value.size(); ++i) {
    check_quantities(*schema.items, value[i], FieldPath{place, i}, wrong);
  }
}

/// The schema of a custom resource does not cover its metadata.
const Schema& metadata_schema() {
  static const Schema kSchema = [] {
    Schema schema;
    schema.type = Schema::Type::kObject;
    schema.preserve_unknown = true;
    schema.properties.emplace("metadata", object_meta_schema());
    return schema;
  }();
  return kSchema;
}

/// What the kind's schema does not allow. Of a custom resource the values that an update leaves as they are may stay: a
/// stricter schema must not keep its finalizers from being removed. A kind with rules still needs the right types.
std::vector<FieldCause> schema_violations(const Kind& kind, const Value* old, const Value& object) {
  if (kind.schema == nullptr) return {};
  std::vector<FieldCause> found = validate(*kind.schema, object);
  if (found.empty() || old == nullptr || kind.builtin || aggregated(kind)) return found;
  const Value before = with_defaults(*kind.schema, prune(*kind.schema, with_whole_numbers(*old)));
  std::vector<FieldCause> changed = validate_change(*kind.schema, before, object);
  if (rules_of(kind) == nullptr) return changed;
  std::ranges::copy_if(found, std::back_inserter(changed),
                       [](const FieldCause& cause) { return cause.reason == "FieldValueTypeInvalid"; });
  return changed;
}

/// Beside what is wrong with an object whose x-kubernetes-validations are not evaluated for that.
FieldCause unchecked_rules() {
  return {"<nil>", "FieldValueInvalid",
          "Invalid value: null: some validation rules were not checked because the object was invalid; correct the "
          "existing errors to complete validation"};
}

/// Validation by the schemas. A field of the wrong type is an error, as no later check may read the object then.
Result<Causes> check_schema(const Admission& admission, const Value* old, const Value& object) {
  const Kind& kind = *admission.kind;
  Causes causes;
  std::vector<FieldCause> found = schema_violations(kind, old, object);
  // A status that the schema requires is written later, through its own subresource.
  if (kind.has_status) std::erase_if(found, [](const FieldCause& cause) { return cause.field == "status"; });
  for (FieldCause& cause : validate(metadata_schema(), object)) found.push_back(std::move(cause));
  bool readable = true;
  for (FieldCause& cause : found) {
    readable = readable && cause.reason != "FieldValueTypeInvalid";
    causes.add(std::move(cause));
  }
  std::string wrong;
  if (kind.builtin && kind.schema != nullptr) check_quantities(*kind.schema, object, FieldPath{}, wrong);
  if (readable && wrong.empty()) return causes;
  if (!kind.builtin && !aggregated(kind)) {
    if (admission.custom_rules != nullptr) causes.add(unchecked_rules());
    return invalid(subject_of(kind, object), causes.take());
  }
  // Kubernetes' decoder stops at the first field that it cannot read.
  for (const FieldCause& cause : causes.list()) {
    if (wrong.empty() && cause.reason == "FieldValueTypeInvalid") wrong = cause.field + ": " + cause.message;
  }
  return bad_request(cannot_be_handled(kind) + wrong);
}

void keep_field(Value& object, const Value& old, std::string_view field) {
  if (const Value* value = old.find(field)) {
    object.set(field, *value);
  } else {
    object.erase(field);
  }
}

/// Its JSON has at most so many bytes.
size_t most_bytes(const Value& value) {
  constexpr size_t kLongestNumber = 32, kLongestEscape = 6, kQuotes = 2, kSeparators = 2;
  size_t bytes = kLongestNumber + value.as_string().size() * kLongestEscape + kQuotes;
  for (const Value& item : value.items()) bytes += most_bytes(item) + kSeparators;
  for (const auto& member : value.members()) {
    bytes += member.key().size() * kLongestEscape + kQuotes + kSeparators + most_bytes(member.value);
  }
  return bytes;
}

/// As the API server checks custom resources: the replicas that a scale subresource shows are counts.
void check_scale(const Kind& kind, const Value& object, bool only_status, Causes& causes) {
  if (!kind.scale || kind.builtin) return;
  for (const std::string& json_path : {kind.scale->spec_replicas, kind.scale->status_replicas}) {
    if (only_status && json_path != kind.scale->status_replicas) continue;
    const std::string path = json_path.substr(json_path.starts_with('.') ? 1 : 0);
    const Value* at = &object;
    for (size_t begin = 0; begin <= path.size();) {
      const size_t end = std::min(path.find('.', begin), path.size());
      at = &(*at)[std::string_view{path}.substr(begin, end - begin)];
      begin = end + 1;
    }
    if (at->is_null()) continue;
    if (!at->is_int() || at->as_int() < 0) {
      causes.invalid(path, *at, "should be a non-negative integer");
    } else if (at->as_int() > std::numeric_limits<int32_t>::max()) {
      causes.invalid(path, *at, "should be less than or equal to 2147483647");
    }
  }
}

DefaultedValue with_most_defaults(const Schema& schema, Value object) {
  size_t left = kMostDefaultBytes;
  return fill_in_defaults(schema, std::move(object), left);
}

/// The object with the defaults of its kind's schema. Error: kInvalid, they are too many; but not if they were so
/// before, as finalizers must be removable then too.
Result<Value> with_kind_defaults(const Kind& kind, const Value* old, Value object) {
  if (kind.schema == nullptr) return object;
  DefaultedValue filled = with_most_defaults(*kind.schema, std::move(object));
  if (!filled.left_out || (old != nullptr && with_most_defaults(*kind.schema, *old).left_out)) {
    return std::move(filled.value);
  }
  return invalid(subject_of(kind, filled.value),
                 {{*filled.left_out, "FieldValueForbidden",
                   "Forbidden: its default is not filled in, as the defaults of the object would have more than " +
                       std::to_string(kMostDefaultBytes) + " bytes"}});
}

/// The defaults that the schemas define.
Result<Value> with_schema_defaults(const Kind& kind, const Value* old, Value object) {
  // kubectl diff would show these: it compares what was sent with what upstream makes of it.
  if (kind.builtin && kind.schema != nullptr) object = canonical(*kind.schema, std::move(object));
  object = canonical(metadata_schema(), std::move(object));
  // Go's structs exist even when the request omits them, and so do their defaults.
  if (kind.builtin && kind.schema != nullptr && kind.schema->properties.contains("spec") && object["spec"].is_null()) {
    object.set("spec", Value::object());
  }
  SHIPLOG_TRY(object, with_kind_defaults(kind, old, std::move(object)));
  return with_defaults(metadata_schema(), std::move(object));  // a null is a field that was left out
}

/// The subresource of a write that is no status write, where the rules of the kind say what it changes.
std::string_view beside_status(const Admission& admission) {
  for (const std::string_view each : {"finalize", "ephemeralcontainers", "resize"}) {
    if (admission.subresource == each) return each;
  }
  return "";
}

/// Upstream takes a policy whose label selectors cannot be read, and lets them match nothing (D-9, S-16).
void warn_of_selectors(const Value& value, const std::string& field, std::vector<std::string>& warnings) {
  for (const auto& member : value.members()) {
    const std::string here = field + "." + std::string{member.key()};
    if (member.key() == "labelSelector" && !label_selector_from(member.value).valid) {
      warnings.push_back(here +
                         " matches nothing: an operator is none of In, NotIn, Exists and DoesNotExist, or has too "
                         "many values or none");
    } else {
      warn_of_selectors(member.value, here, warnings);
    }
  }
  for (size_t index = 0; index < value.items().size(); ++index) {
    warn_of_selectors(value.items()[index], field + "[" + std::to_string(index) + "]", warnings);
  }
}

/// Expressions may rely on what the schema demands, so that they are not evaluated where it is missing.
bool blocks_custom_rules(const FieldCause& cause) {
  return cause.reason == "FieldValueRequired" || cause.reason == "FieldValueTooLong" ||
         cause.reason == "FieldValueTooMany" || cause.reason == "FieldValueTypeInvalid";
}

/// x-kubernetes-validations, in the words of kube-apiserver.
void check_custom_rules(Admission& admission, const Value* old, const Value& object, Causes& causes) {
  if (admission.custom_rules == nullptr) return;
  if (std::ranges::any_of(causes.list(), blocks_custom_rules)) {
    causes.add(unchecked_rules());
    return;
  }
  const Schema& schema = *admission.kind->schema;
  const Value before = old == nullptr ? Value{} : with_defaults(schema, prune(schema, with_whole_numbers(*old)));
  RuleFindings found = validate_rules(*admission.custom_rules, object, old == nullptr ? nullptr : &before);
  for (FieldCause& cause : found.causes) causes.add(std::move(cause));
  std::ranges::move(found.warnings, std::back_inserter(admission.warnings));
}

/// What is wrong with embedded resources, but was not before an update: older builds admitted any.
void check_embedded(const Kind& kind, const Value* old, const Value& object, Causes& causes) {
  if (kind.builtin || kind.schema == nullptr) return;
  check_new(
      object, old == nullptr ? Value{} : *old,
      [&](const Value& value, Causes& found) { check_embedded_resources(*kind.schema, value, found); }, causes);
}

/// Defaults, the kind's own rules and every check, on an object whose identity is settled.
Result<Value> finish(Admission& admission, const Value* old, Value object) {
  const Kind& kind = *admission.kind;
  SHIPLOG_TRY(object, with_schema_defaults(kind, old, std::move(object)));
  SHIPLOG_TRY(auto causes, check_schema(admission, old, object));

  check_scale(kind, object, false, causes);
  unite_owners(object.edit("metadata"), admission.warnings);
  check_metadata(kind, object["metadata"], old == nullptr, causes);
  if (!kind.builtin && !aggregated(kind)) {
    warn_of_finalizers(old == nullptr ? Value{} : (*old)["metadata"], object["metadata"], admission.warnings);
  }
  if (old != nullptr) check_new_finalizers(*old, object["metadata"], causes);
  check_embedded(kind, old, object, causes);

  const Rules* rules = rules_of(kind);
  const Write write{*admission.kinds,
                    kind,
                    old,
                    admission.now,
                    beside_status(admission),
                    &admission.user,
                    admission.author,
                    admission.allows_no_execute_policies};
  Causes own;
  if (rules != nullptr) {
    if (rules->fill != nullptr) rules->fill(object, write);
    if (rules->check != nullptr) rules->check(object, write, own);
    if (kind.builtin) causes.drop_covered(own);
    if (rules->webhook.empty()) causes.add(own);
  }
  if (admission.denied_networks != nullptr) {
    check_addresses(kind.type(), object, old == nullptr ? Value{} : *old, *admission.denied_networks, causes);
  }
  if (old != nullptr && kind.has_status && (rules == nullptr || !rules->owns_status)) {
    keep_field(object, *old, "status");
  }
  check_custom_rules(admission, old, object, causes);
  if (kind.group == "policy.karmada.io") warn_of_selectors(object["spec"], "spec", admission.warnings);
  if (!causes.empty()) {
    if (kind.builtin && kind.schema != nullptr) causes.show_zeros(*kind.schema);
    return invalid(subject_of(kind, object), causes.take());
  }
  if (!own.empty()) {
    // A webhook's denial is the joined text of the errors, without the object's name in front.
    const std::vector<FieldCause> denied = own.take();
    return Error{ErrorCode::kForbidden,
                 "admission webhook \"" + std::string{rules->webhook} + "\" denied the request: " + text_of(denied),
                 denied};
  }
  // Hardly any object is near the limit: those that cannot reach it are not written out to be measured.
  const size_t bytes = most_bytes(object) > kMostBytes ? to_json(object).size() : 0;
  if (bytes > kMostBytes) {
    return Error{ErrorCode::kTooLarge, "Request entity too large: the object has " + std::to_string(bytes) +
                                           " bytes, limit is " + std::to_string(kMostBytes)};
  }
  if (rules != nullptr && rules->warn != nullptr) rules->warn(object, write, admission.warnings);
  return object;
}

/// CRU-2: a kind whose replacement must name the version it replaces.
/// Source: AllowUnconditionalUpdate of kube-apiserver's strategies.
bool needs_version(const Kind& kind) {
  static constexpr std::string_view kTypes[] = {
      type::kCustomResourceDefinition, "apiservices.apiregistration.k8s.io",  "csidrivers.storage.k8s.io",
      "csinodes.storage.k8s.io",       "csistoragecapacities.storage.k8s.io", "leases.coordination.k8s.io",
      "poddisruptionbudgets.policy",   "runtimeclasses.node.k8s.io",          "volumeattachments.storage.k8s.io"};
  if (!kind.builtin) return !aggregated(kind);
  return kind.group == "admissionregistration.k8s.io" || std::ranges::find(kTypes, kind.type()) != std::end(kTypes);
}

/// META-9 and CRU-2 for both kinds of update.
Result<void> check_versions(const Admission& admission, const Value& old, const Value& object) {
  const Kind& kind = *admission.kind;
  const StatusDetails subject = subject_of(kind, old);
  const std::string uid = object["metadata"]["uid"].str();
  if (!uid.empty() && uid != uid_of(old)) {
    return conflict(subject, "Precondition failed: UID in precondition: " + printable(uid) +
                                 ", UID in object meta: " + std::string{uid_of(old)});
  }
  const Value& version = object["metadata"]["resourceVersion"];
  if ((version.is_empty() || version.as_string() == "0") && needs_version(kind)) {
    // The store of kube-apiserver refuses it, which knows the resource and not the kind, and prints a number of Go.
    return invalid(
        {kind.group, kind.plural, kind.plural, subject.name},
        {{"metadata.resourceVersion", "FieldValueInvalid", "Invalid value: 0x0: must be specified for an update"}});
  }
  return ok();
}

void keep_identity(Value& object, const Value& old) {
  Value& metadata = object.edit("metadata");
  for (const char* field : {"uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp",
                            "deletionGracePeriodSeconds"}) {
    keep_field(metadata, old["metadata"], field);
  }
  for (const char* field : {"selfLink", "managedFields"}) metadata.erase(field);
}

/// Everything about a new object that precedes its defaults.
Result<Value> begin_create(Admission& admission, Value object) {
  const Kind& kind = *admission.kind;
  SHIPLOG_TRY(settle_identity(admission, object));
  if (!object["metadata"]["resourceVersion"].is_empty()) {  // META-4
    return bad_request("resourceVersion should not be set on objects to be created");
  }
  Value& metadata = object.edit("metadata");
  if (metadata["name"].is_empty() && !metadata["generateName"].is_empty()) {
    metadata.set("name", metadata["generateName"].str().substr(0, 58) + admission.name_suffix);  // META-13
  }
  for (const char* field : {"uid", "resourceVersion", "creationTimestamp", "generation", "selfLink", "managedFields",
                            "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    metadata.erase(field);
  }
  if (kind.has_generation) metadata.set("generation", 1);
  SHIPLOG_TRY(drop_unknown(admission, object));
  const Rules* rules = rules_of(kind);
  if (kind.has_status && (rules == nullptr || !rules->takes_status)) object.erase("status");  // CRU-1
  return object;
}

/// The same of a replacement.
Result<Value> begin_update(Admission& admission, const Value& old, Value object) {
  SHIPLOG_TRY(settle_identity(admission, object));
  SHIPLOG_TRY(check_versions(admission, old, object));
  keep_identity(object, old);
  SHIPLOG_TRY(drop_unknown(admission, object));
  if (admission.kind->has_status) object.erase("status");  // the stored one is put back: it is no part of this write
  return object;
}

/// `old` with the status (and metadata that is no identity) of `object`.
Result<Value> begin_status_update(Admission& admission, const Value& old, Value object) {
  const Kind& kind = *admission.kind;
  if (!kind.has_status) return not_found({});
  SHIPLOG_TRY(settle_identity(admission, object));
  SHIPLOG_TRY(check_versions(admission, old, object));
  SHIPLOG_TRY(drop_unknown(admission, object));
  // Of a custom resource only the status gets the defaults of this version: other fields stay as they are (CRD-7).
  if (!kind.builtin) {
    SHIPLOG_TRY(object, with_kind_defaults(kind, &old, std::move(object)));
  }
  Value merged = old;
  keep_field(merged, object, "status");
  for (const std::string_view field : status_metadata(kind)) {
    keep_field(merged.edit("metadata"), object["metadata"], field);
  }
  merged.edit("metadata").erase("managedFields");
  if (!kind.builtin) return merged;
  if (kind.schema != nullptr) merged = canonical(*kind.schema, std::move(merged));
  return with_kind_defaults(kind, &old, std::move(merged));
}

/// A draft gets the kind's own defaults too, unless types are wrong: the checks after the webhooks report that.
Result<Value> draft(Admission& admission, const Value* old, Value object) {
  const Kind& kind = *admission.kind;
  SHIPLOG_TRY(object, with_schema_defaults(kind, old, std::move(object)));
  if (old != nullptr && kind.has_status) keep_field(object, *old, "status");
  auto readable = check_schema(admission, old, object);
  if (!readable && kind.builtin) return readable.error();
  const Rules* rules = rules_of(kind);
  if (readable && rules != nullptr && rules->fill != nullptr) {
    rules->fill(object, Write{*admission.kinds, kind, old, admission.now, beside_status(admission), &admission.user,
                              admission.author, admission.allows_no_execute_policies});
  }
  return object;
}

}  // namespace

Result<Value> admit_view(Admission& admission, Value object, const Value* old) {
  const Kind& kind = *admission.kind;
  SHIPLOG_TRY(settle_identity(admission, object));
  SHIPLOG_TRY(drop_unknown(admission, object));
  if (kind.schema != nullptr) object = canonical(*kind.schema, std::move(object));
  SHIPLOG_TRY(auto causes, check_schema(admission, nullptr, object));
  if (kind.kind == "Event") check_strict_event(object, old, causes);
  if (!causes.empty()) return invalid(subject_of(kind, object), causes.take());
  return object;
}

Result<Value> draft_create(Admission& admission, Value object) {
  SHIPLOG_TRY(object, begin_create(admission, std::move(object)));
  return draft(admission, nullptr, std::move(object));
}

Result<Value> draft_update(Admission& admission, const Value& old, Value object) {
  SHIPLOG_TRY(object, begin_update(admission, old, std::move(object)));
  return draft(admission, &old, std::move(object));
}

Result<Value> draft_status_update(Admission& admission, const Value& old, Value object) {
  return begin_status_update(admission, old, std::move(object));
}

Result<Value> admit_create(Admission& admission, Value object) {
  SHIPLOG_TRY(object, begin_create(admission, std::move(object)));
  return finish(admission, nullptr, std::move(object));
}

Result<Value> admit_update(Admission& admission, const Value& old, Value object) {
  SHIPLOG_TRY(object, begin_update(admission, old, std::move(object)));
  return finish(admission, &old, std::move(object));
}

Result<Value> admit_status_update(Admission& admission, const Value& old, Value object) {
  const Kind& kind = *admission.kind;
  SHIPLOG_TRY(Value merged, begin_status_update(admission, old, std::move(object)));
  const Rules* rules = rules_of(kind);
  const Write write{*admission.kinds,
                    kind,
                    &old,
                    admission.now,
                    admission.subresource,
                    &admission.user,
                    admission.author,
                    admission.allows_no_execute_policies};
  // What is wrong elsewhere was admitted by another schema or build: a status must not fail for it.
  Value written = Value::object();
  for (const char* field : {"apiVersion", "kind", "metadata", "status"}) keep_field(written, merged, field);
  SHIPLOG_TRY(auto schema_causes, check_schema(admission, &old, written));
  Causes causes;
  for (const FieldCause& cause : schema_causes.list()) {
    if (cause.field.starts_with("status") && !aggregated(kind)) causes.add(cause);
  }
  check_scale(kind, merged, true, causes);
  if (rules != nullptr && rules->fill_status != nullptr) rules->fill_status(merged, write);
  if (rules != nullptr && rules->check_status != nullptr) rules->check_status(merged, write, causes);
  if (kind.builtin) check_metadata(kind, merged["metadata"], false, causes);
  check_new_finalizers(old, merged["metadata"], causes);
  check_custom_rules(admission, &old, merged, causes);
  if (causes.empty()) return merged;
  if (kind.builtin && kind.schema != nullptr) causes.show_zeros(*kind.schema);
  return invalid(subject_of(kind, old), causes.take());
}

Result<void> admit_unprotected_delete(const Kind& kind, const Value& old) {
  const StatusDetails subject = subject_of(kind, old);
  if (kind.type() == "priorityclasses.scheduling.k8s.io" && system_priority_class(subject.name) != nullptr) {
    return forbidden(subject, "this is a system priority class and cannot be deleted");
  }
  if (kind.type() == type::kNamespace &&
      (subject.name == "default" || subject.name == "kube-system" || subject.name == "kube-public")) {  // NSP-2
    return forbidden(subject, "this namespace may not be deleted");
  }
  return ok();
}

Result<void> admit_delete(const Kind& kind, const Value& old) {
  SHIPLOG_TRY(admit_unprotected_delete(kind, old));
  if (!aggregated(kind) && deletion_protected(old))
    return Error{ErrorCode::kForbidden, kDeletionProtectedWords};  // D-41
  return ok();
}

}  // namespace shiplog::api
