#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

// Versions and continue tokens of lists over many clusters (6.5.1, 6.5.2). Pure.
namespace shiplog::api {

/// A resourceVersion over clusters. Of each cluster that of its list, by CLUSTER; where namespaces are listed each by
/// itself, by CLUSTER/NAMESPACE. In an event, besides, the version of the object itself, by /CLUSTER: an update of the
/// object depends on it, not on how much of the cluster a watch has seen. No cluster's name has a slash.
struct MultiVersion {
  std::map<std::string, std::string, std::less<>> of;
  bool zero = false;  ///< "0": anything that is there, of every cluster

  /// "0" or the version with the key; nullopt: there is none.
  std::optional<std::string> at(std::string_view key) const;
  /// That of an object of the cluster which has this version over clusters.
  std::optional<std::string> of_object(const std::string& cluster) const;
  bool operator==(const MultiVersion&) const = default;
};

/// base64url of {"CLUSTER":"VERSION",...}, sorted by name; "0" and "" stay. What cannot be read is as if it were empty.
MultiVersion parse_multi_version(std::string_view text);
std::string to_text(const MultiVersion& version);
/// With one key.
std::string multi_version_of(const std::string& key, std::string_view version);
/// The key of an object's own version.
std::string object_key(const std::string& cluster);
bool is_object_key(std::string_view key);

/// Below, equal to or above 0 as numbers; nullopt: one of them is no number, so that they can be compared only for
/// equality.
std::optional<int> compare_resource_versions(std::string_view a, std::string_view b);

/// Where the next page of a list begins.
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
