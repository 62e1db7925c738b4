#include "services/cel/parser.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "events/base/utf8.h"
#include "services/cel/field_names.h"
#include "services/cel/lexer.h"
#include "services/cel/macros.h"

namespace shiplog::cel {
namespace {

using NodePtr = std::unique_ptr<CelNode>;
using NodeKind = CelNode::Kind;

struct BinaryOperator {
  std::string_view symbol;
  CelOperator operation;
  const char* name;
};

constexpr std::array<BinaryOperator, 7> kRelations = {{{"==", CelOperator::kEqual, "_==_"},
                                                       {"!=", CelOperator::kNotEqual, "_!=_"},
                                                       {"<", CelOperator::kLess, "_<_"},
                                                       {"<=", CelOperator::kLessOrEqual, "_<=_"},
                                                       {">", CelOperator::kGreater, "_>_"},
                                                       {">=", CelOperator::kGreaterOrEqual, "_>=_"},
                                                       {"in", CelOperator::kIn, "@in"}}};
constexpr std::array<BinaryOperator, 2> kSums = {
    {{"+", CelOperator::kAdd, "_+_"}, {"-", CelOperator::kSubtract, "_-_"}}};
constexpr std::array<BinaryOperator, 3> kProducts = {
    {{"*", CelOperator::kMultiply, "_*_"}, {"/", CelOperator::kDivide, "_/_"}, {"%", CelOperator::kModulo, "_%_"}}};

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_{text}, lexer_{text} { advance(); }

  Result<NodePtr> parse() {
    NodePtr node = expression();
    if (node != nullptr && token_.kind != CelToken::Kind::kEnd) node = unexpected("<EOF>");
    if (node == nullptr) return Error{ErrorCode::kInvalid, issue_text(text_, error_offset_, error_)};
    return node;
  }

 private:
  NodePtr fail(size_t offset, std::string message) {
    // The first error counts: later ones follow from it.
    if (error_.empty()) {
      error_ = std::move(message);
      error_offset_ = offset;
    }
    return nullptr;
  }

  NodePtr unexpected(std::string_view wanted) {
    if (token_.kind == CelToken::Kind::kError) return fail(token_.offset, token_.text);
    const bool literal = token_.kind == CelToken::Kind::kLiteral || token_.kind == CelToken::Kind::kInteger;
    const std::string found = literal ? "a literal" : "'" + token_.text + "'";
    return fail(token_.offset, "Syntax error: mismatched input " + found + " expecting " + std::string{wanted});
  }

  void advance() { token_ = lexer_.next(); }
  bool is_symbol(std::string_view symbol) const {
    return token_.kind == CelToken::Kind::kSymbol && token_.text == symbol;
  }
  bool take(std::string_view symbol) {
    if (!is_symbol(symbol)) return false;
    advance();
    return true;
  }
  bool is_word(std::string_view word) const {
    return token_.kind == CelToken::Kind::kIdentifier && token_.text == word;
  }

  NodePtr make(NodeKind kind, size_t offset, std::vector<NodePtr> children = {}) {
    auto node = std::make_unique<CelNode>();
    node->kind = kind;
    node->offset = offset;
    for (const NodePtr& child : children) {
      if (child == nullptr) return nullptr;
      node->height = std::max(node->height, child->height + 1);
    }
    if (node->height > kDeepestExpression) {
      return fail(offset, "expression recursion limit exceeded: " + std::to_string(kDeepestExpression));
    }
    node->children = std::move(children);
    return node;
  }
  template <class... Nodes>
  static std::vector<NodePtr> nodes(Nodes... each) {
    std::vector<NodePtr> all;
    (all.push_back(std::move(each)), ...);
    return all;
  }

  NodePtr expression() {
    if (++depth_ > kDeepestExpression) {
      return fail(token_.offset, "expression recursion limit exceeded: " + std::to_string(kDeepestExpression));
    }
    NodePtr node = chain(NodeKind::kOr, "||");
    if (node != nullptr && is_symbol("?")) {
      const size_t offset = token_.offset;
      advance();
      NodePtr chosen = chain(NodeKind::kOr, "||");
      if (chosen == nullptr) return nullptr;
      if (!take(":")) return unexpected("':'");
      NodePtr other = expression();
      node = make(NodeKind::kConditional, offset, nodes(std::move(node), std::move(chosen), std::move(other)));
      if (node != nullptr) node->name = "_?_:_";
    }
    --depth_;
    return node;
  }

