#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

// Versions and continue tokens of lists over many clusters (6.5.1, 6.5.2). Pure.
namespace shiplog::api {

/// A resourceVersion over clusters: that of each cluster by its name.
struct MultiVersion {
  std::map<std::string, std::string, std::less<>> of;
  bool zero = false;  ///< "0": anything that is there, of every cluster

  /// "0" or the version of the cluster; nullopt: it has none.
  std::optional<std::string> at(std::string_view cluster) const;
  bool operator==(const MultiVersion&) const = default;
};

/// base64url of {"CLUSTER":"VERSION",...}, sorted by name; "0" and "" stay. What cannot be read is as if it were empty.
MultiVersion parse_multi_version(std::string_view text);
std::string to_text(const MultiVersion& version);
/// Of one cluster.
std::string multi_version_of(const std::string& cluster, std::string_view version);

/// The smaller one of two versions of one cluster: where its objects come from several lists, both hold from there on.
std::string smaller_version(const std::string& a, const std::string& b);
/// Below, equal to or above 0 as numbers; nullopt: one of them is no number, so that they can be compared only for
/// equality.
std::optional<int> compare_resource_versions(std::string_view a, std::string_view b);

/// Where a list with a limit goes on.
struct MultiContinue {
  std::string versions;  ///< the list's resourceVersion, as text
  std::string cluster;   ///< empty: from the beginning
  std::string position;  ///< in the cluster, "NAMESPACE/NAME" of the last object; empty: from its beginning
  bool operator==(const MultiContinue&) const = default;
};
/// What cannot be read is the beginning.
MultiContinue parse_multi_continue(std::string_view text);
/// Empty: it is the beginning.
std::string to_text(const MultiContinue& token);

}  // namespace shiplog::api
