#include "services/cel/library/semantic_version.h"

#include <algorithm>
#include <charconv>

#include "services/cel/library/go_text.h"

namespace shiplog::cel {
namespace {

Error wrong(const std::string& why) { return {ErrorCode::kInvalid, why}; }

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_identifier(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

bool has_leading_zero(std::string_view text) { return text.size() > 1 && text[0] == '0'; }

Result<uint64_t> read_number(std::string_view text) {
  uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) return number;
  return wrong("strconv.ParseUint: parsing " + go_quoted(text) + ": value out of range");
}

Result<uint64_t> read_part(const char* name, const char* capital, std::string_view text) {
  if (!is_number(text)) {
    return wrong(std::string{"Invalid character(s) found in "} + name + " number " + go_quoted(text));
  }
  if (has_leading_zero(text)) {
    return wrong(std::string{capital} + " number must not contain leading zeroes " + go_quoted(text));
  }
  return read_number(text);
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t from = 0;;) {
    const size_t at = text.find(separator, from);
    parts.push_back(text.substr(from, at - from));
    if (at == std::string_view::npos) return parts;
    from = at + 1;
  }
}

Result<std::vector<SemanticVersion::Identifier>> read_prerelease(std::string_view text) {
  std::vector<SemanticVersion::Identifier> identifiers;
  for (const std::string_view part : split_at(text, '.')) {
    if (part.empty()) return wrong("Prerelease is empty");
    SemanticVersion::Identifier identifier{std::string{part}};
    if (is_number(part)) {
      if (has_leading_zero(part)) {
        return wrong("Numeric PreRelease version must not contain leading zeroes " + go_quoted(part));
      }
      SHIPLOG_TRY(identifier.number, read_number(part));
      identifier.numeric = true;
      identifier.text.clear();
    } else if (!is_identifier(part)) {
      return wrong("Invalid character(s) found in prerelease " + go_quoted(part));
    }
    identifiers.push_back(std::move(identifier));
  }
  return identifiers;
}

/// major, minor, and the rest.
std::vector<std::string> three_parts(std::string_view text) {
  std::vector<std::string> parts;
  while (parts.size() < 2) {
    const size_t dot = text.find('.');
    parts.emplace_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
  parts.emplace_back(text);
  return parts;
}

Result<std::vector<std::string>> normalized_parts(std::string_view text) {
  if (text.starts_with("v")) text.remove_prefix(1);
  std::vector<std::string> parts = three_parts(text);
  for (std::string& part : parts) {
    if (part.size() < 2) continue;
    part.erase(0, part.find_first_not_of('0'));
    if (part.empty() || part[0] < '0' || part[0] > '9') part.insert(0, "0");
  }
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos) {
    return wrong("short version cannot contain PreRelease/Build meta data");
  }
  parts.resize(3, "0");
  return parts;
}

}  // namespace

Result<SemanticVersion> parse_semantic_version(std::string_view text, bool normalized) {
  std::vector<std::string> parts;
  if (normalized) {
    SHIPLOG_TRY(parts, normalized_parts(text));
  } else {
    if (text.empty()) return wrong("Version string empty");
    parts = three_parts(text);
  }
  if (parts.size() != 3) return wrong("No Major.Minor.Patch elements found");
  SemanticVersion version;
  SHIPLOG_TRY(version.major, read_part("major", "Major", parts[0]));
  SHIPLOG_TRY(version.minor, read_part("minor", "Minor", parts[1]));
  std::string_view patch = parts[2];
  std::string_view build;
  std::string_view prerelease;
  const size_t plus = patch.find('+');
  if (plus != std::string_view::npos) {
    build = patch.substr(plus + 1);
    patch = patch.substr(0, plus);
  }
  const size_t dash = patch.find('-');
  if (dash != std::string_view::npos) {
    prerelease = patch.substr(dash + 1);
    patch = patch.substr(0, dash);
  }
  SHIPLOG_TRY(version.patch, read_part("patch", "Patch", patch));
  if (dash != std::string_view::npos) {
    SHIPLOG_TRY(version.prerelease, read_prerelease(prerelease));
  }
  if (plus == std::string_view::npos) return version;
  for (const std::string_view part : split_at(build, '.')) {
    if (part.empty()) return wrong("Build meta data is empty");
    if (!is_identifier(part)) return wrong("Invalid character(s) found in build meta data " + go_quoted(part));
  }
  return version;
}

std::strong_ordering compare_versions(const SemanticVersion& a, const SemanticVersion& b) {
  if (const auto order = a.major <=> b.major; order != 0) return order;
  if (const auto order = a.minor <=> b.minor; order != 0) return order;
  if (const auto order = a.patch <=> b.patch; order != 0) return order;
  if (a.prerelease.empty() || b.prerelease.empty()) return b.prerelease.size() <=> a.prerelease.size();
  for (size_t i = 0; i < std::min(a.prerelease.size(), b.prerelease.size()); ++i) {
    const auto& one = a.prerelease[i];
    const auto& other = b.prerelease[i];
    if (one.numeric != other.numeric) return one.numeric ? std::strong_ordering::less : std::strong_ordering::greater;
    const auto order = one.numeric ? one.number <=> other.number : one.text.compare(other.text) <=> 0;
    if (order != 0) return order;
  }
  return a.prerelease.size() <=> b.prerelease.size();
}

}  // namespace shiplog::cel