  /// Operands of && or || in one node: any order of evaluation gives the same result.
  NodePtr chain(NodeKind kind, std::string_view symbol) {
    std::vector<NodePtr> operands;
    size_t offset = token_.offset;
    do {
      if (!operands.empty()) {
        offset = token_.offset;
        advance();
      }
      NodePtr operand = kind == NodeKind::kOr ? chain(NodeKind::kAnd, "&&") : relation();
      if (operand == nullptr) return nullptr;
      operands.push_back(std::move(operand));
    } while (is_symbol(symbol));
    if (operands.size() == 1) return std::move(operands[0]);
    NodePtr node = make(kind, offset, std::move(operands));
    if (node != nullptr) node->name = kind == NodeKind::kOr ? "_||_" : "_&&_";
    return node;
  }

  template <size_t N>
  const BinaryOperator* found_in(const std::array<BinaryOperator, N>& operators) const {
    for (const BinaryOperator& each : operators) {
      if (is_symbol(each.symbol) || (each.symbol == "in" && is_word("in"))) return &each;
    }
    return nullptr;
  }

  template <size_t N, class Operand>
  NodePtr left_associative(const std::array<BinaryOperator, N>& operators, Operand operand) {
    NodePtr left = operand();
    while (left != nullptr) {
      const BinaryOperator* found = found_in(operators);
      if (found == nullptr) break;
      const size_t offset = token_.offset;
      advance();
      NodePtr right = operand();
      left = make(NodeKind::kOperator, offset, nodes(std::move(left), std::move(right)));
      if (left == nullptr) break;
      left->operation = found->operation;
      left->name = found->name;
    }
    return left;
  }

  NodePtr relation() {
    return left_associative(kRelations, [this] { return sum(); });
  }
  NodePtr sum() {
    return left_associative(kSums, [this] { return product(); });
  }
  NodePtr product() {
    return left_associative(kProducts, [this] { return unary(); });
  }

  NodePtr unary() {
    if (!is_symbol("!") && !is_symbol("-")) return member();
    const std::string symbol = token_.text;
    const size_t offset = token_.offset;
    size_t count = 0;
    for (; is_symbol(symbol); advance()) ++count;
    if (symbol == "-" && is_number()) return negative_number(offset, count);
    NodePtr operand = member();
    // Two of them cancel each other out, as in upstream's parser.
    if (operand == nullptr || count % 2 == 0) return operand;
    NodePtr node = make(NodeKind::kOperator, offset, nodes(std::move(operand)));
    if (node == nullptr) return nullptr;
    node->operation = symbol == "!" ? CelOperator::kNot : CelOperator::kNegate;
    node->name = symbol == "!" ? "!_" : "-_";
    return node;
  }

  bool is_number() const {
    return token_.kind == CelToken::Kind::kInteger ||
           (token_.kind == CelToken::Kind::kLiteral && token_.value.is(CelValue::Kind::kDouble));
  }

  /// The minus belongs to the literal: -9223372036854775808 is an int.
  NodePtr negative_number(size_t offset, size_t count) {
    const bool negative = count % 2 == 1;
    if (token_.minimum_int && !negative) return fail(token_.offset, "invalid int literal");
    NodePtr node = make(NodeKind::kLiteral, offset);
    node->literal = token_.value;
    if (negative && token_.value.is(CelValue::Kind::kDouble)) node->literal = CelValue::real(-token_.value.as_double());
    if (negative && token_.value.is(CelValue::Kind::kInt) && !token_.minimum_int) {
      node->literal = CelValue::integer(-token_.value.as_int());
    }
    advance();
    return selections(std::move(node));
  }

  NodePtr member() { return selections(primary()); }

