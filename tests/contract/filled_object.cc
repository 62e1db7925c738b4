#include "tests/contract/filled_object.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace shiplog::e2e {
namespace {

constexpr int kDeepest = 9;  // of schemas that contain themselves

class Filler {
 public:
  Filler(const std::set<std::string>& except, int tries) : except_{except}, tries_{tries} {}

  Value fill(const Schema& schema, Value value, const Refusal& refusal, const std::string& path, int depth) {
    if (depth > kDeepest) return value;
    if (schema.type == Schema::Type::kArray && value.size() > 0) {
      const Refusal of_item = [&](const Value& item) {
        Value next = value;
        next.edit_items()[0] = item;
        return refusal(next);
      };
      Value item = fill(*schema.items, value[0], of_item, path + "[]", depth + 1);
      value.edit_items()[0] = std::move(item);
      return value;
    }
    if (!value.is_object()) return value;
    for (const auto& [name, property] : schema.properties) {
      const std::string below = path.empty() ? name : path + "." + name;
      if (below == "metadata" || below == "status" || except_.contains(below)) continue;
      const Refusal of_field = [&, field = name](const Value& content) {
        Value next = value;
        next.set(field, content);
        return refusal(next);
      };
      if (value[name].is_null()) {
        auto found = first_accepted(*property, of_field, depth + 1);
        if (!found) continue;
        value.set(name, *std::move(found));
      }
      Value whole = fill(*property, value[name], of_field, below, depth + 1);
      value.set(name, std::move(whole));
    }
    return value;
  }

 private:
  std::optional<Value> first_accepted(const Schema& schema, const Refusal& refusal, int depth) {
    std::vector<Value> candidates = {plausible(schema, depth, false), plausible(schema, depth, true)};
    if (schema.type == Schema::Type::kString && schema.format.empty()) candidates = {Value{"a"}, Value{"10.0.0.9"}};
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].is_null() || --tries_ < 0) continue;
      const std::string why = refusal(candidates[i]);
      if (why.empty()) return candidates[i];
      if (auto value = supported(why); value && candidates.size() < 4 && schema.type == Schema::Type::kString) {
        candidates.emplace_back(*value);
      }
    }
    return std::nullopt;
  }

  /// The first of the supported values that a message lists.
  static std::optional<std::string> supported(const std::string& message) {
    constexpr std::string_view kBefore = "supported values: \"";
    const size_t begin = message.find(kBefore);
    if (begin == std::string::npos) return std::nullopt;
    const size_t from = begin + kBefore.size();
    return message.substr(from, message.find('"', from) - from);
  }

  /// null if the schema has no value at this depth. `minimal`: with required fields only.
  Value plausible(const Schema& schema, int depth, bool minimal) {
    if (depth > kDeepest) return {};
    if (!schema.allowed.empty()) return schema.allowed.front();
    if (schema.format == "byte") return Value{"YQ=="};
    if (schema.format == "date-time") return Value{"2026-01-02T03:04:05Z"};
    if (schema.format == "micro-time") return Value{"2026-01-02T03:04:05.000007Z"};
    if (schema.format == "duration") return Value{"1m0s"};
    if (schema.format == "quantity") return Value{"1"};
    switch (schema.type) {
      case Schema::Type::kBoolean:
        return Value{true};
      case Schema::Type::kInteger:
      case Schema::Type::kNumber:
      case Schema::Type::kIntOrString:
        return Value{schema.minimum ? static_cast<int64_t>(*schema.minimum) : int64_t{1}};
      case Schema::Type::kString:
        return Value{"a"};
      case Schema::Type::kArray: {
        Value item = plausible(*schema.items, depth + 1, minimal);
        return item.is_null() ? Value{} : Value::array({std::move(item)});
      }
      case Schema::Type::kObject:
        return plausible_object(schema, depth, minimal);
      case Schema::Type::kAny:
        break;
    }
    return {};
  }

  Value plausible_object(const Schema& schema, int depth, bool minimal) {
    Value made = Value::object();
    if (schema.additional != nullptr) {
      Value content = plausible(*schema.additional, depth + 1, minimal);
      if (!content.is_null()) made.set("a", std::move(content));
      return made;
    }
    const std::set<std::string_view> required{schema.required.begin(), schema.required.end()};
    for (const auto& [name, property] : schema.properties) {
      if (minimal && !required.contains(name)) continue;
      Value content = plausible(*property, depth + 1, minimal);
      if (!content.is_null()) made.set(name, std::move(content));
    }
    return made;
  }

  const std::set<std::string>& except_;
  int tries_;
};

}  // namespace

Value filled(const Schema& schema, const Value& object, const std::set<std::string>& except, const Refusal& refusal,
             int tries) {
  return Filler{except, tries}.fill(schema, object, refusal, "", 0);
}

}  // namespace shiplog::e2e
