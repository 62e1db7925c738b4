#include "events/kinds/schema.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "events/base/base64.h"
#include "events/base/time.h"
#include "events/kinds/canonical_quantity.h"
#include "events/kinds/field_path.h"
#include "events/kinds/pruned_and_defaulted.h"

namespace shiplog {
namespace {

// Both walks return nothing where nothing changes, so that an object that needs no change is never copied.
using Changed = std::optional<Value>;

/// The members of an object, visited once in their order. Erasing members of a Value one at a time moves the members
/// after each, which takes minutes for a hundred thousand of them.
class ObjectRewriter {
 public:
  explicit ObjectRewriter(std::span<const Value::Member> all) : all_{all} {}
  void keep() {
    if (changed_) result_.push_back(all_[at_]);
    ++at_;
  }
  void drop() {
    change();
    ++at_;
  }
  void replace(Value value) {
    change();
    result_.push_back({all_[at_++].key_text, std::move(value)});
  }
  Changed take() { return changed_ ? Changed{Value::object(std::move(result_))} : Changed{}; }

 private:
  void change() {
    if (changed_) return;
    changed_ = true;
    result_.reserve(all_.size());
    result_.insert(result_.end(), all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(at_));
  }

  std::span<const Value::Member> all_;
  size_t at_ = 0;
  bool changed_ = false;
  Value::Object result_;
};

/// Where the paths of unknown fields go, if anywhere.
struct UnknownFields {
  std::vector<std::string>* dropped = nullptr;
  bool of_default = false;  ///< the walk is one through a default: see prune_default()
};

Changed pruned(const Schema& schema, const Value& value, const FieldPath& place, const UnknownFields& unknown);

bool is_type_meta(std::string_view name) { return name == "apiVersion" || name == "kind" || name == "metadata"; }

Changed pruned_object(const Schema& schema, const Value& value, const FieldPath& place, const UnknownFields& unknown) {
  // A value of a type that the schema does not allow is kept, and validate() reports it.
  if (schema.type != Schema::Type::kObject && schema.type != Schema::Type::kAny) return {};
  const bool keeps_type_meta = place.is_root() && !unknown.of_default;
  ObjectRewriter result{value.members()};
  for (const auto& member : value.members()) {
    const std::string_view name = member.key();
    if (keeps_type_meta && is_type_meta(name)) {
      result.keep();
      continue;
    }
    const auto known = schema.properties.find(name);
    const Schema* below = known != schema.properties.end() ? known->second.get() : schema.additional.get();
    if (below != nullptr) {
      const bool is_free = unknown.of_default && schema.embedded_resource && name == "metadata";
      const UnknownFields inner_unknown{is_free ? nullptr : unknown.dropped, unknown.of_default};
      if (Changed inner = pruned(*below, member.value, FieldPath{place, name}, inner_unknown)) {
        result.replace(*std::move(inner));
      } else {
        result.keep();
      }
    } else if (schema.preserve_unknown) {
      result.keep();
    } else {
      if (unknown.dropped != nullptr) unknown.dropped->push_back(FieldPath{place, name}.text());
      result.drop();
    }
  }
  return result.take();
}

template <class Walk>
Changed walk_items(const Value& value, const Walk& walk) {
  Changed result;
  for (size_t i = 0; i < value.size(); ++i) {
    if (Changed inner = walk(value[i], i)) {
      if (!result) result = value;
      result->edit_items()[i] = *std::move(inner);
    }
  }
  return result;
}

Changed pruned(const Schema& schema, const Value& value, const FieldPath& place, const UnknownFields& unknown) {
  if (value.is_object()) return pruned_object(schema, value, place, unknown);
  if (!value.is_array() || schema.items == nullptr) return {};
  return walk_items(value, [&](const Value& item, size_t i) {
    return pruned(*schema.items, item, FieldPath{place, i}, unknown);
  });
}

/// A null in a field that is not nullable is removed, as if the field were missing.
bool is_missing(const Schema& field, const Value& value) {
  return value.is_null() && !field.nullable && field.type != Schema::Type::kAny;
}

/// Nearly the bytes of its JSON.
size_t json_bytes(const Value& value) {
  constexpr size_t kLiteral = 5, kBrackets = 2, kComma = 1, kQuotesAndColon = 3;
  if (value.is_string()) return value.as_string().size() + kBrackets;
  if (!value.is_array() && !value.is_object()) return kLiteral;
  size_t bytes = kBrackets;
  for (const Value& item : value.items()) bytes += json_bytes(item) + kComma;
  for (const auto& member : value.members()) {
    bytes += member.key().size() + kQuotesAndColon + json_bytes(member.value) + kComma;
  }
  return bytes;
}

/// Takes from what may still be filled in.
class DefaultAllowance {
 public:
  explicit DefaultAllowance(size_t& left) : left_{left} {}
  /// Whether the default may be filled in there; once one may not, no other may.
  bool take(std::string_view name, const Value& fallback, const FieldPath& place) {
    if (left_out_) return false;
    const size_t bytes = name.size() + json_bytes(fallback);
    if (bytes > left_) {
      left_out_ = FieldPath{place, name}.text();
      return false;
    }
    left_ -= bytes;
    return true;
  }
  const std::optional<std::string>& left_out() const { return left_out_; }

