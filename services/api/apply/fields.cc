#include "services/api/apply/fields.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

enum class Shape { kLeaf, kObject, kKeyed, kSet };

Shape shape_of(const Value& value, const Schema* schema) {
  if (value.is_object()) return schema != nullptr && schema->atomic_map ? Shape::kLeaf : Shape::kObject;
  if (!value.is_array() || schema == nullptr) return Shape::kLeaf;
  if (schema->list_type == Schema::ListType::kMap) return Shape::kKeyed;
  return schema->list_type == Schema::ListType::kSet ? Shape::kSet : Shape::kLeaf;
}

const Schema* below(const Schema* schema, std::string_view key) {
  if (schema == nullptr) return nullptr;
  const auto known = schema->properties.find(key);
  return known != schema->properties.end() ? known->second.get() : schema->additional.get();
}

const Schema* items_of(const Schema* schema) { return schema == nullptr ? nullptr : schema->items.get(); }

std::string field_step(std::string_view key) { return "f:" + std::string{key}; }

/// nullopt: an element of a list with keys that lacks them all.
std::optional<std::string> element_step(const Value& element, Shape shape, const Schema& list) {
  if (shape == Shape::kSet) return "v:" + to_json(element);
  Value keys = Value::object();
  for (const std::string& key : list.list_keys) {
    if (const Value* given = element.find(key)) {
      keys.set(key, *given);
      continue;
    }
    const Schema* field = below(items_of(&list), key);
    if (field != nullptr && field->fallback) keys.set(key, *field->fallback);  // SSA-14
  }
  if (keys.size() == 0) return std::nullopt;
  return "k:" + to_json(keys);
}

/// The elements by step. What has no step, or stands there twice, is left out: lists that were stored before there was
/// such a rule are compared as far as possible.
std::vector<std::pair<std::string, const Value*>> elements_of(const Value& list, Shape shape, const Schema& schema) {
  std::vector<std::pair<std::string, const Value*>> elements;
  for (const Value& element : list.items()) {
    auto step = element_step(element, shape, schema);
    if (!step) continue;
    const bool twice = std::ranges::any_of(elements, [&](const auto& other) { return other.first == *step; });
    if (!twice) elements.emplace_back(*std::move(step), &element);
  }
  return elements;
}

const Value* element_with(const std::vector<std::pair<std::string, const Value*>>& elements, const std::string& step) {
  const auto at = std::ranges::find(elements, step, &std::pair<std::string, const Value*>::first);
  return at == elements.end() ? nullptr : at->second;
}

/// A member that counts as a field of its own although it has, or could have, fields below.
bool stands_for_itself(const Value& value, const Schema* parent, std::string_view key) {
  if (value.is_null() || (value.is_object() && value.size() == 0)) return true;
  return parent == nullptr || !parent->properties.contains(key);
}

/// Where gather() stands; becomes text only when there is something to report.
struct Path {
  const Path* parent = nullptr;
  std::string_view key;  // of a field, or the keys of an element
  bool element = false;

  std::string text() const {
    if (parent == nullptr) return "";
    return parent->text() + (element ? "[" : ".") + std::string{key} + (element ? "]" : "");
  }
};

Result<FieldSet> gather(const Value& value, const Schema* schema, const Path& path) {
  FieldSet set;
  const Shape shape = shape_of(value, schema);
  if (shape == Shape::kLeaf) {
    set.owned = true;
    return set;
  }
  set.children.reserve(value.size());
  if (shape == Shape::kObject) {
    for (const auto& member : value.members()) {
      SHIPLOG_TRY(auto child, gather(member.value, below(schema, member.key()), Path{&path, member.key(), false}));
      if (stands_for_itself(member.value, schema, member.key())) child.owned = true;
      set.put(field_step(member.key()), std::move(child));
    }
    return set;
  }
  for (const Value& element : value.items()) {
    const auto step = element_step(element, shape, *schema);
    if (!step) {
      std::string keys;
      for (const std::string& key : schema->list_keys) keys += (keys.empty() ? "" : ", ") + key;
      return Error{ErrorCode::kBadRequest, path.text() + ": an element of the list has no " + keys};
    }
    if (set.find(*step) != nullptr) {
      return Error{ErrorCode::kBadRequest, path.text() + ": duplicate entries for key [" + step->substr(2) + "]"};
    }
    FieldSet child;
    if (shape == Shape::kKeyed) {
      SHIPLOG_TRY(child, gather(element, items_of(schema), Path{&path, std::string_view{*step}.substr(2), true}));
    }
    child.owned = true;
    set.put(*step, std::move(child));
  }
  return set;
}

FieldSet all_of(const Value& value, const Schema* schema) {
  auto set = gather(value, schema, Path{});
  if (set) return std::move(set).value();
  FieldSet whole;  // a list that is no good by its own rules: one field
  whole.owned = true;
  return whole;
}

void compare(const Value& before, const Value& after, const Schema* schema, FieldChanges& changes);

void compare_child(const Value* before, const Value* after, const Schema* schema, bool element, const std::string& step,
                   bool for_itself, FieldChanges& changes) {
  FieldChanges child;
  if (before != nullptr && after != nullptr) {
    compare(*before, *after, schema, child);
  } else if (after != nullptr) {
    child.changed = all_of(*after, schema);
    // Who brings a map (labels, data) owns it as well as its entries, as upstream's trackers have it.
    const bool map = after->is_object() && schema != nullptr && schema->additional != nullptr;
    if (element || for_itself || map) child.changed.owned = true;
  } else {
    child.removed = all_of(*before, schema);
    child.removed.owned = true;
  }
  changes.changed.put(step, std::move(child.changed));
  changes.removed.put(step, std::move(child.removed));
}

