#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/time.h"
#include "events/kinds/builtin_schema.h"
#include "events/kinds/field_path.h"
#include "events/kinds/protobuf.h"
#include "events/kinds/wire_type.h"

namespace shiplog {
namespace {

using Type = Schema::Type;

void put_varint(std::string& out, uint64_t value) {
  for (; value > 127; value >>= 7U) out += static_cast<char>((value & 127U) | 128U);
  out += static_cast<char>(value);
}

void put_tag(std::string& out, int32_t number, WireType wire) {
  put_varint(out, (static_cast<uint64_t>(number) << 3U) | static_cast<uint64_t>(wire));
}

void put_integer(std::string& out, int32_t number, int64_t value) {
  put_tag(out, number, WireType::kVarint);
  put_varint(out, static_cast<uint64_t>(value));
}

void put_bytes(std::string& out, int32_t number, std::string_view bytes) {
  put_tag(out, number, WireType::kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

Error no_form(const FieldPath& place, const Value& value) {
  const std::string why = "there is no protobuf form of " + to_json(value).substr(0, 64);
  return Error{ErrorCode::kInvalid, place.text() + ": " + why, {{place.text(), "FieldValueInvalid", why}}};
}

Result<std::string> message(const Schema& schema, const Value& value, const FieldPath& place);

Result<std::string> time_message(const Value& value, const FieldPath& place) {
  const auto time = parse_rfc3339(value.as_string());
  if (!value.is_string() || !time) return no_form(place, value);
  int64_t seconds = time.value().value / 1000;
  if (time.value().value % 1000 < 0) --seconds;
  int64_t nanos = 0;
  const std::string_view written = value.as_string();
  if (const size_t dot = written.find('.'); dot != std::string_view::npos) {
    int64_t unit = 100'000'000;
    for (size_t i = dot + 1; i < written.size() && written[i] >= '0' && written[i] <= '9'; ++i, unit /= 10) {
      nanos += (written[i] - '0') * unit;
    }
  }
  std::string out;
  put_integer(out, 1, seconds);
  put_integer(out, 2, nanos);
  return out;
}

Result<std::string> int_or_string(const Value& value, const FieldPath& place) {
  std::string out;
  if (value.is_string()) {
    put_integer(out, 1, 1);
    put_bytes(out, 3, value.as_string());
  } else if (value.is_int() && value.as_int() == static_cast<int32_t>(value.as_int())) {
    put_integer(out, 1, 0);
    put_integer(out, 2, value.as_int());
  } else {
    return no_form(place, value);
  }
  return out;
}

Result<std::string> schema_or_other(const Schema& schema, const Value& value, const FieldPath& place) {
  const Schema& props = *message_schemas().find("apiextensions.JSONSchemaProps")->second;
  const bool or_bool = schema.format == "schema-or-bool";
  std::string out;
  if (or_bool && (value.is_bool() || value.is_object())) put_integer(out, 1, value.as_bool(true) ? 1 : 0);
  if (value.is_object()) {
    SHIPLOG_TRY(const auto encoded, message(props, value, place));
    put_bytes(out, or_bool ? 2 : 1, encoded);
  } else if (value.is_array() && !or_bool) {
    for (size_t i = 0; i < value.size(); ++i) {
      const FieldPath item{place, i};
      if (schema.format == "schema-or-strings") {
        if (!value[i].is_string()) return no_form(item, value[i]);
        put_bytes(out, 2, value[i].as_string());
      } else {
        SHIPLOG_TRY(const auto encoded, message(props, value[i], item));
        put_bytes(out, 2, encoded);
      }
    }
  } else if (or_bool ? !value.is_bool() : !value.is_null()) {  // null: neither, as an entry of a map may be
    return no_form(place, value);
  }
  return out;
}

/// The bytes of a length-delimited field.
Result<std::string> content(const Schema& schema, const Value& value, const FieldPath& place) {
  const std::string_view format = schema.format;
  std::string out;
  if (format == "byte") {
    auto bytes = base64_decode(value.as_string());
    if (!value.is_string() || !bytes) return no_form(place, value);
    return *std::move(bytes);
  }
  if (format == "date-time" || format == "micro-time") return time_message(value, place);
  if (format == "int-or-string") return int_or_string(value, place);
  if (format == "quantity" && (value.is_string() || value.is_number())) {
    put_bytes(out, 1, value.is_string() ? value.str() : to_json(value));
    return out;
  }
  if (format == "json" || ((format == "fields-v1" || format == "raw-extension") && value.is_object())) {
    put_bytes(out, 1, to_json(value));
    return out;
  }
  if (format == "strings" && value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      if (!value[i].is_string()) return no_form(FieldPath{place, i}, value[i]);
      put_bytes(out, 1, value[i].as_string());
    }
    return out;
  }
  if (format.starts_with("schema-or-")) return schema_or_other(schema, value, place);
  if (format.empty() && schema.type == Type::kString && value.is_string()) return value.str();
  if (format.empty() && schema.type == Type::kObject && value.is_object()) return message(schema, value, place);
  return no_form(place, value);
}

Result<void> put_single(std::string& out, int32_t number, const Schema& schema, const Value& value,
                        const FieldPath& place) {
  if (schema.type == Type::kBoolean && value.is_bool()) {
    put_integer(out, number, value.as_bool() ? 1 : 0);
  } else if (schema.type == Type::kInteger && value.is_int() &&
             (schema.format != "int32" || value.as_int() == static_cast<int32_t>(value.as_int()))) {
    put_integer(out, number, value.as_int());
  } else if (schema.type == Type::kNumber && value.is_number()) {
    put_tag(out, number, WireType::kFixed64);
    const double real = value.is_int() ? static_cast<double>(value.as_int()) : value.as_double();
    auto bits = std::bit_cast<uint64_t>(real);
    for (int i = 0; i < 8; ++i, bits >>= 8U) out += static_cast<char>(bits & 255U);
  } else {
    SHIPLOG_TRY(const auto bytes, content(schema, value, place));
    put_bytes(out, number, bytes);
  }
  return ok();
}

Result<void> put_field(std::string& out, const Schema& schema, const Value& value, const FieldPath& place) {
  if (schema.type == Type::kArray) {
    if (!value.is_array()) return no_form(place, value);
    for (size_t i = 0; i < value.size(); ++i) {
      SHIPLOG_TRY(put_single(out, schema.proto_number, *schema.items, value[i], FieldPath{place, i}));
    }
  } else if (schema.additional != nullptr) {
    if (!value.is_object()) return no_form(place, value);
    for (const auto& member : value.members()) {
      std::string entry;
      put_bytes(entry, 1, member.key());
      SHIPLOG_TRY(put_single(entry, 2, *schema.additional, member.value, FieldPath{place, member.key()}));
      put_bytes(out, schema.proto_number, entry);
    }
  } else {
    return put_single(out, schema.proto_number, schema, value, place);
  }
  return ok();
}

Result<std::string> message(const Schema& schema, const Value& value, const FieldPath& place) {
  if (!value.is_object()) return no_form(place, value);
  std::map<int32_t, std::string, std::greater<>> wrapped;  // by wrapper, the nested ones first; 0: no wrapper
  for (const auto& [name, property] : schema.properties) {
    const Value* field = value.find(name);
    if (property->proto_number == 0 || field == nullptr) continue;
    if (field->is_null() && property->format != "json") continue;
    SHIPLOG_TRY(put_field(wrapped[property->proto_wrapper], *property, *field, FieldPath{place, name}));
  }
  std::string out = std::move(wrapped[0]);
  wrapped.erase(0);
  for (const auto& [number, bytes] : wrapped) {
    const int32_t outer = number >> kWrapperBits;
    if (outer == 0) {
      put_bytes(out, number, bytes);
    } else {
      put_bytes(wrapped[outer], number - (outer << kWrapperBits), bytes);
    }
  }
  return out;
}

}  // namespace

Result<std::string> encode_protobuf(const Kinds& kinds, const Value& object) {
  const Value& api_version = object["apiVersion"];
  const Value& kind = object["kind"];
  const Schema* schema = protobuf_message(kinds, api_version.as_string(), kind.as_string());
  if (schema == nullptr) {
    return Error{ErrorCode::kUnsupportedMediaType,
                 "there is no protobuf form of kind \"" + kind.str() + "\" in version \"" + api_version.str() + "\""};
  }
  SHIPLOG_TRY(const auto raw, message(*schema, object, FieldPath{}));
  std::string type;
  put_bytes(type, 1, api_version.as_string());
  put_bytes(type, 2, kind.as_string());
  std::string out{"k8s\0", 4};
  put_bytes(out, 1, type);
  put_bytes(out, 2, raw);
  return out;
}

}  // namespace shiplog