 private:
  size_t& left_;
  std::optional<std::string> left_out_;
};

Changed defaulted(const Schema& schema, const Value& value, const FieldPath& place, DefaultAllowance& allowance);

Changed defaulted_object(const Schema& schema, const Value& value, const FieldPath& place,
                         DefaultAllowance& allowance) {
  Changed result;
  for (const auto& [name, property] : schema.properties) {
    if (!property->fallback) continue;
    const Value* given = value.find(name);
    if (given != nullptr && (!given->is_null() || property->nullable)) continue;
    if (!allowance.take(name, *property->fallback, place)) break;
    if (!result) result = value;
    result->set(name, *property->fallback);
  }
  const Value filled = result ? *result : value;
  ObjectRewriter below_it{filled.members()};
  for (const auto& member : filled.members()) {
    const auto known = schema.properties.find(member.key());
    const Schema* below = known != schema.properties.end() ? known->second.get() : schema.additional.get();
    const bool no_value = known != schema.properties.end() && is_missing(*below, member.value);
    Changed inner = below == nullptr || no_value
                        ? Changed{}
                        : defaulted(*below, member.value, FieldPath{place, member.key()}, allowance);
    if (no_value) {
      below_it.drop();
    } else if (inner) {
      below_it.replace(*std::move(inner));
    } else {
      below_it.keep();
    }
  }
  if (Changed inside = below_it.take()) return inside;
  return result;
}

Changed defaulted(const Schema& schema, const Value& value, const FieldPath& place, DefaultAllowance& allowance) {
  if (value.is_object()) return defaulted_object(schema, value, place, allowance);
  if (!value.is_array() || schema.items == nullptr) return {};
  return walk_items(value, [&](const Value& item, size_t i) {
    return defaulted(*schema.items, item, FieldPath{place, i}, allowance);
  });
}

/// pruned() and defaulted() return nothing. `prunes`: false where only defaulted() walks.
bool is_complete(const Schema& schema, const Value& value, bool root, bool prunes) {
  if (value.is_array() && schema.items != nullptr) {
    return std::ranges::all_of(value.items(),
                               [&](const Value& item) { return is_complete(*schema.items, item, false, prunes); });
  }
  if (!value.is_object()) return true;
  for (const auto& [name, property] : schema.properties) {
    if (!property->fallback) continue;
    const Value* given = value.find(name);
    if (given == nullptr || (given->is_null() && !property->nullable)) return false;
  }
  prunes = prunes && (schema.type == Schema::Type::kObject || schema.type == Schema::Type::kAny);
  return std::ranges::all_of(value.members(), [&](const Value::Member& member) {
    const bool pruned_there = prunes && !(root && is_type_meta(member.key()));
    const auto known = schema.properties.find(member.key());
    if (known != schema.properties.end()) {
      return !is_missing(*known->second, member.value) &&
             is_complete(*known->second, member.value, false, pruned_there);
    }
    if (schema.additional != nullptr) return is_complete(*schema.additional, member.value, false, pruned_there);
    return schema.preserve_unknown || !pruned_there;
  });
}

/// A value that Go's omitempty leaves out.
bool is_zero(const Schema& schema, const Value& value) {
  if (schema.proto_pointer || schema.always) return false;
  switch (schema.type) {
    case Schema::Type::kArray:
      return value.is_array() && value.size() == 0;
    case Schema::Type::kObject:
      return schema.additional != nullptr && schema.properties.empty() && value.is_object() && value.size() == 0;
    case Schema::Type::kString:
      return value.is_string() && value.as_string().empty();
    case Schema::Type::kInteger:
    case Schema::Type::kNumber:
      return value == Value{0};
    case Schema::Type::kBoolean:
      return value.is_bool() && !value.as_bool();
    case Schema::Type::kAny:
    case Schema::Type::kIntOrString:
      return false;
  }
  return false;
}

/// The time as Kubernetes writes it; nothing if it already has this form, or is not a time.
Changed canonical_time(const Schema& schema, const Value& value) {
  const bool micro = schema.format == "micro-time";
  if (!value.is_string() || (!micro && schema.format != "date-time")) return {};
  const std::string_view text = value.as_string();
  const auto parsed = parse_rfc3339(text);
  if (!parsed) return {};
  std::string digits;  // fractional digits: all of them, although a UtcMillis has only three
  if (const size_t point = text.find('.'); point != std::string_view::npos) {
    const std::string_view behind = text.substr(point + 1);
    digits = behind.substr(0, behind.find_first_not_of("0123456789"));
  }
  digits.resize(6, '0');
  std::string written = rfc3339(parsed.value());
  if (micro) written.insert(written.size() - 1, "." + digits);
  return written == text ? Changed{} : Changed{Value{written}};
}

/// Base64 without line breaks, as Kubernetes writes it; nothing if it already has this form, or is no base64.
Changed canonical_base64(std::string_view text) {
  std::string digits{text};
  std::erase_if(digits, [](char c) { return c == '\n' || c == '\r'; });
  const auto bytes = base64_decode(digits);
  if (!bytes) return {};
  std::string written = base64_encode(*bytes);
  return written == text ? Changed{} : Changed{Value{std::move(written)}};
}

/// What Go's decoder leaves of a null in a map or a list: the zero of the type, which has no field to be missing from.
Value zero_of(const Schema& schema) {
  switch (schema.type) {
    case Schema::Type::kObject:
      return Value::object();
    case Schema::Type::kArray:
      return Value::array();
    case Schema::Type::kString:
      return Value{""};
    case Schema::Type::kInteger:
    case Schema::Type::kNumber:
      return Value{0};
    case Schema::Type::kBoolean:
      return Value{false};
    case Schema::Type::kIntOrString:
      return schema.format == "quantity" ? Value{"0"} : Value{0};
    case Schema::Type::kAny:
      return Value{};
  }
  return Value{};
}

Changed rewritten(const Schema& schema, const Value& value);

Changed rewritten_element(const Schema& schema, const Value& value) {
  if (!value.is_null()) return rewritten(schema, value);
  return schema.type == Schema::Type::kAny ? Changed{} : Changed{zero_of(schema)};
}

Changed rewritten_object(const Schema& schema, const Value& value) {
  ObjectRewriter result{value.members()};
  for (const auto& member : value.members()) {
    const auto known = schema.properties.find(member.key());
    Changed inner;
    if (known == schema.properties.end()) {
      if (schema.additional != nullptr) inner = rewritten_element(*schema.additional, member.value);
    } else if (is_zero(*known->second, member.value)) {
      result.drop();
      continue;
    } else {
      inner = rewritten(*known->second, member.value);
    }
    if (inner) {
      result.replace(*std::move(inner));
    } else {
      result.keep();
    }
  }
  return result.take();
}

Changed rewritten(const Schema& schema, const Value& value) {
  if (schema.format == "quantity") return canonical_quantity(value);
  if (value.is_string()) {
    return schema.format == "byte" ? canonical_base64(value.as_string()) : canonical_time(schema, value);
  }
  if (value.is_array() && schema.items != nullptr) {
    return walk_items(value, [&](const Value& item, size_t) { return rewritten_element(*schema.items, item); });
  }
  return value.is_object() ? rewritten_object(schema, value) : Changed{};
}

}  // namespace

Value prune(const Schema& schema, Value value, std::vector<std::string>* dropped) {
  Changed changed = pruned(schema, value, FieldPath{}, {dropped});
  return changed ? *std::move(changed) : value;
}

Value prune_default(const Schema& schema, Value value, bool& unknown) {
  std::vector<std::string> dropped;
  Changed changed = pruned(schema, value, FieldPath{}, {&dropped, true});
  unknown = !dropped.empty();
  return changed ? *std::move(changed) : value;
}

DefaultedValue fill_in_defaults(const Schema& schema, Value value, size_t& left) {
  DefaultAllowance allowance{left};
  Changed changed = defaulted(schema, value, FieldPath{}, allowance);
  if (!changed || allowance.left_out()) return {std::move(value), allowance.left_out()};
  return {*std::move(changed), std::nullopt};
}

Value with_defaults(const Schema& schema, Value value) {
  size_t left = kMostDefaultBytes;
  return fill_in_defaults(schema, std::move(value), left).value;
}

Value pruned_and_defaulted(const Schema& schema, Value value) {
  if (is_complete(schema, value, true, true)) return value;
  return with_defaults(schema, prune(schema, std::move(value)));
}

Value canonical(const Schema& schema, Value value) {
  Changed changed = rewritten(schema, value);
  return changed ? *std::move(changed) : value;
}

}  // namespace shiplog
