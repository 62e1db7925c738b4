#pragma once

#include <string>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/http/client_target.h"

namespace shiplog {

/// Address, proxy and TLS options of a member, by the `spec` of its Cluster: `apiEndpoint`,
/// `insecureSkipTLSVerification`, `proxyURL` and `proxyHeader` (values are split at commas). It has no credentials yet.
ClientTarget member_target(const Value& spec);

/// Takes over `caBundle`, `token`, `client-certificate-data`, `client-key-data` and `tls-server-name` of an opened
/// Secret, those that it has. Error: kInvalid, naming cluster and field.
Result<void> add_credentials(const std::string& cluster, const Value& secret, ClientTarget& target);

/// The fields of `spec` that member_target() reads, as text: a client is made anew when it changes.
std::string route_of(const Value& spec);

}  // namespace shiplog
