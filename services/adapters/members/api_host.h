#pragma once

#include <string>

namespace shiplog {

/// "10.0.0.1:6443" of "https://10.0.0.1:6443/path": the label `host` of metrics about members.
inline std::string host_of_url(const std::string& url) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  return url.substr(begin, url.find('/', begin) - begin);
}

}  // namespace shiplog
