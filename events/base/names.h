#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shiplog {

/// What is wrong with a name, in Kubernetes' words; nullopt: nothing. Source: apimachinery's validation package.
using Problem = std::optional<std::string>;

Problem subdomain_problem(std::string_view text);       ///< RFC 1123 subdomain: most objects' names
Problem label_problem(std::string_view text);           ///< RFC 1123 label: namespaces, containers, clusters
Problem service_name_problem(std::string_view text);    ///< RFC 1035 label
Problem path_segment_problem(std::string_view text);    ///< RBAC objects' names
Problem qualified_name_problem(std::string_view text);  ///< label keys, finalizers
Problem label_value_problem(std::string_view text);
Problem config_key_problem(std::string_view text);  ///< keys of ConfigMaps and Secrets

}  // namespace shiplog
