#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"

namespace shiplog {

/// A parameter of a predefined query.
struct SavedParameter {
  std::string name;
  std::string fallback;  ///< its value if none is given; `required` ones have none
  std::string meaning;
  bool required = false;
  bool number = false;
};

/// A predefined query over sql_views(), which users run by name and read to learn from.
struct SavedQuery {
  std::string name;
  std::string question;  ///< what it answers
  std::vector<SavedParameter> parameters;
  std::string statement;
};

/// All of them, in the order in which they are listed.
const std::vector<SavedQuery>& saved_queries();
/// Error: kNotFound, naming those that there are.
Result<const SavedQuery*> find_saved_query(std::string_view name);

}  // namespace shiplog
