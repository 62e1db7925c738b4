#include "services/cel/cel_json.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/schema_duration.h"
#include "events/base/utf8.h"
#include "services/cel/cel_function.h"
#include "services/cel/cel_time.h"
#include "services/cel/field_names.h"

namespace shiplog::cel {
namespace {

using TypeKind = CelType::Kind;

/// As errors show a text.
std::string shown(const Value& json) { return printable(json.as_string(), 200); }

/// The bytes of base64 texts that were read: a text is decoded once, however often an evaluation reads it.
/// Threads: one.
class DecodedTexts {
 public:
  CelValue bytes_of(const Value& json) {
    const std::string_view text = json.as_string();
    if (text.size() < kShortestKept) return decoded(json);
    const auto [kept, is_new] = kept_.try_emplace(text.data());
    // The text is kept, too, so that no other one comes to be at its address.
    if (is_new) kept->second = {json, decoded(json)};
    return kept->second.second;
  }

 private:
  static constexpr size_t kShortestKept = 64;
  static CelValue decoded(const Value& json) {
    const auto read = base64_decode(json.as_string());
    if (read) return CelValue::bytes(*read);
    return CelValue::error("Invalid byte formatted string " + shown(json) + ": illegal base64 data");
  }

  std::unordered_map<const char*, std::pair<Value, CelValue>> kept_;
};

using SharedTexts = std::shared_ptr<DecodedTexts>;

CelValue typed(const Value& json, const CelField& field, const SharedTexts& texts);

/// A list without a schema, or one whose order matters.
class JsonList : public CelList {
 public:
  JsonList(Value json, std::shared_ptr<const CelField> item, SharedTexts texts)
      : json_{std::move(json)}, item_{std::move(item)}, texts_{std::move(texts)} {}
  size_t size() const override { return json_.size(); }
  CelValue at(size_t index) const override {
    return item_ != nullptr ? typed(json_.items()[index], *item_, texts_) : from_json(json_.items()[index]);
  }

 private:
  Value json_;
  std::shared_ptr<const CelField> item_;
  SharedTexts texts_;
};

/// What tells a value apart from others; nullopt: lists and maps are not told apart.
std::optional<std::string> scalar_identity(const CelValue& value) {
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
      return std::nullopt;
  }
  return std::nullopt;
}

/// A list whose items are told apart by their value (set) or by some of their fields (map): equality ignores their
/// order, and `+` unites.
class IdentityList final : public JsonList {
 public:
  IdentityList(Value json, std::shared_ptr<const CelField> item, std::vector<std::string> keys, SharedTexts texts)
      : JsonList{std::move(json), std::move(item), std::move(texts)}, keys_{std::move(keys)} {}

  std::optional<bool> equals(const CelList& other, CelMeter& meter) const override {
    std::map<std::string, CelValue> mine;
    for (size_t i = 0; i < size(); ++i) {
      CelValue item = at(i);
      auto key = identity(item, meter);
      if (!key) return otherwise(meter);
      mine.insert_or_assign(*std::move(key), std::move(item));
    }
    std::set<std::string> seen;
    for (size_t i = 0; i < other.size(); ++i) {
      const CelValue item = other.at(i);
      auto key = identity(item, meter);
      if (!key) return otherwise(meter);
      const auto found = mine.find(*key);
      if (found == mine.end() || !equal(found->second, item, meter)) return false;
      seen.insert(*std::move(key));
    }
    return seen.size() == mine.size();
  }

  std::optional<CelValue> plus(const CelList& other, CelMeter& meter) const override {
    std::vector<CelValue> items;
    std::map<std::string, size_t> places;
    for (const CelList* list : {static_cast<const CelList*>(this), &other}) {
      for (size_t i = 0; i < list->size(); ++i) {
        CelValue item = list->at(i);
        const auto key = identity(item, meter);
        if (!key) return CelValue::error("listSet operations are only supported on lists of scalar values");
        const auto [place, is_new] = places.emplace(*key, items.size());
        if (is_new) {
          items.push_back(std::move(item));
        } else {
          items[place->second] = std::move(item);
        }
      }
    }
    return CelValue::list(std::move(items));
  }

 private:
  /// Items without an identity are compared in their order; once the meter is exceeded, nothing is.
  static std::optional<bool> otherwise(const CelMeter& meter) {
    return meter.exceeded() ? std::optional{false} : std::nullopt;
  }

