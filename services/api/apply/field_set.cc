#include "services/api/apply/field_set.h"

#include <algorithm>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

enum class Keep { kEither, kBoth, kFirstOnly };

bool kept(Keep keep, bool a, bool b) {
  switch (keep) {
    case Keep::kEither:
      return a || b;
    case Keep::kBoth:
      return a && b;
    case Keep::kFirstOnly:
      return a && !b;
  }
  return false;
}

const FieldSet kNothing;

/// The same as combined() for a few fields against very many: each is looked up, so that the many are not walked
/// through. Of `few` are kept those that `keep` keeps; kEither would need the many as well.
FieldSet looked_up(const FieldSet& few, const FieldSet& many, Keep keep);

bool far_fewer(const FieldSet& a, const FieldSet& b) {
  constexpr size_t kTimes = 8;
  return a.children.size() < b.children.size() / kTimes;
}

FieldSet combined(const FieldSet& a, const FieldSet& b, Keep keep) {
  if (keep != Keep::kEither && far_fewer(a, b)) return looked_up(a, b, keep);
  if (keep == Keep::kBoth && far_fewer(b, a)) return looked_up(b, a, keep);
  FieldSet result;
  result.owned = kept(keep, a.owned, b.owned);
  auto left = a.children.begin();
  auto right = b.children.begin();
  while (left != a.children.end() || right != b.children.end()) {
    const bool from_left = right == b.children.end() || (left != a.children.end() && left->key <= right->key);
    const bool from_right = left == a.children.end() || (right != b.children.end() && right->key <= left->key);
    const std::string& key = from_left ? left->key : right->key;
    FieldSet child = combined(from_left ? left->set : kNothing, from_right ? right->set : kNothing, keep);
    if (!child.empty()) result.children.push_back({key, std::move(child)});
    if (from_left) ++left;
    if (from_right) ++right;
  }
  return result;
}

FieldSet looked_up(const FieldSet& few, const FieldSet& many, Keep keep) {
  FieldSet result;
  result.owned = kept(keep, few.owned, many.owned);
  for (const auto& [key, set] : few.children) {
    const FieldSet* other = many.find(key);
    FieldSet child = combined(set, other == nullptr ? kNothing : *other, keep);
    if (!child.empty()) result.children.push_back({key, std::move(child)});
  }
  return result;
}

auto position(std::vector<FieldSet::Child>& children, std::string_view key) {
  return std::lower_bound(children.begin(), children.end(), key,
                          [](const FieldSet::Child& child, std::string_view wanted) { return child.key < wanted; });
}

void add_paths(const FieldSet& set, const std::string& prefix, std::vector<std::string>& paths) {
  if (set.owned) paths.push_back(prefix);
  for (const auto& child : set.children) add_paths(child.set, prefix + step_text(child.key), paths);
}

}  // namespace

std::string step_text(std::string_view step) {
  const std::string rest{step.substr(2)};
  if (step.starts_with("f:")) return "." + rest;
  if (step.starts_with("v:")) return "[=" + rest + "]";
  if (step.starts_with("i:")) return "[" + rest + "]";
  std::string text;
  const auto keys = parse_json(rest);
  if (!keys) return "[" + rest + "]";
  for (const auto& member : keys.value().members()) {
    text += (text.empty() ? "" : ",") + std::string{member.key()} + "=" + to_json(member.value);
  }
  return "[" + text + "]";
}

bool FieldSet::empty() const { return !owned && children.empty(); }

bool FieldSet::operator==(const FieldSet& other) const { return owned == other.owned && children == other.children; }

const FieldSet* FieldSet::find(std::string_view key) const {
  const auto found = std::lower_bound(children.begin(), children.end(), key,
                                      [](const Child& child, std::string_view wanted) { return child.key < wanted; });
  return found != children.end() && found->key == key ? &found->set : nullptr;
}

FieldSet& FieldSet::edit(std::string_view key) {
  auto index = position(children, key);
  if (index == children.end() || index->key != key) index = children.insert(index, Child{std::string{key}, {}});
  return index->set;
}

void FieldSet::put(std::string_view key, FieldSet child) {
  if (!child.empty()) {
    // Mostly in order, as what is walked through is sorted.
    if (children.empty() || children.back().key < key) {
      children.push_back({std::string{key}, std::move(child)});
    } else {
      edit(key) = std::move(child);
    }
    return;
  }
  const auto index = position(children, key);
  if (index != children.end() && index->key == key) children.erase(index);
}

FieldSet unite(const FieldSet& a, const FieldSet& b) {
  if (a.empty()) return b;
  return b.empty() ? a : combined(a, b, Keep::kEither);
}
FieldSet unite(std::vector<FieldSet> sets) {
  while (sets.size() > 1) {  // in pairs, so that each field is copied once for each halving of their number
    const size_t half = (sets.size() + 1) / 2;
    for (size_t i = half; i < sets.size(); ++i) sets[i - half] = unite(sets[i - half], sets[i]);
    sets.resize(half);
  }
  return sets.empty() ? FieldSet{} : std::move(sets.front());
}
FieldSet intersect(const FieldSet& a, const FieldSet& b) { return combined(a, b, Keep::kBoth); }
FieldSet subtract(const FieldSet& a, const FieldSet& b) {
  return a.empty() || b.empty() ? a : combined(a, b, Keep::kFirstOnly);
}

Value to_fields_v1(const FieldSet& set) {
  Value::Object fields;
  const bool itself = set.owned && !set.children.empty();
  fields.reserve(set.children.size() + (itself ? 1 : 0));
  if (itself) fields.push_back({".", Value::object()});
  for (const auto& child : set.children) fields.push_back({child.key, to_fields_v1(child.set)});
  return Value::object(std::move(fields));
}

Result<FieldSet> from_fields_v1(const Value& fields) {
  FieldSet set;
  if (!fields.is_object()) return Error{ErrorCode::kBadRequest, "fieldsV1 must consist of objects"};
  for (const auto& member : fields.members()) {
    if (member.key() == ".") {
      set.owned = true;
      continue;
    }
    const bool step = member.key().size() >= 2 && member.key()[1] == ':' &&
                      std::string_view{"fkvi"}.find(member.key()[0]) != std::string_view::npos;
    if (!step) {
      return Error{ErrorCode::kBadRequest,
                   "fieldsV1 has a key that is no field, key, value or index: " + std::string{member.key()}};
    }
    SHIPLOG_TRY(auto child, from_fields_v1(member.value));
    set.put(member.key(), std::move(child));
  }
  if (set.children.empty()) set.owned = true;
  return set;
}

std::vector<std::string> paths_of(const FieldSet& set) {
  std::vector<std::string> paths;
  add_paths(set, "", paths);
  return paths;
}

}  // namespace shiplog::api
