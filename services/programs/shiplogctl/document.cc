#include "services/programs/shiplogctl/document.h"

#include <ostream>
#include <set>

#include "events/base/api_version.h"
#include "events/base/ascii.h"
#include "events/base/json.h"
#include "events/base/yaml.h"

namespace shiplog::ctl {

bool print_document(const Value& document, const std::string& output, std::ostream& out) {
  if (output == "json") {
    out << to_pretty_json(document) << std::endl;
  } else if (output == "yaml") {
    const std::string text = to_yaml(document);
    out << text << (text.ends_with('\n') ? "" : "\n") << std::flush;
  } else {
    return false;
  }
  return true;
}

std::string resource_name(const std::string& api_version, const std::string& kind, const std::string& name) {
  const std::string group{split_api_version(api_version).group};
  return lower_case(kind) + (group.empty() ? "" : "." + group) + "/" + name;
}

void print_names(const Value& items, std::ostream& out) {
  std::set<std::string> printed;
  for (const Value& item : items.items()) {
    const std::string name = item.contains("name") ? item["name"].str() : item["metadata"]["name"].str();
    const std::string line = resource_name(item["apiVersion"].str(), item["kind"].str(), name);
    if (printed.insert(line).second) out << line << "\n";
  }
  out << std::flush;
}

}  // namespace shiplog::ctl
