#pragma once

#include <string>
#include <vector>

#include "events/base/value.h"

namespace shiplog::api {

inline std::vector<std::string> texts_of(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& item : list.items()) texts.push_back(item.str());
  return texts;
}

inline Value list_of(const std::vector<std::string>& texts) {
  Value list = Value::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

}  // namespace shiplog::api
