#include "services/api/apply/fields.h"

#include <algorithm>
#include <optional>
#include <span>
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

/// The elements of a list in their order, and by step. One may lack its keys, or share them with others: what is stored
/// need not meet the rules for what is applied.
class Elements {
 public:
  struct Element {
    std::string step;  // empty: it lacks its keys
    const Value* value;
  };

  Elements(const Value& list, FieldShape shape, const Schema& schema) {
    all_.reserve(list.size());  // the index refers to them
    for (const Value& element : list.items()) {
      all_.push_back({element_step(element, shape, schema).value_or(""), &element});
    }
    for (const Element& element : all_) {
      if (!element.step.empty()) by_step_.push_back(&element);
    }
    std::ranges::stable_sort(by_step_, {}, step_of);
  }

  const std::vector<Element>& all() const { return all_; }
  /// In their order.
  std::span<const Element* const> with(std::string_view step) const {
    return std::ranges::equal_range(by_step_, step, {}, step_of);
  }
  /// Of the first one with this step.
  std::optional<size_t> position(std::string_view step) const {
    const auto found = with(step);
    return found.empty() ? std::nullopt : std::optional{static_cast<size_t>(found.front() - all_.data())};
  }

 private:
  static std::string_view step_of(const Element* element) { return element->step; }

  std::vector<Element> all_;
  std::vector<const Element*> by_step_;
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
  std::string_view step;

  std::string text() const { return parent == nullptr ? "" : parent->text() + step_text(step); }
};

std::string without_keys(const Schema& list, size_t index) {
  std::string keys;
  for (const std::string& key : list.list_keys) keys += (keys.empty() ? "\"" : " \"") + key + '"';
  return ": element " + std::to_string(index) +
         ": associative list with keys has an element that omits all key fields [" + keys +
         "] (and doesn't have default values for any key fields)";
}

/// Of elements with the same step, only the step: the manager that owns it owns them all.
void unite_duplicates(std::vector<FieldSet::Child>& elements, const Path& path, std::vector<std::string>* problems) {
  std::ranges::sort(elements, {},
                    &FieldSet::Child::key);  // at once: putting each in its place would move all behind it
  for (auto each = elements.begin(); each != elements.end();) {
    const auto next = std::find_if(each + 1, elements.end(), [&](const auto& other) { return other.key != each->key; });
    if (next - each > 1) {
      if (problems != nullptr) {
        problems->push_back(path.text() + ": duplicate entries for key " + step_text(each->key));
      }
      each->set.children.clear();
      each = elements.erase(each + 1, next);
    } else {
      each = next;
    }
  }
}

/// With `problems`, elements that lack their keys or share them are reported there.
FieldSet gather(const Value& value, const Schema* schema, const Path& path, std::vector<std::string>* problems) {
  FieldSet set;
  const FieldShape shape = shape_of(value, schema);
  if (shape == FieldShape::kLeaf) {
    set.owned = true;
    return set;
  }
  set.children.reserve(value.size());
  if (shape == FieldShape::kObject) {
    for (const auto& member : value.members()) {
      const std::string step = field_step(member.key());
      FieldSet child = gather(member.value, below(schema, member.key()), Path{&path, step}, problems);
      if (stands_for_itself(member.value, schema, member.key())) child.owned = true;
      set.put(step, std::move(child));
    }
    return set;
  }
  for (size_t i = 0; i < value.size(); ++i) {
    const Value& element = value[i];
    auto step = element_step(element, shape, *schema);
    if (!step) {
      if (problems != nullptr) problems->push_back(path.text() + without_keys(*schema, i));
      continue;
    }
    FieldSet child;
    if (shape == FieldShape::kKeyed) child = gather(element, items_of(schema), Path{&path, *step}, problems);
    child.owned = true;
    set.children.push_back({*std::move(step), std::move(child)});
  }
  unite_duplicates(set.children, path, problems);
  return set;
}

void own_throughout(FieldSet& set) {
  set.owned = true;
  for (FieldSet::Child& child : set.children) own_throughout(child.set);
}

/// Of a value that comes or goes as a whole: each object and list in it is a field too.
FieldSet all_of(const Value& value, const Schema* schema) {
  FieldSet set = gather(value, schema, Path{}, nullptr);
  own_throughout(set);
  return set;
}

void compare(const Value& before, const Value& after, const Schema* schema, FieldChanges& changes);

/// A null is a field that is left out, unless the schema permits null: nothing that is stored would differ.
bool says_nothing(const Value* value, const Schema* schema) {
  if (value == nullptr) return true;
  return value->is_null() && schema != nullptr && !schema->nullable && schema->type != Schema::Type::kAny;
}

