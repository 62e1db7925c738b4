#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "events/base/json.h"
#include "events/base/names.h"
#include "events/base/schema_duration.h"
#include "events/base/time.h"
#include "events/kinds/field_path.h"
#include "events/kinds/pattern.h"
#include "events/kinds/schema.h"
#include "events/kinds/validate_change.h"

// Reasons and wording are those of Kubernetes' validation of custom resources, since clients print them.

namespace shiplog {
namespace {

using Type = Schema::Type;

/// In binary fractions 0.3 is no multiple of 0.1: as kube-openapi does it, almost a whole number of times will do.
bool is_multiple(const Value& value, double factor) {
  if (value.is_int() && factor == std::floor(factor) && factor < 1e15) {
    return value.as_int() % static_cast<int64_t>(factor) == 0;
  }
  constexpr double kTolerance = 1e-9;
  const double times = factor < 1 ? 1 / factor * value.as_double() : value.as_double() / factor;
  const double whole = std::round(times);
  return times == whole || std::abs(times - whole) < kTolerance * std::abs(whole);
}

const char* type_name(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return "boolean";
    case Value::Kind::kInt:
      return "integer";
    case Value::Kind::kDouble:
      return "number";
    case Value::Kind::kString:
      return "string";
    case Value::Kind::kArray:
      return "array";
    case Value::Kind::kObject:
      return "object";
  }
  return "null";
}

const char* type_name(Type type) {
  switch (type) {
    case Type::kAny:
      return "any";
    case Type::kObject:
      return "object";
    case Type::kArray:
      return "array";
    case Type::kString:
      return "string";
    case Type::kInteger:
      return "integer";
    case Type::kNumber:
      return "number";
    case Type::kBoolean:
      return "boolean";
    case Type::kIntOrString:
      return "integer or string";
  }
  return "any";
}

/// Source: go-openapi/swag, IsFloat64AJSONInteger().
bool is_whole(const Value& value) {
  constexpr double kLargest = 9007199254740991.0;  // 2^53 - 1: a larger double may stand for several integers
  if (value.is_int()) return true;
  if (!value.is_number()) return false;
  const double number = value.as_double();
  return std::abs(number) <= kLargest && std::trunc(number) == number;
}

/// `strict`: as Go's decoder reads the built-in kinds, whose integers have no fraction or exponent and 64 bits.
bool has_type(const Schema& schema, const Value& value, bool strict) {
  const bool whole = strict ? value.is_int() : is_whole(value);
  switch (schema.type) {
    case Type::kAny:
      return true;
    case Type::kObject:
      return value.is_object();
    case Type::kArray:
      return value.is_array();
    case Type::kString:
      return value.is_string();
    case Type::kInteger:
      return whole;
    case Type::kNumber:
      return value.is_number();
    case Type::kBoolean:
      return value.is_bool();
    case Type::kIntOrString:
      return value.is_string() || whole || (schema.format == "quantity" && value.is_number());
  }
  return false;
}

bool is_base64_digit(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

/// Line breaks are skipped where `line_breaks`. Where a text is no base64: at the character that may not be there, or
/// where the last group of four, which is not complete, begins. nullopt: it is base64.
std::optional<size_t> illegal_base64(std::string_view text, bool line_breaks) {
  size_t digits = 0;  // of the present group
  size_t padding = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (line_breaks && (c == '\n' || c == '\r')) continue;
    if (c == '=' && digits >= 2 && digits + padding < 4) {
      ++padding;
    } else if (is_base64_digit(c) && padding == 0) {
      if (digits == 4) {
        digits = 0;
        begin = i;
      }
      ++digits;
    } else {
      return i;
    }
  }
  if (digits + padding == 0 || digits + padding == 4) return std::nullopt;
  return padding == 0 ? begin : text.size();
}

bool is_ipv4(std::string_view text) {
  size_t parts = 0;
  while (true) {
    const size_t dot = std::min(text.find('.'), text.size());
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || part.size() > 3 || (part.size() > 1 && part[0] == '0')) return false;
    int number = 0;
    for (const char c : part) {
      if (c < '0' || c > '9') return false;
      number = number * 10 + (c - '0');
    }
    if (number > 255 || ++parts > 4) return false;
    if (dot == text.size()) return parts == 4;
    text.remove_prefix(dot + 1);
  }
}

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); });
}

