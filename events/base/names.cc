#include "events/base/names.h"

#include <algorithm>

#include "events/base/ascii.h"

namespace shiplog {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_alphanumeric(char c) { return is_lower(c) || is_digit(c) || is_upper(c); }

bool is_label(std::string_view text) {
  const auto edge = [](char c) { return is_lower(c) || is_digit(c); };
  return !text.empty() && edge(text.front()) && edge(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return edge(c) || c == '-'; });
}

bool is_subdomain(std::string_view text) {
  while (true) {
    const size_t dot = std::min(text.find('.'), text.size());
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == text.size()) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_name_part(std::string_view text) {
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

std::string too_long(size_t most) { return "must be no more than " + std::to_string(most) + " characters"; }

constexpr const char* kSubdomainText =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* kLabelText =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kServiceText =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and "
    "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kQualifiedText =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr const char* kLabelValueText =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr const char* kConfigKeyText =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

}  // namespace

Problem subdomain_problem(std::string_view text) {
  if (text.size() > 253) return too_long(253);
  if (!is_subdomain(text)) return kSubdomainText;
  return std::nullopt;
}

Problem label_problem(std::string_view text) {
  if (text.size() > 63) return too_long(63);
  if (!is_label(text)) return kLabelText;
  return std::nullopt;
}

Problem service_name_problem(std::string_view text) {
  if (text.size() > 63) return too_long(63);
  if (!is_label(text) || !is_lower(text.front())) return kServiceText;
  return std::nullopt;
}

Problem path_segment_problem(std::string_view text) {
  if (text == "." || text == "..") return "may not be '" + std::string{text} + "'";
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos) return std::string{"may not contain '"} + c + "'";
  }
  // The name becomes a key and a line in many places: Kubernetes accepts control characters; there is no use for them.
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; })) {
    return "may not contain control characters";
  }
  if (text.size() > 253) return too_long(253);
  return std::nullopt;
}

Problem qualified_name_problem(std::string_view text) {
  const size_t slash = text.find('/');
  std::string_view name = text;
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return std::string{"a qualified name "} + kQualifiedText +
             " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    }
    if (prefix.empty()) return "prefix part must be non-empty";
    if (const auto problem = subdomain_problem(prefix)) return "prefix part " + *problem;
  }
  if (name.empty()) return "name part must be non-empty";
  if (name.size() > 63) return "name part " + too_long(63);
  if (!is_name_part(name)) return std::string{"name part "} + kQualifiedText;
  return std::nullopt;
}

Problem label_value_problem(std::string_view text) {
  if (text.size() > 63) return too_long(63);
  if (!text.empty() && !is_name_part(text)) return kLabelValueText;
  return std::nullopt;
}

Problem config_key_problem(std::string_view text) {
  if (text.size() > 253) return too_long(253);
  const bool fits = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  });
  if (!fits) return kConfigKeyText;
  if (text == ".") return "must not be '.'";
  if (text == "..") return "must not be '..'";
  if (text.starts_with("..")) return "must not start with '..'";
  return std::nullopt;
}

}  // namespace shiplog
