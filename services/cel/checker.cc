#include "services/cel/checker.h"

#include <algorithm>
#include <map>
#include <utility>

#include "services/cel/field_names.h"
#include "services/cel/parser.h"
#include "services/cel/patch_object.h"
#include "services/cel/type_rules.h"

namespace shiplog::cel {
namespace {

using TypeKind = CelType::Kind;

/// The type of an optional's value; any other type is itself.
const CelType& unwrapped(const CelType& type) {
  return type.is(TypeKind::kOptional) && !type.parameters().empty() ? type.parameters()[0] : type;
}

class TypeChecker {
 public:
  TypeChecker(std::string_view text, const CelEnvironment& environment, CelChecked& checked)
      : text_{text}, environment_{environment}, checked_{checked}, slots_{environment.variables.size()} {
    checked_.slots = slots_;
  }

  CelType check(CelNode& node) {
    switch (node.kind) {
      case CelNode::Kind::kLiteral:
        return node.literal.type_of();
      case CelNode::Kind::kIdentifier:
        return identifier(node);
      case CelNode::Kind::kSelect:
        return select(node);
      case CelNode::Kind::kPresence:
        return presence(node);
      case CelNode::Kind::kIndex:
        return index(node);
      case CelNode::Kind::kCall:
        return call(node);
      case CelNode::Kind::kOperator:
        return operation(node);
      case CelNode::Kind::kAnd:
      case CelNode::Kind::kOr:
        return logic(node);
      case CelNode::Kind::kConditional:
        return conditional(node);
      case CelNode::Kind::kList:
        return list(node);
      case CelNode::Kind::kMap:
        return map(node);
      case CelNode::Kind::kObject:
        return object(node);
      case CelNode::Kind::kMacro:
        return macro(node);
    }
    return TypeKind::kError;
  }

 private:
  struct LocalVariable {
    std::string name;
    CelType type;
    size_t slot;
  };

  CelType issue(size_t offset, const std::string& message) {
    // One line each, as cel-go; of many the first ones tell enough. Each shows the line: together they must not be much
    // longer than the expression.
    if (++issue_count_ <= kMostIssues && checked_.issues.size() <= kLongestIssues + text_.size()) {
      checked_.issues += (checked_.issues.empty() ? "" : "\n") + issue_text(text_, offset, message);
    }
    return TypeKind::kError;
  }

  CelType no_overload(const CelNode& node, const std::string& name, std::span<const CelType> types, bool member) {
    std::string signature;
    for (size_t i = member ? 1 : 0; i < types.size(); ++i) {
      signature += (i == (member ? 1U : 0U) ? "" : ", ") + types[i].text();
    }
    signature = (member ? types[0].text() + "." : std::string{}) + "(" + signature + ")";
    return issue(node.offset, "found no matching overload for '" + name + "' applied to '" + signature + "'");
  }

  CelType undeclared(size_t offset, const std::string& name) {
    return issue(offset, "undeclared reference to '" + name + "' (in container '')");
  }

  const LocalVariable* local(std::string_view name) const {
    const auto found =
        std::find_if(locals_.rbegin(), locals_.rend(), [&](const auto& each) { return each.name == name; });
    return found == locals_.rend() ? nullptr : &*found;
  }

  /// An index into the environment's variables.
  std::optional<size_t> variable(std::string_view name) const {
    const auto found = std::ranges::find(environment_.variables, name, &CelVariable::name);
    if (found == environment_.variables.end()) return std::nullopt;
    return static_cast<size_t>(found - environment_.variables.begin());
  }

  CelType identifier(CelNode& node) {
    if (const LocalVariable* found = local(node.name)) {
      node.slot = found->slot;
      return found->type;
    }
    if (const auto found = variable(node.name)) {
      node.slot = *found;
      checked_.used.insert(node.name);
      return environment_.variables[*found].type;
    }
    if (auto type = type_value(node, node.name)) return *type;
    return undeclared(node.offset, node.name);
  }

  /// The node becomes the type that `name` is.
  std::optional<CelType> type_value(CelNode& node, const std::string& name) {
    const CelType* type = environment_.functions->find_type(name);
    if (type == nullptr) return std::nullopt;
    node.kind = CelNode::Kind::kLiteral;
    node.literal = CelValue::type(*type);
    node.children.clear();
    return CelType::type_of(*type);
  }

