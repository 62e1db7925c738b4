#include "services/debugger/dap/variables.h"

#include <algorithm>

#include "events/base/json.h"
#include "services/debugger/entry_view.h"
#include "services/debugger/words.h"

namespace shiplog::debugger {
namespace {

constexpr size_t kLongestText = 200;

std::string text_of_value(const Value& value) {
  if (value.is_object()) return "{" + std::to_string(value.size()) + "}";
  if (value.is_array()) return "[" + std::to_string(value.size()) + "]";
  std::string text = without_controls(value.is_string() ? value.str() : to_json(value));
  if (text.size() <= kLongestText) return text;
  size_t end = kLongestText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace

int64_t VariableTable::add(const Value& value) {
  if (value.size() == 0) return 0;
  nodes_.emplace_back(value);
  return static_cast<int64_t>(nodes_.size());
}

int64_t VariableTable::add_state() {
  nodes_.emplace_back(Types{});
  return static_cast<int64_t>(nodes_.size());
}

Value VariableTable::variable(const std::string& name, const Value& value) {
  return Value::object({{"name", without_controls(name)},
                        {"value", text_of_value(value)},
                        {"variablesReference", add(value)},
                        {"indexedVariables", value.items().size()},
                        {"namedVariables", value.members().size()}});
}

Result<Value> VariableTable::children(int64_t reference, size_t start, size_t count, const State& state) {
  if (reference < 1 || static_cast<size_t>(reference) > nodes_.size()) {
    return Error{ErrorCode::kNotFound, "the reference " + std::to_string(reference) + " does not hold any more"};
  }
  const size_t most = count == 0 ? kMostChildren : std::min(count, kMostChildren);
  Value list = Value::array();
  size_t at = 0;
  const auto wanted = [&] {
    const bool take = at >= start && list.size() < most;
    ++at;
    return take;
  };
  // A copy: adding children moves the nodes.
  const Node node = nodes_[static_cast<size_t>(reference) - 1];
  if (const auto* value = std::get_if<Value>(&node)) {
    for (const Value::Member& member : value->members()) {
      if (wanted()) list.push_back(variable(std::string{member.key()}, member.value));
    }
    for (size_t index = 0; index < value->items().size(); ++index) {
      if (wanted()) list.push_back(variable("[" + std::to_string(index) + "]", value->items()[index]));
    }
  } else if (const auto* of = std::get_if<OfType>(&node)) {
    for (const auto& [name, object] : state.objects(of->type)) {
      if (!wanted()) continue;
      const ObjectKey key{of->type, name.ns, name.name};
      list.push_back(variable((name.ns.empty() ? "" : name.ns + "/") + name.name, shown(key, object.value)));
    }
  } else {
    for (const std::string& type : state.types()) {
      const size_t objects = state.objects(type).size();
      if (objects == 0 || !wanted()) continue;
      nodes_.emplace_back(OfType{type});
      list.push_back(Value::object({{"name", without_controls(type)},
                                    {"value", std::to_string(objects) + (objects == 1 ? " object" : " objects")},
                                    {"variablesReference", nodes_.size()},
                                    {"namedVariables", objects}}));
    }
  }
  return list;
}

}  // namespace shiplog::debugger
