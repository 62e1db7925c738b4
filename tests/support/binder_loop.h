#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/ids.h"
#include "events/state/claim.h"
#include "events/state/object.h"
#include "services/roles/binder/role.h"
#include "tests/support/fake_task.h"

namespace shiplog::binder {

/// A template, policies that may select it, and its binding.
inline const ObjectKey kWeb{"deployments.apps", "default", "web"};
inline const ObjectKey kPolicy{type::kPropagationPolicy, "default", "p"};
inline const ObjectKey kClusterPolicy{type::kClusterPropagationPolicy, "", "cp"};
inline const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};

inline constexpr const char* kDeployment =
    R"({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 1, "template": {"spec": {}}}})";

/// Folds events and runs the role until no key is triggered any more. With a seed, in a random order.
class Loop {
 public:
  explicit Loop(uint64_t seed = 0) : service_{make_binder_role()}, chance_{seed} {}

  given::History history;

  void fold(std::vector<Event> events) {
    feed(history.fold(std::move(events)));
    drain();
  }
  void create(const ObjectKey& key, std::string_view text) {
    Value value = given::History::named(key, given::json(text));
    value.edit("metadata").set("generation", 1);
    fold({ObjectCreated{key, std::move(value)}});
  }
  void edit(const ObjectKey& key, const std::function<void(Value&)>& change) {
    Value value = history.state().value_of(key);
    change(value);
    fold({ObjectUpdated{key, std::move(value)}});
  }
  int steps() const { return steps_; }
  /// Steps that each key took, all in all.
  int steps_of(const ObjectKey& key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? 0 : found->second;
  }

 private:
  void feed(const Folded& folded) {
    EXPECT_FALSE(folded.refusal) << folded.refusal->reason;
    for (const Change& change : folded.changes) service_->on_change(history.state(), change, due_);
  }
  void drain() {
    const int before = steps_;
    while (!due_.empty()) {
      ASSERT_LT(++steps_ - before, 200) << "the service keeps itself awake";
      const ObjectKey key = due_[next() % due_.size()];
      ++by_key_[key];
      std::erase(due_, key);
      auto task = std::make_shared<given::FakeTask>(history, key);
      service_->reconcile(task);
      EXPECT_EQ(task->finished, 1);
      for (const Folded& folded : task->folded) feed(folded);
      if (!task->folded.empty()) due_.push_back(key);  // as a change of what it decided would trigger it
    }
  }

  /// 0 without a seed.
  uint64_t next() {
    chance_ ^= chance_ << 13U;
    chance_ ^= chance_ >> 7U;
    chance_ ^= chance_ << 17U;
    return chance_;
  }

  std::unique_ptr<Role> service_;
  uint64_t chance_;
  std::vector<ObjectKey> due_;
  std::map<ObjectKey, int> by_key_;
  int steps_ = 0;
};

/// The name of the policy that has claimed the object; "": none has.
inline std::string holder(const Loop& loop, const ObjectKey& key = kWeb) {
  const auto claim = claim_of(loop.history.state().value_of(key));
  return claim ? claim->policy.name.str() : "";
}

/// The first cluster that the placement of the binding names.
inline std::string placed_on(const Loop& loop) {
  return loop.history.state().value_of(kBinding)["spec"]["placement"]["clusterAffinity"]["clusterNames"][0].str();
}

}  // namespace shiplog::binder
