#include "services/cel/cel_json.h"

#include <algorithm>
#include <set>
#include <utility>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "services/cel/cel_time.h"
#include "services/cel/field_names.h"

namespace shiplog::cel {
namespace {

using Kind = CelType::Kind;

/// A list without a schema, or one whose order matters.
class JsonList : public CelList {
 public:
  JsonList(Value json, std::shared_ptr<const CelField> item) : json_{std::move(json)}, item_{std::move(item)} {}
  size_t size() const override { return json_.size(); }
  CelValue at(size_t index) const override {
    return item_ != nullptr ? from_json(json_.items()[index], *item_) : from_json(json_.items()[index]);
  }

 protected:
  Value json_;
  std::shared_ptr<const CelField> item_;
};

/// What tells the items of a set or of a list of the type map apart.
std::string identity(const CelValue& item, const std::vector<std::string>& keys) {
  const auto text_of = [](const CelValue& value) -> std::string {
    switch (value.kind()) {
      case CelValue::Kind::kString:
        return "s" + to_json(Value{value.as_string()});
      case CelValue::Kind::kBytes:
        return "y" + to_json(Value{base64_encode(value.as_string())});
      case CelValue::Kind::kInt:
        return "n" + std::to_string(value.as_int());
      case CelValue::Kind::kUint:
        return "n" + std::to_string(value.as_uint());
      case CelValue::Kind::kDouble:
        return "d" + to_json(Value{value.as_double()});
      case CelValue::Kind::kBool:
        return value.as_bool() ? "t" : "f";
      case CelValue::Kind::kTimestamp:
        return "T" + std::to_string(value.as_timestamp().seconds) + "." + std::to_string(value.as_timestamp().nanos);
      case CelValue::Kind::kDuration:
        return "D" + std::to_string(value.as_duration().nanos);
      case CelValue::Kind::kNull:
        return "0";
      case CelValue::Kind::kList:
      case CelValue::Kind::kMap:
      case CelValue::Kind::kType:
      case CelValue::Kind::kOptional:
      case CelValue::Kind::kExtension:
      case CelValue::Kind::kError:
        return "?";
    }
    return "?";
  };
  if (keys.empty()) return text_of(item);
  std::string text;
  for (const std::string& key : keys) {
    const auto value = item.is(CelValue::Kind::kMap) ? item.as_map().field(key) : std::nullopt;
    text += (value ? text_of(*value) : std::string{"-"}) + ",";
  }
  return text;
}

/// A list whose items are told apart by their value (set) or by some of their fields (map): equality ignores their
/// order, and `+` unites.
class IdentityList final : public JsonList {
 public:
  IdentityList(Value json, std::shared_ptr<const CelField> item, std::vector<std::string> keys)
      : JsonList{std::move(json), std::move(item)}, keys_{std::move(keys)} {}

  std::optional<bool> equals(const CelList& other, CelMeter* meter) const override {
    std::map<std::string, CelValue> mine;
    for (size_t i = 0; i < size(); ++i) {
      CelValue item = at(i);
      std::string key = identity(item, keys_);
      mine.insert_or_assign(std::move(key), std::move(item));
    }
    std::set<std::string> seen;
    for (size_t i = 0; i < other.size(); ++i) {
      const CelValue item = other.at(i);
      std::string key = identity(item, keys_);
      const auto found = mine.find(key);
      if (found == mine.end() || !equal(found->second, item, meter)) return false;
      seen.insert(std::move(key));
    }
    return seen.size() == mine.size();
  }

  std::shared_ptr<const CelList> plus(const CelList& other) const override {
    std::vector<CelValue> items;
    std::map<std::string, size_t> places;
    const auto take = [&](const CelList& list) {
      for (size_t i = 0; i < list.size(); ++i) {
        CelValue item = list.at(i);
        const auto [place, is_new] = places.emplace(identity(item, keys_), items.size());
        if (is_new) {
          items.push_back(std::move(item));
        } else {
          items[place->second] = std::move(item);
        }
      }
    };
    take(*this);
    take(other);
    return CelValue::list(std::move(items)).shared_list();
  }

 private:
  std::vector<std::string> keys_;
};

class JsonMap final : public CelMap {
 public:
  JsonMap(Value json, std::shared_ptr<const CelField> value) : json_{std::move(json)}, value_{std::move(value)} {}
  size_t size() const override { return json_.size(); }
  std::optional<CelValue> find(const CelValue& key) const override {
    if (!key.is(CelValue::Kind::kString)) return std::nullopt;
    const Value* found = json_.find(key.as_string());
    if (found == nullptr) return std::nullopt;
    return value_ != nullptr ? from_json(*found, *value_) : from_json(*found);
  }
  std::vector<CelValue> keys() const override {
    std::vector<CelValue> keys;
    keys.reserve(json_.size());
    for (const auto& member : json_.members()) keys.push_back(CelValue::string(member.key_text));
    return keys;
  }

