#include "tests/support/stage.h"

#include <algorithm>

#include "events/base/ascii.h"
#include "events/state/served_kind.h"
#include "events/state/work.h"
#include "services/runtime/trace.h"

namespace shiplog::testing {

struct Stage::RunningRole {
  std::unique_ptr<Role> service;
  ReconcileQueue queue;
  bool running = true;
};

class Stage::Step final : public Task, public std::enable_shared_from_this<Stage::Step> {
 public:
  Step(Stage& stage, std::shared_ptr<RunningRole> role, ReconcileQueue::Taken taken)
      : stage_{stage},
        role_{std::move(role)},
        taken_{std::move(taken)},
        trace_{trace_from_journal(taken_.cause.trace_id)} {}

  const ObjectKey& key() const override { return taken_.key; }
  const State& state() const override { return stage_.state_; }
  UtcMillis now() const override { return stage_.now_; }

  const TraceContext& trace() override {
    if (trace_.id.empty()) trace_ = new_trace(stage_.random_);
    return trace_;
  }
  void begin_trace() override { trace_ = {}; }

  void append_decision(Decision decision, Appended then) override {
    append("decide", std::move(decision), std::move(then));
  }
  void append_observation(Decision seen, Appended then) override {
    append("observe", std::move(seen), std::move(then));
  }

  void done(Millis look_again) override {
    if (!role_->running) return;
    std::optional<UtcMillis> at;
    if (look_again.value > 0) at = now() + look_again;
    role_->queue.done(taken_.key, now(), at);
    stage_.pump(*role_);
  }

  void retry(const Error&) override {
    if (!role_->running) return;
    role_->queue.retry(taken_.key, now(), stage_.random_);
    stage_.pump(*role_);
  }

 private:
  void append(const char* verb, Decision decision, Appended then) {
    if (!role_->running) return;
    Entry entry;
    entry.actor.service = std::string{role_->service->name()};
    entry.request = {verb, to_string(taken_.key)};
    entry.cause = taken_.cause;
    entry.cause.trace_id = journaled(trace());
    entry.as_of = state().revision();
    entry.expects = std::move(decision.expects);
    entry.events = std::move(decision.events);
    entry.time = now();
    stage_.after(stage_.append_latency, [self = shared_from_this(), entry = std::move(entry), then = std::move(then)] {
      if (!self->role_->running) return;
      self->stage_.fold_one(entry, [&](const Folded& folded) {
        if (!self->role_->running) return;
        if (folded.refusal) return then(Error{folded.refusal->code, folded.refusal->reason});
        then(folded.revision);
      });
    });
  }

  Stage& stage_;
  std::shared_ptr<RunningRole> role_;
  ReconcileQueue::Taken taken_;
  TraceContext trace_;
};

Stage::Stage()
    : members_{std::make_unique<FakeMembers>(
          [this](Millis delay, std::function<void()> run) { after(delay, std::move(run)); })} {
  for (const char* ns : {"default", "kube-system", "karmada-system", "karmada-cluster"}) {
    put({type::kNamespace, "", ns}, namespace_object(ns));
  }
}

Stage::~Stage() = default;

void Stage::add(std::unique_ptr<Role> service) {
  auto role = std::make_shared<RunningRole>();
  role->service = std::move(service);
  std::vector<ObjectKey> wake;
  role->service->on_start(state_, wake);
  for (const ObjectKey& key : wake) role->queue.wake(key, now_, {}, role->service->priority(state_, key));
  roles_.push_back(role);
  pump(*role);
}

void Stage::stop(std::string_view service) {
  for (const auto& role : roles_) {
    if (role->service->name() != service) continue;
    role->running = false;
    role->service->on_stop();
  }
  std::erase_if(roles_, [](const auto& role) { return !role->running; });
}

Folded Stage::write(std::vector<Event> events, std::vector<Expect> expects) {
  Entry entry;
  entry.actor.user = "tester";
  entry.time = now_;
  entry.events = std::move(events);
  entry.expects = std::move(expects);
  Folded result;
  fold_one(std::move(entry), [&](const Folded& folded) { result = folded; });
  return result;
}

Folded Stage::put(const ObjectKey& key, Value value) {
  if (state_.find(key) == nullptr) return write({ObjectCreated{key, std::move(value)}});
  return write({ObjectUpdated{key, std::move(value)}});
}

void Stage::fold_one(Entry entry, std::function<void(const Folded&)> then) {
  entry.id = new_entry_id(random_);
  const Folded folded = fold(state_, entry);
  if (keeps_history) history_.push_back({entry, folded});
  std::vector<ObjectKey> wake;
  for (const auto& role : roles_) {
    wake.clear();
    for (const Change& change : folded.changes) role->service->on_change(state_, change, wake);
    for (const ObjectKey& key : wake)
      role->queue.wake(key, now_, {folded.revision, entry.id, entry.cause.trace_id},
                       role->service->priority(state_, key));
    pump(*role);
  }
  then(folded);
}

void Stage::after(Millis delay, std::function<void()> run) {
  due_.emplace(std::pair{now_ + delay, ++sequence_}, std::move(run));
}

void Stage::run(Millis time) {
  const UtcMillis until = now_ + time;
  while (!due_.empty() && due_.begin()->first.first <= until) {
    auto node = due_.extract(due_.begin());
    now_ = std::max(now_, node.key().first);
    node.mapped()();
  }
  now_ = until;
}

void Stage::pump(RunningRole& role) {
  const auto due = role.queue.next_due();
  if (!due) return;
  // The first call sets the timer; a timer that finds nothing due costs nothing.
  const auto shared = std::ranges::find_if(roles_, [&](const auto& one) { return one.get() == &role; });
  if (shared == roles_.end()) return;
  after(Millis{std::max<int64_t>(0, (*due - now_).value)}, [this, held = *shared] {
    if (!held->running) return;
    if (auto taken = held->queue.take(now_)) {
      held->service->reconcile(std::make_shared<Step>(*this, held, std::move(*taken)));
      pump(*held);
    }
  });
}

ObjectKey cluster_key(const std::string& name) { return {type::kCluster, "", name}; }

Value cluster_object(const std::string& name) {
  return Value::object({{"apiVersion", "cluster.karmada.io/v1alpha1"},
                        {"kind", "Cluster"},
                        {"metadata", Value::object({{"name", name}, {"generation", 1}})},
                        {"spec", Value::object({{"syncMode", "Push"}, {"apiEndpoint", "https://" + name}})}});
}

Value namespace_object(const std::string& name) {
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "Namespace"},
                        {"metadata", Value::object({{"name", name}})},
                        {"spec", Value::object({{"finalizers", Value::array({"kubernetes"})}})},
                        {"status", Value::object({{"phase", "Active"}})}});
}

