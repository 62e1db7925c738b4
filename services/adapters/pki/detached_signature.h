#pragma once

#include <string>
#include <string_view>

namespace shiplog {

/// A JSON Web Signature (RFC 7515, HS256) of `content` whose payload is left out: "HEADER..SIGNATURE". A reader who
/// knows the secret can verify with it that the content was not changed. Source: how kubeadm signs the ConfigMap
/// cluster-info; clients compare it byte by byte.
std::string detached_signature(std::string_view content, std::string_view key_id, std::string_view secret);

}  // namespace shiplog