/// Whether a field of a built-in kind is there even when nothing is set in it, as Go's types have it: a struct that is
/// no pointer, and what is always written. The manager that first sets something in it does not own the field itself.
bool always_there(const Schema& field) {
  if (field.proto_number == 0 || field.proto_pointer) return false;
  return field.always || (field.type == Schema::Type::kObject && !field.properties.empty());
}

/// The fields of a value that was not there.
void add(const Value& value, const Schema* schema, bool always, FieldChanges& changes) {
  static const Value kNothing = Value::object();
  if (always && value.is_object()) return compare(kNothing, value, schema, changes);
  changes.changed = all_of(value, schema);
  if (always && !changes.changed.children.empty()) changes.changed.owned = false;
}

/// `parent`: the schema of the object that the value is a field or an entry of; nullptr: it is an element of a list.
void compare_child(const Value* before, const Value* after, const Schema* schema, const Schema* parent,
                   std::string_view key, const std::string& step, FieldChanges& changes) {
  if (says_nothing(before, schema) && says_nothing(after, schema)) return;
  FieldChanges child;
  if (before != nullptr && after != nullptr) {
    compare(*before, *after, schema, child);
  } else if (after != nullptr) {
    add(*after, schema, is_field(parent, key) && always_there(*schema), child);
  } else {
    child.removed = all_of(*before, schema);
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

/// The elements with one step. Several count as one value, which has no fields.
void compare_elements(std::span<const Elements::Element* const> before, std::span<const Elements::Element* const> after,
                      const Schema* list, const std::string& step, FieldChanges& changes) {
  const auto single = [](const auto& elements) { return elements.size() == 1 ? elements.front()->value : nullptr; };
  compare_child(single(before), single(after), items_of(list), nullptr, "", step, changes);
  if (before.size() <= 1 && after.size() <= 1) return;
  const auto same = [](const auto* one, const auto* other) { return *one->value == *other->value; };
  if (std::ranges::equal(before, after, same)) return;
  FieldSet itself;
  itself.owned = true;
  if (after.size() > 1) {
    changes.changed.children.push_back({step, itself});
  } else {
    changes.removed.children.push_back({step, itself});
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
      compare_child(before.find(member.key()), &member.value, below(schema, member.key()), schema, member.key(),
                    field_step(member.key()), changes);
    }
    for (const auto& member : before.members()) {
      if (after.contains(member.key())) continue;
      compare_child(&member.value, nullptr, below(schema, member.key()), schema, member.key(), field_step(member.key()),
                    changes);
    }
    return sort(changes);
  }
  const Elements old_elements{before, shape, *schema};
  const Elements new_elements{after, shape, *schema};
  for (const auto& element : new_elements.all()) {
    const auto same = new_elements.with(element.step);
    if (same.empty() || same.front() != &element) continue;
    compare_elements(old_elements.with(element.step), same, schema, element.step, changes);
  }
  for (const auto& element : old_elements.all()) {
    const auto same = old_elements.with(element.step);
    if (same.empty() || same.front() != &element || new_elements.position(element.step)) continue;
    compare_elements(same, {}, schema, element.step, changes);
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
    const auto old = old_elements.with(step);
    const bool merges = old.size() == 1 && shape == FieldShape::kKeyed;  // one element takes the place of several
    result.push_back(merges ? merge(*old.front()->value, *element, items_of(schema)) : *element);
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

void find_atomic(const Value& value, const Schema* schema, const std::string& path, std::vector<std::string>& found) {
  if (!value.is_object() && !value.is_array()) return;
  if (shape_of(value, schema) == FieldShape::kLeaf) found.push_back(path);
  for (const auto& member : value.members()) {
    find_atomic(member.value, below(schema, member.key()), path + "." + std::string{member.key()}, found);
  }
  for (size_t i = 0; value.is_array() && i < value.size(); ++i) {
    find_atomic(value[i], items_of(schema), path + "[" + std::to_string(i) + "]", found);
  }
}

}  // namespace

Result<FieldSet> fields_of(const Value& value, const Schema& schema) {
  std::vector<std::string> problems;
  FieldSet set = gather(value, &schema, Path{}, &problems);
  if (problems.empty()) return set;
  if (problems.size() == 1) return Error{ErrorCode::kBadRequest, problems.front()};
  std::string all = "errors:";
  for (const std::string& problem : problems) all += "\n  " + problem;
  return Error{ErrorCode::kBadRequest, all};
}

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

std::vector<std::string> atomic_fields(const Value& value, const Schema& schema) {
  std::vector<std::string> found;
  find_atomic(value, &schema, "", found);
  return found;
}

}  // namespace shiplog::api