  /// "a.b.c" of names that are no variables; nullopt: something else.
  std::optional<std::string> qualified_name(const CelNode& node) const {
    if (node.kind == CelNode::Kind::kIdentifier) {
      if (local(node.name) != nullptr || variable(node.name)) return std::nullopt;
      return node.name;
    }
    if (node.kind != CelNode::Kind::kSelect || node.optional) return std::nullopt;
    auto target = qualified_name(*node.children[0]);
    return target ? std::optional{*target + "." + node.name} : std::nullopt;
  }

  /// Variables may have dots in their names: "authorizer.requestResource".
  bool is_dotted_variable(const CelNode& node) const {
    const CelNode& target = *node.children[0];
    return !node.optional && target.kind == CelNode::Kind::kIdentifier && local(target.name) == nullptr &&
           variable(target.name + "." + node.name).has_value();
  }

  CelType select(CelNode& node) {
    if (is_dotted_variable(node)) {
      node.name = node.children[0]->name + "." + node.name;
      node.kind = CelNode::Kind::kIdentifier;
      node.children.clear();
      return identifier(node);
    }
    if (const auto name = qualified_name(node)) {
      if (auto type = type_value(node, *name)) return *type;
    }
    const CelType target = check(*node.children[0]);
    const CelType field = field_of(node, unwrapped(target));
    if (field.is(TypeKind::kError)) return field;
    return node.optional || target.is(TypeKind::kOptional) ? CelType::optional(field) : field;
  }

  CelType field_of(const CelNode& node, const CelType& target) {
    if (target.is_dyn()) return target;
    if (target.is(TypeKind::kMap)) return target.parameters()[1];
    if (!target.is(TypeKind::kObject)) {
      return issue(node.offset, "type '" + target.text() + "' does not support field selection");
    }
    const CelField* field = field_named(*target.object(), node.name);
    return field != nullptr ? field->type : issue(node.offset, "undefined field '" + node.name + "'");
  }

  static const CelField& field_of_any_name() {
    static const CelField kField;
    return kField;
  }

  /// nullptr: it has none that expressions name so.
  static const CelField* field_named(const CelObjectType& object, const std::string& name) {
    const auto find = [&](const std::string& json_name) {
      const auto field = object.fields.find(json_name);
      return field == object.fields.end() ? nullptr : &field->second;
    };
    if (!object.escapes_names) {
      if (const CelField* field = find(name)) return field;
    }
    if (object.open) return &field_of_any_name();
    // Also of other objects: earlier builds knew "request.__namespace__" only, and stored policies have it.
    const auto unescaped = unescape_field_name(name);
    return unescaped && escape_field_name(*unescaped) == name ? find(*unescaped) : nullptr;
  }

  CelType presence(CelNode& node) {
    const CelType target = check(*node.children[0]);
    const CelType field = field_of(node, unwrapped(target));
    return field.is(TypeKind::kError) ? field : CelType{TypeKind::kBool};
  }

  CelType index(CelNode& node) {
    const CelType target = check(*node.children[0]);
    const CelType key = check(*node.children[1]);
    const CelType& inner = unwrapped(target);
    CelType item;
    if (inner.is(TypeKind::kList) && is_assignable(key, TypeKind::kInt)) {
      item = inner.parameters()[0];
    } else if (inner.is(TypeKind::kMap) && is_assignable(key, inner.parameters()[0])) {
      item = inner.parameters()[1];
    } else if (!inner.is_dyn()) {
      const std::vector<CelType> types = {target, key};
      return no_overload(node, node.name, types, false);
    }
    return node.optional || target.is(TypeKind::kOptional) ? CelType::optional(item) : item;
  }

  /// False: one of them has an error, which is reported.
  bool check_operands(const CelNode& node, std::vector<CelType>& types) {
    for (const auto& child : node.children) types.push_back(check(*child));
    return std::ranges::none_of(types, [](const CelType& type) { return type.is(TypeKind::kError); });
  }

