#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "events/base/utf8.h"
#include "events/event.h"
#include "services/debugger/condition_node.h"
#include "services/debugger/words.h"

namespace shiplog::debugger {
namespace {

using NodePtr = std::shared_ptr<const ConditionNode>;

template <size_t... Index>
std::vector<std::string> event_names(std::index_sequence<Index...> /*all*/) {
  return {std::string{name_of(Event{std::variant_alternative_t<Index, EventVariant>{}})}...};
}

const std::vector<std::string>& all_event_names() {
  static const auto names = event_names(std::make_index_sequence<std::variant_size_v<EventVariant>>{});
  return names;
}

const std::vector<std::string>& all_families() {
  static const std::vector<std::string> names = {"api",   "scheduling", "dispatch", "taint",
                                                 "quota", "cluster",    "control"};
  return names;
}

bool matches_one(const std::string& pattern, const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [&](const std::string& word) { return matches_glob(pattern, word); });
}

class ConditionParser {
 public:
  explicit ConditionParser(const std::vector<CommandWord>& words) : words_{words} {}

  Result<NodePtr> whole() {
    SHIPLOG_TRY(auto node, alternatives(0));
    if (at_ < words_.size()) return expected("and, or, or the end of the condition");
    return node;
  }

 private:
  Error expected(const std::string& what) const {
    if (at_ < words_.size()) {
      return {ErrorCode::kBadRequest, "column " + std::to_string(words_[at_].column) + ": expected " + what +
                                          ", found " + quoted(words_[at_].text)};
    }
    return {ErrorCode::kBadRequest, "at the end of the condition: expected " + what};
  }
  bool next_is(std::string_view word) const {
    return at_ < words_.size() && words_[at_].kind != CommandWord::Kind::kQuoted && words_[at_].text == word;
  }
  bool take(std::string_view word) {
    if (!next_is(word)) return false;
    ++at_;
    return true;
  }

  Result<NodePtr> joined(ConditionNode::Kind kind, const char* by, int depth) {
    const auto part = [&] { return kind == ConditionNode::Kind::kOr ? all_of(depth) : negated(depth); };
    SHIPLOG_TRY(auto first, part());
    if (!next_is(by)) return first;
    ConditionNode node;
    node.kind = kind;
    node.children.push_back(std::move(first));
    while (take(by)) {
      SHIPLOG_TRY(auto another, part());
      node.children.push_back(std::move(another));
    }
    return NodePtr{std::make_shared<ConditionNode>(std::move(node))};
  }
  Result<NodePtr> alternatives(int depth) { return joined(ConditionNode::Kind::kOr, "or", depth); }
  Result<NodePtr> all_of(int depth) { return joined(ConditionNode::Kind::kAnd, "and", depth); }

  Result<NodePtr> negated(int depth) {
    if (depth > BreakCondition::kMostNesting) return expected("no more than 64 nested parentheses and nots");
    if (take("not")) {
      ConditionNode node;
      node.kind = ConditionNode::Kind::kNot;
      SHIPLOG_TRY(auto inner, negated(depth + 1));
      node.children.push_back(std::move(inner));
      return NodePtr{std::make_shared<ConditionNode>(std::move(node))};
    }
    if (take("(")) {
      SHIPLOG_TRY(auto inner, alternatives(depth + 1));
      if (!take(")")) return expected("a closing parenthesis");
      return inner;
    }
    ConditionNode node;
    SHIPLOG_TRY(node.term, term());
    node.number = terms_++;
    if (terms_ > BreakCondition::kMostTerms)
      return Error{ErrorCode::kBadRequest, "the condition has more than 256 terms"};
    return NodePtr{std::make_shared<ConditionNode>(std::move(node))};
  }

