#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "events/kinds/field_path.h"
#include "services/api/patch/patch.h"

// SMP-1 to SMP-10.

namespace shiplog::api {
namespace {

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeletePrimitives = "$deleteFromPrimitiveList/";
constexpr std::string_view kElementOrder = "$setElementOrder/";

bool is_directive(std::string_view key) {
  return key == kPatch || key == kRetainKeys || key.starts_with(kDeletePrimitives) || key.starts_with(kElementOrder);
}

Error fails(const FieldPath& place, const std::string& why) {
  const std::string path = place.text();
  return {ErrorCode::kBadRequest,
          "the strategic merge patch cannot be applied: " + (path.empty() ? "" : printable(path, 253) + ": ") + why};
}

const Schema* below(const Schema* schema, std::string_view key) {
  if (schema == nullptr) return nullptr;
  const auto known = schema->properties.find(key);
  return known != schema->properties.end() ? known->second.get() : schema->additional.get();
}

/// What a patch puts where nothing was: without directives, and without the nulls that would have deleted (SMP-9).
Value plain(const Value& patch) {
  if (patch.is_object()) {
    Value result = Value::object();
    if (patch[kPatch].as_string() == "delete") return result;
    for (const auto& member : patch.members()) {
      if (!is_directive(member.key()) && !member.value.is_null()) result.set(member.key(), plain(member.value));
    }
    return result;
  }
  if (!patch.is_array()) return patch;
  Value result = Value::array();
  for (const Value& item : patch.items()) {
    const std::string_view directive = item[kPatch].as_string();
    if (directive == "delete" || (directive == "replace" && item.size() == 1)) continue;
    result.push_back(plain(item));
  }
  return result;
}

/// Identifies an element of a list: its merge key's value, or itself.
const Value& identity(const Value& element, const std::string& key) { return key.empty() ? element : element[key]; }

/// The elements of a list by their identity.
class Index {
 public:
  explicit Index(std::string key) : key_{std::move(key)} {}
  Index(const Value& list, std::string key) : Index{std::move(key)} {
    for (const Value& element : list.items()) add(element);
  }

  /// As the last one. False: there is one like it, which stays the one that is found.
  bool add(const Value& element) { return positions_.emplace(name_of(element), size_++).second; }
  std::optional<size_t> position(const Value& element) const {
    const auto found = positions_.find(name_of(element));
    return found == positions_.end() ? std::nullopt : std::optional{found->second};
  }
  bool contains(const Value& element) const { return positions_.contains(name_of(element)); }

 private:
  std::string name_of(const Value& element) const { return to_json(identity(element, key_)); }

  std::string key_;  // empty: elements are identified by themselves
  size_t size_ = 0;
  std::map<std::string, size_t> positions_;
};

/// SMP-7. Elements that `wanted` names follow its order; the others keep their position among the previous elements.
Value ordered(const Value& merged, const Value& before, const Value& wanted, const std::string& key) {
  const Index places{wanted, key};
  const Index old_places{before, key};
  std::vector<std::pair<size_t, const Value*>> named;
  Value::Array others;
  for (const Value& element : merged.items()) {
    if (const auto index = places.position(element)) {
      named.emplace_back(*index, &element);
    } else {
      others.push_back(element);
    }
  }
  std::ranges::stable_sort(named, {}, &std::pair<size_t, const Value*>::first);
  Value::Array result;
  auto next = others.begin();
  for (const auto& [place, element] : named) {
    const auto index = old_places.position(*element);
    while (index && next != others.end()) {
      const auto other = old_places.position(*next);
      if (!other || *other > *index) break;
      result.push_back(*next++);
    }
    result.push_back(*element);
  }
  result.insert(result.end(), next, others.end());
  return Value::array(std::move(result));
}

/// An object while a patch changes its members, in any order. They are put in their places at the end: setting them one
/// by one would move all members behind each.
class PatchedMembers {
 public:
  explicit PatchedMembers(Value base) : base_{std::move(base)} {}
  /// nullptr: there is none.
  const Value* find(std::string_view key) const {
    const auto changed = changes_.find(key);
    if (changed == changes_.end()) return base_.find(key);
    return changed->second ? &*changed->second : nullptr;
  }
  void set(std::string_view key, Value value) { changes_.insert_or_assign(std::string{key}, std::move(value)); }
  void erase(std::string_view key) { changes_.insert_or_assign(std::string{key}, std::nullopt); }
  Value take() {
    if (changes_.empty()) return std::move(base_);
    Value::Object all;
    all.reserve(base_.size() + changes_.size());
    auto old = base_.members().begin();
    const auto end = base_.members().end();
    for (auto& [key, value] : changes_) {
      while (old != end && old->key() < key) all.push_back(*old++);
      if (old != end && old->key() == key) ++old;
      if (value) all.push_back({Value{key}, *std::move(value)});
    }
    all.insert(all.end(), old, end);
    return Value::object(std::move(all));
  }