/// Groups between colons, the last two of which may be written as an IPv4 address; nullopt: they are none.
std::optional<size_t> ipv6_groups(std::string_view text) {
  size_t groups = 0;
  while (!text.empty()) {
    const size_t colon = std::min(text.find(':'), text.size());
    const std::string_view group = text.substr(0, colon);
    if (colon == text.size() && is_ipv4(group)) return groups + 2;
    if (group.empty() || group.size() > 4 || !is_hex(group)) return std::nullopt;
    ++groups;
    if (colon == text.size()) break;
    text.remove_prefix(colon + 1);
    if (text.empty()) return std::nullopt;
  }
  return groups;
}

bool is_ipv6(std::string_view text) {
  const size_t gap = text.find("::");
  if (gap == std::string_view::npos) return ipv6_groups(text) == 8U;
  const auto before = ipv6_groups(text.substr(0, gap));
  const auto behind = ipv6_groups(text.substr(gap + 2));
  return before && behind && *before + *behind < 8;
}

bool is_network(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view address = text.substr(0, slash);
  const std::string_view length = text.substr(slash + 1);
  if (length.empty() || length.size() > 3 || length.find_first_not_of("0123456789") != std::string_view::npos)
    return false;
  const int bits = std::stoi(std::string{length});
  return (is_ipv4(address) && bits <= 32) || (is_ipv6(address) && bits <= 128);
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text.substr(i, 1))) return false;
  }
  return true;
}

bool is_mac(std::string_view text) {
  if (text.size() != 17 || (text[2] != ':' && text[2] != '-')) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i % 3 == 2 ? text[i] != text[2] : !is_hex(text.substr(i, 1))) return false;
  }
  return true;
}

bool is_mail_address(std::string_view text) {
  const size_t position = text.find('@');
  return position != std::string_view::npos && position > 0 && position + 1 < text.size() &&
         text.find('@', position + 1) == std::string_view::npos &&
         text.find_first_of(" \t\r\n") == std::string_view::npos;
}

// Formats that Kubernetes validates and that occur here; it ignores others as well.
bool has_format(const std::string& format, const Value& value, bool builtin) {
  if (format.empty()) return true;
  if (format == "int32" && value.is_number()) {
    return value.as_double() >= std::numeric_limits<int32_t>::min() &&
           value.as_double() <= std::numeric_limits<int32_t>::max();
  }
  if (!value.is_string()) return true;
  if (format == "date-time" || format == "micro-time") return parse_rfc3339(value.as_string()).has_value();
  // Built-in types read durations as Go does; schemas of definitions have a format that knows more units.
  if (format == "duration" && builtin) return parse_duration(value.as_string()).has_value();
  if (format == "duration") return parse_schema_duration(value.as_string()).has_value();
  if (format == "date") return parse_rfc3339(value.str() + "T00:00:00Z").has_value();
  if (format == "ipv4") return is_ipv4(value.as_string());
  if (format == "ipv6") return is_ipv6(value.as_string());
  if (format == "cidr") return is_network(value.as_string());
  if (format == "uuid") return is_uuid(value.as_string());
  if (format == "mac") return is_mac(value.as_string());
  if (format == "email") return is_mail_address(value.as_string());
  if (format == "k8s-short-name") return !label_problem(value.as_string());
  if (format == "k8s-long-name") return !subdomain_problem(value.as_string());
  return true;
}

int64_t characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

// 3 and not 3.000000, as Go's %v prints it.
std::string number_text(double number) {
  return std::trunc(number) == number && std::abs(number) < 1e15 ? std::to_string(static_cast<int64_t>(number))
                                                                 : to_json(Value{number});
}

