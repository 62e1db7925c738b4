#include "services/http/http.h"

#include <algorithm>
#include <utility>

#include "events/base/ascii.h"
#include "events/base/percent_encoding.h"
#include "events/base/valid_utf8.h"

namespace shiplog {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char l = lower_case(c);
  return l >= 'a' && l <= 'f' ? l - 'a' + 10 : -1;
}

}  // namespace

Result<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return Error{ErrorCode::kBadRequest, "broken percent escape in the request's URL"};
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') return Error{ErrorCode::kBadRequest, "NUL character in the request's URL"};
    out.push_back(c);
  }
  return out;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower_case(x) == lower_case(y); });
}

void HttpHeaders::set(std::string name, std::string value) {
  erase(name);
  add(std::move(name), std::move(value));
}

void HttpHeaders::erase(std::string_view name) {
  std::erase_if(fields_, [&](const Field& field) { return equal_ignoring_case(field.first, name); });
}

const std::string* HttpHeaders::find(std::string_view name) const {
  for (const auto& [key, value] : fields_) {
    if (equal_ignoring_case(key, name)) return &value;
  }
  return nullptr;
}

std::string_view HttpHeaders::get(std::string_view name, std::string_view fallback) const {
  const std::string* value = find(name);
  return value != nullptr ? std::string_view{*value} : fallback;
}

const std::string* HttpRequest::query_value(std::string_view key) const {
  for (const auto& [name, value] : query) {
    if (name == key) return &value;
  }
  return nullptr;
}

Result<void> parse_target(HttpRequest& request) {
  std::string_view rest = request.target;
  // Absolute form ("https://host/path"), which RFC 9112 obliges servers to take.
  if (!rest.starts_with('/')) {
    const size_t scheme_end = rest.find("://");
    if (scheme_end != std::string_view::npos) {
      const size_t slash = rest.find_first_of("/?", scheme_end + 3);
      rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash);
    }
  }
  const size_t mark = rest.find('?');
  SHIPLOG_TRY(const std::string path, percent_decode(rest.substr(0, mark), false));
  request.path = valid_utf8(path);  // it goes into JSON: errors, entries, audit events
  if (request.path.empty()) request.path = "/";
  request.query.clear();
  rest = mark == std::string_view::npos ? std::string_view{} : rest.substr(mark + 1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    SHIPLOG_TRY(const auto key, percent_decode(pair.substr(0, equals), true));
    SHIPLOG_TRY(const auto value, percent_decode(pair.substr(std::min(equals + 1, pair.size())), true));
    request.query.emplace_back(valid_utf8(key), valid_utf8(value));
  }
  return ok();
}

std::string percent_encode(std::string_view text, bool keep_slash) {
  return percent_encoded(text, keep_slash ? "-._~/" : "-._~");
}

std::string encode_target(std::string_view path, const HttpRequest::Query& query) {
  std::string out = percent_encode(path, true);
  if (!out.starts_with('/')) out.insert(0, "/");
  char separator = '?';
  for (const auto& [key, value] : query) {
    out.push_back(separator);
    out += percent_encode(key) + "=" + percent_encode(value);
    separator = '&';
  }
  return out;
}

const char* reason_phrase(int status) {
  static constexpr std::pair<int, const char*> kPhrases[] = {{100, "Continue"},
                                                             {101, "Switching Protocols"},
                                                             {200, "OK"},
                                                             {201, "Created"},
                                                             {202, "Accepted"},
                                                             {204, "No Content"},
                                                             {301, "Moved Permanently"},
                                                             {302, "Found"},
                                                             {304, "Not Modified"},
                                                             {307, "Temporary Redirect"},
                                                             {400, "Bad Request"},
                                                             {401, "Unauthorized"},
                                                             {403, "Forbidden"},
                                                             {404, "Not Found"},
                                                             {405, "Method Not Allowed"},
                                                             {406, "Not Acceptable"},
                                                             {408, "Request Timeout"},
                                                             {409, "Conflict"},
                                                             {410, "Gone"},
                                                             {413, "Request Entity Too Large"},
                                                             {414, "Request URI Too Long"},
                                                             {415, "Unsupported Media Type"},
                                                             {417, "Expectation Failed"},
                                                             {422, "Unprocessable Entity"},
                                                             {429, "Too Many Requests"},
                                                             {431, "Request Header Fields Too Large"},
                                                             {500, "Internal Server Error"},
                                                             {501, "Not Implemented"},
                                                             {503, "Service Unavailable"},
                                                             {504, "Gateway Timeout"}};
  const auto* const found = std::ranges::find(kPhrases, status, &std::pair<int, const char*>::first);
  return found == std::end(kPhrases) ? "Status" : found->second;
}

}  // namespace shiplog
