#include "events/kinds/schema.h"

#include "events/kinds/place.h"

namespace shiplog {
namespace {

// Both walks answer with nothing where nothing changes, so that an object that is as it should be is never copied.
using Changed = std::optional<Value>;

Changed pruned(const Schema& schema, const Value& value, const Place& place, std::vector<std::string>* dropped);

bool is_type_meta(std::string_view name) { return name == "apiVersion" || name == "kind" || name == "metadata"; }

Changed pruned_object(const Schema& schema, const Value& value, const Place& place, std::vector<std::string>* dropped) {
  // What has another type than the schema says is for validate() to report, whole.
  if (schema.type != Schema::Type::kObject && schema.type != Schema::Type::kAny) return {};
  const bool is_resource = place.is_root() || schema.embedded_resource;
  Changed result;
  for (const auto& member : value.members()) {
    const std::string_view name = member.key();
    if (is_resource && is_type_meta(name)) continue;
    const auto known = schema.properties.find(name);
    const Schema* below = known != schema.properties.end() ? known->second.get() : schema.additional.get();
    if (below != nullptr) {
      if (Changed inner = pruned(*below, member.value, Place{place, name}, dropped)) {
        if (!result) result = value;
        result->set(name, *std::move(inner));
      }
    } else if (!schema.preserve_unknown) {
      if (dropped != nullptr) dropped->push_back(Place{place, name}.text());
      if (!result) result = value;
      result->erase(name);
    }
  }
  return result;
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

Changed pruned(const Schema& schema, const Value& value, const Place& place, std::vector<std::string>* dropped) {
  if (value.is_object()) return pruned_object(schema, value, place, dropped);
  if (!value.is_array() || schema.items == nullptr) return {};
  return walk_items(value, [&](const Value& item, size_t i) {
    return pruned(*schema.items, item, Place{place, i}, dropped);
  });
}

Changed defaulted(const Schema& schema, const Value& value);

Changed defaulted_object(const Schema& schema, const Value& value) {
  Changed result;
  for (const auto& [name, property] : schema.properties) {
    if (!property->fallback) continue;
    const Value* given = value.find(name);
    if (given != nullptr && (!given->is_null() || property->nullable)) continue;
    if (!result) result = value;
    result->set(name, *property->fallback);
  }
  const Value filled = result ? *result : value;
  for (const auto& member : filled.members()) {
    const auto known = schema.properties.find(member.key());
    const Schema* below = known != schema.properties.end() ? known->second.get() : schema.additional.get();
    if (below == nullptr) continue;
    // A null where none may stand is no value: it goes, as if the field had not been written.
    if (member.value.is_null() && known != schema.properties.end() && !below->nullable &&
        below->type != Schema::Type::kAny) {
      if (!result) result = value;
      result->erase(member.key());
    } else if (Changed inner = defaulted(*below, member.value)) {
      if (!result) result = value;
      result->set(member.key(), *std::move(inner));
    }
  }
  return result;
}

Changed defaulted(const Schema& schema, const Value& value) {
  if (value.is_object()) return defaulted_object(schema, value);
  if (!value.is_array() || schema.items == nullptr) return {};
  return walk_items(value, [&](const Value& item, size_t) { return defaulted(*schema.items, item); });
}

}  // namespace

Value prune(const Schema& schema, Value value, std::vector<std::string>* dropped) {
  Changed changed = pruned(schema, value, Place{}, dropped);
  return changed ? *std::move(changed) : value;
}

Value with_defaults(const Schema& schema, Value value) {
  Changed changed = defaulted(schema, value);
  return changed ? *std::move(changed) : value;
}

}  // namespace shiplog
