#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"

namespace shiplog::cel {

/// A version of semver.org 2.0. Build metadata is read and does not matter.
struct SemanticVersion {
  struct Identifier {
    std::string text;
    uint64_t number = 0;
    bool numeric = false;
    bool operator==(const Identifier&) const = default;
  };
  uint64_t major = 0, minor = 0, patch = 0;
  std::vector<Identifier> prerelease;
  bool operator==(const SemanticVersion&) const = default;
};

/// `normalized`: also "v1.2" and "01.2.3", as Kubernetes' semver(TEXT, true). Errors: kInvalid, in the words of the
/// library that Kubernetes uses.
Result<SemanticVersion> parse_semantic_version(std::string_view text, bool normalized);

/// Semver.org, section 11.
std::strong_ordering compare_versions(const SemanticVersion& a, const SemanticVersion& b);

}  // namespace shiplog::cel
