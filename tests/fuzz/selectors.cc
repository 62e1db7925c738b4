#include "events/base/check.h"
#include "services/api/selector/selector.h"
#include "tests/fuzz/fuzz.h"

namespace shiplog {
namespace {

/// A selector in its text form.
std::string written(const api::ParsedLabelSelector& selector) {
  std::string text;
  for (const auto& [key, op, values] : selector.requirements) {
    if (!text.empty()) text += ',';
    if (op == "!") text += '!';
    text += key;
    if (op == "gt") text += ">" + values.front();
    if (op == "lt") text += "<" + values.front();
    if (op != "in" && op != "notin") continue;
    text += " " + op + " (";
    for (size_t i = 0; i < values.size(); ++i) text += (i > 0 ? "," : "") + values[i];
    text += ')';
  }
  return text;
}

void check_label_selector(std::string_view text, const Value& labels) {
  const auto selector = api::parse_label_selector(text);
  if (!selector) {
    SHIPLOG_CHECK(selector.error().code == ErrorCode::kBadRequest, "an invalid label selector is a bad request");
    return;
  }
  const auto again = api::parse_label_selector(written(selector.value()));
  SHIPLOG_CHECK(again.has_value(), "a label selector can be written and read again");
  SHIPLOG_CHECK(written(again.value()) == written(selector.value()), "and has the same meaning");
  SHIPLOG_CHECK(again.value().matches(labels) == selector.value().matches(labels), "and selects the same");
  for (const auto& requirement : selector.value().requirements) {
    api::ParsedLabelSelector positive{{requirement}};
    api::ParsedLabelSelector negative{{requirement}};
    if (requirement.op == "in") negative.requirements[0].op = "notin";
    if (requirement.op == "exists") negative.requirements[0].op = "!";
    if (negative.requirements[0].op == requirement.op) continue;
    SHIPLOG_CHECK(positive.matches(labels) != negative.matches(labels), "a requirement or its opposite holds");
  }
}

/// `text` as a value in a field selector.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == ',' || c == '=') result += '\\';
    result += c;
  }
  return result;
}

void check_field_selector(std::string_view text, const Value& object) {
  const Kind& kind = fuzz::kind_of(object);
  const auto selector = api::parse_field_selector(text, kind);
  if (!selector) {
    SHIPLOG_CHECK(selector.error().code == ErrorCode::kBadRequest, "an invalid field selector is a bad request");
    return;
  }
  std::string again;
  for (const auto& term : selector.value().terms) {
    again += (again.empty() ? "" : ",") + term.path + (term.equal ? "=" : "!=") + escaped(term.value);
    api::FieldSelector selector_of_term{{term}};
    api::FieldSelector other{{term}};
    other.terms[0].equal = !term.equal;
    SHIPLOG_CHECK(selector_of_term.matches(object) != other.matches(object), "either a term or its negation matches");
  }
  const auto parsed = api::parse_field_selector(again, kind);
  SHIPLOG_CHECK(parsed && parsed.value().terms.size() == selector.value().terms.size(),
                "a field selector can be written and read again");
  for (size_t i = 0; i < parsed.value().terms.size(); ++i) {
    const auto& a = parsed.value().terms[i];
    const auto& b = selector.value().terms[i];
    SHIPLOG_CHECK(a.path == b.path && a.equal == b.equal && a.value == b.value, "and has the same meaning");
  }
}

void check_continue_token(std::string_view text) {
  const auto token = api::parse_continue_token(text);
  if (!token) return;
  const auto again = api::parse_continue_token(api::encode(token.value()));
  SHIPLOG_CHECK(again.has_value(), "a token can be written and read again");
  SHIPLOG_CHECK(again.value().revision == token.value().revision && again.value().ns == token.value().ns &&
                    again.value().name == token.value().name,
                "and has the same meaning");
}

}  // namespace

// A label selector, a field selector, a continue token, and the object that they are evaluated on.
SHIPLOG_FUZZ_TARGET(selectors) {
  const auto part = fuzz::parts(input, 4);
  const Value object = fuzz::json_or_null(part[3]);
  check_label_selector(part[0], object["metadata"]["labels"]);
  check_field_selector(part[1], object);
  check_continue_token(part[2]);
}

}  // namespace shiplog
