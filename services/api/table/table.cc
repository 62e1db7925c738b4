#include "services/api/table/table.h"

#include <cmath>

#include "events/base/json.h"
#include "services/api/table/cells.h"
#include "services/api/table/json_path.h"

namespace shiplog::api {
namespace {

const Printer* printer_of(const Kind& kind) {
  const std::string type = kind.type();
  for (const auto* printers : {&workload_printers(), &core_printers(), &network_printers(), &server_printers()}) {
    for (const Printer& printer : *printers) {
      if (printer.type == type) return &printer;
    }
  }
  return nullptr;
}

/// Kinds described by JSON paths print these; without any, their age.
const std::vector<PrintColumn>& columns_of(const Kind& kind) {
  static constexpr const char* kCreated =
      "CreationTimestamp is a timestamp representing the server time when this object was created. It is not "
      "guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is "
      "represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
      "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
  static const std::vector<PrintColumn> kDefault = {{.name = "Age",
                                                     .type = "date",
                                                     .format = "",
                                                     .description = kCreated,
                                                     .priority = 0,
                                                     .json_path = ".metadata.creationTimestamp"}};
  return kind.columns.empty() ? kDefault : kind.columns;
}

Value definition(std::string_view name, std::string_view type, std::string_view format, std::string_view description,
                 int64_t priority) {
  return Value::object({{"name", name},
                        {"type", type},
                        {"format", format},
                        {"description", description.empty() ? name : description},
                        {"priority", priority}});
}

Value definitions(const Kind& kind, const Printer* printer) {
  Value columns = Value::array();
  if (printer != nullptr) {
    for (const Column& column : printer->columns) {
      columns.push_back(definition(column.name, column.type, column.format, "", column.priority));
    }
    return columns;
  }
  const std::string by_path = "Custom resource definition column (in JSONPath format): ";
  columns.push_back(definition("Name", "string", "name", "Name of the object, unique within its namespace.", 0));
  for (const PrintColumn& column : columns_of(kind)) {
    const std::string& described = column.description;
    columns.push_back(definition(column.name, column.type, column.format,
                                 described.empty() ? by_path + column.json_path : described, column.priority));
  }
  return columns;
}

/// Without its fraction. Of what is beyond 64 bits there is none.
Value whole_part(const Value& number) {
  if (number.is_int()) return number;
  const double whole = std::trunc(number.as_double());
  return std::abs(whole) < 0x1p63 ? Value{static_cast<int64_t>(whole)} : Value{};
}

/// TBL-9: the first result, as the column's type; null when there is none.
Value cell(const PrintColumn& column, const Value& object, UtcMillis now) {
  const auto found = json_path(object, column.json_path);
  if (found.empty() || found.front()->is_null()) return Value{};
  const Value& value = *found.front();
  if (column.type == "date") {
    const auto time = parse_rfc3339(value.as_string());
    return time ? human_duration(now - time.value()) : std::string{"<invalid>"};
  }
  if (column.type == "integer") return value.is_number() ? whole_part(value) : Value{};
  if (column.type == "number") return value.is_number() ? value : Value{};
  if (column.type == "boolean") return value.is_bool() ? value : Value{};
  return value.is_string() ? value : Value{to_json(value)};
}

TableRow row_of(const Kind& kind, const Printer* printer, const Value& object, UtcMillis now) {
  TableRow row;
  if (printer != nullptr) {
    printer->print(object, now, row);
    return row;
  }
  row.cells.push_back(object["metadata"]["name"]);
  for (const PrintColumn& column : columns_of(kind)) {
    Value shown = cell(column, object, now);
    // Of the built-in kinds false is left out of the object only.
    if (shown.is_null() && kind.builtin && column.type == "boolean") shown = false;
    row.cells.push_back(std::move(shown));
  }
  return row;
}

}  // namespace

const Kind& scale_kind() {
  static const Kind kScale = [] {
    Kind kind;
    kind.group = "autoscaling";
    kind.version = "v1";
    kind.kind = "Scale";
    kind.plural = "scales";
    return kind;
  }();
  return kScale;
}

Value partial_metadata(const Value& object, const std::string& api_version) {
  return Value::object(
      {{"kind", "PartialObjectMetadata"}, {"apiVersion", api_version}, {"metadata", object["metadata"]}});
}

Value table_of(const Kind& kind, std::span<const Value> objects, IncludeObject include, UtcMillis now,
               const std::string& api_version, bool with_columns) {
  const Printer* printer = printer_of(kind);
  Value table = Value::object({{"kind", "Table"}, {"apiVersion", api_version}, {"metadata", Value::object()}});
  table.set("columnDefinitions", with_columns ? definitions(kind, printer) : Value{});
  Value::Array rows;
  rows.reserve(objects.size());
  for (const Value& object : objects) {
    TableRow printed = row_of(kind, printer, object, now);
    Value row = Value::object({{"cells", std::move(printed.cells)}});
    if (printed.conditions.size() > 0) row.set("conditions", std::move(printed.conditions));
    if (include == IncludeObject::kObject) {
      row.set("object", object);
    } else {
      row.set("object", include == IncludeObject::kMetadata ? partial_metadata(object, api_version) : Value{});
    }
    rows.push_back(std::move(row));
  }
  table.set("rows", Value::array(std::move(rows)));
  return table;
}

}  // namespace shiplog::api
