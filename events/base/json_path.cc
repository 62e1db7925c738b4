#include "events/base/json_path.h"

#include <algorithm>

#include "events/base/json.h"

namespace shiplog {
namespace {

using Found = std::vector<const Value*>;

/// One evaluation. Every value that is looked at counts, so that no template takes longer than its limit allows,
/// whatever it is applied to.
class JsonPathWalk {
 public:
  JsonPathWalk(const Value& root, const JsonPathTemplate::Evaluation& how) : root_{root}, how_{how} {}

  Result<void> print(const std::vector<JsonPathPart>& parts, const Value& here) {
    for (const JsonPathPart& part : parts) {
      if (!part.path) {
        SHIPLOG_TRY(append(part.text));
        continue;
      }
      auto followed = follow(part.steps, part.from_root ? root_ : here);
      if (!followed && how_.allow_missing && followed.error().code == ErrorCode::kNotFound) continue;
      SHIPLOG_TRY(const Found found, std::move(followed));
      if (part.range) {
        for (const Value* item : found) {
          SHIPLOG_TRY(print(part.repeated, *item));
        }
        continue;
      }
      for (size_t i = 0; i < found.size(); ++i) {
        if (i > 0) {
          SHIPLOG_TRY(append(" "));
        }
        SHIPLOG_TRY(append(found[i]->is_string() ? found[i]->str() : to_json(*found[i])));
      }
    }
    return ok();
  }

  std::string take() { return std::move(text_); }

 private:
  Result<Found> follow(const std::vector<JsonPathStep>& steps, const Value& from) {
    Found here{&from};
    for (const JsonPathStep& step : steps) {
      Found next;
      SHIPLOG_TRY(take_step(step, here, next));
      here = std::move(next);
    }
    return here;
  }

  Result<void> take_step(const JsonPathStep& step, const Found& here, Found& next) {
    switch (step.kind) {
      case JsonPathStep::Kind::kField: {
        for (const Value* value : here) {
          SHIPLOG_TRY(visit());
          const Value* member = value->find(step.name);
          if (member != nullptr && !member->is_null()) next.push_back(member);
        }
        // Nothing to look in, as after a filter that lets no item through, is no missing key.
        if (next.empty() && !here.empty()) return missing(step.name + " is not found");
        return ok();
      }
      case JsonPathStep::Kind::kAllChildren: {
        for (const Value* value : here) {
          SHIPLOG_TRY(add_children(*value, next));
        }
        return ok();
      }
      case JsonPathStep::Kind::kDescendants: {
        // A queue in place of recursion: `next` grows while it is read.
        for (const Value* value : here) next.push_back(value);
        for (size_t i = 0; i < next.size(); ++i) {
          SHIPLOG_TRY(add_children(*next[i], next));
        }
        return ok();
      }
      case JsonPathStep::Kind::kSlice: {
        for (const Value* value : here) {
          SHIPLOG_TRY(slice(step, *value, next));
        }
        return ok();
      }
      case JsonPathStep::Kind::kUnion: {
        for (const JsonPathStep& choice : step.choices) {
          SHIPLOG_TRY(take_step(choice, here, next));
        }
        return ok();
      }
      case JsonPathStep::Kind::kFilter: {
        for (const Value* value : here) {
          if (!value->is_array()) return cannot("what is filtered is no list");
          for (const Value& item : value->items()) {
            SHIPLOG_TRY(visit());
            SHIPLOG_TRY(const bool let_through, holds(*step.filter, item));
            if (let_through) next.push_back(&item);
          }
        }
        return ok();
      }
    }
    return ok();
  }

  Result<void> add_children(const Value& value, Found& next) {
    for (const Value& item : value.items()) {
      SHIPLOG_TRY(visit());
      if (!item.is_null()) next.push_back(&item);
    }
    for (const auto& member : value.members()) {
      SHIPLOG_TRY(visit());
      if (!member.value.is_null()) next.push_back(&member.value);
    }
    return ok();
  }

  Result<void> slice(const JsonPathStep& step, const Value& value, Found& next) {
    SHIPLOG_TRY(visit());
    if (!value.is_array()) return cannot("what is indexed is no list");
    const auto size = static_cast<int64_t>(value.size());
    const auto counted = [&](int64_t index) { return index < 0 ? index + size : index; };
    if (step.single) {
      const int64_t index = counted(*step.from);
      if (index < 0 || index >= size) {
        return missing("array index out of bounds: index " + std::to_string(*step.from) + ", length " +
                       std::to_string(size));
      }
      next.push_back(&value[index]);
      return ok();
    }
    const int64_t from = std::max<int64_t>(0, counted(step.from.value_or(0)));
    const int64_t to = std::min(size, step.to ? counted(*step.to) : size);
    for (int64_t index = from; index < to; ++index) {
      SHIPLOG_TRY(visit());
      if ((index - from) % step.by == 0) next.push_back(&value[index]);
    }
    return ok();
  }

  Result<bool> holds(const JsonPathFilter& filter, const Value& item) {
    const auto left = operand(filter.left, item);
    if (filter.op.empty()) {
      if (!left && left.error().code == ErrorCode::kTooLarge) return left.error();
      return left.has_value() && !left.value().empty();
    }
    if (!left) return left.error();
    SHIPLOG_TRY(const Found right, operand(filter.right, item));
    if (left.value().size() > 1 || right.size() > 1) return cannot("one side of a comparison has several values");
    if (left.value().empty() || right.empty()) return false;
    return compare(*left.value().front(), filter.op, *right.front());
  }

  Result<Found> operand(const JsonPathOperand& operand, const Value& item) {
    if (operand.literal) return Found{&operand.value};
    return follow(operand.path, operand.from_root ? root_ : item);
  }

  static Result<bool> compare(const Value& left, std::string_view op, const Value& right) {
    // Deep comparisons would cost more than a visit.
    for (const Value* side : {&left, &right}) {
      if (side->is_array() || side->is_object()) return cannot("lists and objects cannot be compared");
    }
    const bool numbers = left.is_int() && right.is_int();
    const bool texts = left.is_string() && right.is_string();
    if (op == "==") return left == right;
    if (op == "!=") return left != right;
    if (!numbers && !texts) return cannot("only two strings or two whole numbers have an order");
    const auto order = numbers ? left.as_int() <=> right.as_int() : left.as_string() <=> right.as_string();
    if (op == "<") return order < 0;
    if (op == "<=") return order <= 0;
    if (op == ">") return order > 0;
    return order >= 0;
  }

  Result<void> visit() {
    if (++visits_ <= how_.visits) return ok();
    return Error{ErrorCode::kTooLarge, "the JSONPath looks at more than " + std::to_string(how_.visits) + " values"};
  }
  Result<void> append(const std::string& more) {
    if (text_.size() + more.size() > how_.text) {
      return Error{ErrorCode::kTooLarge,
                   "what the JSONPath selects has more than " + std::to_string(how_.text) + " bytes"};
    }
    text_ += more;
    return ok();
  }
  static Error missing(std::string what) { return {ErrorCode::kNotFound, std::move(what)}; }
  static Error cannot(std::string what) { return {ErrorCode::kInvalid, std::move(what)}; }

  const Value& root_;
  const JsonPathTemplate::Evaluation& how_;
  std::string text_;
  size_t visits_ = 0;
};

}  // namespace

Result<std::string> JsonPathTemplate::evaluate(const Value& root, const Evaluation& how) const {
  JsonPathWalk walk{root, how};
  SHIPLOG_TRY(walk.print(parts_, root));
  return walk.take();
}

}  // namespace shiplog
