#include "services/debugger/condition.h"

#include <algorithm>
#include <set>

#include "services/debugger/condition_node.h"

namespace shiplog::debugger {
namespace {

/// Objects that one term looks at, when * stands for names.
constexpr size_t kMostObjects = 100'000;

template <class T>
bool compare(const T& left, CompareBy by, const T& right) {
  switch (by) {
    case CompareBy::kEqual:
      return left == right;
    case CompareBy::kNotEqual:
      return !(left == right);
    case CompareBy::kLess:
      return left < right;
    case CompareBy::kLessOrEqual:
      return left <= right;
    case CompareBy::kGreater:
      return left > right;
    case CompareBy::kGreaterOrEqual:
      return left >= right;
  }
  return false;
}

/// Numbers by size, text by its bytes; all else is equal or not.
bool compare_values(const Value& left, CompareBy by, const Value& right) {
  if (left.is_int() && right.is_int()) return compare(left.as_int(), by, right.as_int());
  if (left.is_number() && right.is_number()) return compare(left.as_double(), by, right.as_double());
  if (left.is_string() && right.is_string()) return compare(left.as_string(), by, right.as_string());
  if (by == CompareBy::kEqual) return left == right;
  return by == CompareBy::kNotEqual && !(left == right);
}

bool fits(const FieldTest& test, const Value& object) {
  if (object.is_null()) return false;
  if (!test.path) return true;
  const auto values = test.path->values(object);
  if (!test.comparison) return !values.empty();
  // What is not there equals null, and differs from all else.
  if (values.empty()) return compare_values(Value{}, *test.comparison, test.value);
  return std::ranges::any_of(values,
                             [&](const Value* each) { return compare_values(*each, *test.comparison, test.value); });
}

std::set<std::string_view> clusters_of(const Value& binding) {
  std::set<std::string_view> names;
  for (const Value& target : binding["spec"]["clusters"].items()) names.insert(target["name"].as_string());
  return names;
}

bool any_matches(const std::set<std::string_view>& names, const std::string& pattern) {
  return std::ranges::any_of(names, [&](std::string_view name) { return matches_glob(pattern, name); });
}

/// What a term looks at; what has no state term is never remembered.
const ObjectPattern* objects_of(const ConditionTerm& term) {
  if (const auto* is = std::get_if<ObjectIs>(&term)) return &is->object;
  if (const auto* placed = std::get_if<PlacedOn>(&term)) return &placed->binding;
  return nullptr;
}

bool holds_in_state(const ObjectPattern& pattern, const State& state, const std::function<bool(const Value&)>& test) {
  const auto keys = find_objects(state, pattern, kMostObjects);
  return std::ranges::any_of(keys, [&](const ObjectKey& key) { return test(state.value_of(key)); });
}

struct Evaluate {
  const Moment& moment;

  bool operator()(const ObjectIs& term) const {
    return holds_in_state(term.object, moment.state, [&](const Value& value) { return fits(term.field, value); });
  }
  bool operator()(const PlacedOn& term) const {
    return holds_in_state(term.binding, moment.state,
                          [&](const Value& value) { return any_matches(clusters_of(value), term.cluster); });
  }
  bool operator()(const NumberIs& term) const {
    switch (term.of) {
      case NumberIs::Of::kRevision:
        return compare(static_cast<int64_t>(moment.state.revision().value), term.comparison, term.number);
      case NumberIs::Of::kOffset:
        return compare(moment.offset.value, term.comparison, term.number);
      case NumberIs::Of::kTime:
        return compare(moment.state.time().value, term.comparison, term.number);
    }
    return false;
  }

