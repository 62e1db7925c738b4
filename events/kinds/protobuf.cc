#include "events/kinds/protobuf.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/time.h"
#include "events/base/utf8.h"
#include "events/kinds/builtin_schema.h"
#include "events/kinds/field_path.h"
#include "events/kinds/wire_reader.h"

namespace shiplog {
namespace {

using Type = Schema::Type;

constexpr std::string_view kMagic{"k8s\0", 4};
// Unix seconds of years 1 to 9999: the range of RFC 3339, including Go's zero time.
constexpr int64_t kFirstSecond = -62135596800;
constexpr int64_t kLastSecond = 253402300799;

Error malformed(const FieldPath& place, const std::string& why) {
  const std::string field = place.text();
  return Error{ErrorCode::kBadRequest,
               "the protobuf body cannot be read: " + (field.empty() ? "" : field + ": ") + why};
}

Result<WireField> next_field(WireReader& reader, const FieldPath& place) {
  if (auto field = reader.next()) return *field;
  return malformed(place, "the message breaks off or is no protobuf message");
}

Result<void> expect(const WireField& field, WireType wire, const FieldPath& place) {
  if (field.wire == wire) return ok();
  return malformed(place, "wire type " + std::to_string(static_cast<int>(field.wire)) + " where " +
                              std::to_string(static_cast<int>(wire)) + " is expected");
}

Result<Value> text(std::string_view bytes, const FieldPath& place) {
  if (!is_utf8(bytes)) return malformed(place, "the string is not UTF-8");
  return Value{bytes};
}

Result<Value> integer(const Schema& schema, uint64_t bits, const FieldPath& place) {
  const auto value = static_cast<int64_t>(bits);
  if (schema.format == "int32" && value != static_cast<int32_t>(value)) {
    return malformed(place, std::to_string(value) + " does not fit 32 bits");
  }
  return Value{value};
}

/// The fields of a small message with fixed numbers; if a number is repeated, the last one counts.
struct SmallMessage {
  std::optional<WireField> fields[4];
  uint64_t bits(size_t number) const { return fields[number] ? fields[number]->bits : 0; }
  std::string_view bytes(size_t number) const { return fields[number] ? fields[number]->bytes : ""; }
};

Result<SmallMessage> read_small(std::string_view bytes, std::initializer_list<WireType> wires, const FieldPath& place) {
  SmallMessage small;
  for (WireReader reader{bytes}; !reader.done();) {
    SHIPLOG_TRY(const WireField field, next_field(reader, place));
    if (field.number > wires.size()) continue;
    SHIPLOG_TRY(expect(field, wires.begin()[field.number - 1], place));
    small.fields[field.number] = field;
  }
  return small;
}

/// Null represents Go's zero time, which is written as an empty message.
Result<Value> time_text(std::string_view bytes, bool micro, const FieldPath& place) {
  if (bytes.empty()) return Value{};
  SHIPLOG_TRY(const SmallMessage time, read_small(bytes, {WireType::kVarint, WireType::kVarint}, place));
  const auto seconds = static_cast<int64_t>(time.bits(1));
  const uint64_t nanos = time.bits(2);
  if (seconds < kFirstSecond || seconds > kLastSecond || nanos > 999'999'999) {
    return malformed(place, "the time is out of range");
  }
  std::string written = rfc3339(UtcMillis{seconds * 1000});
  if (micro) {
    const std::string fraction = std::to_string(1'000'000 + nanos / 1000);
    written.pop_back();
    written += "." + fraction.substr(1) + "Z";
  }
  return Value{written};
}

Result<Value> int_or_string(std::string_view bytes, const FieldPath& place) {
  SHIPLOG_TRY(const SmallMessage either,
              read_small(bytes, {WireType::kVarint, WireType::kVarint, WireType::kBytes}, place));
  if (either.bits(1) == 1) return text(either.bytes(3), place);
  if (either.bits(1) != 0) return malformed(place, "neither a number nor a string");
  Schema number;
  number.format = "int32";
  return integer(number, either.bits(2), place);
}

Result<Value> quantity(std::string_view bytes, const FieldPath& place) {
  SHIPLOG_TRY(const SmallMessage written, read_small(bytes, {WireType::kBytes}, place));
  return written.fields[1] ? text(written.bytes(1), place) : Result<Value>{Value{"0"}};
}

Result<Value> raw_json(std::string_view bytes, const FieldPath& place) {
  SHIPLOG_TRY(const SmallMessage raw, read_small(bytes, {WireType::kBytes}, place));
  if (raw.bytes(1).empty()) return Value{};
  auto parsed = parse_json(raw.bytes(1));
  if (!parsed) return malformed(place, parsed.error().message);
  return parsed;
}

Result<Value> real(uint64_t bits, const FieldPath& place) {
  const auto value = std::bit_cast<double>(bits);
  if (!std::isfinite(value)) return malformed(place, "not a finite number");
  // JSON clients write 1, not 1.0.
  if (value == std::trunc(value) && std::abs(value) < 9007199254740992.0) return Value{static_cast<int64_t>(value)};
  return Value{value};
}

/// A field while its message is read: repeated fields are spread over the message.
struct FieldSlot {
  std::string_view name;
  const Schema* schema = nullptr;
  Value value;
  Value::Array items;
  Value::Object entries;
};

const Schema& json_schema_props() {
  static const std::shared_ptr<const Schema>& schema = message_schemas().find("apiextensions.JSONSchemaProps")->second;
  return *schema;
}

Result<Value> message(const Schema& schema, std::string_view bytes, const FieldPath& place, int depth);

/// A schema, or instead a list (of schemas or of strings), or true or false: apiextensions' alternatives.
Result<Value> schema_or_other(const Schema& schema, std::string_view bytes, const FieldPath& place, int depth) {
  Value alternative;
  bool allows = false;
  std::optional<Value> props;
  for (WireReader reader{bytes}; !reader.done();) {
    SHIPLOG_TRY(const WireField field, next_field(reader, place));
    const bool boolean = schema.format == "schema-or-bool" && field.number == 1;
    if (field.number != 1 && field.number != 2) continue;
    SHIPLOG_TRY(expect(field, boolean ? WireType::kVarint : WireType::kBytes, place));
    if (boolean) {
      allows = field.bits != 0;
    } else if (schema.format == "schema-or-strings" && field.number == 2) {
      SHIPLOG_TRY(auto property, text(field.bytes, place));
      alternative.push_back(std::move(property));
    } else {
      SHIPLOG_TRY(auto schema_value, message(json_schema_props(), field.bytes, place, depth + 1));
      if (schema.format == "schema-or-array" && field.number == 2) {
        alternative.push_back(std::move(schema_value));
      } else {
        props = std::move(schema_value);
      }
    }
  }
  if (!alternative.is_null()) return alternative;
  if (props) return *std::move(props);
  return schema.format == "schema-or-bool" ? Value{allows} : Value{};
}

/// A list for which protobuf has no repeated field: it is field 1 of a message.
Result<Value> strings(std::string_view bytes, const FieldPath& place) {
  Value list = Value::array();
  for (WireReader reader{bytes}; !reader.done();) {
    SHIPLOG_TRY(const WireField field, next_field(reader, place));
    if (field.number != 1) continue;
    const FieldPath item{place, list.size()};
    SHIPLOG_TRY(expect(field, WireType::kBytes, item));
    SHIPLOG_TRY(auto entry, text(field.bytes, item));
    list.push_back(std::move(entry));
  }
  return list;
}

WireType wire_of(const Schema& schema) {
  if (schema.type == Type::kBoolean || schema.type == Type::kInteger) return WireType::kVarint;
  return schema.type == Type::kNumber ? WireType::kFixed64 : WireType::kBytes;
}

/// A value that is neither list nor map.
Result<Value> single(const Schema& schema, const WireField& field, const FieldPath& place, int depth) {
  SHIPLOG_TRY(expect(field, wire_of(schema), place));
  const std::string_view format = schema.format;
  if (schema.type == Type::kBoolean) return Value{field.bits != 0};
  if (schema.type == Type::kInteger) return integer(schema, field.bits, place);
  if (schema.type == Type::kNumber) return real(field.bits, place);
  if (schema.type == Type::kString && format.empty()) return text(field.bytes, place);
  if (schema.type == Type::kObject && format.empty()) return message(schema, field.bytes, place, depth + 1);
  if (format == "byte") return Value{base64_encode(field.bytes)};
  if (format == "date-time" || format == "micro-time") return time_text(field.bytes, format == "micro-time", place);
  if (format == "int-or-string") return int_or_string(field.bytes, place);
  if (format == "quantity") return quantity(field.bytes, place);
  if (format == "fields-v1" || format == "raw-extension" || format == "json") return raw_json(field.bytes, place);
  if (format == "strings") return strings(field.bytes, place);
  if (format.starts_with("schema-or-")) return schema_or_other(schema, field.bytes, place, depth);
  return Error{ErrorCode::kInternal, place.text() + ": there is no protobuf form of format " + schema.format};
}

Result<Value::Member> map_entry(const Schema& of, const WireField& entry, const FieldPath& place, int depth) {
  SHIPLOG_TRY(expect(entry, WireType::kBytes, place));
  std::string_view key = "";
  // An entry without a value has the zero value: an empty string or message.
  WireField value{.number = 2, .wire = WireType::kBytes, .bits = 0, .bytes = ""};
  for (WireReader reader{entry.bytes}; !reader.done();) {
    SHIPLOG_TRY(const WireField field, next_field(reader, place));
    if (field.number == 1) {
      SHIPLOG_TRY(expect(field, WireType::kBytes, place));
      key = field.bytes;
    } else if (field.number == 2) {
      value = field;
    }
  }
  SHIPLOG_TRY(auto name, text(key, place));
  SHIPLOG_TRY(auto read, single(of, value, FieldPath{place, key}, depth));
  return Value::Member{std::move(name), std::move(read)};
}

Result<void> take(FieldSlot& slot, const WireField& field, const FieldPath& place, int depth) {
  const Schema& schema = *slot.schema;
  if (schema.type == Type::kArray) {
    const FieldPath item{place, slot.items.size()};
    if (field.wire == WireType::kBytes && schema.items->type == Type::kInteger) {
      for (WireReader packed{field.bytes}; !packed.done();) {
        const auto bits = packed.varint();
        if (!bits) return malformed(item, "the list breaks off");
        SHIPLOG_TRY(auto value, integer(*schema.items, *bits, item));
        slot.items.push_back(std::move(value));
      }
      return ok();
    }
    SHIPLOG_TRY(auto value, single(*schema.items, field, item, depth));
    slot.items.push_back(std::move(value));
    return ok();
  }
  if (schema.additional != nullptr) {
    SHIPLOG_TRY(auto entry, map_entry(*schema.additional, field, place, depth));
    slot.entries.push_back(std::move(entry));
    return ok();
  }
  // Protobuf would merge the two; Kubernetes' encoder writes only one, so this is treated as an error.
  if (!slot.value.is_null()) return malformed(place, "the field stands twice");
  SHIPLOG_TRY(slot.value, single(schema, field, place, depth));
  return ok();
}

/// `wrapper`: as Schema::proto_wrapper, of the message whose fields these are; 0: of the schema's own.
Result<void> fill(const Schema& schema, int32_t wrapper, std::string_view bytes, const FieldPath& place, int depth,
                  std::vector<FieldSlot>& slots) {
  for (WireReader reader{bytes}; !reader.done();) {
    SHIPLOG_TRY(const WireField field, next_field(reader, place));
    const auto number = static_cast<int32_t>(field.number);
    const int32_t inner = wrapper == 0 ? number : wrapper << kWrapperBits | number;
    bool wraps = false;
    const std::pair<const std::string, std::shared_ptr<const Schema>>* property = nullptr;
    for (const auto& candidate : schema.properties) {
      if (candidate.second->proto_number == number && candidate.second->proto_wrapper == wrapper) property = &candidate;
      const int32_t within = candidate.second->proto_wrapper;
      wraps = wraps || (within != 0 && (within == inner || within >> kWrapperBits == inner));
    }
    if (property != nullptr) {
      size_t position = 0;
      while (position < slots.size() && slots[position].schema != property->second.get()) ++position;
      if (position == slots.size()) slots.push_back({property->first, property->second.get(), {}, {}, {}});
      SHIPLOG_TRY(take(slots[position], field, FieldPath{place, property->first}, depth));
    } else if (wraps) {
      SHIPLOG_TRY(expect(field, WireType::kBytes, place));
      SHIPLOG_TRY(fill(schema, inner, field.bytes, place, depth, slots));
    }
  }
  return ok();
}

Result<Value> message(const Schema& schema, std::string_view bytes, const FieldPath& place, int depth) {
  if (depth > kMaxJsonDepth) return malformed(place, "nested too deep");
  std::vector<FieldSlot> slots;
  SHIPLOG_TRY(fill(schema, 0, bytes, place, depth, slots));
  Value::Object members;
  for (FieldSlot& slot : slots) {
    Value value = std::move(slot.value);
    if (!slot.items.empty()) value = Value::array(std::move(slot.items));
    if (!slot.entries.empty()) value = Value::object(std::move(slot.entries));
    // Kubernetes writes zeros of fields that are not pointers, too; they mean that the field is not set. Empty messages
    // are kept, as Go's JSON keeps them.
    const bool meant = slot.schema->proto_pointer || slot.schema->always || slot.schema->type == Type::kObject;
    if (value.is_null() ? slot.schema->format != "json" : value.is_empty() && !meant) continue;
    members.push_back({Value{slot.name}, std::move(value)});
  }
  return Value::object(std::move(members));
}

bool deeper_than(const Value& value, int levels) {
  if (!value.is_array() && !value.is_object()) return false;
  if (levels == 0) return true;
  for (const Value& item : value.items()) {
    if (deeper_than(item, levels - 1)) return true;
  }
  for (const auto& member : value.members()) {
    if (deeper_than(member.value, levels - 1)) return true;
  }
  return false;
}

}  // namespace

const Schema* protobuf_message(const Kinds& kinds, std::string_view api_version, std::string_view kind) {
  std::string_view message;
  if (kind == "DeleteOptions") {
    message = "meta.DeleteOptions";  // registered under every group and version
  } else if (kind == "Scale" && api_version == "autoscaling/v1") {
    message = "autoscaling.Scale";
  } else if (kind == "TokenRequest" && api_version == "authentication.k8s.io/v1") {
    message = "authentication.TokenRequest";
  } else if (kind == "Eviction" && (api_version == "policy/v1" || api_version == "policy/v1beta1")) {
    message = "policy.Eviction";
  } else if (kind == "Binding" && api_version == "v1") {
    message = "core.Binding";
  } else {
    const Kind* known = kinds.find_kind(api_version, kind);
    return known != nullptr && known->builtin ? known->schema.get() : nullptr;
  }
  return message_schemas().find(message)->second.get();
}

Result<Value> decode_protobuf(const Kinds& kinds, std::string_view body) {
  const FieldPath root;
  if (!body.starts_with(kMagic)) return malformed(root, "it does not begin with \"k8s\" and a zero byte");
  SHIPLOG_TRY(const SmallMessage unknown,
              read_small(body.substr(kMagic.size()), {WireType::kBytes, WireType::kBytes, WireType::kBytes},
                         FieldPath{root, "runtime.Unknown"}));
  if (!unknown.bytes(3).empty())
    return malformed(root, "content encoding " + quoted(unknown.bytes(3)) + " is not known");
  const FieldPath type_place{root, "typeMeta"};
  SHIPLOG_TRY(const SmallMessage type, read_small(unknown.bytes(1), {WireType::kBytes, WireType::kBytes}, type_place));
  SHIPLOG_TRY(Value api_version, text(type.bytes(1), type_place));
  SHIPLOG_TRY(Value kind, text(type.bytes(2), type_place));
  if (kind.is_empty()) return malformed(type_place, "the kind is missing");
  const Schema* schema = protobuf_message(kinds, api_version.as_string(), kind.as_string());
  if (schema == nullptr) {
    return Error{ErrorCode::kUnsupportedMediaType, "there is no protobuf form of kind " + quoted(kind.as_string()) +
                                                       " in version " + quoted(api_version.as_string())};
  }
  SHIPLOG_TRY(Value object, message(*schema, unknown.bytes(2), root, 1));
  // The stored object is read again as JSON, whose depth is bounded.
  if (deeper_than(object, kMaxJsonDepth)) return malformed(root, "nested too deep");
  object.set("apiVersion", std::move(api_version));
  object.set("kind", std::move(kind));
  return object;
}

}  // namespace shiplog
