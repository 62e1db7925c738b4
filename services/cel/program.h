#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "services/cel/cel_function.h"

namespace shiplog::cel {

struct CelNode;

/// A variable that expressions may use.
struct CelVariable {
  std::string name;
  CelType type;
};

/// What expressions may use.
struct CelEnvironment {
  const CelFunctions* functions = nullptr;  ///< kubernetes_functions(); outlives the programs
  std::vector<CelVariable> variables;
  bool patch_types = false;  ///< whether they may make objects of the types in patch_object.h
};

/// An expression that was read and checked. Immutable: any number of threads may evaluate it.
class CelProgram {
 public:
  /// Reads `text` and checks its types. Error: kInvalid; the message is that of cel-go: "ERROR: <input>:1:5: undefined
  /// field 'x'", the line, and a mark below the place, for each error.
  static Result<CelProgram> compile(std::string_view text, const CelEnvironment& environment);

  const CelType& type() const { return type_; }
  /// Whether it names that variable of the environment.
  bool uses(std::string_view variable) const;
  /// Bytes that the regular expressions in it take.
  size_t memory() const { return memory_; }

  /// `variables` are those of the environment, in its order. An error value if the evaluation ends in one; "operation
  /// cancelled: actual cost limit exceeded" once `meter` is exceeded.
  CelValue evaluate(std::span<const CelValue> variables, CelMeter& meter) const;

 private:
  CelProgram() = default;
  std::shared_ptr<const CelNode> root_;
  CelType type_;
  size_t slots_ = 0;
  size_t memory_ = 0;
  std::vector<std::string> used_;
};

/// How the error of an exceeded meter begins.
constexpr std::string_view kCostLimitExceeded = "operation cancelled: actual cost limit exceeded";

}  // namespace shiplog::cel