Value deployment(const std::string& ns, const std::string& name, int64_t replicas) {
  const Value labels = Value::object({{"app", name}});
  const Value container = Value::object({{"name", "web"}, {"image", "nginx:1"}});
  const Value pod = Value::object({{"metadata", Value::object({{"labels", labels}})},
                                   {"spec", Value::object({{"containers", Value::array({container})}})}});
  return Value::object({{"apiVersion", "apps/v1"},
                        {"kind", "Deployment"},
                        {"metadata", Value::object({{"name", name}, {"namespace", ns}, {"generation", 1}})},
                        {"spec", Value::object({{"replicas", replicas},
                                                {"selector", Value::object({{"matchLabels", labels}})},
                                                {"template", pod}})}});
}

Value config_map(const std::string& ns, const std::string& name, const std::string& text) {
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", Value::object({{"name", name}, {"namespace", ns}})},
                        {"data", Value::object({{"text", text}})}});
}

Value binding(const Value& object, const std::vector<Target>& targets) {
  const std::string ns = object["metadata"]["namespace"].str();
  const std::string name = object["metadata"]["name"].str();
  const std::string kind = object["kind"].str();
  const std::string lower = lower_case(kind);
  const bool cluster_scoped = ns.empty();
  Value clusters = Value::array();
  for (const Target& target : targets) {
    Value one = Value::object({{"name", target.cluster}});
    if (target.replicas > 0) one.set("replicas", target.replicas);
    clusters.push_back(one);
  }
  Value resource = Value::object({{"apiVersion", object["apiVersion"]}, {"kind", kind}, {"name", name}});
  if (!cluster_scoped) resource.set("namespace", ns);
  Value metadata = Value::object(
      {{"name", name + "-" + lower},
       {"generation", 1},
       {"labels", Value::object({{cluster_scoped ? label::kClusterBindingId : label::kBindingId, "id-" + ns + name},
                                 {label::kPolicyId, "policy"}})},
       {"finalizers", Value::array({cluster_scoped ? finalizer::kClusterBinding : finalizer::kBinding})}});
  if (!cluster_scoped) metadata.set("namespace", ns);
  Value spec = Value::object({{"resource", resource}, {"clusters", clusters}});
  if (object["spec"].contains("replicas")) spec.set("replicas", object["spec"]["replicas"]);
  return Value::object({{"apiVersion", "work.karmada.io/v1alpha2"},
                        {"kind", cluster_scoped ? "ClusterResourceBinding" : "ResourceBinding"},
                        {"metadata", metadata},
                        {"spec", spec},
                        {"status", Value::object({{"lastScheduledTime", "2026-01-01T00:00:00Z"}})}});
}

ObjectKey binding_key(const Value& binding) {
  const bool cluster_scoped = binding["kind"].as_string() == "ClusterResourceBinding";
  return {cluster_scoped ? type::kClusterResourceBinding : type::kResourceBinding,
          binding["metadata"]["namespace"].str(), binding["metadata"]["name"].str()};
}

ObjectKey work_key(const std::string& cluster, const Value& object) {
  return {type::kWork, execution_space(cluster),
          work_name(object["kind"].as_string(), object["metadata"]["namespace"].as_string(),
                    object["metadata"]["name"].as_string())};
}

}  // namespace shiplog::testing
