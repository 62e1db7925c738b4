#include "services/http/response_head.h"

#include <ctime>
#include <string_view>

namespace shiplog {
namespace {

/// "Sat, 21 Nov 2026 15:31:03 GMT", made once a second and thread.
const std::string& http_date() {
  thread_local std::time_t made_for = 0;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now != made_for) {
    std::tm parts = {};
    ::gmtime_r(&now, &parts);
    char buffer[40];
    text.assign(buffer, std::strftime(buffer, sizeof buffer, "%a, %d %b %Y %H:%M:%S GMT", &parts));
    made_for = now;
  }
  return text;
}

/// A header's value may hold text of a user's (a warning that names a field): it must not end the line.
void append_line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name);
  out += ": ";
  for (const char c : value) out.push_back(c == '\r' || c == '\n' || c == '\0' ? ' ' : c);
  out += "\r\n";
}

}  // namespace

std::string response_head(int status, const HttpHeaders& headers, const std::string& framing,
                          const std::string& connection) {
  std::string out;
  out.reserve(256);
  out += "HTTP/1.1 " + std::to_string(status) + " " + reason_phrase(status) + "\r\n";
  append_line(out, "Date", http_date());
  for (const auto& [name, value] : headers.all()) {
    const bool ours = equal_ignoring_case(name, "Content-Length") || equal_ignoring_case(name, "Transfer-Encoding") ||
                      equal_ignoring_case(name, "Connection") || equal_ignoring_case(name, "Date");
    if (!ours) append_line(out, name, value);
  }
  out += framing;
  if (!connection.empty()) append_line(out, "Connection", connection);
  out += "\r\n";
  return out;
}

}  // namespace shiplog
