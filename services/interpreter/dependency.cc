#include "services/interpreter/interpreter.h"

namespace shiplog::interpreter {

Value to_value(const std::vector<Dependency>& dependencies) {
  Value list = Value::array();
  for (const Dependency& one : dependencies) {
    Value item = Value::object({{"apiVersion", one.api_version}, {"kind", one.kind}});
    if (!one.ns.empty()) item.set("namespace", one.ns);
    if (!one.name.empty()) item.set("name", one.name);
    if (!one.label_selector.is_null()) item.set("labelSelector", one.label_selector);
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace shiplog::interpreter
