#pragma once

#include <span>
#include <vector>

#include "services/cel/expression.h"

namespace shiplog::cel {

/// The result of an evaluation that costs more than its limit.
CelValue cost_limit_exceeded();

/// Computes a checked expression. `slots` has the environment's variables in front, and room for those of macros. The
/// recursion is as deep as the expression, which the parser bounds, and below it as the values, which cel_value.h
/// bounds.
class CelEvaluator {
 public:
  CelEvaluator(std::vector<CelValue> slots, CelMeter& meter) : slots_{std::move(slots)}, meter_{meter} {}
  CelValue evaluate(const CelNode& node);

 private:
  CelValue select(const CelNode& node);
  CelValue presence(const CelNode& node);
  CelValue index(const CelNode& node);
  CelValue call(const CelNode& node);
  CelValue operation(const CelNode& node);
  CelValue logic(const CelNode& node);
  CelValue conditional(const CelNode& node);
  CelValue list(const CelNode& node);
  CelValue map(const CelNode& node);
  CelValue object(const CelNode& node);
  CelValue entries(const CelNode& node);
  CelValue literal(const CelNode& node);
  /// A text that is the key of a map is copied and hashed.
  void charge_key(const CelValue& key) { meter_.charge(text_size(key) / 10); }

  // macro_evaluator.cc
  CelValue macro(const CelNode& node);
  /// Puts an item into the variables of a macro.
  void take_item(const CelNode& node, const CelValue& range, const CelValue& key, const CelValue& value);
  CelValue optional_macro(const CelNode& node, const CelValue& target);
  CelValue quantified(const CelNode& node, const CelValue& range);
  CelValue counted_one(const CelNode& node, const CelValue& range);
  CelValue collected(const CelNode& node, const CelValue& range);
  CelValue collected_map(const CelNode& node, const CelValue& range);
  CelValue sorted(const CelNode& node, const CelValue& range);

  std::vector<CelValue> slots_;
  CelMeter& meter_;
  uint64_t literals_ = 0;  // that were evaluated
};

}  // namespace shiplog::cel
