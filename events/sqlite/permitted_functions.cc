#include "events/sqlite/permitted_functions.h"

#include <functional>
#include <set>
#include <string>

namespace shiplog::sqlite {

bool is_permitted_function(std::string_view name) {
  static const std::set<std::string, std::less<>> names = {
      // plain
      "abs", "char", "coalesce", "glob", "hex", "ifnull", "iif", "instr", "length", "like", "likelihood", "likely",
      "unlikely", "lower", "max", "min", "nullif", "quote", "replace", "round", "sign", "substr", "substring", "typeof",
      "unicode", "upper", "ceil", "ceiling", "floor", "trunc", "ln", "log", "log10", "log2", "exp", "pow", "power",
      "sqrt", "mod",
      // time
      "date", "time", "datetime", "julianday", "strftime", "unixepoch",
      // aggregates and windows
      "avg", "count", "group_concat", "sum", "total", "row_number", "rank", "dense_rank", "percent_rank", "cume_dist",
      "ntile", "lag", "lead", "first_value", "last_value", "nth_value",
      // JSON
      "json", "json_array", "json_array_length", "json_extract", "json_object", "json_type", "json_valid", "json_quote",
      "json_group_array", "json_group_object", "->", "->>"};
  return names.contains(name);
}

}  // namespace shiplog::sqlite
