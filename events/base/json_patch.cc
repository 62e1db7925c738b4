#include "events/base/json_patch.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "events/base/json.h"
#include "events/base/utf8.h"

// RFC 6902 over RFC 6901 pointers.

namespace shiplog {
namespace {

constexpr size_t kMostOperations = 10'000;
/// What the copy operations of one patch may add; as much as a whole request may weigh. Without a bound, copying an
/// object into itself thirty times makes a gigabyte of it.
constexpr size_t kMostCopied = 3U << 20U;
/// What may be looked through in bounding the depth: only a patch that is made to be slow gets there.
constexpr size_t kMostMeasured = 256U << 20U;

struct Measure {
  int depth = 0;
  size_t weight = 0;  // about its bytes
};

Measure measure(const Value& value) {
  Measure whole{0, 8 + value.as_string().size()};
  const auto add = [&](const Value& inner) {
    const Measure below = measure(inner);
    whole.depth = std::max(whole.depth, below.depth + 1);
    whole.weight += below.weight;
  };
  for (const Value& item : value.items()) add(item);
  for (const auto& member : value.members()) {
    add(member.value);
    whole.weight += member.key().size();
  }
  return whole;
}

/// 1 and 1.0 are the same number here, as RFC 6902 section 4.6 asks.
bool same(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number() && a.kind() != b.kind()) return a.as_double() == b.as_double();
  if (a.kind() != b.kind() || a.size() != b.size()) return false;
  if (a.is_array()) return std::equal(a.items().begin(), a.items().end(), b.items().begin(), same);
  if (!a.is_object()) return a == b;
  return std::equal(a.members().begin(), a.members().end(), b.members().begin(),
                    [](const auto& x, const auto& y) { return x.key() == y.key() && same(x.value, y.value); });
}

using Pointer = JsonPointer;

std::optional<size_t> array_index(const std::string& step) {
  if (step.empty() || step.size() > 9 || (step.size() > 1 && step.front() == '0')) return std::nullopt;
  size_t index = 0;
  for (const char c : step) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<size_t>(c - '0');
  }
  return index;
}

/// The container a pointer ends in, for writing; the pointer is known to lead to one.
Value& container_for(Value& document, const Pointer& pointer) {
  Value* here = &document;
  for (size_t i = 0; i + 1 < pointer.size(); ++i) {
    here = here->is_array() ? &here->edit_items()[array_index(pointer[i]).value_or(0)] : &here->edit(pointer[i]);
  }
  return *here;
}

class Patcher {
 public:
  explicit Patcher(const Value& object) : document_{object}, depth_{measure(object).depth} {}

  Result<void> apply(const Value& operation, size_t index) {
    at_ = "operation " + std::to_string(index);
    if (!operation.is_object()) return malformed("must be an object");
    op_ = operation["op"].str();
    SHIPLOG_TRY(const Pointer path, pointer_of(operation, "path"));
    if (op_ == "remove") return remove(path);
    if (op_ == "move" || op_ == "copy") {
      SHIPLOG_TRY(const Pointer from, pointer_of(operation, "from"));
      return op_ == "move" ? move(from, path) : copy(from, path);
    }
    if (op_ != "add" && op_ != "replace" && op_ != "test") {
      return malformed("op " + quoted(op_) + " is none of add, remove, replace, move, copy and test");
    }
    const Value* value = operation.find("value");
    if (value == nullptr) return malformed("has no value");
    if (op_ == "test") return test(path, *value);
    return op_ == "add" ? add(path, *value, measure(*value).depth) : replace(path, *value);
  }

  Value take() { return std::move(document_); }

 private:
  Error malformed(const std::string& why) const {
    return {ErrorCode::kBadRequest, "the JSON patch cannot be read: " + at_ + " " + why};
  }
  Error fails(const Pointer& path, const std::string& why) const {
    std::string text;
    for (const std::string& step : path) text += "/" + step;
    return {ErrorCode::kInvalid,
            "the JSON patch cannot be applied: " + at_ + " (" + op_ + " \"" + printable(text, 253) + "\"): " + why};
  }

  Result<Pointer> pointer_of(const Value& operation, const char* field) const {
    const Value& text = operation[field];
    if (!text.is_string()) return malformed(std::string{"has no "} + field);
    auto pointer = parse_json_pointer(text.as_string());
    if (!pointer) return malformed(std::string{"has a "} + field + " that is no JSON pointer: " + quoted(text.str()));
    if (pointer->size() > static_cast<size_t>(kMaxJsonDepth)) return fails(*pointer, "the path is too deep");
    return *std::move(pointer);
  }

  /// `depth`: at least that of `value`.
  Result<void> add(const Pointer& path, const Value& value, int depth) {
    if (path.empty()) {
      document_ = value;
    } else {
      const Value* parent = find_at(document_, Pointer{path.begin(), path.end() - 1});
      if (parent == nullptr) return fails(path, "there is no such place");
      const std::string& last = path.back();
      if (parent->is_array()) {
        const auto index = last == "-" ? std::optional{parent->size()} : array_index(last);
        if (!index || *index > parent->size()) return fails(path, "there is no such index");
        auto& items = container_for(document_, path).edit_items();
        items.insert(items.begin() + static_cast<std::ptrdiff_t>(*index), value);
      } else if (parent->is_object()) {
        container_for(document_, path).set(last, value);
      } else {
        return fails(path, "what it leads into is neither an object nor a list");
      }
    }
    return bound_depth(path, depth);
  }

