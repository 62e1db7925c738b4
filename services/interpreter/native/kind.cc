#include "services/interpreter/native/native.h"

namespace shiplog::interpreter::native {

std::string kind_of(const Value& object) {
  std::string kind;
  kind.reserve(64);
  kind.append(object["apiVersion"].as_string()).append("/").append(object["kind"].as_string());
  return kind;
}

}  // namespace shiplog::interpreter::native
