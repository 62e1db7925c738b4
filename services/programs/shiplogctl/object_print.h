#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::ctl {

/// The forms of output that show whole objects instead of a table: "json", "yaml", "name", "jsonpath=TEMPLATE",
/// "jsonpath-file=FILE", "custom-columns=SPEC", "custom-columns-file=FILE".
class ObjectPrinter {
 public:
  /// Errors: kBadRequest, no such form; kInvalid, the template cannot be read; kIo.
  static Result<ObjectPrinter> make(const std::string& output, bool no_headers);
  /// False for the forms that are tables: "" and "wide".
  static bool prints_objects(const std::string& output) { return !output.empty() && output != "wide"; }

  /// Prints the objects: as a List, or, if `single`, the only object itself.
  Result<void> print(const std::vector<Value>& objects, bool single, std::ostream& out) const;
  /// Prints the next object of a stream, as of a watch: YAML as a document of its own, headers before the first.
  Result<void> print_next(const Value& object, std::ostream& out);

 private:
  struct CustomColumn {
    std::string heading, path;
  };
  Result<void> print_columns(const std::vector<Value>& objects, bool headers, std::ostream& out) const;

  std::string form_;      // without the argument
  std::string template_;  // of jsonpath
  std::vector<CustomColumn> columns_;
  bool no_headers_ = false;
  bool streamed_ = false;  // an object of a stream was printed
};

/// The columns of "NAME:.metadata.name,IMAGE:.spec.containers[0].image". Error: kInvalid.
Result<std::vector<std::pair<std::string, std::string>>> parse_custom_columns(const std::string& spec);
/// Those of a file for custom-columns-file: a line of headers, and a line with a path for each. Error: kInvalid.
Result<std::vector<std::pair<std::string, std::string>>> parse_custom_columns_file(const std::string& text);

}  // namespace shiplog::ctl
