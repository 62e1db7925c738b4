#include "services/api/aggregation/front_proxy.h"

#include <string>
#include <string_view>
#include <vector>

namespace shiplog::api {
namespace {

constexpr std::string_view kPrefix = "X-Remote-";

}  // namespace

User aggregator_user() {
  User user;
  user.name = "system:kube-aggregator";
  user.groups = {std::string{kMastersGroup}};
  return user;
}

void remove_remote_user(HttpHeaders& headers) {
  std::erase_if(headers.all(), [](const HttpHeaders::Field& field) {
    return field.first.size() >= kPrefix.size() &&
           equal_ignoring_case(std::string_view{field.first}.substr(0, kPrefix.size()), kPrefix);
  });
}

void set_remote_user(HttpHeaders& headers, const User& user) {
  remove_remote_user(headers);
  headers.add("X-Remote-User", user.name);
  if (!user.uid.empty()) headers.add("X-Remote-Uid", user.uid);
  for (const std::string& group : user.groups) headers.add("X-Remote-Group", group);
  for (const auto& [key, values] : user.extra) {
    // Keys may hold what header names may not: the reader decodes them.
    for (const std::string& value : values) headers.add("X-Remote-Extra-" + percent_encode(key), value);
  }
}

}  // namespace shiplog::api
