#include "services/feeds/event_schema.h"

#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

#include "services/feeds/cloud_event.h"
#include "services/feeds/event_fields.h"

namespace shiplog::feeds {
namespace {

constexpr const char* kHashPattern = "^[0-9a-f]{32}$";
constexpr const char* kTimePattern = "^[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$";

Value of_type(const char* type) { return Value::object({{"type", type}}); }
Value text_like(const char* pattern) { return Value::object({{"type", "string"}, {"pattern", pattern}}); }
Value nullable(const char* type) { return Value::object({{"type", Value::array({type, "null"})}}); }
Value described(Value schema, const char* description) {
  schema.set("description", description);
  return schema;
}

/// An object with these properties, of which all are required unless they are named in `optional`. Further ones may be
/// added by newer builds, so they are allowed.
Value object_schema(Value properties, std::initializer_list<std::string_view> optional = {}) {
  Value::Array required;
  for (const auto& property : properties.members()) {
    if (std::ranges::find(optional, property.key()) == optional.end()) required.emplace_back(property.key());
  }
  return Value::object(
      {{"type", "object"}, {"properties", std::move(properties)}, {"required", Value::array(std::move(required))}});
}

Value key_schema() {
  Value schema = object_schema(
      Value::object({{"type", described(of_type("string"), "Resource and group, as deployments.apps or configmaps.")},
                     {"namespace", described(of_type("string"), "Empty for cluster-scoped objects.")},
                     {"name", of_type("string")}}));
  schema.set("type", Value::array({"object", "null"}));
  return schema;
}

class SchemaWriter {
 public:
  template <class Field>
  void operator()(const char* name, const Field& field, const char* description) {
    properties_.set(name, described(schema_of(field), description));
  }
  Value take() { return object_schema(std::move(properties_)); }

 private:
  static Value schema_of(const std::string&) { return of_type("string"); }
  static Value schema_of(const Value&) { return Value::object(); }
  static Value schema_of(const ObjectKey&) { return key_schema(); }
  static Value schema_of(const Explanation&) { return nullable("object"); }
  static Value schema_of(const Hash128&) { return text_like(kHashPattern); }
  static Value schema_of(Revision) { return of_type("integer"); }
  static Value schema_of(UtcMillis) {
    Value schema = nullable("string");
    schema.set("pattern", kTimePattern);
    return schema;
  }
  static Value schema_of(bool) { return of_type("boolean"); }
  template <class Number>
  requires(std::integral<Number> && !std::same_as<Number, bool>) static Value schema_of(Number) {
    return of_type("integer");
  }
  template <class Item>
  static Value schema_of(const std::vector<Item>&) {
    return Value::object({{"type", "array"}, {"items", schema_of(Item{})}});
  }
  template <class Struct>
  requires requires(SchemaWriter& out, const Struct& of) { fields(out, of); }
  static Value schema_of(const Struct& of) {
    SchemaWriter inner;
    fields(inner, of);
    return inner.take();
  }

  Value properties_ = Value::object();
};

Value change_schema() {
  Value hash = nullable("string");
  hash.set("pattern", kHashPattern);
  Value schema = object_schema(Value::object(
      {{"hash",
        described(std::move(hash),
                  "What the object contributes to the state hash: the sum of all contributions, and of the "
                  "revision's, is the state hash. Null: it was removed. Of the object with what was left out.")},
       {"type", of_type("string")},
       {"namespace", of_type("string")},
       {"name", of_type("string")},
       {"object", described(nullable("object"), "The whole object afterwards; null: it was removed.")},
       {"operation", Value::object({{"enum", Value::array({"created", "updated", "removed"})}})},
       {"redacted", described(of_type("boolean"), "Secret data was left out of the object.")},
       {"revision",
        described(of_type("integer"), "The revision that this change made: each is made by one change.")}}));
  schema.set("type", Value::array({"object", "null"}));
  schema.set("description", "What became of the object; null: it did not change, or a later event of its entry tells.");
  return schema;
}

Value request_schema() {
  Value schema = object_schema(
      Value::object({{"user", of_type("string")},
                     {"groups", Value::object({{"type", "array"}, {"items", of_type("string")}})},
                     {"service", described(of_type("string"), "The role of shiplogd that appended the entry.")},
                     {"sourceIP", of_type("string")},
                     {"userAgent", of_type("string")},
                     {"verb", described(of_type("string"), "Kubernetes' verb; decide or observe of a role.")},
                     {"path", of_type("string")}}));
  schema.set("description", "Who requested or decided it.");
  return schema;
}

Value schema_of_kind(std::string_view kind, Family family, Value event) {
  const std::string type = type_of(family, kind);
  Value properties = Value::object(
      {{"specversion", Value::object({{"const", "1.0"}})},
       {"id", described(text_like("^[0-9a-f]{32}-[0-9]+(-r[0-9]+)?$"),
                        "Entry and place of the event in it; the same whenever the feed is made again.")},
       {"source", described(text_like("^urn:shiplog:fleet:."), "The fleet: the uid of its namespace kube-system.")},
       {"type", Value::object({{"const", type}})},
       {"subject", described(of_type("string"), "TYPE/NAMESPACE/NAME of the object; absent: the fleet.")},
       {"time", described(text_like(kTimePattern), "Of the entry.")},
       {"datacontenttype", Value::object({{"const", "application/json"}})},
       {"dataschema", Value::object({{"const", schema_id(kind)}})},
       {"actor", described(of_type("string"), "The user of the entry.")},
       {"causeid", described(text_like(kHashPattern), "Id of the entry that this one follows from.")},
       {"entryid", described(text_like(kHashPattern), "Events of one entry happened together.")},
       {"revision", described(text_like("^[0-9]+$"), "Of the change; of the state, where there is no change.")},
       {"sequence", described(text_like("^[0-9]{20,}\\.[0-9]{6,}$"),
                              "Grows, as text, from event to event over all feeds of a journal.")},
       {"traceid", described(of_type("string"), "W3C trace id.")},
       {"data", object_schema(Value::object(
                    {{"change", change_schema()}, {"event", std::move(event)}, {"request", request_schema()}}))}});
  Value schema = object_schema(std::move(properties), {"subject", "actor", "causeid", "traceid"});
  schema.set("$schema", "https://json-schema.org/draft/2020-12/schema");
  schema.set("$id", schema_id(kind));
  schema.set("title", type);
  return schema;
}

template <class Kind>
FeedEventSchema schema_of_event() {
  const Event event{Kind{}};
  SchemaWriter out;
  fields(out, Kind{});
  const Family family = family_of(event);
  return {std::string{name_of(event)}, family, schema_of_kind(name_of(event), family, out.take())};
}

}  // namespace

std::vector<FeedEventSchema> event_schemas() {
  return []<size_t... kIndex>(std::index_sequence<kIndex...>) {
    return std::vector<FeedEventSchema>{schema_of_event<std::variant_alternative_t<kIndex, EventVariant>>()...};
  }
  (std::make_index_sequence<std::variant_size_v<EventVariant>>());
}

}  // namespace shiplog::feeds