  CelType call(CelNode& node) {
    if (node.member) {
      if (const auto target = qualified_name(*node.children[0])) {
        const std::string name = *target + "." + node.name;
        if (environment_.functions->find(name) != nullptr) {
          node.name = name;
          node.member = false;
          node.children.erase(node.children.begin());
        }
      }
    }
    const auto* overloads = environment_.functions->find(node.name);
    if (overloads == nullptr) return undeclared(node.offset, node.name);
    std::vector<CelType> types;
    if (!check_operands(node, types)) return TypeKind::kError;
    const auto result = resolve(*overloads, types, node.member, &node.overloads);
    if (!result) return no_overload(node, node.name, types, node.member);
    if (auto error = prepare(node)) return issue(node.children[error->first]->offset, error->second);
    return *result;
  }

  /// The implementation for the literal that is an argument. An error: which argument, and why.
  std::optional<std::pair<size_t, std::string>> prepare(CelNode& node) {
    // Of an expression that is refused anyway, not all patterns need be compiled: each may take many milliseconds.
    if (node.overloads.size() != 1 || issue_count_ > 1) return std::nullopt;
    const CelOverload& overload = *node.overloads[0];
    if (!overload.prepare || overload.literal_argument < 0) return std::nullopt;
    const auto at = static_cast<size_t>(overload.literal_argument);
    if (at >= node.children.size() || node.children[at]->kind != CelNode::Kind::kLiteral) return std::nullopt;
    auto made = overload.prepare(node.children[at]->literal);
    if (!made) return std::pair{at, made.error().message};
    checked_.memory += made.value().memory;
    if (checked_.memory > kMostMemory) return std::pair{at, "regular expressions are too large together"};
    node.prepared = std::move(made).value().call;
    return std::nullopt;
  }

  CelType operation(CelNode& node) {
    std::vector<CelType> types;
    if (!check_operands(node, types)) return TypeKind::kError;
    const auto result = resolve(operator_signatures(node.operation), types, false, nullptr);
    return result ? *result : no_overload(node, node.name, types, false);
  }

  /// The result of the overloads that take these types; nullopt: none does.
  static std::optional<CelType> resolve(const std::vector<CelOverload>& overloads, std::span<const CelType> types,
                                        bool member, std::vector<const CelOverload*>* chosen) {
    std::optional<CelType> result;
    for (const CelOverload& overload : overloads) {
      if (overload.member != member || overload.arguments.size() != types.size()) continue;
      CelTypeBindings bindings;
      bool fits = true;
      for (size_t i = 0; fits && i < types.size(); ++i) fits = is_assignable(types[i], overload.arguments[i], bindings);
      if (!fits) continue;
      CelType type = substituted(overload.result, bindings);
      result = result && !(*result == type) ? CelType{} : std::move(type);
      if (chosen != nullptr) chosen->push_back(&overload);
    }
    return result;
  }

  CelType logic(CelNode& node) {
    std::vector<CelType> types;
    for (const auto& child : node.children) types.push_back(check(*child));
    for (size_t i = 0; i < types.size(); ++i) {
      if (is_assignable(types[i], TypeKind::kBool)) continue;
      const std::vector<CelType> pair =
          i == 0 ? std::vector{types[0], types[1]} : std::vector<CelType>{TypeKind::kBool, types[i]};
      return no_overload(node, node.name, pair, false);
    }
    return TypeKind::kBool;
  }

  CelType conditional(CelNode& node) {
    const std::vector<CelType> types = {check(*node.children[0]), check(*node.children[1]), check(*node.children[2])};
    if (std::ranges::any_of(types, [](const CelType& type) { return type.is(TypeKind::kError); }))
      return TypeKind::kError;
    if (is_assignable(types[0], TypeKind::kBool)) {
      if (const auto joined = join(types[1], types[2])) return *joined;
    }
    return no_overload(node, node.name, types, false);
  }

  /// A type that both may be used as.
  static std::optional<CelType> join(const CelType& a, const CelType& b) {
    if (a.is_dyn() || b.is_dyn()) return CelType{};
    // list(dyn) is what an empty literal is: the other one says more.
    if (is_assignable(b, a)) return is_assignable(a, b) && has_dyn(a) ? b : a;
    if (is_assignable(a, b)) return b;
    return std::nullopt;
  }

  static bool has_dyn(const CelType& type) {
    return type.is_dyn() || std::ranges::any_of(type.parameters(), [](const CelType& each) { return has_dyn(each); });
  }

