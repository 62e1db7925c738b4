#include "services/cel/patch_object.h"

#include <cmath>
#include <utility>

#include "events/base/base64.h"
#include "events/base/utf8.h"
#include "services/cel/cel_libraries.h"
#include "services/cel/cel_time.h"
#include "services/cel/library/declare.h"
#include "services/cel/program.h"

namespace shiplog::cel {
namespace {

class PatchObject final : public CelMap {
 public:
  PatchObject(std::string type_name, std::shared_ptr<const CelMap> fields)
      : type_name_{std::move(type_name)}, fields_{std::move(fields)} {}
  const std::string& type_name() const { return type_name_; }

  size_t size() const override { return fields_->size(); }
  std::optional<CelValue> find(const CelValue& key) const override { return fields_->find(key); }
  std::vector<CelValue> keys() const override { return fields_->keys(); }
  size_t depth() const override { return fields_->depth(); }
  std::optional<bool> equals(const CelMap& other, CelMeter&) const override {
    const auto* object = dynamic_cast<const PatchObject*>(&other);
    return object != nullptr && object->type_name_ == type_name_ ? std::nullopt : std::optional{false};
  }

 private:
  std::string type_name_;
  std::shared_ptr<const CelMap> fields_;
};

bool is_object_type(std::string_view name) {
  return name == kObjectTypeName || name.starts_with(std::string{kObjectTypeName} + ".");
}

CelObjectType json_patch_type() {
  CelObjectType type;
  type.name = kJsonPatchTypeName;
  for (const char* field : {"op", "path", "from"}) type.fields.emplace(field, CelField{.type = CelType::Kind::kString});
  type.fields.emplace("value", CelField{.type = CelType::Kind::kDyn});
  return type;
}

std::string escaped_pointer_step(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// A value may hold the same list several times, so that its JSON is larger than what has been paid for.
constexpr uint64_t kUnitsOfJsonValue = 5;

class PatchJsonWriter {
 public:
  explicit PatchJsonWriter(CelMeter& meter) : meter_{meter} {}

  /// `path`: the type name that a patch object must have here; nullopt: any.
  Result<Value> write(const CelValue& value, const std::optional<std::string>& path) {
    if (!meter_.charge(kUnitsOfJsonValue + text_size(value) / kBytesOfUnit)) {
      return Error{ErrorCode::kInvalid, std::string{kCostLimitExceeded}};
    }
    switch (value.kind()) {
      case CelValue::Kind::kNull:
        return Value{};
      case CelValue::Kind::kBool:
        return Value{value.as_bool()};
      case CelValue::Kind::kInt:
        return Value{value.as_int()};
      case CelValue::Kind::kUint:
        return whole(value.as_uint());
      case CelValue::Kind::kDouble:
        return number(value.as_double());
      case CelValue::Kind::kString:
        return Value{value.as_string()};
      case CelValue::Kind::kBytes:
        return Value{base64_encode(value.as_string())};
      case CelValue::Kind::kTimestamp:
        return Value{cel_timestamp_text(value.as_timestamp())};
      case CelValue::Kind::kDuration:
        return Value{cel_duration_text(value.as_duration())};
      case CelValue::Kind::kList:
        return list(value.as_list(), path);
      case CelValue::Kind::kMap:
        return map(value.as_map(), path);
      case CelValue::Kind::kError:
        return Error{ErrorCode::kInvalid, value.error_message()};
      case CelValue::Kind::kType:
      case CelValue::Kind::kOptional:
      case CelValue::Kind::kExtension:
        break;
    }
    return Error{ErrorCode::kInvalid, "there is no JSON of a value of type " + value.type_of().text()};
  }

 private:
  static Result<Value> whole(uint64_t value) {
    if (value <= INT64_MAX) return Value{static_cast<int64_t>(value)};
    return Value{static_cast<double>(value)};
  }

  static Result<Value> number(double value) {
    if (!std::isfinite(value)) return Error{ErrorCode::kInvalid, "there is no JSON of a number that is not finite"};
    if (std::trunc(value) == value && std::abs(value) < 0x1p53) return Value{static_cast<int64_t>(value)};
    return Value{value};
  }

  Result<Value> list(const CelList& list, const std::optional<std::string>& path) {
    Value::Array items;
    for (size_t i = 0; i < list.size(); ++i) {
      SHIPLOG_TRY(Value item, write(list.at(i), path));
      items.push_back(std::move(item));
    }
    return Value::array(std::move(items));
  }

  Result<Value> map(const CelMap& map, const std::optional<std::string>& path) {
    const auto* object = dynamic_cast<const PatchObject*>(&map);
    if (object != nullptr && path && object->type_name() != *path) {
      return Error{ErrorCode::kInvalid, "type mismatch: unexpected type name \"" + printable(object->type_name(), 200) +
                                            "\", expected \"" + printable(*path, 200) +
                                            "\", which matches field name path from root Object type"};
    }
    Value::Object members;
    for (const CelValue& key : map.keys()) {
      if (!key.is(CelValue::Kind::kString)) {
        return Error{ErrorCode::kInvalid, "map key is of type " + key.type_of().text() + ", not string"};
      }
      const auto found = map.find(key);
      if (!found) continue;
      std::optional<std::string> below = path;
      if (object != nullptr && path) below = *path + "." + std::string{key.as_string()};
      SHIPLOG_TRY(Value value, write(*found, below));
      members.push_back({Value{key.as_string()}, std::move(value)});
    }
    return Value::object(std::move(members));
  }

  CelMeter& meter_;
};

}  // namespace

std::optional<CelType> patch_type(const std::string& name) {
  if (name == kJsonPatchTypeName) return CelType::object(std::make_shared<const CelObjectType>(json_patch_type()));
  if (!is_object_type(name)) return std::nullopt;
  CelObjectType type;
  type.name = name;
  type.open = true;
  return CelType::object(std::make_shared<const CelObjectType>(std::move(type)));
}

CelValue patch_object(std::string type_name, std::shared_ptr<const CelMap> fields) {
  return CelValue::map(
      std::shared_ptr<const CelMap>{std::make_shared<const PatchObject>(std::move(type_name), std::move(fields))});
}

const CelFunctions& mutation_functions() {
  static const CelFunctions kFunctions = [] {
    CelFunctions functions = kubernetes_functions();
    add_function(
        functions, "jsonpatch.escapeKey", {CelKind::kString}, CelKind::kString,
        [](CelArguments a, CelMeter&) { return CelValue::string(escaped_pointer_step(a[0].as_string())); },
        cost_of_reading(0));
    return functions;
  }();
  return kFunctions;
}

Result<Value> json_of(const CelValue& value, bool checks_types, CelMeter& meter) {
  std::optional<std::string> path;
  const auto* object = value.is(CelValue::Kind::kMap) ? dynamic_cast<const PatchObject*>(&value.as_map()) : nullptr;
  if (checks_types && object != nullptr) path = object->type_name();
  return PatchJsonWriter{meter}.write(value, path);
}

}  // namespace shiplog::cel