  /// nullopt: it has none, or the meter is exceeded.
  std::optional<std::string> identity(const CelValue& item, CelMeter& meter) const {
    if (keys_.empty()) return charged_identity(item, meter);
    std::string text;
    for (const std::string& key : keys_) {
      const auto value = item.is(CelValue::Kind::kMap) ? item.as_map().field(key) : std::nullopt;
      const auto part = value ? charged_identity(*value, meter) : std::optional{std::string{"-"}};
      if (!part) return std::nullopt;
      text += *part + ",";
    }
    return text;
  }

  static std::optional<std::string> charged_identity(const CelValue& value, CelMeter& meter) {
    if (!meter.charge(1 + text_size(value) / 10)) return std::nullopt;
    return scalar_identity(value);
  }

  std::vector<std::string> keys_;
};

class JsonMap final : public CelMap {
 public:
  JsonMap(Value json, std::shared_ptr<const CelField> value, SharedTexts texts)
      : json_{std::move(json)}, value_{std::move(value)}, texts_{std::move(texts)} {}
  size_t size() const override { return json_.size(); }
  std::optional<CelValue> find(const CelValue& key) const override {
    if (!key.is(CelValue::Kind::kString)) return std::nullopt;
    const Value* found = json_.find(key.as_string());
    if (found == nullptr) return std::nullopt;
    return value_ != nullptr ? typed(*found, *value_, texts_) : from_json(*found);
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
  SharedTexts texts_;
};

/// An object of a schema. Expressions do not see a field that is null or has no type; equality does.
class JsonObject final : public CelMap {
 public:
  JsonObject(Value json, CelType type, SharedTexts texts)
      : json_{std::move(json)}, type_{std::move(type)}, texts_{std::move(texts)} {}
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
      if (field_of(member.key()) != nullptr) keys.push_back(key_of(member));
    }
    return keys;
  }
  std::optional<bool> equals(const CelMap& other, CelMeter& meter) const override {
    const auto* object = dynamic_cast<const JsonObject*>(&other);
    return std::ranges::all_of(json_.members(), [&](const Value::Member& member) {
      return object != nullptr ? is_same_in(*object, member, meter) : is_same_in(other, member, meter);
    });
  }

 private:
  /// nullptr: it has no type.
  const CelField* field_of(std::string_view name) const {
    const auto found = type_.object()->fields.find(name);
    return found == type_.object()->fields.end() ? nullptr : &found->second;
  }
  static CelValue key_of(const Value::Member& member) {
    return CelValue::string(escape_field_name(member.key()).value_or(std::string{member.key()}));
  }
  std::optional<CelValue> member(std::string_view name) const {
    const Value* found = json_.find(name);
    if (found == nullptr || found->is_null()) return std::nullopt;
    const CelField* field = field_of(name);
    return field == nullptr ? std::nullopt : std::optional{typed(*found, *field, texts_)};
  }
  bool is_same_in(const JsonObject& other, const Value::Member& member, CelMeter& meter) const {
    const Value* theirs = other.json_.find(member.key());
    if (theirs == nullptr) return false;
    const CelField* field = field_of(member.key());
    const CelField* their_field = other.field_of(member.key());
    if (field != nullptr && their_field != nullptr) {
      return equal(typed(member.value, *field, texts_), typed(*theirs, *their_field, other.texts_), meter);
    }
    return meter.charge(json_comparison_cost(member.value)) && member.value == *theirs;
  }
  /// In a map that is no object of a schema.
  bool is_same_in(const CelMap& other, const Value::Member& member, CelMeter& meter) const {
    const CelField* field = field_of(member.key());
    const auto theirs = field != nullptr ? other.find(key_of(member)) : std::nullopt;
    return theirs && equal(typed(member.value, *field, texts_), *theirs, meter);
  }

  Value json_;
  CelType type_;
  SharedTexts texts_;
};

CelValue schema_mismatch(const char* wanted) {
  return CelValue::error("invalid data, expected " + std::string{wanted});
}

