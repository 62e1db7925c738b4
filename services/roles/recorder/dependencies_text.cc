#include "services/roles/recorder/dependencies_text.h"

namespace shiplog::recorder {
namespace {

/// As Go prints a *LabelSelector with %+v.
std::string selector_text(const Value& selector) {
  if (selector.is_null()) return "nil";
  std::string text = "&LabelSelector{MatchLabels:map[string]string{";
  for (const auto& label : selector["matchLabels"].members()) {
    text += std::string{label.key()} + ": " + label.value.str() + ",";
  }
  text += "},MatchExpressions:[]LabelSelectorRequirement{";
  for (const Value& requirement : selector["matchExpressions"].items()) {
    text += "LabelSelectorRequirement{Key:" + requirement["key"].str() + ",Operator:" + requirement["operator"].str() +
            ",Values:[";
    for (const Value& value : requirement["values"].items()) text += (text.ends_with('[') ? "" : " ") + value.str();
    text += "],},";
  }
  return text + "},}";
}

}  // namespace

std::string dependencies_text(const Value& list) {
  std::string text = "[";
  for (const Value& item : list.items()) {
    if (text.size() > 1) text += " ";
    text += "{APIVersion:" + item["apiVersion"].str() + " Kind:" + item["kind"].str() +
            " Namespace:" + item["namespace"].str() + " Name:" + item["name"].str() +
            " LabelSelector:" + selector_text(item["labelSelector"]) + "}";
  }
  return text + "]";
}

}  // namespace shiplog::recorder
