#include "events/base/utf8.h"
#include "services/cel/library/declare.h"
#include "services/cel/library/go_url.h"
#include "services/cel/library/libraries.h"

// url of Kubernetes. Source: k8s.io/apiserver/pkg/cel/library/urls.go, cost.go.

namespace shiplog::cel {
namespace {

const std::string kUrl = "kubernetes.URL";

CelValue url_from(std::string_view text) {
  auto url = parse_go_url(text);
  if (!url) return CelValue::error("URL parse error during conversion from string: " + url.error().message);
  return extension_of(kUrl, std::move(url).value(), text.size());
}

CelValue query_of(CelArguments a, CelMeter& meter) {
  const GoUrl& url = held<GoUrl>(a[0]);
  // Upstream counts 1, whatever the length. Two bytes may make an entry of a map, with a list.
  if (!affordable(meter, url.query.size())) return unaffordable();
  std::vector<std::pair<CelValue, CelValue>> entries;
  for (const auto& [key, values] : go_query(url.query))
    entries.emplace_back(CelValue::string(key), string_list(values));
  return CelValue::map(std::move(entries));
}

}  // namespace

void add_url_functions(CelFunctions& functions) {
  const CelType url = CelType::extension(kUrl);
  const CelType string = CelKind::kString;
  functions.add_type(kUrl, url);
  add_function(
      functions, "url", {string}, url, [](CelArguments a, CelMeter&) { return url_from(a[0].as_string()); },
      cost_of_reading(0));
  add_function(
      functions, "isURL", {string}, CelKind::kBool,
      [](CelArguments a, CelMeter&) { return CelValue::boolean(static_cast<bool>(parse_go_url(a[0].as_string()))); },
      cost_of_reading(0));
  const auto add_text = [&](const char* name, std::string (*text)(const GoUrl&)) {
    add_member(functions, name, {url}, string, [text](CelArguments a, CelMeter&) {
      std::string part = text(held<GoUrl>(a[0]));
      if (!is_utf8(part)) return CelValue::error("the escapes of the URL are not UTF-8");
      return CelValue::string(part);
    });
  };
  add_text("getScheme", [](const GoUrl& from) { return from.scheme; });
  add_text("getHost", [](const GoUrl& from) { return from.host; });
  add_text("getHostname", [](const GoUrl& from) { return from.hostname(); });
  add_text("getPort", [](const GoUrl& from) { return from.port(); });
  add_text("getEscapedPath", [](const GoUrl& from) { return from.path; });
  add_member(functions, "getQuery", {url}, CelType::map(string, CelType::list(string)), query_of);
}

}  // namespace shiplog::cel
