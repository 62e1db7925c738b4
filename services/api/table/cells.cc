#include "services/api/table/cells.h"

namespace shiplog::api {

std::string age(const Value& timestamp, UtcMillis now) {
  if (timestamp.is_empty()) return "<unknown>";
  const auto time = parse_rfc3339(timestamp.as_string());
  return time ? human_duration(now - time.value()) : "<unknown>";
}

std::string age_of(const Value& object, UtcMillis now) { return age(object["metadata"]["creationTimestamp"], now); }

std::string or_none(std::string_view text) { return text.empty() ? "<none>" : std::string{text}; }

std::string joined(const std::vector<std::string>& texts, const char* separator) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : separator) + text;
  return all;
}

std::string labels_text(const Value& labels) {
  std::vector<std::string> pairs;
  for (const auto& label : labels.members()) pairs.push_back(std::string{label.key()} + "=" + label.value.str());
  return or_none(joined(pairs));
}

std::string selector_text(const Value& selector) {
  std::vector<std::string> parts;
  for (const auto& label : selector["matchLabels"].members()) {
    parts.push_back(std::string{label.key()} + "=" + label.value.str());
  }
  for (const Value& requirement : selector["matchExpressions"].items()) {
    const std::string key = requirement["key"].str();
    const std::string_view op = requirement["operator"].as_string();
    std::vector<std::string> values;
    for (const Value& value : requirement["values"].items()) values.push_back(value.str());
    if (op == "Exists") parts.push_back(key);
    if (op == "DoesNotExist") parts.push_back("!" + key);
    if (op == "In") parts.push_back(key + " in (" + joined(values) + ")");
    if (op == "NotIn") parts.push_back(key + " notin (" + joined(values) + ")");
  }
  return or_none(joined(parts));
}

std::string names_of(const Value& containers) {
  std::vector<std::string> names;
  for (const Value& container : containers.items()) names.push_back(container["name"].str());
  return joined(names);
}

std::string images_of(const Value& containers) {
  std::vector<std::string> images;
  for (const Value& container : containers.items()) images.push_back(container["image"].str());
  return joined(images);
}

std::string access_modes(const Value& modes) {
  static constexpr std::pair<std::string_view, const char*> kModes[] = {
      {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> texts;
  for (const auto& [mode, text] : kModes) {
    for (const Value& each : modes.items()) {
      if (each.as_string() != mode) continue;
      texts.emplace_back(text);
      break;
    }
  }
  return joined(texts);
}

}  // namespace shiplog::api