  NodePtr selections(NodePtr node) {
    while (node != nullptr) {
      const size_t offset = token_.offset;
      if (take(".")) {
        node = selection(std::move(node), offset);
      } else if (take("[")) {
        const bool optional = take("?");
        NodePtr index = expression();
        if (index != nullptr && !take("]")) index = unexpected("']'");
        node = make(NodeKind::kIndex, offset, nodes(std::move(node), std::move(index)));
        if (node == nullptr) break;
        node->optional = optional;
        node->name = optional ? "_[?_]" : "_[_]";
      } else if (is_symbol("{") && is_qualified_name(*node)) {
        node = object(*node);
      } else {
        break;
      }
    }
    return node;
  }

  /// "a.b.c", which may be the name of a type.
  static bool is_qualified_name(const CelNode& node) {
    if (node.kind == NodeKind::kIdentifier) return true;
    return node.kind == NodeKind::kSelect && !node.optional && is_qualified_name(*node.children[0]);
  }

  static std::string qualified_name(const CelNode& node) {
    return node.kind == NodeKind::kIdentifier ? node.name : qualified_name(*node.children[0]) + "." + node.name;
  }

  NodePtr object(const CelNode& type) {
    NodePtr node = entries(NodeKind::kObject, [this]() -> NodePtr {
      if (token_.kind != CelToken::Kind::kIdentifier || token_.text == "in" || is_literal_word(token_.text)) {
        return unexpected("IDENTIFIER");
      }
      NodePtr field = make(NodeKind::kLiteral, token_.offset);
      field->literal = CelValue::string(token_.text);
      advance();
      return field;
    });
    if (node != nullptr) node->name = qualified_name(type);
    return node;
  }

  NodePtr selection(NodePtr target, size_t offset) {
    const bool optional = take("?");
    if (token_.kind != CelToken::Kind::kIdentifier) return unexpected("IDENTIFIER");
    const CelToken name = token_;
    advance();
    if (!optional && is_symbol("(")) {
      const size_t open = token_.offset;
      auto arguments = argument_list();
      if (!arguments) return nullptr;
      return call(name.text, open, std::move(target), std::move(*arguments));
    }
    if (name.text == "in" || is_literal_word(name.text)) {
      return fail(name.offset, "Syntax error: no viable alternative at input '." + name.text + "'");
    }
    NodePtr node = make(NodeKind::kSelect, offset, nodes(std::move(target)));
    if (node == nullptr) return nullptr;
    node->name = name.text;
    node->optional = optional;
    return node;
  }

  static bool is_literal_word(std::string_view word) { return word == "true" || word == "false" || word == "null"; }

  NodePtr call(const std::string& name, size_t offset, NodePtr target, std::vector<NodePtr> arguments) {
    const bool member = target != nullptr;
    std::vector<NodePtr> children;
    if (member) children.push_back(std::move(target));
    std::ranges::move(arguments, std::back_inserter(children));
    NodePtr node = make(NodeKind::kCall, offset, std::move(children));
    if (node == nullptr) return nullptr;
    node->name = name;
    node->member = member;
    if (auto wrong = expand_macro(*node)) return fail(wrong->offset, wrong->message);
    return node;
  }

  /// In brackets; nullopt: the error is recorded.
  std::optional<std::vector<NodePtr>> argument_list() {
    std::vector<NodePtr> arguments;
    advance();  // "("
    while (!is_symbol(")")) {
      if (!arguments.empty() && !take(",")) {
        unexpected("')'");
        return std::nullopt;
      }
      NodePtr argument = expression();
      if (argument == nullptr) return std::nullopt;
      arguments.push_back(std::move(argument));
    }
    advance();
    return arguments;
  }

  NodePtr primary() {
    const CelToken token = token_;
    if (token.kind == CelToken::Kind::kLiteral || token.kind == CelToken::Kind::kInteger) {
      if (token.minimum_int) return fail(token.offset, "invalid int literal");
      advance();
      NodePtr node = make(NodeKind::kLiteral, token.offset);
      node->literal = token.value;
      return node;
    }
    if (take("(")) {
      NodePtr node = expression();
      if (node != nullptr && !take(")")) node = unexpected("')'");
      return node;
    }
    if (is_symbol("[")) return list();
    if (is_symbol("{")) return map();
    if (is_symbol(".")) advance();
    if (token_.kind != CelToken::Kind::kIdentifier) return unexpected("an expression");
    return identifier();
  }

