#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace shiplog {

/// What the codec and JSON need to know of a type of fact. Its number and the order of its members are permanent, as
/// those of schemas/events/v1/facts.proto: a new member is appended, and none is taken out.
template <size_t Members>
struct FactInfo {
  uint32_t number;        ///< in the oneof of message Fact
  std::string_view name;  ///< of the message, and "type" in JSON
  std::array<std::string_view, Members> members =
      {};  ///< in JSON, in their order; the schema has them with underscores
};
FactInfo(uint32_t, const char*)->FactInfo<0>;
template <class... Names>
FactInfo(uint32_t, const char*, const char*, Names...) -> FactInfo<1 + sizeof...(Names)>;

/// Clusters, by their places in Explanation::clusters, counted from 0.
using ClusterIndexes = std::vector<uint32_t>;

class Fact;

}  // namespace shiplog
