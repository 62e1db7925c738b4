#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shiplog {

/// The nanoseconds of a text whose schema has `format: duration`: a duration as Go writes it, or whole numbers with
/// units from nanoseconds to weeks, also in words: "3d", "2 weeks", "1 hour 30 min". nullopt: it is none, or does not
/// fit. Source: k8s.io/kube-openapi/pkg/validation/strfmt (ParseDuration).
std::optional<int64_t> parse_schema_duration(std::string_view text);

}  // namespace shiplog
