#include "services/adapters/members/members.h"

namespace shiplog {

std::string MemberResponse::message() const {
  if (body.is_string()) return body.str();
  if (const auto text = body["message"].as_string(); !text.empty()) return std::string{text};
  return "HTTP status " + std::to_string(status);
}

}  // namespace shiplog
