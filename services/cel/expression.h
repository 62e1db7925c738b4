#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "services/cel/cel_function.h"

namespace shiplog::cel {

/// What a macro with a variable for each item computes.
enum class CelMacro : uint8_t {
  kAll,
  kExists,
  kExistsOne,
  kFilter,
  kMap,                ///< map(x, [condition,] result) and transformList(i, x, [condition,] result)
  kTransformMap,       ///< transformMap(k, v, [condition,] value)
  kTransformMapEntry,  ///< transformMapEntry(k, v, [condition,] {key: value})
  kSortBy,             ///< sortBy(x, key)
  kOptionalMap,        ///< optMap(x, result)
  kOptionalFlatMap,    ///< optFlatMap(x, optional)
};

enum class CelOperator : uint8_t {
  kNot,
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,
};

/// A part of an expression. The checker fills in what is below "resolved".
struct CelNode {
  enum class Kind : uint8_t {
    kLiteral,
    kIdentifier,  ///< name
    kSelect,      ///< children[0].name
    kPresence,    ///< has(children[0].name)
    kIndex,       ///< children[0][children[1]]
    kCall,        ///< name(children...); a member call's receiver is children[0]
    kOperator,    ///< of `operation`; name is the language's, e.g. "_==_"
    kAnd,
    kOr,
    kConditional,  ///< children[0] ? children[1] : children[2]
    kList,
    kMap,     ///< key, value, key, value, ...
    kObject,  ///< name{field: value, ...}: as a map, whose keys are literals
    kMacro,   ///< children: the range; the condition if `has_condition`; the result unless it is the condition
  };

  Kind kind = Kind::kLiteral;
  size_t offset = 0;  ///< in bytes of the expression's text
  size_t height = 1;  ///< of the tree below it
  std::string name;
  CelValue literal;
  std::vector<std::unique_ptr<CelNode>> children;
  CelOperator operation = CelOperator::kNot;
  bool member = false;                 ///< of a call
  bool optional = false;               ///< a.?b, a[?b]
  std::vector<bool> optional_entries;  ///< of a list, map or object: [?a], {?k: v}; empty: none is
  CelMacro macro = CelMacro::kAll;
  std::vector<std::string> variables;  ///< of a macro: one or two
  bool has_condition = false;          ///< of a macro with a result

  // Resolved:
  size_t slot = 0;                            ///< of an identifier: which variable; of a macro: its first variable
  bool is_type = false;                       ///< an identifier that names a type; `literal` has it
  std::vector<const CelOverload*> overloads;  ///< of a call
  CelImplementation prepared;                 ///< of a call with a literal argument that its overload prepares
};

}  // namespace shiplog::cel
