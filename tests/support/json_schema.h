#pragma once

#include <regex>
#include <string>
#include <vector>

#include "events/base/json.h"
#include "events/base/value.h"

namespace shiplog::test {

/// The keywords of JSON Schema that the schemas of events use. One that is not among them is an error, so that a schema
/// never requires what nothing checks.
class JsonSchema {
 public:
  /// What is wrong with a value: "data.event.status: not of type integer".
  static std::vector<std::string> errors(const Value& schema, const Value& value) {
    JsonSchema check;
    check.visit(schema, value, "");
    return check.errors_;
  }

 private:
  void wrong(const std::string& path, const std::string& what) { errors_.push_back(path + ": " + what); }

  static bool has_type(std::string_view type, const Value& value) {
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "integer" && value.is_int()) ||
           (type == "boolean" && value.is_bool()) || (type == "null" && value.is_null());
  }

  void visit(const Value& schema, const Value& value, const std::string& path) {
    for (const auto& keyword : schema.members()) visit_keyword(keyword.key(), keyword.value, schema, value, path);
  }

  void visit_keyword(std::string_view name, const Value& wanted, const Value& schema, const Value& value,
                     const std::string& path) {
    if (name == "type") {
      bool fits = has_type(wanted.as_string(), value);
      for (const Value& type : wanted.items()) fits |= has_type(type.as_string(), value);
      if (!fits) wrong(path, "not of type " + to_json(wanted));
    } else if (name == "const") {
      if (value != wanted) wrong(path, "not " + to_json(wanted));
    } else if (name == "enum") {
      bool found = false;
      for (const Value& item : wanted.items()) found |= item == value;
      if (!found) wrong(path, "not one of " + to_json(wanted));
    } else if (name == "pattern") {
      if (value.is_string() && !std::regex_search(value.str(), std::regex{wanted.str()})) wrong(path, "no match");
    } else if (name == "required") {
      for (const Value& member : wanted.items()) {
        if (value.is_object() && !value.contains(member.as_string())) wrong(path, member.str() + " is missing");
      }
    } else if (name == "properties") {
      for (const auto& property : wanted.members()) {
        if (const Value* member = value.find(property.key())) {
          visit(property.value, *member, path + "." + std::string{property.key()});
        }
      }
      // Not a rule of the schema, but of the test: a member that no property describes is a mistake.
      for (const auto& member : value.members()) {
        if (!wanted.contains(member.key())) wrong(path, std::string{member.key()} + " is not described");
      }
    } else if (name == "items") {
      for (const Value& item : value.items()) visit(wanted, item, path + "[]");
    } else if (name != "$schema" && name != "$id" && name != "title" && name != "description") {
      wrong(path, "the keyword " + std::string{name} + " is not checked: " + to_json(schema));
    }
  }

  std::vector<std::string> errors_;
};

}  // namespace shiplog::test
