#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog::api {

/// A column as a Table defines it.
struct Column {
  const char* name;
  const char* type = "string";
  int priority = 0;
  const char* format = "";
};

// Columns of most kinds.
inline constexpr Column kName{"Name", "string", 0, "name"};
inline constexpr Column kAge{"Age"};

/// One row in the making.
struct TableRow {
  Value cells = Value::array();
  Value conditions = Value::array();
};

/// How a built-in kind is printed.
struct Printer {
  std::string_view type;  ///< "deployments.apps"
  std::vector<Column> columns;
  void (*print)(const Value& object, UtcMillis now, TableRow& row);
};

const std::vector<Printer>& workload_printers();
const std::vector<Printer>& core_printers();
const std::vector<Printer>& network_printers();
const std::vector<Printer>& server_printers();

// Pieces of cells.
std::string age(const Value& timestamp, UtcMillis now);  ///< "<unknown>" without a timestamp (TBL-5)
std::string age_of(const Value& object, UtcMillis now);
std::string or_none(std::string_view text);  ///< "<none>" for nothing
std::string joined(const std::vector<std::string>& texts, const char* separator = ",");
std::string selector_text(const Value& selector);  ///< of a LabelSelector
std::string labels_text(const Value& labels);      ///< "a=b,c=d"
std::string names_of(const Value& containers);
std::string images_of(const Value& containers);
std::string access_modes(const Value& modes);  ///< "RWO,RWX"

void print_pod(const Value& pod, UtcMillis now, TableRow& row);

}  // namespace shiplog::api
