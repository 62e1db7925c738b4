#include "services/api/apply/fields.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "events/base/json.h"
#include "events/base/merged_members.h"

namespace shiplog::api {
namespace {

enum class FieldShape { kLeaf, kObject, kKeyed, kSet };

FieldShape shape_of(const Value& value, const Schema* schema) {
  if (value.is_object()) return schema != nullptr && schema->atomic_map ? FieldShape::kLeaf : FieldShape::kObject;
  if (!value.is_array() || schema == nullptr) return FieldShape::kLeaf;
  if (schema->list_type == Schema::ListType::kMap) return FieldShape::kKeyed;
  return schema->list_type == Schema::ListType::kSet ? FieldShape::kSet : FieldShape::kLeaf;
}

const Schema* below(const Schema* schema, std::string_view key) {
  if (schema == nullptr) return nullptr;
  const auto known = schema->properties.find(key);
  return known != schema->properties.end() ? known->second.get() : schema->additional.get();
}

const Schema* items_of(const Schema* schema) { return schema == nullptr ? nullptr : schema->items.get(); }

std::string field_step(std::string_view key) { return "f:" + std::string{key}; }

/// nullopt: an element of a list with keys that lacks them all.
std::optional<std::string> element_step(const Value& element, FieldShape shape, const Schema& list) {
  if (shape == FieldShape::kSet) return "v:" + to_json(element);
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

/// The elements of a list in their order, and by step. What has no step, or stands there twice, is left out: lists that
/// were stored before there was such a rule are compared as far as possible.
class Elements {
 public:
  struct Element {
    std::string step;
    const Value* value;
  };

  Elements(const Value& list, FieldShape shape, const Schema& schema) {
    all_.reserve(list.size());  // the index refers to the steps
    for (const Value& element : list.items()) {
      auto step = element_step(element, shape, schema);
      if (!step) continue;
      all_.push_back({*std::move(step), &element});
      if (!by_step_.emplace(all_.back().step, all_.size() - 1).second) all_.pop_back();
    }
  }

  const std::vector<Element>& all() const { return all_; }
  std::optional<size_t> position(const std::string& step) const {
    const auto found = by_step_.find(step);
    return found == by_step_.end() ? std::nullopt : std::optional{found->second};
  }
  /// nullptr: there is none.
  const Value* find(const std::string& step) const {
    const auto index = position(step);
    return index ? all_[*index].value : nullptr;
  }

 private:
  std::vector<Element> all_;
  std::map<std::string_view, size_t> by_step_;
};

/// A member that the schema names; any other is an element of a map.
bool is_field(const Schema* parent, std::string_view key) {
  return parent != nullptr && parent->properties.contains(key);
}

/// A member that counts as a field of its own although it has, or could have, fields below.
bool stands_for_itself(const Value& value, const Schema* parent, std::string_view key) {
  if (value.is_null() || (value.is_object() && value.size() == 0)) return true;
  return !is_field(parent, key);
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
  const FieldShape shape = shape_of(value, schema);
  if (shape == FieldShape::kLeaf) {
    set.owned = true;
    return set;
  }
  set.children.reserve(value.size());
  if (shape == FieldShape::kObject) {
    for (const auto& member : value.members()) {
      SHIPLOG_TRY(auto child, gather(member.value, below(schema, member.key()), Path{&path, member.key(), false}));
      if (stands_for_itself(member.value, schema, member.key())) child.owned = true;
      set.put(field_step(member.key()), std::move(child));
    }
    return set;
  }
  for (const Value& element : value.items()) {
    auto step = element_step(element, shape, *schema);
    if (!step) {
      std::string keys;
      for (const std::string& key : schema->list_keys) keys += (keys.empty() ? "" : ", ") + key;
      return Error{ErrorCode::kBadRequest, path.text() + ": an element of the list has no " + keys};
    }
    FieldSet child;
    if (shape == FieldShape::kKeyed) {
      SHIPLOG_TRY(child, gather(element, items_of(schema), Path{&path, std::string_view{*step}.substr(2), true}));
    }
    child.owned = true;
    set.children.push_back({*std::move(step), std::move(child)});
  }
  // Sorted once: putting each in its place would move all behind it.
  std::ranges::sort(set.children, {}, &FieldSet::Child::key);
  const auto twice = std::ranges::adjacent_find(set.children, {}, &FieldSet::Child::key);
  if (twice != set.children.end()) {
    return Error{ErrorCode::kBadRequest, path.text() + ": duplicate entries for key [" + twice->key.substr(2) + "]"};
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

/// A null is a field that is left out, unless the schema permits null: nothing that is stored would differ.
bool says_nothing(const Value* value, const Schema* schema) {
  if (value == nullptr) return true;
  return value->is_null() && schema != nullptr && !schema->nullable && schema->type != Schema::Type::kAny;
}

void compare_child(const Value* before, const Value* after, const Schema* schema, bool element, const std::string& step,
                   bool for_itself, FieldChanges& changes) {
  if (says_nothing(before, schema) && says_nothing(after, schema)) return;
  FieldChanges child;
  if (before != nullptr && after != nullptr) {
    compare(*before, *after, schema, child);
  } else if (after != nullptr) {
    child.changed = all_of(*after, schema);
    // The manager that adds a map (labels, data) owns it as well as its entries, as upstream's trackers have it.
    const bool map = after->is_object() && schema != nullptr && schema->additional != nullptr;
    if (element || for_itself || map) child.changed.owned = true;
  } else {
    child.removed = all_of(*before, schema);
    child.removed.owned = true;
  }
  if (!child.changed.empty()) changes.changed.children.push_back({step, std::move(child.changed)});
  if (!child.removed.empty()) changes.removed.children.push_back({step, std::move(child.removed)});
}

/// compare_child() leaves the children in their order of occurrence.
void sort(FieldChanges& changes) {
  for (FieldSet* set : {&changes.changed, &changes.removed}) {
    if (!std::ranges::is_sorted(set->children, {}, &FieldSet::Child::key)) {
      std::ranges::sort(set->children, {}, &FieldSet::Child::key);
    }
  }
}

void compare(const Value& before, const Value& after, const Schema* schema, FieldChanges& changes) {
  if (before == after) return;
  const FieldShape shape = shape_of(after, schema);
  if (shape != shape_of(before, schema) || shape == FieldShape::kLeaf) {
    changes.changed = all_of(after, schema);
    if (changes.changed.empty()) changes.changed.owned = true;
    return;
  }
  if (shape == FieldShape::kObject) {
    for (const auto& member : after.members()) {
      compare_child(before.find(member.key()), &member.value, below(schema, member.key()), false,
                    field_step(member.key()), stands_for_itself(member.value, schema, member.key()), changes);
    }
    for (const auto& member : before.members()) {
      if (after.contains(member.key())) continue;
      compare_child(&member.value, nullptr, below(schema, member.key()), false, field_step(member.key()), false,
                    changes);
    }
    return sort(changes);
  }
  const Elements old_elements{before, shape, *schema};
  const Elements new_elements{after, shape, *schema};
  for (const auto& [step, element] : new_elements.all()) {
    compare_child(old_elements.find(step), element, items_of(schema), true, step, true, changes);
  }
  for (const auto& [step, element] : old_elements.all()) {
    if (new_elements.find(step) == nullptr) {
      compare_child(element, nullptr, items_of(schema), true, step, true, changes);
    }
  }
  sort(changes);
}

Value merge(const Value& live, const Value& wanted, const Schema* schema) {
  const FieldShape shape = shape_of(wanted, schema);
  if (shape == FieldShape::kLeaf || shape != shape_of(live, schema)) return wanted;
  if (shape == FieldShape::kObject) {
    return merged_members(live, wanted, [&](std::string_view key, const Value* old, const Value& value) {
      return std::optional{old == nullptr ? value : merge(*old, value, below(schema, key))};
    });
  }
  const Elements old_elements{live, shape, *schema};
  const Elements new_elements{wanted, shape, *schema};
  const auto& all = new_elements.all();
  Value::Array result;
  size_t next = 0;
  const auto take_wanted = [&] {
    const auto& [step, element] = all[next++];
    const Value* old = old_elements.find(step);
    result.push_back(old == nullptr || shape == FieldShape::kSet ? *element : merge(*old, *element, items_of(schema)));
  };
  for (const auto& [step, element] : old_elements.all()) {
    const auto index = new_elements.position(step);
    if (!index) result.push_back(*element);
    while (index && next <= *index) take_wanted();
  }
  while (next < all.size()) take_wanted();
  return Value::array(std::move(result));
}

enum class FieldPart { kField, kElement };

/// nullopt: nothing is left of it.
/// Elements of lists and of maps stay only for a manager that owns them as a whole: who edited one field of an element
/// does not hold it when its applier drops it. Fields stay for anything below them.
std::optional<Value> reduced(const Value& value, const FieldSet& fields, const FieldSet* kept, const Schema* schema,
                             FieldPart part) {
  const bool whole = kept != nullptr && kept->owned;
  const bool holds = part == FieldPart::kElement ? whole : kept != nullptr && !kept->empty();
  if (fields.owned && !holds) return std::nullopt;
  const FieldShape shape = shape_of(value, schema);
  if (shape == FieldShape::kLeaf || fields.children.empty()) return value;
  const auto kept_below = [&](std::string_view step) { return kept == nullptr ? nullptr : kept->find(step); };
  if (shape == FieldShape::kObject) {
    Value::Object members;
    for (const auto& member : value.members()) {
      const std::string step = field_step(member.key());
      const FieldSet* gone = fields.find(step);
      if (gone == nullptr) {
        members.push_back(member);
      } else if (auto left = reduced(member.value, *gone, kept_below(step), below(schema, member.key()),
                                     is_field(schema, member.key()) ? FieldPart::kField : FieldPart::kElement)) {
        members.push_back({member.key_text, *std::move(left)});
      }
    }
    const bool emptied = members.empty() && value.size() > 0 && !whole;
    return emptied ? std::nullopt : std::optional{Value::object(std::move(members))};
  }
  Value::Array list;
  for (const Value& element : value.items()) {
    const auto step = element_step(element, shape, *schema);
    const FieldSet* gone = step ? fields.find(*step) : nullptr;
    if (gone == nullptr) {
      list.push_back(element);
    } else if (auto left = reduced(element, *gone, kept_below(*step), items_of(schema), FieldPart::kElement)) {
      // An item that stays for another manager keeps its key.
      for (const std::string& key : schema->list_keys) {
        if (const Value* given = element.find(key)) left->set(key, *given);
      }
      list.push_back(*std::move(left));
    }
  }
  if (list.empty() && !value.items().empty() && !whole) return std::nullopt;
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
  return reduced(value, fields, &kept, &schema, FieldPart::kField).value_or(Value::object());
}

}  // namespace shiplog::api