  /// Of the items of a literal, which have one type, as Kubernetes demands.
  CelType join_all(const CelNode& node, size_t from, size_t step, const std::vector<bool>& optional) {
    std::optional<CelType> joined;
    for (size_t i = from; i < node.children.size(); i += step) {
      CelNode& child = *node.children[i];
      CelType type = check(child);
      if (type.is(TypeKind::kError)) {
        joined = CelType{};
        continue;
      }
      const bool is_key = step == 2 && from == 0;
      if (!is_key && i / step < optional.size() && optional[i / step]) {
        if (!type.is_dyn() && !type.is(TypeKind::kOptional)) {
          return issue(child.offset, "expected type 'optional_type(dyn)' but found '" + type.text() + "'");
        }
        type = unwrapped(type);
      }
      if (!joined) {
        joined = type;
        continue;
      }
      const auto both = join(*joined, type);
      if (!both) return issue(child.offset, "expected type '" + joined->text() + "' but found '" + type.text() + "'");
      joined = *both;
    }
    return joined.value_or(CelType{});
  }

  CelType list(CelNode& node) {
    const CelType item = join_all(node, 0, 1, node.optional_entries);
    return item.is(TypeKind::kError) ? item : CelType::list(item);
  }

  CelType map(CelNode& node) {
    const CelType key = join_all(node, 0, 2, node.optional_entries);
    const CelType value = join_all(node, 1, 2, node.optional_entries);
    if (key.is(TypeKind::kError) || value.is(TypeKind::kError)) return TypeKind::kError;
    return CelType::map(key, value);
  }

  CelType object(CelNode& node) {
    auto known = objects_.find(node.name);
    if (known == objects_.end()) {
      auto type = environment_.patch_types ? patch_type(node.name) : std::nullopt;
      if (!type) return undeclared(node.offset, node.name);
      known = objects_.emplace(node.name, *std::move(type)).first;
    }
    const CelType result = known->second;
    bool fits = true;
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const bool optional = !node.optional_entries.empty() && node.optional_entries[i / 2];
      fits = object_field(result, *node.children[i], *node.children[i + 1], optional) && fits;
    }
    return fits ? result : TypeKind::kError;
  }

  /// False: the value does not fit, which is reported.
  bool object_field(const CelType& object, const CelNode& key, CelNode& value, bool optional) {
    const std::string name{key.literal.as_string()};
    CelType type = check(value);
    if (type.is(TypeKind::kError)) return false;
    const CelField* field = field_named(*object.object(), name);
    if (field == nullptr) {
      issue(key.offset, "undefined field '" + name + "'");
      return false;
    }
    if (optional && !type.is_dyn() && !type.is(TypeKind::kOptional)) {
      issue(value.offset, "expected type 'optional_type(" + field->type.text() + ")' but found '" + type.text() + "'");
      return false;
    }
    if (optional) type = unwrapped(type);
    if (is_assignable(type, field->type)) return true;
    issue(key.offset, "expected type of field '" + name + "' is '" + field->type.text() + "' but provided type is '" +
                          type.text() + "'");
    return false;
  }

  CelType macro(CelNode& node) {
    const CelType range = check(*node.children[0]);
    if (range.is(TypeKind::kError)) return range;
    if (node.macro == CelMacro::kOptionalMap || node.macro == CelMacro::kOptionalFlatMap) {
      return optional_macro(node, range);
    }
    CelType key;
    CelType value;
    if (range.is(TypeKind::kList)) {
      key = TypeKind::kInt;
      value = range.parameters()[0];
    } else if (range.is(TypeKind::kMap) && node.macro != CelMacro::kSortBy) {
      key = range.parameters()[0];
      value = range.parameters()[1];
    } else if (!range.is_dyn()) {
      return issue(node.children[0]->offset,
                   "expression of type '" + range.text() +
                       "' cannot be range of a comprehension (must be list, map, or dynamic)");
    }
    if (node.variables.size() == 2) {
      enter(node, {key, value});
    } else {
      enter(node, {range.is(TypeKind::kMap) ? key : value});
    }
    const CelType result = macro_result(node, range, key, value);
    leave(node);
    return result;
  }

