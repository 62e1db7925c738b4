#include "events/state/policy_index.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "events/base/random.h"

namespace shiplog {
namespace {

const std::vector<std::string> kNamespaces = {"", "a", "b"};
const std::vector<std::string> kKinds = {"Deployment", "Service"};
const std::vector<std::string> kNames = {"", "web", "api"};

Policy policy_of(const std::string& ns, const std::string& name, std::vector<ResourceSelector> selectors) {
  Policy policy;
  policy.ns = ns;
  policy.name = name;
  policy.selectors = std::move(selectors);
  return policy;
}

Value object_of(const std::string& kind, const std::string& ns, const std::string& name) {
  return Value::object(
      {{"apiVersion", "v1"}, {"kind", kind}, {"metadata", Value::object({{"namespace", ns}, {"name", name}})}});
}

using Names = std::vector<std::string_view>;

TEST(PolicyIndex, FindsByKindNamespaceAndNameEachPolicyOnceInOrder) {
  PolicyIndex index;
  index.add("a", "z", {{"v1", "Service", "a", "web", {}}, {"v1", "Service", "a", "", {}}});
  index.add("a", "m", {{"v1", "Service", "", "", {}}});
  index.add("a", "other", {{"v1", "Service", "a", "api", {}}});
  index.add("", "cluster", {{"v1", "Service", "", "web", {}}});
  EXPECT_EQ(index.candidates("a", "Service", "a", "web"), (Names{"m", "z"}));
  EXPECT_EQ(index.candidates("a", "Service", "a", "api"), (Names{"m", "other", "z"}));
  EXPECT_EQ(index.candidates("a", "Deployment", "a", "web"), Names{});
  EXPECT_EQ(index.candidates("", "Service", "b", "web"), (Names{"cluster"}));
  EXPECT_EQ(index.candidates("", "Service", "b", "api"), Names{});
}

// After any inserts and removals, what a scan of all policies would match is a candidate, and removed ones are not.
TEST(PolicyIndex, MissesNothingThatAScanWouldFind) {
  SeededRandom random{1};
  const auto one_of = [&](const std::vector<std::string>& choices) {
    return choices[random_below(random, choices.size())];
  };
  PolicyIndex index;
  std::map<std::pair<std::string, std::string>, Policy> policies;
  size_t matches = 0;
  for (int step = 0; step < 3000; ++step) {
    const std::string ns = one_of(kNamespaces);
    const std::string name = "p" + std::to_string(random_below(random, 6));
    if (const auto known = policies.find({ns, name}); known != policies.end()) {
      index.remove(ns, name, known->second.selectors);
      policies.erase(known);
    }
    if (random_below(random, 3) > 0) {
      std::vector<ResourceSelector> selectors;
      for (uint64_t left = random_below(random, 4); left > 0; --left) {
        selectors.push_back({"v1", one_of(kKinds), ns.empty() ? one_of(kNamespaces) : ns, one_of(kNames), {}});
      }
      policies[{ns, name}] = policy_of(ns, name, selectors);
      index.add(ns, name, selectors);
    }
    for (const std::string& kind : kKinds) {
      for (const std::string& object_ns : kNamespaces) {
        const Value object = object_of(kind, object_ns, "web");
        for (const std::string& policy_ns : kNamespaces) {
          const Names found = index.candidates(policy_ns, kind, object_ns, "web");
          ASSERT_TRUE(std::is_sorted(found.begin(), found.end()));
          for (const std::string_view one : found) ASSERT_TRUE(policies.contains({policy_ns, std::string{one}}));
          for (const auto& [key, policy] : policies) {
            if (key.first != policy_ns || match(policy, object) == SelectorMatch::kNone) continue;
            ++matches;
            ASSERT_EQ(std::count(found.begin(), found.end(), key.second), 1) << key.first << "/" << key.second;
          }
        }
      }
    }
  }
  EXPECT_GT(matches, 1000U);
}

}  // namespace
}  // namespace shiplog
