#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"

namespace shiplog::cel {

/// A URL as Go's net/url reads it (RFC 3986), because Kubernetes does.
struct GoUrl {
  std::string scheme;  ///< lower case
  std::string opaque;
  std::string user;  ///< as written, before the "@"
  bool has_user = false;
  std::string host;  ///< with the port, escapes resolved
  std::string path;  ///< escapes kept, where they are valid
  std::string query;
  bool has_query = false;
  std::string fragment;
  bool operator==(const GoUrl&) const = default;

  std::string hostname() const;
  std::string port() const;
};

/// An absolute URL or an absolute path, which may have a fragment. Error: kInvalid, as url.ParseRequestURI words it.
Result<GoUrl> parse_go_url(std::string_view text);

/// The parameters of a query; what cannot be read is left out.
std::map<std::string, std::vector<std::string>> go_query(std::string_view query);

}  // namespace shiplog::cel
