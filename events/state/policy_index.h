#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "events/base/shared_text.h"
#include "events/state/policy.h"

namespace shiplog {

/// Which policies may select an object, by what their selectors require, so that an object is compared with a handful
/// of policies and not with all of them.
class PolicyIndex {
 public:
  /// `ns` and `name` are the policy's own key. Without selectors it is found under the empty kind.
  void add(const SharedText& ns, const SharedText& name, const std::vector<ResourceSelector>& selectors);
  /// What was added, unchanged since.
  void remove(const SharedText& ns, const SharedText& name, const std::vector<ResourceSelector>& selectors);
  bool operator==(const PolicyIndex&) const = default;

  /// Names of the policies of `policy_ns` (empty: cluster-scoped ones) with a selector for this kind, and for this
  /// namespace and name or any; sorted. Whether they do select the object is up to match(): neither the API version
  /// nor labels are compared here.
  std::vector<std::string_view> candidates(std::string_view policy_ns, std::string_view kind, std::string_view ns,
                                           std::string_view name) const;

 private:
  // The policy's namespace, the kind, and namespace and name of the object, each empty for any.
  template <class Text>
  using Key = std::tuple<Text, Text, Text, Text>;
  struct Less {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const Key<A>& a, const Key<B>& b) const {
      const auto view = [](const auto& key) {
        return Key<std::string_view>{std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key)};
      };
      return view(a) < view(b);
    }
  };

  void erase(const Key<std::string_view>& key, std::string_view name);

  std::map<Key<SharedText>, std::set<SharedText, std::less<>>, Less> policies_;
};

}  // namespace shiplog