 private:
  Value json_;
  std::shared_ptr<const CelField> value_;
};

/// An object of a schema. A field that is null counts as missing, and so does what the schema does not know.
class JsonObject final : public CelMap {
 public:
  JsonObject(Value json, CelType type) : json_{std::move(json)}, type_{std::move(type)} {}
  size_t size() const override { return json_.size(); }
  std::optional<CelValue> find(const CelValue& key) const override {
    return key.is(CelValue::Kind::kString) ? field(key.as_string()) : std::nullopt;
  }
  std::optional<CelValue> field(std::string_view name) const override {
    if (name.find("__") == std::string_view::npos) return member(name);
    const auto unescaped = unescape_field_name(name);
    return unescaped ? member(*unescaped) : std::nullopt;
  }
  std::vector<CelValue> keys() const override {
    std::vector<CelValue> keys;
    for (const auto& member : json_.members()) {
      if (!fields().contains(std::string{member.key()})) continue;
      keys.push_back(CelValue::string(escape_field_name(member.key()).value_or(std::string{member.key()})));
    }
    return keys;
  }

 private:
  const std::map<std::string, CelField, std::less<>>& fields() const { return type_.object()->fields; }
  std::optional<CelValue> member(std::string_view name) const {
    const Value* found = json_.find(name);
    if (found == nullptr || found->is_null()) return std::nullopt;
    const auto field = fields().find(name);
    if (field == fields().end()) return std::nullopt;
    return from_json(*found, field->second);
  }

  Value json_;
  CelType type_;
};

CelValue wrong(const char* wanted) { return CelValue::error("invalid data, expected " + std::string{wanted}); }

CelValue list_from(const Value& json, const CelField& field) {
  if (!json.is_array()) return wrong("an array for the provided schema with type=array");
  if (field.item != nullptr && field.encoding == CelEncoding::kListSet) {
    return CelValue::list(
        std::shared_ptr<const CelList>{std::make_shared<IdentityList>(json, field.item, std::vector<std::string>{})});
  }
  if (field.item != nullptr && field.encoding == CelEncoding::kListMap) {
    std::vector<std::string> keys;
    for (const std::string& key : field.list_keys) keys.push_back(escape_field_name(key).value_or(key));
    return CelValue::list(
        std::shared_ptr<const CelList>{std::make_shared<IdentityList>(json, field.item, std::move(keys))});
  }
  return CelValue::list(std::shared_ptr<const CelList>{std::make_shared<JsonList>(json, field.item)});
}

CelValue duration_from(const Value& json) {
  const auto read = parse_cel_duration(json.as_string());
  if (!read) return CelValue::error("Invalid duration " + json.str() + ": " + read.error().message);
  return CelValue::duration(read.value());
}

CelValue timestamp_from(const Value& json) {
  const auto read = parse_cel_timestamp(json.as_string());
  if (!read) return CelValue::error("Invalid date-time formatted string " + json.str() + ": " + read.error().message);
  return CelValue::timestamp(read.value());
}

CelValue bytes_from(const Value& json) {
  const auto read = base64_decode(json.as_string());
  if (!read) return CelValue::error("Invalid byte formatted string " + json.str() + ": illegal base64 data");
  return CelValue::bytes(*read);
}

}  // namespace

CelValue from_json(const Value& json) {
  switch (json.kind()) {
    case Value::Kind::kNull:
      return {};
    case Value::Kind::kBool:
      return CelValue::boolean(json.as_bool());
    case Value::Kind::kInt:
      return CelValue::integer(json.as_int());
    case Value::Kind::kDouble:
      return CelValue::real(json.as_double());
    case Value::Kind::kString:
      return CelValue::string(json);
    case Value::Kind::kArray:
      return CelValue::list(std::shared_ptr<const CelList>{std::make_shared<JsonList>(json, nullptr)});
    case Value::Kind::kObject:
      return CelValue::map(std::shared_ptr<const CelMap>{std::make_shared<JsonMap>(json, nullptr)});
  }
  return {};
}

CelValue from_json(const Value& json, const CelField& field) {
  if (json.is_null()) return {};
  if (field.encoding == CelEncoding::kIntOrString) {
    if (json.is_string() || json.is_int()) return from_json(json);
    return wrong("XIntOrString value to be either a string or integer");
  }
  switch (field.type.kind()) {
    case Kind::kObject:
      if (!json.is_object()) return wrong("a map for the provided schema with type=object");
      return CelValue::map(std::shared_ptr<const CelMap>{std::make_shared<JsonObject>(json, field.type)});
    case Kind::kMap:
      if (!json.is_object()) return wrong("a map for the provided schema with type=object");
      return CelValue::map(std::shared_ptr<const CelMap>{std::make_shared<JsonMap>(json, field.item)});
    case Kind::kList:
      return list_from(json, field);
    case Kind::kString:
      return json.is_string() ? CelValue::string(json) : wrong("string");
    case Kind::kBytes:
      return json.is_string() ? bytes_from(json) : wrong("string");
    case Kind::kDuration:
      return json.is_string() ? duration_from(json) : wrong("string");
    case Kind::kTimestamp:
      return json.is_string() ? timestamp_from(json) : wrong("string");
    case Kind::kDouble:
      return json.is_number() ? CelValue::real(json.as_double()) : wrong("float");
    case Kind::kInt:
      // 1.0 is a whole number, as after Kubernetes' decoder.
      if (json.is_number() && json.as_double() == static_cast<double>(json.as_int())) {
        return CelValue::integer(json.as_int());
      }
      return wrong("int");
    case Kind::kBool:
      return json.is_bool() ? CelValue::boolean(json.as_bool()) : wrong("bool");
    case Kind::kDyn:
    case Kind::kError:
    case Kind::kParameter:
    case Kind::kNull:
    case Kind::kUint:
    case Kind::kType:
    case Kind::kOptional:
    case Kind::kExtension:
      return from_json(json);
  }
  return from_json(json);
}

}  // namespace shiplog::cel
