#include "services/cel/library/go_url.h"

#include <algorithm>
#include <optional>

#include "events/base/ascii.h"
#include "events/base/percent_encoding.h"
#include "events/base/utf8.h"
#include "services/cel/library/go_text.h"

namespace shiplog::cel {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
int hex_value(char c) { return is_digit(c) ? c - '0' : lower_case(c) - 'a' + 10; }

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

/// Characters that a host may have besides letters, digits and what is not ASCII.
bool fits_host(char c) {
  return static_cast<unsigned char>(c) >= 0x80 || is_letter(c) || is_digit(c) || is_one_of(c, "-_.~!$&'()*+,;=:[]<>\"");
}

Error invalid_escape(std::string_view text) {
  return {ErrorCode::kInvalid, "invalid URL escape " + go_quoted(text.substr(0, std::min<size_t>(3, text.size())))};
}

/// Escapes resolved. `host`: only what is not ASCII may be escaped there.
Result<std::string> unescaped(std::string_view text, bool host, bool plus_is_space = false) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return invalid_escape(text.substr(i));
      if (host && hex_value(text[i + 1]) < 8 && text.substr(i, 3) != "%25") return invalid_escape(text.substr(i));
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else if (host && !fits_host(c)) {
      return Error{ErrorCode::kInvalid, "invalid character " + go_quoted(text.substr(i, 1)) + " in host name"};
    } else {
      out += c == '+' && plus_is_space ? ' ' : c;
    }
  }
  return out;
}

bool is_port(std::string_view text) {
  return text.empty() || (text[0] == ':' && std::ranges::all_of(text.substr(1), is_digit));
}

Result<std::string> read_host(std::string_view host) {
  std::string_view after;
  if (host.starts_with("[")) {
    const size_t end = host.rfind(']');
    if (end == std::string_view::npos) return Error{ErrorCode::kInvalid, "missing ']' in host"};
    after = host.substr(end + 1);
  } else if (const size_t colon = host.rfind(':'); colon != std::string_view::npos) {
    after = host.substr(colon);
  }
  if (!is_port(after)) return Error{ErrorCode::kInvalid, "invalid port " + go_quoted(after) + " after host"};
  return unescaped(host, true);
}

/// The scheme, and the rest in `text`. Error: there is a colon without one.
Result<std::string> take_scheme(std::string_view& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_letter(c)) continue;
    if (is_digit(c) || is_one_of(c, "+-.")) {
      if (i == 0) break;
      continue;
    }
    if (c != ':') break;
    if (i == 0) return Error{ErrorCode::kInvalid, "missing protocol scheme"};
    std::string scheme = lower_case(text.substr(0, i));
    text.remove_prefix(i + 1);
    return scheme;
  }
  return std::string{};
}

Result<void> read_authority(std::string_view authority, GoUrl& url) {
  const size_t at = authority.rfind('@');
  SHIPLOG_TRY(url.host, read_host(at == std::string_view::npos ? authority : authority.substr(at + 1)));
  if (at == std::string_view::npos) return ok();
  const std::string_view user = authority.substr(0, at);
  const bool fits = std::ranges::all_of(
      user, [](char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "-._:~!$&'()*+,;=%@"); });
  if (!fits) return Error{ErrorCode::kInvalid, "net/url: invalid userinfo"};
  SHIPLOG_TRY(const auto plain, unescaped(user, false));
  static_cast<void>(plain);
  url.user = user;
  url.has_user = true;
  return ok();
}

/// Whether a path may stay as it is written.
bool is_valid_path(std::string_view path) {
  return std::ranges::all_of(
      path, [](char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "-_.~!$&'()*+,;=:@[]/%"); });
}

Result<GoUrl> read(std::string_view text, bool with_fragment) {
  GoUrl url;
  std::string_view rest = text;
  if (with_fragment) {
    if (const size_t hash = rest.find('#'); hash != std::string_view::npos) {
      SHIPLOG_TRY(url.fragment, unescaped(rest.substr(hash + 1), false));
      rest = rest.substr(0, hash);
    }
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::ranges::any_of(text, is_control)) {
    return Error{ErrorCode::kInvalid, "net/url: invalid control character in URL"};
  }
  if (rest.empty()) return Error{ErrorCode::kInvalid, "empty url"};
  if (rest == "*") {
    url.path = "*";
    return url;
  }
  SHIPLOG_TRY(url.scheme, take_scheme(rest));
  if (const size_t mark = rest.find('?'); mark != std::string_view::npos) {
    url.has_query = true;
    url.query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  if (!rest.starts_with("/")) {
    if (url.scheme.empty()) return Error{ErrorCode::kInvalid, "invalid URI for request"};
    url.opaque = rest;
    return url;
  }
  if (!url.scheme.empty() && rest.starts_with("//")) {
    rest.remove_prefix(2);
    const size_t slash = std::min(rest.find('/'), rest.size());
    SHIPLOG_TRY(read_authority(rest.substr(0, slash), url));
    rest.remove_prefix(slash);
  }
  SHIPLOG_TRY(const auto plain, unescaped(rest, false));
  url.path = is_valid_path(rest) ? std::string{rest} : percent_encoded(plain, "-_.~$&+,/:;=@");
  return url;
}

}  // namespace

std::string GoUrl::hostname() const {
  std::string name = host;
  const size_t colon = name.rfind(':');
  if (colon != std::string::npos && is_port(std::string_view{name}.substr(colon))) name.resize(colon);
  if (name.starts_with("[") && name.ends_with("]")) name = name.substr(1, name.size() - 2);
  return name;
}

std::string GoUrl::port() const {
  const size_t colon = host.rfind(':');
  if (colon == std::string::npos || !is_port(std::string_view{host}.substr(colon))) return {};
  return host.substr(colon + 1);
}

Result<GoUrl> parse_go_url(std::string_view text) {
  // A request's URI has no fragment: whether it is one is decided with the "#" as a part of it.
  if (const auto request = read(text, false); !request) {
    return Error{ErrorCode::kInvalid, "parse " + go_quoted(text) + ": " + request.error().message};
  }
  auto url = read(text, true);
  if (!url) return Error{ErrorCode::kInvalid, "parse " + go_quoted(text) + ": " + url.error().message};
  return url;
}

std::map<std::string, std::vector<std::string>> go_query(std::string_view query) {
  std::map<std::string, std::vector<std::string>> parameters;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (part.empty() || part.find(';') != std::string_view::npos) continue;
    const size_t equals = std::min(part.find('='), part.size());
    const auto key = unescaped(part.substr(0, equals), false, true);
    const auto value = unescaped(part.substr(std::min(equals + 1, part.size())), false, true);
    // Text that is not UTF-8 is no string of the language.
    if (!key || !value || !is_utf8(key.value()) || !is_utf8(value.value())) continue;
    parameters[key.value()].push_back(value.value());
  }
  return parameters;
}

}  // namespace shiplog::cel