class Validator {
 public:
  std::vector<FieldCause> causes;

  /// `old`: what the value was before a change; nullptr: nothing, or that does not matter.
  void check(const Schema& schema, const Value& value, const FieldPath& place, const Value* old = nullptr) {
    if (old != nullptr && corresponds(schema, *old, value)) return;
    if (value.is_null() && (schema.nullable || schema.proto_number != 0)) return;
    builtin_ = builtin_ || schema.proto_number != 0;
    if (!has_type(schema, value, builtin_)) {
      wrong_type(place, type_name(schema.type), type_name(value));
      return;
    }
    if (!has_format(schema.format, value, builtin_)) {
      wrong_type(place, schema.format, value.is_string() ? value.as_string() : to_json(value));
      return;
    }
    if (schema.format == "byte" && value.is_string() && !check_base64(value.as_string(), place)) return;
    if (!schema.allowed.empty() &&
        std::find(schema.allowed.begin(), schema.allowed.end(), value) == schema.allowed.end()) {
      not_supported(schema, value, place);
    }
    if (value.is_number()) check_number(schema, value, place);
    if (value.is_string()) check_string(schema, value, place);
    if (value.is_array()) check_array(schema, value, place, old);
    if (value.is_object()) check_object(schema, value, place, old);
    check_junctors(schema, value, place, old);
  }

 private:
  // The first violations suffice if there are many. Wrong types are counted separately, because callers search for
  // them.
  bool full(bool of_type) {
    constexpr size_t kMost = 1000;
    size_t& count = of_type ? wrong_types_ : others_;
    if (count == kMost) return true;
    ++count;
    return false;
  }

  void add(const FieldPath& place, const char* reason, std::string message) {
    if (!full(false)) causes.push_back({place.text(), reason, std::move(message)});
  }

  // The value, then the sentence: `Invalid value: 0: spec.weight in body should be ...`
  void invalid(const FieldPath& place, const std::string& value, const std::string& sentence) {
    add(place, "FieldValueInvalid", "Invalid value: " + value + ": " + place.text() + " in body " + sentence);
  }

  void wrong_type(const FieldPath& place, const std::string& wanted, std::string_view given) {
    if (full(true)) return;
    std::string quoted;
    append_json_string(given, quoted);
    causes.push_back(
        {place.text(), "FieldValueTypeInvalid",
         "Invalid value: " + quoted + ": " + place.text() + " in body must be of type " + wanted + ": " + quoted});
  }

  /// Go's decoder, which reads the built-in kinds, skips line breaks. The error does not repeat the text: it may be a
  /// password that should have been encoded.
  bool check_base64(std::string_view text, const FieldPath& place) {
    const auto illegal = illegal_base64(text, builtin_);
    if (!illegal) return true;
    if (full(true)) return false;
    causes.push_back({place.text(), "FieldValueTypeInvalid",
                      "Invalid value: " + place.text() +
                          " in body must be of type byte: illegal base64 data at input byte " +
                          std::to_string(*illegal)});
    return false;
  }

  void not_supported(const Schema& schema, const Value& value, const FieldPath& place) {
    std::string message = "Unsupported value: " + to_json(value) + ": supported values: ";
    for (size_t i = 0; i < schema.allowed.size(); ++i) {
      message += (i == 0 ? "" : ", ") + to_json(schema.allowed[i]);
    }
    add(place, "FieldValueNotSupported", std::move(message));
  }

  void check_number(const Schema& schema, const Value& value, const FieldPath& place) {
    const double number = value.as_double();
    if (schema.minimum && (number < *schema.minimum || (schema.exclusive_minimum && number == *schema.minimum))) {
      invalid(place, to_json(value),
              std::string{"should be greater than "} + (schema.exclusive_minimum ? "" : "or equal to ") +
                  number_text(*schema.minimum));
    }
    if (schema.maximum && (number > *schema.maximum || (schema.exclusive_maximum && number == *schema.maximum))) {
      invalid(place, to_json(value),
              std::string{"should be less than "} + (schema.exclusive_maximum ? "" : "or equal to ") +
                  number_text(*schema.maximum));
    }
    if (schema.multiple_of && *schema.multiple_of > 0 && !is_multiple(value, *schema.multiple_of)) {
      invalid(place, to_json(value), "should be a multiple of " + number_text(*schema.multiple_of));
    }
  }

