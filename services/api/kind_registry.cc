#include "services/api/kind_registry.h"

#include "events/state/definition_status.h"
#include "services/runtime/log.h"

namespace shiplog::api {

Result<Kinds> with_definition(const Kinds& kinds, const Value& crd) {
  if (!serves_kinds(crd)) {
    return kinds.without(crd["metadata"]["name"].as_string());
  }
  Value served = crd;
  served.edit("spec").set("names", accepted_names(crd));
  return kinds.with(served);
}

std::map<std::string, std::string> deprecations_of(const Value& crd) {
  const Value& spec = crd["spec"];
  const auto shown = [&](std::string_view version) {
    return spec["group"].str() + "/" + std::string{version} + " " + spec["names"]["kind"].str();
  };
  std::map<std::string, std::string> warnings;
  for (const Value& version : spec["versions"].items()) {
    if (!version["deprecated"].as_bool()) continue;
    const std::string name = version["name"].str();
    std::string& warning = warnings[name];
    warning = version["deprecationWarning"].str();
    if (!version["deprecationWarning"].is_null()) continue;
    std::string_view best;  // the preferred one of the versions to be used instead
    for (const Value& other : spec["versions"].items()) {
      const std::string_view candidate = other["name"].as_string();
      if (!other["served"].as_bool() || other["deprecated"].as_bool() || compare_versions(candidate, name) > 0)
        continue;
      if (best.empty() || compare_versions(candidate, best) < 0) best = candidate;
    }
    warning = shown(name) + " is deprecated" + (best.empty() ? "" : "; use " + shown(best));
  }
  return warnings;
}

KindRegistry::KindRegistry(const Kinds& compiled)
    : compiled_{compiled}, current_{std::make_shared<const Kinds>(compiled)} {}

std::shared_ptr<const Kinds> KindRegistry::current() const {
  const std::lock_guard lock{mutex_};
  return current_;
}

bool KindRegistry::terminating(const std::string& type) const {
  const std::lock_guard lock{mutex_};
  return terminating_.contains(type);
}

std::string KindRegistry::deprecation_of(const Kind& kind) const {
  if (kind.builtin) {
    const bool deprecated = kind.group.empty() && kind.plural == "endpoints";
    return deprecated ? "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice" : "";
  }
  const std::lock_guard lock{mutex_};
  if (deprecations_.empty()) return "";
  const auto found = deprecations_.find(kind.type() + " " + kind.version);
  return found == deprecations_.end() ? "" : found->second;
}

void KindRegistry::load(const State& state) {
  for (const auto& [name, object] : state.objects(type::kCustomResourceDefinition)) take(object.value);
}

void KindRegistry::on_folded(const State&, const DecodedRecord&, const Folded& folded) {
  for (const Change& change : folded.changes) {
    if (change.object.type != type::kCustomResourceDefinition) continue;
    if (change.removed()) {
      taken_.erase(change.object.name.str());
      publish(current()->without(change.object.name));
      const std::lock_guard lock{mutex_};
      terminating_.erase(change.object.name.str());
      std::erase_if(deprecations_,
                    [&](const auto& each) { return each.first.starts_with(change.object.name.str() + " "); });
    } else {
      take(change.after);
    }
  }
}

void KindRegistry::take(const Value& crd) {
  const std::string name = crd["metadata"]["name"].str();
  if (deleting(crd)) {
    const std::lock_guard lock{mutex_};
    terminating_.insert(name);
  }
  // The same kinds for as long as the definition means the same: a watch ends when its kind is replaced (W-17), which a
  // new status or label of the definition must not cause.
  const auto last = taken_.find(name);
  Taken now{crd["spec"], accepted_names(crd), serves_kinds(crd)};
  if (last != taken_.end() && last->second == now) return;
  auto kinds = with_definition(*current(), crd);
  if (kinds) {
    taken_.insert_or_assign(name, std::move(now));
    warn_of_deprecations(name, deprecations_of(crd));
    return publish(std::move(kinds).value());
  }
  // Admission has checked it; one from an older build may still be beyond us: its kind is not served then.
  log::error("crd.rejected",
             {log::kv("name", crd["metadata"]["name"].as_string()), log::kv("reason", kinds.error().message)});
}

void KindRegistry::warn_of_deprecations(const std::string& type, const std::map<std::string, std::string>& warnings) {
  const std::lock_guard lock{mutex_};
  std::erase_if(deprecations_, [&](const auto& each) { return each.first.starts_with(type + " "); });
  for (const auto& [version, warning] : warnings) deprecations_.emplace(type + " " + version, warning);
}

void KindRegistry::publish(Kinds kinds) {
  const std::lock_guard lock{mutex_};
  current_ = std::make_shared<const Kinds>(std::move(kinds));
}

}  // namespace shiplog::api