 private:
  Value base_;
  std::map<std::string, std::optional<Value>, std::less<>> changes_;
};

class Merger {
 public:
  Result<Value> object(const Value& original, const Value& patch, const Schema* schema, const FieldPath& place) {
    if (const Value* directive = patch.find(kPatch)) {
      if (directive->as_string() == "delete") return Value::object();
      if (directive->as_string() == "replace") return plain(patch);
      return unknown_directive(*directive, place);
    }
    SHIPLOG_TRY(Value retained, retain_keys(original, patch, place));
    PatchedMembers result{std::move(retained)};
    for (const auto& member : patch.members()) {
      const std::string_view key = member.key();
      if (key == kPatch || key == kRetainKeys) continue;
      if (key.starts_with(kDeletePrimitives)) {
        SHIPLOG_TRY(delete_primitives(result, std::string{key.substr(kDeletePrimitives.size())}, member.value, place));
        continue;
      }
      if (key.starts_with(kElementOrder)) {
        const std::string_view field = key.substr(kElementOrder.size());
        if (patch.contains(field)) continue;  // together with the field's own patch, below
        SHIPLOG_TRY(field_of(result, field, Value::array(), patch, below(schema, field), FieldPath{place, field}));
        continue;
      }
      SHIPLOG_TRY(field_of(result, key, member.value, patch, below(schema, key), FieldPath{place, key}));
    }
    return result.take();
  }

 private:
  static Error unknown_directive(const Value& directive, const FieldPath& place) {
    return fails(place,
                 "unknown $patch directive " + quoted(directive.is_string() ? directive.str() : to_json(directive)));
  }

  static Result<Value> retain_keys(const Value& object, const Value& patch, const FieldPath& place) {
    const Value* retained = patch.find(kRetainKeys);
    if (retained == nullptr) return object;
    if (!retained->is_array()) return fails(place, "$retainKeys must be a list");
    std::set<std::string_view> keys;
    for (const Value& key : retained->items()) keys.insert(key.as_string());
    for (const auto& member : patch.members()) {
      if (is_directive(member.key()) || keys.contains(member.key())) continue;
      if (member.value.is_null()) continue;
      return fails(place, "$retainKeys does not name " + quoted(member.key()) + ", which the patch sets");
    }
    Value::Object left;
    for (const auto& member : object.members()) {
      if (keys.contains(member.key())) left.push_back(member);
    }
    return Value::object(std::move(left));
  }

  static Result<void> delete_primitives(PatchedMembers& object, const std::string& field, const Value& values,
                                        const FieldPath& place) {
    if (!values.is_array()) return fails(FieldPath{place, field}, "$deleteFromPrimitiveList must be a list");
    const Value* list = object.find(field);
    if (list == nullptr || !list->is_array()) return ok();
    const Index deleted{values, ""};
    Value::Array left;
    for (const Value& item : list->items()) {
      if (!deleted.contains(item)) left.push_back(item);
    }
    object.set(field, Value::array(std::move(left)));
    return ok();
  }

  /// `patch`: the map that `value` is a member of, and that may carry the field's element order.
  Result<void> field_of(PatchedMembers& object, std::string_view key, const Value& value, const Value& patch,
                        const Schema* schema, const FieldPath& place) {
    if (value.is_null()) {
      object.erase(key);
      return ok();
    }
    const Value* original = object.find(key);
    const Value* order = patch.find(std::string{kElementOrder} + std::string{key});
    const bool merges = schema != nullptr && schema->patch_merge;
    if (order != nullptr && !order->is_array()) return fails(place, "$setElementOrder must be a list");
    if (value.is_object() && original != nullptr && original->is_object()) {
      SHIPLOG_TRY(auto merged, this->object(*original, value, schema, place));
      object.set(key, std::move(merged));
    } else if (value.is_array() && merges && (original == nullptr || original->is_null() || original->is_array())) {
      const Value before = original == nullptr || original->is_null() ? Value::array() : *original;
      const bool scalars = schema->patch_key.empty();
      SHIPLOG_TRY(auto merged, scalars ? primitives(before, value, place) : list(before, value, *schema, place));
      if (order != nullptr) {
        SHIPLOG_TRY(check_order(value, *order, schema->patch_key, place));
        merged = ordered(merged, before, *order, schema->patch_key);
      }
      if (original != nullptr || merged.size() > 0 || patch.contains(key)) object.set(key, std::move(merged));
    } else if (patch.contains(key)) {
      SHIPLOG_TRY(check_directives(value, place));
      object.set(key, plain(value));
    }
    return ok();
  }