  void enter(CelNode& node, const std::vector<CelType>& types) {
    node.slot = slots_;
    for (size_t i = 0; i < types.size(); ++i) locals_.push_back({node.variables[i], types[i], slots_++});
    checked_.slots = std::max(checked_.slots, slots_);
  }

  void leave(const CelNode& node) {
    slots_ -= node.variables.size();
    locals_.erase(locals_.end() - static_cast<ptrdiff_t>(node.variables.size()), locals_.end());
  }

  /// A condition for each item. `name` is the operator that upstream's expansion applies to it.
  bool check_condition(CelNode& condition, const char* name) {
    const CelType type = check(condition);
    if (type.is(TypeKind::kError)) return false;
    if (is_assignable(type, TypeKind::kBool)) return true;
    const std::vector<CelType> types = {TypeKind::kBool, type};
    no_overload(condition, name, types, false);
    return false;
  }

  CelType macro_result(CelNode& node, const CelType& range, const CelType& key, const CelType& value) {
    switch (node.macro) {
      case CelMacro::kAll:
        return check_condition(*node.children[1], "_&&_") ? TypeKind::kBool : TypeKind::kError;
      case CelMacro::kExists:
        return check_condition(*node.children[1], "_||_") ? TypeKind::kBool : TypeKind::kError;
      case CelMacro::kExistsOne:
        return check_condition(*node.children[1], "_?_:_") ? TypeKind::kBool : TypeKind::kError;
      case CelMacro::kFilter:
        if (!check_condition(*node.children[1], "_?_:_")) return TypeKind::kError;
        return range.is_dyn() ? CelType::list({}) : CelType::list(range.is(TypeKind::kMap) ? key : value);
      case CelMacro::kSortBy: {
        const CelType by = check(*node.children[1]);
        if (by.is(TypeKind::kError)) return by;
        return range.is_dyn() ? CelType::list({}) : range;
      }
      case CelMacro::kMap:
      case CelMacro::kTransformMap:
      case CelMacro::kTransformMapEntry:
        break;
      case CelMacro::kOptionalMap:
      case CelMacro::kOptionalFlatMap:
        return TypeKind::kError;  // optional_macro() has them
    }
    if (node.has_condition && !check_condition(*node.children[1], "_?_:_")) return TypeKind::kError;
    CelNode& expression = *node.children.back();
    const CelType result = check(expression);
    if (result.is(TypeKind::kError)) return result;
    if (node.macro == CelMacro::kMap) return CelType::list(result);
    if (node.macro == CelMacro::kTransformMap) return CelType::map(key, result);
    if (result.is_dyn()) return CelType::map({}, {});
    if (result.is(TypeKind::kMap)) return result;
    return issue(expression.offset, "expected type 'map(dyn, dyn)' but found '" + result.text() + "'");
  }

  CelType optional_macro(CelNode& node, const CelType& target) {
    const char* name = node.macro == CelMacro::kOptionalMap ? "optMap" : "optFlatMap";
    if (!target.is_dyn() && !target.is(TypeKind::kOptional)) {
      const std::vector<CelType> types = {target};
      return no_overload(node, name, types, true);
    }
    enter(node, {unwrapped(target)});
    const CelType result = check(*node.children[1]);
    leave(node);
    if (result.is(TypeKind::kError)) return result;
    if (node.macro == CelMacro::kOptionalMap) return CelType::optional(result);
    if (result.is_dyn() || result.is(TypeKind::kOptional)) return result;
    return issue(node.children[1]->offset, "expected type 'optional_type(dyn)' but found '" + result.text() + "'");
  }

  static constexpr size_t kMostIssues = 10;
  static constexpr size_t kLongestIssues = 2'000;
  static constexpr size_t kMostMemory = 16 * 1024 * 1024;  // of what literals are compiled to

  std::string_view text_;
  const CelEnvironment& environment_;
  CelChecked& checked_;
  std::vector<LocalVariable> locals_;
  std::map<std::string, CelType> objects_;  // types of patches, by name: equal ones are the same
  size_t slots_;
  size_t issue_count_ = 0;
};

}  // namespace

CelChecked check_types(CelNode& root, std::string_view text, const CelEnvironment& environment) {
  CelChecked checked;
  TypeChecker checker{text, environment, checked};
  checked.type = checker.check(root);
  return checked;
}

}  // namespace shiplog::cel
