#include "services/api/openapi_names.h"

namespace shiplog::api {
namespace {

/// "work.karmada.io" as "io.karmada.work".
std::string reversed(std::string_view group) {
  std::string text;
  for (size_t end = group.size(); end != std::string_view::npos;) {
    const size_t dot = end == 0 ? std::string_view::npos : group.rfind('.', end - 1);
    const size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    text += (text.empty() ? "" : ".") + std::string{group.substr(begin, end - begin)};
    end = dot;
  }
  return text;
}

/// After the Go package of a built-in kind, and the group of any other.
std::string named_definition(const Kind& kind, const std::string& kind_name) {
  const std::string name = "." + kind.version + "." + kind_name;
  if (!kind.builtin) return reversed(kind.group) + name;
  if (kind.group == "apiextensions.k8s.io") return "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions" + name;
  if (kind.group == "apiregistration.k8s.io") return "io.k8s.kube-aggregator.pkg.apis.apiregistration" + name;
  return "io.k8s.api." + (kind.group.empty() ? "core" : kind.group.substr(0, kind.group.find('.'))) + name;
}

}  // namespace

std::string definition_of(const Kind& kind) { return named_definition(kind, kind.kind); }
std::string list_definition_of(const Kind& kind) { return named_definition(kind, kind.list_kind); }

Value reference_to(std::string_view definition) {
  return Value::object({{"$ref", "#/components/schemas/" + std::string{definition}}});
}

Value group_version_kind(const Kind& kind, const std::string& name) {
  return Value::object({{"group", kind.group}, {"version", kind.version}, {"kind", name}});
}

}  // namespace shiplog::api