  bool any_change(const ObjectPattern& of, const std::function<bool(const Change&)>& test) const {
    if (moment.folded == nullptr) return false;
    return std::ranges::any_of(moment.folded->changes,
                               [&](const Change& change) { return of.matches(change.object) && test(change); });
  }
  bool operator()(const ChangesObject& term) const {
    return any_change(term.object, [&](const Change& change) {
      if (term.how == ChangesObject::How::kCreates) return change.created();
      if (term.how == ChangesObject::How::kRemoves) return change.removed();
      if (!term.field.path) return true;
      const auto before = term.field.path->values(change.before);
      const auto after = term.field.path->values(change.after);
      const bool same = std::ranges::equal(before, after, [](const Value* a, const Value* b) { return *a == *b; });
      return !same && (!term.field.comparison || fits(term.field, change.after));
    });
  }
  bool operator()(const Moves& term) const {
    return any_change(term.binding, [&](const Change& change) {
      const auto before = clusters_of(change.before);
      const auto after = clusters_of(change.after);
      const auto& had = term.gains ? before : after;
      const auto& has = term.gains ? after : before;
      return std::ranges::any_of(
          has, [&](std::string_view name) { return !had.contains(name) && matches_glob(term.cluster, name); });
    });
  }
  bool any_event(const std::function<bool(const Event&)>& test) const {
    return moment.entry != nullptr && std::ranges::any_of(moment.entry->events, test);
  }
  bool operator()(const AboutObject& term) const {
    if (any_change(term.object, [](const Change&) { return true; })) return true;
    return any_event([&](const Event& event) { return term.object.matches(subject_of(event)); });
  }
  bool operator()(const EntryIs& term) const {
    if (moment.entry == nullptr) return false;
    switch (term.of) {
      case EntryIs::Of::kFamily:
        return any_event([&](const Event& event) { return matches_glob(term.pattern, name_of(family_of(event))); });
      case EntryIs::Of::kEvent:
        return any_event([&](const Event& event) { return matches_glob(term.pattern, name_of(event)); });
      case EntryIs::Of::kUser:
        return matches_glob(term.pattern, moment.entry->actor.user);
      case EntryIs::Of::kService:
        return matches_glob(term.pattern, moment.entry->actor.service);
      case EntryIs::Of::kVerb:
        return matches_glob(term.pattern, moment.entry->request.verb);
    }
    return false;
  }
  bool operator()(const EntryFlag& term) const {
    switch (term.of) {
      case EntryFlag::Of::kRefused:
        return moment.folded != nullptr && moment.folded->refusal.has_value();
      case EntryFlag::Of::kDecision:
        return moment.entry != nullptr && moment.entry->request.verb == "decide";
      case EntryFlag::Of::kDenied:
        return any_event([](const Event& event) {
          return std::holds_alternative<RequestDenied>(event) || std::holds_alternative<RequestsDenied>(event);
        });
    }
    return false;
  }
};

/// -1: unknown.
using Known = std::vector<int8_t>;

bool evaluate(const ConditionNode& node, const Moment& moment, Known* known) {
  const auto child = [&](const auto& each) { return evaluate(*each, moment, known); };
  switch (node.kind) {
    case ConditionNode::Kind::kAnd:
      return std::ranges::all_of(node.children, child);
    case ConditionNode::Kind::kOr:
      return std::ranges::any_of(node.children, child);
    case ConditionNode::Kind::kNot:
      return !child(node.children.front());
    case ConditionNode::Kind::kTerm:
      break;
  }
  if (known == nullptr || objects_of(node.term) == nullptr) return std::visit(Evaluate{moment}, node.term);
  if (known->size() <= node.number) known->resize(node.number + 1, -1);
  int8_t& remembered = (*known)[node.number];
  if (remembered < 0) remembered = std::visit(Evaluate{moment}, node.term) ? 1 : 0;
  return remembered == 1;
}

void forget_changed(const ConditionNode& node, const Folded& folded, Known& known) {
  for (const auto& child : node.children) forget_changed(*child, folded, known);
  const ObjectPattern* of = node.kind == ConditionNode::Kind::kTerm ? objects_of(node.term) : nullptr;
  if (of == nullptr || node.number >= known.size()) return;
  if (std::ranges::any_of(folded.changes, [&](const Change& change) { return of->matches(change.object); })) {
    known[node.number] = -1;
  }
}

bool about_state(const ConditionNode& node) {
  if (node.kind != ConditionNode::Kind::kTerm) {
    return std::ranges::all_of(node.children, [](const auto& child) { return about_state(*child); });
  }
  return objects_of(node.term) != nullptr || std::holds_alternative<NumberIs>(node.term);
}

}  // namespace

bool BreakCondition::holds(const Moment& moment) const { return evaluate(*root_, moment, nullptr); }

bool BreakCondition::about_state_only() const { return about_state(*root_); }

bool ConditionWatch::begin(const Moment& moment) {
  known_.clear();
  held_ = evaluate(*condition_.root_, moment, &known_);
  return held_;
}

bool ConditionWatch::stops_at(const Moment& moment) {
  if (moment.folded != nullptr) forget_changed(*condition_.root_, *moment.folded, known_);
  const bool before = held_;
  held_ = evaluate(*condition_.root_, moment, &known_);
  return held_ && (!before || !condition_.about_state_only());
}

}  // namespace shiplog::debugger