  void check_string(const Schema& schema, const Value& value, const FieldPath& place) {
    const int64_t length = schema.max_length || schema.min_length ? characters(value.as_string()) : 0;
    if (schema.max_length && length > *schema.max_length) {
      add(place, "FieldValueTooLong",
          "Too long: may not be more than " + std::to_string(*schema.max_length) + " bytes");
    }
    if (schema.min_length && length < *schema.min_length) {
      invalid(place, to_json(value), "should be at least " + std::to_string(*schema.min_length) + " chars long");
    }
    if (!schema.pattern.empty() && !pattern_matches(schema.pattern, value.as_string())) {
      invalid(place, to_json(value), "should match '" + schema.pattern + "'");
    }
  }

  void check_count(const FieldPath& place, size_t size, const std::optional<int64_t>& least,
                   const std::optional<int64_t>& most, const std::string& what) {
    const auto count = static_cast<int64_t>(size);
    if (most && count > *most) {
      add(place, "FieldValueTooMany",
          "Too many: " + std::to_string(count) + ": must have at most " + std::to_string(*most) + " " + what);
    }
    if (least && count < *least) {
      invalid(place, std::to_string(count), "should have at least " + std::to_string(*least) + " " + what);
    }
  }

  void check_array(const Schema& schema, const Value& value, const FieldPath& place, const Value* old) {
    check_count(place, value.size(), schema.min_items, schema.max_items, "items");
    const OldItems before{schema, old};
    std::set<std::string> seen;
    for (size_t i = 0; i < value.size(); ++i) {
      const FieldPath item_path{place, i};
      if (schema.items != nullptr) check(*schema.items, value[i], item_path, before.of(value[i]));
      if (schema.list_type == Schema::ListType::kAtomic) continue;
      const std::string key = to_json(list_key(schema, value[i]));
      // Kubernetes' decoder does not check the map lists of built-in kinds for duplicates, so neither does this.
      if (!seen.insert(key).second && schema.proto_number == 0)
        add(item_path, "FieldValueDuplicate", "Duplicate value: " + key);
    }
  }

  /// Whether a value is what it was. The order of a map list does not matter.
  static bool corresponds(const Schema& schema, const Value& old, const Value& value) {
    if (value.is_object()) {
      if (!old.is_object() || old.size() != value.size()) return false;
      return std::ranges::all_of(value.members(), [&](const Value::Member& member) {
        const auto known = schema.properties.find(member.key());
        const Schema* below = known != schema.properties.end() ? known->second.get() : schema.additional.get();
        const Value* before = old.find(member.key());
        return before != nullptr &&
               (below == nullptr ? *before == member.value : corresponds(*below, *before, member.value));
      });
    }
    if (!value.is_array() || schema.items == nullptr || schema.list_type != Schema::ListType::kMap) return old == value;
    if (!old.is_array() || old.size() != value.size()) return false;
    if (old == value) return true;
    const OldItems before{schema, &old};
    std::set<const Value*> met;
    return std::ranges::all_of(value.items(), [&](const Value& item) {
      const Value* there = before.of(item);
      return there != nullptr && met.insert(there).second && corresponds(*schema.items, *there, item);
    });
  }

  /// The items of a map list before a change, by their keys. Those of other lists correspond to nothing.
  class OldItems {
   public:
    OldItems(const Schema& schema, const Value* old) : schema_{schema} {
      if (old == nullptr || schema.list_type != Schema::ListType::kMap) return;
      for (const Value& item : old->items()) by_key_.emplace(to_json(list_key(schema, item)), &item);
    }
    /// nullptr: there was none.
    const Value* of(const Value& item) const {
      if (by_key_.empty()) return nullptr;
      const auto found = by_key_.find(to_json(list_key(schema_, item)));
      return found == by_key_.end() ? nullptr : found->second;
    }