  Result<ConditionTerm> term() {
    using Term = Result<ConditionTerm> (ConditionParser::*)();
    static const std::map<std::string, Term, std::less<>> terms = {
        {"object", &ConditionParser::object},
        {"binding", &ConditionParser::binding},
        {"revision", &ConditionParser::number_of<NumberIs::Of::kRevision>},
        {"offset", &ConditionParser::number_of<NumberIs::Of::kOffset>},
        {"time", &ConditionParser::time},
        {"changes", &ConditionParser::changes<ChangesObject::How::kAny>},
        {"creates", &ConditionParser::changes<ChangesObject::How::kCreates>},
        {"removes", &ConditionParser::changes<ChangesObject::How::kRemoves>},
        {"about", &ConditionParser::about},
        {"family", &ConditionParser::family},
        {"event", &ConditionParser::event},
        {"user", &ConditionParser::entry_is<EntryIs::Of::kUser>},
        {"service", &ConditionParser::entry_is<EntryIs::Of::kService>},
        {"verb", &ConditionParser::entry_is<EntryIs::Of::kVerb>},
        {"refused", &ConditionParser::flag<EntryFlag::Of::kRefused>},
        {"denied", &ConditionParser::flag<EntryFlag::Of::kDenied>},
        {"decision", &ConditionParser::flag<EntryFlag::Of::kDecision>}};
    const auto found = at_ < words_.size() && words_[at_].kind == CommandWord::Kind::kPlain
                           ? terms.find(words_[at_].text)
                           : terms.end();
    if (found == terms.end()) {
      std::string all;
      for (const auto& [name, parse] : terms) all += (all.empty() ? "" : ", ") + name;
      return expected("not, ( or one of " + all);
    }
    ++at_;
    return (this->*found->second)();
  }

  std::optional<CompareBy> comparison() {
    static const std::map<std::string, CompareBy, std::less<>> signs = {
        {"==", CompareBy::kEqual},  {"!=", CompareBy::kNotEqual},    {"<", CompareBy::kLess},
        {">", CompareBy::kGreater}, {"<=", CompareBy::kLessOrEqual}, {">=", CompareBy::kGreaterOrEqual}};
    if (at_ >= words_.size() || words_[at_].kind != CommandWord::Kind::kSign) return std::nullopt;
    const auto found = signs.find(words_[at_].text);
    if (found == signs.end()) return std::nullopt;
    ++at_;
    return found->second;
  }

  /// PATH [OP VALUE]; nothing when no path follows.
  Result<FieldTest> field() {
    FieldTest test;
    if (at_ >= words_.size() || words_[at_].kind != CommandWord::Kind::kPlain || !words_[at_].text.starts_with('.')) {
      return test;
    }
    auto path = ValuePath::parse(words_[at_].text);
    if (!path) return path.error().context("column " + std::to_string(words_[at_].column));
    test.path = std::move(path).value();
    ++at_;
    if (next_is("=")) return expected("==, !=, <, <=, > or >=");
    test.comparison = comparison();
    if (!test.comparison) return test;
    if (at_ >= words_.size() || words_[at_].kind == CommandWord::Kind::kSign)
      return expected("a value to compare with");
    test.value = value_of(words_[at_++]);
    return test;
  }

  Result<std::string> pattern(const std::string& what) {
    if (at_ >= words_.size() || words_[at_].kind == CommandWord::Kind::kSign) return expected(what);
    return words_[at_++].text;
  }

  Result<std::optional<ConditionTerm>> placement(const ObjectPattern& of) {
    if (take("placed")) {
      if (!take("on")) return expected("on: placed on CLUSTER");
      SHIPLOG_TRY(auto cluster, pattern("the name of a cluster"));
      return std::optional<ConditionTerm>{PlacedOn{of, std::move(cluster)}};
    }
    const bool gains = next_is("gains");
    if (!gains && !next_is("loses")) return std::optional<ConditionTerm>{};
    ++at_;
    SHIPLOG_TRY(auto cluster, pattern("the name of a cluster"));
    return std::optional<ConditionTerm>{Moves{of, std::move(cluster), gains}};
  }