void compare(const Value& before, const Value& after, const Schema* schema, FieldChanges& changes) {
  if (before == after) return;
  const Shape shape = shape_of(after, schema);
  if (shape != shape_of(before, schema) || shape == Shape::kLeaf) {
    changes.changed = all_of(after, schema);
    if (changes.changed.empty()) changes.changed.owned = true;
    return;
  }
  if (shape == Shape::kObject) {
    for (const auto& member : after.members()) {
      compare_child(before.find(member.key()), &member.value, below(schema, member.key()), false,
                    field_step(member.key()), stands_for_itself(member.value, schema, member.key()), changes);
    }
    for (const auto& member : before.members()) {
      if (after.contains(member.key())) continue;
      compare_child(&member.value, nullptr, below(schema, member.key()), false, field_step(member.key()), false,
                    changes);
    }
    return;
  }
  const auto old_elements = elements_of(before, shape, *schema);
  const auto new_elements = elements_of(after, shape, *schema);
  for (const auto& [step, element] : new_elements) {
    compare_child(element_with(old_elements, step), element, items_of(schema), true, step, true, changes);
  }
  for (const auto& [step, element] : old_elements) {
    if (element_with(new_elements, step) == nullptr) {
      compare_child(element, nullptr, items_of(schema), true, step, true, changes);
    }
  }
}

Value merge(const Value& live, const Value& wanted, const Schema* schema) {
  const Shape shape = shape_of(wanted, schema);
  if (shape == Shape::kLeaf || shape != shape_of(live, schema)) return wanted;
  if (shape == Shape::kObject) {
    Value result = live;
    for (const auto& member : wanted.members()) {
      const Value* old = live.find(member.key());
      result.set(member.key(), old == nullptr ? member.value : merge(*old, member.value, below(schema, member.key())));
    }
    return result;
  }
  const auto old_elements = elements_of(live, shape, *schema);
  const auto new_elements = elements_of(wanted, shape, *schema);
  Value::Array result;
  size_t next = 0;
  const auto take_wanted = [&](const Value* old) {
    const Value& element = *new_elements[next++].second;
    result.push_back(old == nullptr || shape == Shape::kSet ? element : merge(*old, element, items_of(schema)));
  };
  for (const auto& [step, element] : old_elements) {
    const auto at = std::ranges::find(new_elements, step, &std::pair<std::string, const Value*>::first);
    if (at == new_elements.end()) {
      result.push_back(*element);
      continue;
    }
    while (next <= static_cast<size_t>(at - new_elements.begin())) {
      take_wanted(element_with(old_elements, new_elements[next].first));
    }
  }
  while (next < new_elements.size()) take_wanted(element_with(old_elements, new_elements[next].first));
  return Value::array(std::move(result));
}

/// nullopt: nothing is left of it.
std::optional<Value> reduced(const Value& value, const FieldSet& fields, const FieldSet* kept, const Schema* schema) {
  const bool holds = kept != nullptr && !kept->empty();
  if (fields.owned && !holds) return std::nullopt;
  const Shape shape = shape_of(value, schema);
  if (shape == Shape::kLeaf || fields.children.empty()) return value;
  const auto kept_below = [&](std::string_view step) { return kept == nullptr ? nullptr : kept->find(step); };
  Value result = value;
  if (shape == Shape::kObject) {
    for (const auto& member : value.members()) {
      const std::string step = field_step(member.key());
      const FieldSet* gone = fields.find(step);
      if (gone == nullptr) continue;
      auto left = reduced(member.value, *gone, kept_below(step), below(schema, member.key()));
      if (left) {
        result.set(member.key(), *std::move(left));
      } else {
        result.erase(member.key());
      }
    }
    const bool emptied = result.size() == 0 && value.size() > 0 && !holds;
    return emptied ? std::nullopt : std::optional{std::move(result)};
  }
  Value::Array list;
  for (const Value& element : value.items()) {
    const auto step = element_step(element, shape, *schema);
    const FieldSet* gone = step ? fields.find(*step) : nullptr;
    if (gone == nullptr) {
      list.push_back(element);
    } else if (auto left = reduced(element, *gone, kept_below(*step), items_of(schema))) {
      // What stays for somebody else's sake stays recognisable.
      for (const std::string& key : schema->list_keys) {
        if (const Value* given = element.find(key)) left->set(key, *given);
      }
      list.push_back(*std::move(left));
    }
  }
  if (list.empty() && !value.items().empty() && !holds) return std::nullopt;
  return Value::array(std::move(list));
}

}  // namespace

Result<FieldSet> fields_of(const Value& value, const Schema& schema) { return gather(value, &schema, Path{}); }

FieldChanges compare_fields(const Value& before, const Value& after, const Schema& schema) {
  FieldChanges changes;
  compare(before, after, &schema, changes);
  return changes;
}

Value merge_fields(const Value& live, const Value& wanted, const Schema& schema) {
  return merge(live, wanted, &schema);
}

Value without_fields(const Value& value, const FieldSet& fields, const FieldSet& kept, const Schema& schema) {
  return reduced(value, fields, &kept, &schema).value_or(Value::object());
}

}  // namespace shiplog::api