   private:
    const Schema& schema_;
    std::map<std::string, const Value*> by_key_;
  };

  static Value list_key(const Schema& schema, const Value& item) {
    if (schema.list_type == Schema::ListType::kSet) return item;
    Value key = Value::object();
    for (const std::string& name : schema.list_keys) key.set(name, item[name]);
    return key;
  }

  void check_object(const Schema& schema, const Value& value, const FieldPath& place, const Value* old) {
    check_count(place, value.size(), schema.min_properties, schema.max_properties, "properties");
    for (const std::string& name : schema.required) {
      const Value* given = value.find(name);
      if (given == nullptr || (given->is_null() && schema.properties.contains(name) && is_builtin(schema, name))) {
        add(FieldPath{place, name}, "FieldValueRequired", "Required value");
      }
    }
    for (const auto& member : value.members()) {
      const auto known = schema.properties.find(member.key());
      const Schema* below = known != schema.properties.end() ? known->second.get() : schema.additional.get();
      if (below == nullptr) continue;
      const Value* before = old == nullptr || names_version(place, member.key()) ? nullptr : old->find(member.key());
      check(*below, member.value, FieldPath{place, member.key()}, before);
    }
    if (schema.embedded_resource) {
      for (const char* name : {"apiVersion", "kind"}) {
        if (value[name].as_string().empty())
          add(FieldPath{place, name}, "FieldValueRequired", "Required value: must not be empty");
      }
    }
  }

  /// Each version has its own; which one the old value had when it was written, nothing tells.
  static bool names_version(const FieldPath& place, std::string_view field) {
    return place.is_root() && (field == "apiVersion" || field == "kind");
  }

  static bool is_builtin(const Schema& schema, const std::string& name) {
    return schema.properties.at(name)->proto_number != 0;
  }

  static bool holds(const Schema& schema, const Value& value) {
    Validator walk;
    walk.check(schema, value, FieldPath{});
    return walk.causes.empty();
  }

  void check_junctors(const Schema& schema, const Value& value, const FieldPath& place, const Value* old) {
    const auto matching = [&](const std::vector<std::shared_ptr<const Schema>>& all) {
      return std::count_if(all.begin(), all.end(), [&](const auto& each) { return holds(*each, value); });
    };
    for (const auto& each : schema.all_of) check(*each, value, place, old);
    if (!schema.any_of.empty() && matching(schema.any_of) == 0) {
      invalid(place, to_json(value), "must validate at least one schema (anyOf)");
    }
    if (!schema.one_of.empty() && matching(schema.one_of) != 1) {
      invalid(place, to_json(value), "must validate one and only one schema (oneOf)");
    }
    if (schema.none_of != nullptr && holds(*schema.none_of, value)) {
      invalid(place, to_json(value), "must not validate the schema (not)");
    }
  }

  bool builtin_ = false;  // below a field of a built-in type there are only such, and elements, which have no number
  size_t wrong_types_ = 0;
  size_t others_ = 0;
};

bool is_duplicate(const FieldCause& cause) { return cause.reason == "FieldValueDuplicate"; }

}  // namespace

std::vector<FieldCause> validate_change(const Schema& schema, const Value& old, const Value& value) {
  Validator walk;
  walk.check(schema, value, FieldPath{}, &old);
  if (std::ranges::any_of(walk.causes, is_duplicate) && std::ranges::any_of(validate(schema, old), is_duplicate)) {
    std::erase_if(walk.causes, is_duplicate);
  }
  return std::move(walk.causes);
}

std::vector<FieldCause> validate(const Schema& schema, const Value& value) {
  Validator walk;
  walk.check(schema, value, FieldPath{});
  return std::move(walk.causes);
}

}  // namespace shiplog
