#pragma once

#include <string>
#include <string_view>
#include <vector>

// Addresses that are accepted as older versions of Kubernetes wrote them, in the words of those that only warn of them.
// Source: GetWarningsForIP and GetWarningsForCIDR in apimachinery's validation package. What is no address is not
// named.

namespace shiplog::api {

void warn_of_ip(const std::string& field, std::string_view text, std::vector<std::string>& warnings);
void warn_of_cidr(const std::string& field, std::string_view text, std::vector<std::string>& warnings);

}  // namespace shiplog::api