  Result<void> remove(const Pointer& path) {
    if (path.empty()) return fails(path, "the whole object cannot be removed");
    if (find_at(document_, path) == nullptr) return fails(path, "there is nothing at the path");
    Value& parent = container_for(document_, path);
    if (parent.is_array()) {
      auto& items = parent.edit_items();
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(array_index(path.back()).value_or(0)));
    } else {
      parent.erase(path.back());
    }
    return ok();
  }

  Result<void> replace(const Pointer& path, const Value& value) {
    if (find_at(document_, path) == nullptr) return fails(path, "there is nothing at the path");
    if (path.empty()) {
      document_ = value;
    } else {
      Value& parent = container_for(document_, path);
      if (parent.is_array()) {
        parent.edit_items()[array_index(path.back()).value_or(0)] = value;
      } else {
        parent.set(path.back(), value);
      }
    }
    return bound_depth(path, measure(value).depth);
  }

  Result<void> move(const Pointer& from, const Pointer& path) {
    if (path.size() > from.size() && std::equal(from.begin(), from.end(), path.begin())) {
      return fails(path, "a value cannot be moved into itself");
    }
    const Value* found = find_at(document_, from);
    if (found == nullptr) return fails(from, "there is nothing to move");
    if (from == path) return ok();
    const Value value = *found;
    SHIPLOG_TRY(remove(from));
    return add(path, value, depth_);
  }

  Result<void> copy(const Pointer& from, const Pointer& path) {
    const Value* found = find_at(document_, from);
    if (found == nullptr) return fails(from, "there is nothing to copy");
    const Value value = *found;
    const Measure size = measure(value);
    copied_ += size.weight;
    if (copied_ > kMostCopied) return Error{ErrorCode::kTooLarge, "the JSON patch copies more than 3 MiB"};
    return add(path, value, size.depth);
  }

  Result<void> test(const Pointer& path, const Value& value) {
    const Value* found = find_at(document_, path);
    if (found == nullptr) return fails(path, "there is nothing at the path");
    if (!same(*found, value)) return fails(path, "the value differs");
    return ok();
  }

  /// Keeps an upper bound of the document's depth, and looks at the whole of it only when that is not good enough.
  Result<void> bound_depth(const Pointer& path, int depth) {
    depth_ = std::max(depth_, static_cast<int>(path.size()) + depth);
    if (depth_ < kMaxJsonDepth) return ok();
    const Measure whole = measure(document_);
    depth_ = whole.depth;
    measured_ += whole.weight;
    if (depth_ >= kMaxJsonDepth) return fails(path, "the object becomes too deep");
    if (measured_ > kMostMeasured) return Error{ErrorCode::kTooLarge, "the JSON patch takes too much work"};
    return ok();
  }

  Value document_;
  int depth_;
  size_t copied_ = 0;
  size_t measured_ = 0;
  std::string at_, op_;
};

}  // namespace

std::optional<JsonPointer> parse_json_pointer(std::string_view text) {
  JsonPointer steps;
  if (text.empty()) return steps;
  if (text.front() != '/') return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      steps.emplace_back();
    } else if (text[i] == '~') {
      ++i;
      if (i == text.size() || (text[i] != '0' && text[i] != '1')) return std::nullopt;
      steps.back() += text[i] == '0' ? '~' : '/';
    } else {
      steps.back() += text[i];
    }
  }
  return steps;
}

const Value* find_at(const Value& document, const JsonPointer& pointer) {
  const Value* here = &document;
  for (const std::string& step : pointer) {
    if (here->is_array()) {
      const auto index = array_index(step);
      if (!index || *index >= here->size()) return nullptr;
      here = &(*here)[*index];
    } else {
      here = here->find(step);
      if (here == nullptr) return nullptr;
    }
  }
  return here;
}

Value& edit_at(Value& document, const JsonPointer& pointer) {
  Value* here = &document;
  for (const std::string& step : pointer) {
    here = here->is_array() ? &here->edit_items()[array_index(step).value_or(0)] : &here->edit(step);
  }
  return *here;
}

Result<Value> apply_json_patch(const Value& object, const Value& patch) {
  if (!patch.is_array()) return Error{ErrorCode::kBadRequest, "a JSON patch must be a list of operations"};
  if (patch.size() > kMostOperations) {
    return Error{ErrorCode::kTooLarge, "The allowed maximum operations in a JSON patch is " +
                                           std::to_string(kMostOperations) + ", got " + std::to_string(patch.size())};
  }
  Patcher patcher{object};
  size_t index = 0;
  for (const Value& operation : patch.items()) {
    SHIPLOG_TRY(patcher.apply(operation, index++));
  }
  return patcher.take();
}

}  // namespace shiplog
