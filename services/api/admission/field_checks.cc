#include "services/api/admission/field_checks.h"

#include <algorithm>
#include <charconv>

#include "events/base/ascii.h"
#include "services/api/admission/metadata.h"

namespace shiplog::api {
namespace {

std::string without_leading_zeros(std::string_view text) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool first = made.empty() || made.back() == '.' || made.back() == '/';
    const bool more = i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
    if (text[i] != '0' || !first || !more) made += text[i];
  }
  return made;
}

}  // namespace

std::optional<int64_t> amount_of(const Value& value) {
  if (value.is_number()) return value.as_int();
  std::string_view text = value.as_string();
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  int64_t percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return percent;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

std::string quantity_text(const Value& quantity) {
  return quantity.is_string() ? quantity.str() : std::to_string(quantity.as_int());
}

void check_selector(const Value& selector, const std::string& field, Causes& causes) {
  check_labels(selector["matchLabels"], field + ".matchLabels", causes);
  const Value& expressions = selector["matchExpressions"];
  for (size_t i = 0; i < expressions.size(); ++i) {
    const std::string here = at(field + ".matchExpressions", i);
    const std::string_view op = expressions[i]["operator"].as_string();
    const bool some = expressions[i]["values"].size() > 0;
    if (op == "In" || op == "NotIn") {
      if (!some) causes.required(here + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (some)
        causes.forbidden(here + ".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
      causes.invalid(here + ".operator", expressions[i]["operator"], "not a valid selector operator");
    }
    if (const auto problem = qualified_name_problem(expressions[i]["key"].as_string())) {
      causes.invalid(here + ".key", expressions[i]["key"], *problem);
    }
  }
}

void check_amount(const Value& owner, const std::string& field, const char* name, Causes& causes) {
  const Value& value = owner[name];
  if (value.is_null()) return;
  const auto amount = amount_of(value);
  if (!amount) {
    causes.invalid(field + "." + name, value,
                   "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%', or '93%')");
  } else if (*amount < 0) {
    causes.invalid(field + "." + name, value, "must be greater than or equal to 0");
  }
}

void check_one_of(const Value& value, const std::string& field, std::initializer_list<std::string_view> words,
                  Causes& causes) {
  if (value.is_empty()) {
    causes.required(field);
  } else if (std::find(words.begin(), words.end(), value.as_string()) == words.end()) {
    causes.not_supported(field, value, words);
  }
}

void check_filled(const Value& value, const std::string& field, Causes& causes, std::string_view detail) {
  if (value.is_empty()) causes.required(field, detail);
}

void check_port(const Value& port, const std::string& field, Causes& causes) {
  if (port.as_int() < 1 || port.as_int() > 65535) {
    causes.invalid(field, port.is_null() ? Value{0} : port, "must be between 1 and 65535, inclusive");
  }
}

void check_protocol(const Value& protocol, const std::string& field, Causes& causes) {
  check_one_of(protocol, field, {"SCTP", "TCP", "UDP"}, causes);
}

void check_range(const Value& number, const std::string& field, int64_t least, int64_t most, std::string_view detail,
                 Causes& causes) {
  if (number.is_null() || (number.as_int() >= least && number.as_int() <= most)) return;
  causes.invalid(field, number, detail);
}

void check_not_negative(const Value& owner, const std::string& field, std::initializer_list<const char*> names,
                        Causes& causes) {
  for (const char* name : names) {
    if (owner[name].as_int() >= 0) continue;
    causes.invalid(field + "." + name, owner[name], "must be greater than or equal to 0");
  }
}

void check_kind_and_name(const Value& reference, const std::string& field, Causes& causes) {
  for (const char* name : {"kind", "name"}) {
    if (reference[name].is_empty()) {
      causes.required(field + "." + name);
    } else if (const auto problem = path_segment_problem(reference[name].as_string())) {
      causes.invalid(field + "." + name, reference[name], *problem);
    }
  }
}

std::optional<IpRange> parse_legacy_ip(std::string_view text) { return parse_ip(without_leading_zeros(text)); }
std::optional<IpRange> parse_legacy_cidr(std::string_view text) { return parse_cidr(without_leading_zeros(text)); }

void check_reachable(const IpRange& ip, const Value& text, const std::string& field, Causes& causes) {
  const auto within = [&](const char* cidr) { return parse_cidr(cidr)->contains(ip); };
  if (within("0.0.0.0/32") || within("::/128"))
    causes.invalid(field, text, "may not be unspecified (" + text.str() + ")");
  if (within("127.0.0.0/8") || within("::1/128")) {
    causes.invalid(field, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (within("169.254.0.0/16") || within("fe80::/10")) {
    causes.invalid(field, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (within("224.0.0.0/24") || within("ff02::/16")) {
    causes.invalid(field, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
}

void check_ip(const Value& address, const std::string& field, Causes& causes) {
  if (parse_legacy_ip(address.as_string())) return;
  causes.invalid(field, Value{address.as_string()}, kNoAddress);
}

Problem port_name_problem(std::string_view text) {
  if (text.size() > 15) return "must be no more than 15 characters";
  const bool letter = std::any_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (!letter) return "must contain at least one letter (a-z)";
  if (text.find("--") != std::string_view::npos) return "must not contain consecutive hyphens";
  if (label_problem(text)) return "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)";
  return std::nullopt;
}

void check_driver_name(const Value& name, const std::string& field, Causes& causes) {
  constexpr size_t kMost = 63;
  if (name.is_empty()) return causes.required(field);
  if (name.as_string().size() > kMost) causes.too_long(field, kMost);
  if (const auto problem = subdomain_problem(lower_case(name.as_string()))) causes.invalid(field, name, *problem);
}

}  // namespace shiplog::api
