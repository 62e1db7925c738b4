#pragma once

#include <iosfwd>
#include <string>

#include "events/base/value.h"

namespace shiplog::ctl {

/// Prints `document` as "json" or "yaml". False: `output` is neither, and nothing is printed.
bool print_document(const Value& document, const std::string& output, std::ostream& out);

/// The lines of -o name: "deployment.apps/nginx" of each object in `items`, each once. An object is a Kubernetes
/// object, or has `apiVersion`, `kind` and `name`.
void print_names(const Value& items, std::ostream& out);

/// "deployment.apps/nginx", as kubectl prints -o name.
std::string resource_name(const std::string& api_version, const std::string& kind, const std::string& name);

}  // namespace shiplog::ctl
