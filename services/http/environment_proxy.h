#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "services/http/client_target.h"

namespace shiplog {

/// A variable of the environment; nullptr: it is not set. std::getenv, or a test's.
using EnvironmentVariable = std::function<const char*(const char* name)>;

/// The proxy that the environment names for a server, as kubectl finds it (Go's http.ProxyFromEnvironment): HTTPS_PROXY
/// or https_proxy for https://, HTTP_PROXY or http_proxy for http://. Empty: none. NO_PROXY or no_proxy is a list of
/// names (with their subdomains; ".x" and "*.x": subdomains only), addresses and networks, each possibly with a port,
/// or
/// "*". The machine itself is never reached through a proxy.
std::string proxy_of_environment(std::string_view server, const EnvironmentVariable& variable);

/// The target, through that proxy if it names none itself.
ClientTarget through_environment_proxy(ClientTarget target, const EnvironmentVariable& variable);

}  // namespace shiplog
