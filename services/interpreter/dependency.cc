#include "services/interpreter/interpreter.h"

namespace shiplog::interpreter {

Value to_value(const std::vector<Dependency>& dependencies) {
  Value list = Value::array();
  for (const Dependency& dependency : dependencies) {
    Value item = Value::object({{"apiVersion", dependency.api_version}, {"kind", dependency.kind}});
    if (!dependency.ns.empty()) item.set("namespace", dependency.ns);
    if (!dependency.name.empty()) item.set("name", dependency.name);
    if (!dependency.label_selector.is_null()) item.set("labelSelector", dependency.label_selector);
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace shiplog::interpreter
