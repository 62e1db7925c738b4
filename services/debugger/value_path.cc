#include "services/debugger/value_path.h"

#include <charconv>

#include "events/base/json.h"
#include "events/base/utf8.h"

namespace shiplog::debugger {
namespace {

Error at_column_of_path(size_t at, const std::string& words) {
  return {ErrorCode::kBadRequest, "column " + std::to_string(at + 1) + " of the path: " + words};
}

/// As it is compared in [name=member1].
std::string scalar_text(const Value& value) { return value.is_string() ? value.str() : to_json(value); }

}  // namespace

Result<ValuePath> ValuePath::parse(std::string_view text) {
  if (text.size() > kLongest) return Error{ErrorCode::kBadRequest, "the path is longer than 1024 bytes"};
  if (!text.starts_with('.')) return at_column_of_path(0, "a path begins with a dot, as .spec.replicas");
  ValuePath path;
  path.text_ = text;
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '[') {
      SHIPLOG_TRY(path.parse_brackets(text, at));
      continue;
    }
    if (text[at] != '.') return at_column_of_path(at, "expected a dot or [");
    ++at;
    if (at < text.size() && text[at] == '[') continue;
    const size_t end = std::min(text.find_first_of(".[", at), text.size());
    if (end == at) return at_column_of_path(at, "expected the name of a field");
    path.steps_.push_back({Step::Kind::kMember, std::string{text.substr(at, end - at)}, "", 0});
    at = end;
  }
  return path;
}

Result<void> ValuePath::parse_brackets(std::string_view text, size_t& at) {
  const size_t begin = at + 1;
  if (begin < text.size() && (text[begin] == '"' || text[begin] == '\'')) {
    const size_t end = text.find(text[begin], begin + 1);
    if (end == std::string_view::npos || end + 1 >= text.size() || text[end + 1] != ']') {
      return at_column_of_path(begin, "the quoted name does not end in " + std::string{text[begin]} + "]");
    }
    steps_.push_back({Step::Kind::kMember, std::string{text.substr(begin + 1, end - begin - 1)}, "", 0});
    at = end + 2;
    return ok();
  }
  const size_t end = text.find(']', begin);
  if (end == std::string_view::npos) return at_column_of_path(at, "[ is not closed");
  const std::string_view inside = text.substr(begin, end - begin);
  at = end + 1;
  if (inside == "*") {
    steps_.push_back({Step::Kind::kAll, "", "", 0});
    return ok();
  }
  if (const size_t equals = inside.find('='); equals != std::string_view::npos && equals > 0) {
    steps_.push_back(
        {Step::Kind::kMatching, std::string{inside.substr(0, equals)}, std::string{inside.substr(equals + 1)}, 0});
    return ok();
  }
  size_t index = 0;
  const auto [last, failed] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  if (failed != std::errc{} || last != inside.data() + inside.size()) {
    return at_column_of_path(begin, "expected an index, *, KEY=VALUE or a name in quotes");
  }
  steps_.push_back({Step::Kind::kIndex, "", "", index});
  return ok();
}

void ValuePath::follow(const Value& from, const Step& step, std::vector<const Value*>& into) {
  const auto add = [&](const Value& value) {
    if (!value.is_null() && into.size() < kMostValues) into.push_back(&value);
  };
  switch (step.kind) {
    case Step::Kind::kMember:
      add(from[step.name]);
      break;
    case Step::Kind::kIndex:
      if (step.index < from.items().size()) add(from.items()[step.index]);
      break;
    case Step::Kind::kAll:
      for (const Value& each : from.items()) add(each);
      for (const Value::Member& each : from.members()) add(each.value);
      break;
    case Step::Kind::kMatching:
      for (const Value& each : from.items()) {
        if (const Value* key = each.find(step.name); key != nullptr && scalar_text(*key) == step.value) add(each);
      }
      break;
  }
}

std::vector<const Value*> ValuePath::values(const Value& root) const {
  std::vector<const Value*> found;
  if (!root.is_null()) found.push_back(&root);
  for (const Step& step : steps_) {
    std::vector<const Value*> next;
    for (const Value* each : found) follow(*each, step, next);
    found = std::move(next);
  }
  return found;
}

Result<Value*> ValuePath::item(Value& of, const Step& step) const {
  if (!of.is_array()) return Error{ErrorCode::kBadRequest, text_ + ": there is no list at an index"};
  const auto items = of.items();
  size_t index = step.index;
  if (step.kind == Step::Kind::kMatching) {
    index = 0;
    while (index < items.size() && scalar_text(items[index][step.name]) != step.value) ++index;
  }
  if (index >= items.size()) {
    return Error{ErrorCode::kBadRequest,
                 text_ + ": there is no such item in a list of " + std::to_string(items.size())};
  }
  return &of.edit_items()[index];
}

Result<Value*> ValuePath::parent_for_writing(Value& root) const {
  Value* at = &root;
  for (size_t index = 0; index < steps_.size(); ++index) {
    const Step& step = steps_[index];
    if (step.kind == Step::Kind::kAll) {
      return Error{ErrorCode::kBadRequest, text_ + ": one field is changed at a time, so [*] cannot be used here"};
    }
    if (index + 1 == steps_.size()) break;
    if (step.kind == Step::Kind::kMember) {
      if (!at->is_object() && !at->is_null()) {
        return Error{ErrorCode::kBadRequest, text_ + ": " + quoted(step.name) + " is looked for in what is no object"};
      }
      at = &at->edit(step.name);
    } else {
      SHIPLOG_TRY(at, item(*at, step));
    }
  }
  return at;
}

Result<void> ValuePath::set(Value& root, Value value) const {
  if (steps_.empty()) return Error{ErrorCode::kBadRequest, "the path is empty"};
  SHIPLOG_TRY(Value * parent, parent_for_writing(root));
  const Step& last = steps_.back();
  if (last.kind != Step::Kind::kMember) {
    SHIPLOG_TRY(Value * place, item(*parent, last));
    *place = std::move(value);
    return ok();
  }
  if (!parent->is_object() && !parent->is_null()) {
    return Error{ErrorCode::kBadRequest, text_ + ": " + quoted(last.name) + " cannot be set in what is no object"};
  }
  parent->set(last.name, std::move(value));
  return ok();
}

Result<void> ValuePath::erase(Value& root) const {
  if (steps_.empty()) return Error{ErrorCode::kBadRequest, "the path is empty"};
  if (values(root).empty()) return Error{ErrorCode::kNotFound, text_ + " is not there"};
  SHIPLOG_TRY(Value * parent, parent_for_writing(root));
  const Step& last = steps_.back();
  if (last.kind == Step::Kind::kMember) {
    parent->erase(last.name);
    return ok();
  }
  SHIPLOG_TRY(Value * place, item(*parent, last));
  auto& items = parent->edit_items();
  items.erase(items.begin() + (place - items.data()));
  return ok();
}

}  // namespace shiplog::debugger