  NodePtr identifier() {
    const CelToken token = token_;
    advance();
    if (is_literal_word(token.text)) {
      NodePtr node = make(NodeKind::kLiteral, token.offset);
      if (token.text != "null") node->literal = CelValue::boolean(token.text == "true");
      return node;
    }
    if (is_reserved_word(token.text)) return fail(token.offset, "reserved identifier: " + token.text);
    if (is_symbol("(")) {
      const size_t open = token_.offset;
      auto arguments = argument_list();
      if (!arguments) return nullptr;
      return call(token.text, open, nullptr, std::move(*arguments));
    }
    NodePtr node = make(NodeKind::kIdentifier, token.offset);
    node->name = token.text;
    return node;
  }

  NodePtr list() {
    const size_t offset = token_.offset;
    advance();
    std::vector<NodePtr> items;
    std::vector<bool> optional;
    while (!is_symbol("]")) {
      if (!items.empty()) {
        if (!take(",")) return unexpected("']'");
        if (is_symbol("]")) break;
      }
      optional.push_back(take("?"));
      NodePtr item = expression();
      if (item == nullptr) return nullptr;
      items.push_back(std::move(item));
    }
    advance();
    NodePtr node = make(NodeKind::kList, offset, std::move(items));
    if (node != nullptr && std::ranges::find(optional, true) != optional.end()) {
      node->optional_entries = std::move(optional);
    }
    return node;
  }

  NodePtr map() {
    return entries(NodeKind::kMap, [this] { return expression(); });
  }

  template <class Key>
  NodePtr entries(NodeKind kind, Key read_key) {
    const size_t offset = token_.offset;
    advance();
    std::vector<NodePtr> entries;
    std::vector<bool> optional;
    while (!is_symbol("}")) {
      if (!entries.empty()) {
        if (!take(",")) return unexpected("'}'");
        if (is_symbol("}")) break;
      }
      optional.push_back(take("?"));
      NodePtr key = read_key();
      if (key == nullptr) return nullptr;
      if (!take(":")) return unexpected("':'");
      NodePtr value = expression();
      if (value == nullptr) return nullptr;
      entries.push_back(std::move(key));
      entries.push_back(std::move(value));
    }
    advance();
    NodePtr node = make(kind, offset, std::move(entries));
    if (node != nullptr && std::ranges::find(optional, true) != optional.end()) {
      node->optional_entries = std::move(optional);
    }
    return node;
  }

  std::string_view text_;
  CelLexer lexer_;
  CelToken token_;
  size_t depth_ = 0;
  std::string error_;
  size_t error_offset_ = 0;
};

}  // namespace

Result<std::unique_ptr<CelNode>> parse_expression(std::string_view text) {
  if (text.size() > kLongestExpression) {
    return Error{ErrorCode::kInvalid, "expression code point size exceeds limit: size: " + std::to_string(text.size()) +
                                          ", limit " + std::to_string(kLongestExpression)};
  }
  if (!is_utf8(text)) return Error{ErrorCode::kInvalid, "the expression is not well-formed UTF-8"};
  return ExpressionParser{text}.parse();
}

std::string issue_text(std::string_view text, size_t offset, std::string_view message) {
  offset = std::min(offset, text.size());
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(offset), '\n'));
  const size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  const size_t column = code_points(text.substr(begin, offset - begin));
  const std::string issue =
      "ERROR: <input>:" + std::to_string(lines + 1) + ":" + std::to_string(column + 1) + ": " + std::string{message};
  constexpr size_t kLongestShownLine = 16'384;  // as cel-go has it
  if (line.size() > kLongestShownLine) return issue;
  return issue + "\n | " + std::string{line} + "\n | " + std::string(column, '.') + "^";
}

}  // namespace shiplog::cel