CelValue list_from(const Value& json, const CelField& field, const SharedTexts& texts) {
  if (!json.is_array()) return schema_mismatch("an array for the provided schema with type=array");
  if (field.item != nullptr && field.encoding == CelEncoding::kListSet) {
    return CelValue::list(std::shared_ptr<const CelList>{
        std::make_shared<IdentityList>(json, field.item, std::vector<std::string>{}, texts)});
  }
  if (field.item != nullptr && field.encoding == CelEncoding::kListMap) {
    std::vector<std::string> keys;
    for (const std::string& key : field.list_keys) keys.push_back(escape_field_name(key).value_or(key));
    return CelValue::list(
        std::shared_ptr<const CelList>{std::make_shared<IdentityList>(json, field.item, std::move(keys), texts)});
  }
  return CelValue::list(std::shared_ptr<const CelList>{std::make_shared<JsonList>(json, field.item, texts)});
}

CelValue duration_from(const Value& json) {
  const auto read = parse_schema_duration(json.as_string());
  if (read) return CelValue::duration({*read});
  return CelValue::error("Invalid duration " + shown(json) + ": unable to parse " + shown(json) + " as duration");
}

CelValue timestamp_from(const Value& json) {
  const auto read = parse_cel_timestamp(json.as_string());
  if (!read) return CelValue::error("Invalid date-time formatted string " + shown(json) + ": " + read.error().message);
  return CelValue::timestamp(read.value());
}

CelValue typed(const Value& json, const CelField& field, const SharedTexts& texts) {
  if (json.is_null()) return {};
  if (field.encoding == CelEncoding::kIntOrString) {
    if (json.is_string() || json.is_int()) return from_json(json);
    return schema_mismatch("XIntOrString value to be either a string or integer");
  }
  switch (field.type.kind()) {
    case TypeKind::kObject:
      if (!json.is_object()) return schema_mismatch("a map for the provided schema with type=object");
      return CelValue::map(std::shared_ptr<const CelMap>{std::make_shared<JsonObject>(json, field.type, texts)});
    case TypeKind::kMap:
      if (!json.is_object()) return schema_mismatch("a map for the provided schema with type=object");
      return CelValue::map(std::shared_ptr<const CelMap>{std::make_shared<JsonMap>(json, field.item, texts)});
    case TypeKind::kList:
      return list_from(json, field, texts);
    case TypeKind::kString:
      return json.is_string() ? CelValue::string(json) : schema_mismatch("string");
    case TypeKind::kBytes:
      return json.is_string() ? texts->bytes_of(json) : schema_mismatch("string");
    case TypeKind::kDuration:
      return json.is_string() ? duration_from(json) : schema_mismatch("string");
    case TypeKind::kTimestamp:
      return json.is_string() ? timestamp_from(json) : schema_mismatch("string");
    case TypeKind::kDouble:
      return json.is_number() ? CelValue::real(json.as_double()) : schema_mismatch("float");
    case TypeKind::kInt:
      // 1.0 is a whole number, as after Kubernetes' decoder.
      if (json.is_number() && json.as_double() == static_cast<double>(json.as_int())) {
        return CelValue::integer(json.as_int());
      }
      return schema_mismatch("int");
    case TypeKind::kBool:
      return json.is_bool() ? CelValue::boolean(json.as_bool()) : schema_mismatch("bool");
    case TypeKind::kDyn:
    case TypeKind::kError:
    case TypeKind::kParameter:
    case TypeKind::kNull:
    case TypeKind::kUint:
    case TypeKind::kType:
    case TypeKind::kOptional:
    case TypeKind::kExtension:
      return from_json(json);
  }
  return from_json(json);
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
      return CelValue::list(std::shared_ptr<const CelList>{std::make_shared<JsonList>(json, nullptr, nullptr)});
    case Value::Kind::kObject:
      return CelValue::map(std::shared_ptr<const CelMap>{std::make_shared<JsonMap>(json, nullptr, nullptr)});
  }
  return {};
}

CelValue from_json(const Value& json, const CelField& field) {
  return typed(json, field, std::make_shared<DecodedTexts>());
}

uint64_t json_comparison_cost(const Value& json) {
  if (json.is_string()) return json.as_string().size() / kBytesOfUnit;
  uint64_t cost = json.is_array() || json.is_object() ? 1 + json.size() / kItemsOfUnit : 0;
  for (const Value& item : json.items()) cost += json_comparison_cost(item);
  for (const auto& member : json.members()) cost += json_comparison_cost(member.value);
  return cost;
}

}  // namespace shiplog::cel