  Result<ConditionTerm> object() {
    SHIPLOG_TRY(auto of, parse_object(words_, at_));
    SHIPLOG_TRY(auto placed, placement(of));
    if (placed) return *placed;
    SHIPLOG_TRY(auto test, field());
    if (!test.path || !test.comparison) {
      if (!take("exists")) {
        return expected(test.path ? "a comparison or exists"
                                  : "exists, a path such as .spec.replicas, placed on, gains or loses");
      }
    }
    return ConditionTerm{ObjectIs{std::move(of), std::move(test)}};
  }

  Result<ConditionTerm> binding() {
    SHIPLOG_TRY(auto of, parse_binding(words_, at_));
    SHIPLOG_TRY(auto placed, placement(of));
    if (!placed) return expected("placed on CLUSTER, gains CLUSTER or loses CLUSTER");
    return *placed;
  }

  template <NumberIs::Of kOf>
  Result<ConditionTerm> number_of() {
    const auto sign = comparison();
    if (!sign) return expected("==, !=, <, <=, > or >=");
    int64_t number = 0;
    const std::string text = at_ < words_.size() ? words_[at_].text : "";
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || failed != std::errc{} || end != text.data() + text.size()) return expected("a number");
    ++at_;
    return ConditionTerm{NumberIs{kOf, *sign, number}};
  }

  Result<ConditionTerm> time() {
    const auto sign = comparison();
    if (!sign) return expected("==, !=, <, <=, > or >=");
    const auto time = at_ < words_.size() ? parse_rfc3339(words_[at_].text)
                                          : Result<UtcMillis>{Error{ErrorCode::kBadRequest, "nothing"}};
    if (!time) return expected("a time such as 2024-05-01T12:00:00Z");
    ++at_;
    return ConditionTerm{NumberIs{NumberIs::Of::kTime, *sign, time.value().value}};
  }

  template <ChangesObject::How kHow>
  Result<ConditionTerm> changes() {
    SHIPLOG_TRY(auto of, parse_object(words_, at_));
    FieldTest test;
    if constexpr (kHow == ChangesObject::How::kAny) {
      SHIPLOG_TRY(test, field());
    }
    return ConditionTerm{ChangesObject{std::move(of), std::move(test), kHow}};
  }

  Result<ConditionTerm> about() {
    SHIPLOG_TRY(auto of, parse_object(words_, at_));
    return ConditionTerm{AboutObject{std::move(of)}};
  }

  Result<ConditionTerm> family() {
    if (at_ < words_.size() && !matches_one(words_[at_].text, all_families())) {
      return expected("a family: api, scheduling, dispatch, taint, quota, cluster or control");
    }
    return entry_is<EntryIs::Of::kFamily>();
  }
  Result<ConditionTerm> event() {
    if (at_ < words_.size() && !matches_one(words_[at_].text, all_event_names())) {
      return expected("the name of an event as in docs/events.md, such as PlacementDecided");
    }
    return entry_is<EntryIs::Of::kEvent>();
  }
  template <EntryIs::Of kOf>
  Result<ConditionTerm> entry_is() {
    SHIPLOG_TRY(auto name, pattern("a name, in which * stands for any characters"));
    return ConditionTerm{EntryIs{kOf, std::move(name)}};
  }
  template <EntryFlag::Of kOf>
  Result<ConditionTerm> flag() {
    return ConditionTerm{EntryFlag{kOf}};
  }

  const std::vector<CommandWord>& words_;
  size_t at_ = 0;
  size_t terms_ = 0;
};

}  // namespace

Result<BreakCondition> BreakCondition::parse(std::string_view text) {
  SHIPLOG_TRY(const auto words, words_of(text));
  if (words.empty()) return Error{ErrorCode::kBadRequest, "the condition is empty"};
  BreakCondition condition;
  condition.text_ = text;
  SHIPLOG_TRY(condition.root_, ConditionParser{words}.whole());
  return condition;
}

}  // namespace shiplog::debugger
