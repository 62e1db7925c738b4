#include <algorithm>
#include <array>
#include <cctype>

#include "events/base/base64.h"
#include "events/base/names.h"
#include "events/base/time.h"
#include "services/cel/library/declare.h"
#include "services/cel/library/go_url.h"
#include "services/cel/library/libraries.h"

// format of Kubernetes. Source: k8s.io/apiserver/pkg/cel/library/format.go, cost.go.

namespace shiplog::cel {
namespace {

const std::string kNamedFormat = "kubernetes.NamedFormat";

/// A name that something is appended to may end with a hyphen.
std::string completed(std::string_view text) {
  const bool open = text.size() > 1 && text.ends_with('-');
  return open ? std::string{text.substr(0, text.size() - 2)} + "a" : std::string{text};
}

bool is_uuid_digit(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

Problem uri_problem(std::string_view text) {
  const auto url = parse_go_url(text);
  return url ? Problem{} : Problem{url.error().message};
}

/// With hyphens or without any.
Problem uuid_problem(std::string_view text) {
  size_t digits = 0;
  bool fits = true;
  for (const char c : text) {
    const bool hyphen = c == '-' && (digits == 8 || digits == 12 || digits == 16 || digits == 20);
    fits = fits && (hyphen || is_uuid_digit(c));
    if (!hyphen) ++digits;
  }
  const auto hyphens = static_cast<size_t>(std::ranges::count(text, '-'));
  fits = fits && digits == 32 && hyphens <= 4 && text.find("--") == std::string_view::npos;
  return fits ? Problem{} : Problem{"does not match the UUID format"};
}

Problem base64_problem(std::string_view text) {
  return !text.empty() && base64_decode(text) ? Problem{} : Problem{"invalid base64"};
}

Problem date_problem(std::string_view text) {
  const bool fits = text.size() == 10 && parse_rfc3339(std::string{text} + "T00:00:00Z");
  return fits ? Problem{} : Problem{"invalid date"};
}

Problem datetime_problem(std::string_view text) {
  return text.size() > 10 && parse_rfc3339(text) ? Problem{} : Problem{"invalid datetime"};
}

struct NamedFormat {
  const char* name;
  Problem (*problem)(std::string_view text);
  uint64_t pattern_size;  ///< of the regular expression that upstream counts for it
  bool operator==(const NamedFormat& other) const { return name == other.name; }
};

const std::array kFormats = {
    NamedFormat{"dns1123Label", label_problem, 30},
    NamedFormat{"dns1123Subdomain", subdomain_problem, 60},
    NamedFormat{"dns1035Label", service_name_problem, 30},
    NamedFormat{"qualifiedName", qualified_name_problem, 60},
    NamedFormat{"dns1123LabelPrefix", [](std::string_view text) { return label_problem(completed(text)); }, 30},
    NamedFormat{"dns1123SubdomainPrefix", [](std::string_view text) { return subdomain_problem(completed(text)); }, 60},
    NamedFormat{"dns1035LabelPrefix", [](std::string_view text) { return service_name_problem(completed(text)); }, 30},
    NamedFormat{"labelValue", label_value_problem, 40},
    NamedFormat{"uri", uri_problem, 1103},
    NamedFormat{"uuid", uuid_problem, 83},
    NamedFormat{"byte", base64_problem, 84},
    NamedFormat{"date", date_problem, 90},
    NamedFormat{"datetime", datetime_problem, 90},
};

using Held = const NamedFormat*;

CelValue validated(CelArguments a, CelMeter&) {
  const Problem problem = held<Held>(a[0])->problem(a[1].as_string());
  return problem ? CelValue::some(string_list({*problem})) : CelValue::none();
}

uint64_t validation_cost(CelArguments a, const CelValue&) {
  return traversal_cost(cost_size(a[1]) + 1) *
         static_cast<uint64_t>(std::ceil(static_cast<double>(held<Held>(a[0])->pattern_size) * 0.25));
}

}  // namespace

void add_named_format_functions(CelFunctions& functions) {
  const CelType format = CelType::extension(kNamedFormat);
  functions.add_type(kNamedFormat, format);
  add_member(functions, "validate", {format, CelKind::kString}, CelType::optional(CelType::list(CelKind::kString)),
             validated, validation_cost);
  add_function(functions, "format.named", {CelKind::kString}, CelType::optional(format), [](CelArguments a, CelMeter&) {
    const auto* found =
        std::ranges::find_if(kFormats, [&](const NamedFormat& each) { return each.name == a[0].as_string(); });
    if (found == kFormats.end()) return CelValue::none();
    return CelValue::some(extension_of(kNamedFormat, Held{found}));
  });
  for (const NamedFormat& each : kFormats) {
    add_function(functions, std::string{"format."} + each.name, {}, format,
                 [&each](CelArguments, CelMeter&) { return extension_of(kNamedFormat, Held{&each}); });
  }
}

}  // namespace shiplog::cel