  static Result<Value> primitives(const Value& original, const Value& patch, const FieldPath& place) {
    Value merged = original;
    Index known{original, ""};
    for (const Value& item : patch.items()) {
      if (item.is_object() || item.is_array()) return fails(place, "the list holds plain values only");
      if (known.add(item)) merged.push_back(item);
    }
    return merged;
  }

  Result<Value> list(const Value& original, const Value& patch, const Schema& schema, const FieldPath& place) {
    const std::string& key = schema.patch_key;
    Value additions = Value::array();
    Index deleted{key};
    bool replaces = false;
    for (size_t i = 0; i < patch.size(); ++i) {
      const Value& element = patch[i];
      const FieldPath item_path{place, i};
      if (!element.is_object()) return fails(item_path, "must be an object");
      const Value& directive = element[kPatch];
      const std::string_view name = directive.as_string();
      if (name == "replace") {
        replaces = true;
        if (element.size() > 1) additions.push_back(element);
        continue;
      }
      if (!directive.is_null() && name != "delete") return unknown_directive(directive, item_path);
      if (element[key].is_null()) return fails(item_path, "does not contain declared merge key: " + key);
      if (name == "delete") {
        deleted.add(element);
      } else {
        additions.push_back(element);
      }
    }
    if (replaces) return plain(additions);
    Value::Array merged;
    Index known{key};
    for (const Value& item : original.items()) {
      if (deleted.contains(item)) continue;
      known.add(item);
      merged.push_back(item);
    }
    for (size_t i = 0; i < additions.size(); ++i) {
      const Value& element = additions[i];
      if (const auto index = known.position(element)) {
        SHIPLOG_TRY(merged[*index], object(merged[*index], element, schema.items.get(), FieldPath{place, i}));
      } else {
        SHIPLOG_TRY(check_directives(element, FieldPath{place, i}));
        known.add(element);
        merged.push_back(plain(element));
      }
    }
    return Value::array(std::move(merged));
  }

  /// Every element that the patch sets stands in the order, and in that order.
  static Result<void> check_order(const Value& patch, const Value& order, const std::string& key,
                                  const FieldPath& place) {
    size_t after = 0;
    const Index places{order, key};
    for (const Value& element : patch.items()) {
      if (element[kPatch].is_string()) continue;
      const auto index = places.position(element);
      if (!index) return fails(place, "$setElementOrder does not name an element that the patch sets");
      if (*index < after) return fails(place, "$setElementOrder has another order than the patch");
      after = *index;
    }
    return ok();
  }

  /// An unknown directive is an error even where there is nothing to merge with.
  static Result<void> check_directives(const Value& patch, const FieldPath& place) {
    if (patch.is_object()) {
      const Value* directive = patch.find(kPatch);
      if (directive != nullptr && directive->as_string() != "delete" && directive->as_string() != "replace") {
        return unknown_directive(*directive, place);
      }
      for (const auto& member : patch.members()) {
        SHIPLOG_TRY(check_directives(member.value, FieldPath{place, member.key()}));
      }
    }
    for (size_t i = 0; i < patch.size() && patch.is_array(); ++i) {
      SHIPLOG_TRY(check_directives(patch[i], FieldPath{place, i}));
    }
    return ok();
  }
};

}  // namespace

Result<Value> apply_strategic_merge_patch(const Value& object, const Value& patch, const Schema& schema) {
  if (!patch.is_object()) return Error{ErrorCode::kBadRequest, "a strategic merge patch must be a JSON object"};
  const Value base = object.is_object() ? object : Value::object();
  return Merger{}.object(base, patch, &schema, FieldPath{});
}

}  // namespace shiplog::api
