#include "services/api/token_secrets.h"

#include "events/state/object.h"
#include "services/api/auth/token_secret.h"
#include "services/api/own_entry.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

constexpr const char* kAccounts = "serviceaccounts";
constexpr const char* kNameOf = "kubernetes.io/service-account.name";
constexpr const char* kUidOf = "kubernetes.io/service-account.uid";

/// What is left of a token's Secret without its account is of no use to anybody.
bool is_orphan(const State& state, const ObjectKey& key, const Value& secret) {
  if (!is_token_secret(secret) || deleting(secret)) return false;
  const Value& account = state.value_of({kAccounts, key.ns, std::string{annotation_of(secret, kNameOf)}});
  const std::string_view uid = annotation_of(secret, kUidOf);  // none: of a build that filled in nothing
  return account.is_null() || deleting(account) || (!uid.empty() && uid != uid_of(account));
}

void find_orphans(const State& state, const std::string& ns, std::vector<Event>& events) {
  for (const auto& [name, object] : state.objects(type::kSecret, ns)) {
    const ObjectKey key{type::kSecret, name.ns, name.name};
    if (is_orphan(state, key, object.value)) events.emplace_back(DeletionRequested{key, 0, "Background"});
  }
}

}  // namespace

void TokenSecrets::begin(Replica& replica, std::string user_agent) {
  replica_ = &replica;
  user_agent_ = std::move(user_agent);
  std::vector<Event> events;
  const State& state = replica.state();
  for (const auto& [name, ns] : state.objects(type::kNamespace)) find_orphans(state, name.name, events);
  append(std::move(events), {});
}

void TokenSecrets::on_folded(const State& state, const DecodedRecord& record, const Folded& folded) {
  if (replica_ == nullptr) return;
  std::vector<Event> events;
  for (const Change& change : folded.changes) {
    if (change.object.type == kAccounts && change.removed()) {
      find_orphans(state, change.object.ns, events);
    } else if (change.object.type == type::kSecret && !change.removed() &&
               is_orphan(state, change.object, change.after)) {
      events.emplace_back(DeletionRequested{change.object, 0, "Background"});
    }
  }
  append(std::move(events), {folded.revision, record.entry.id, ""});
}

void TokenSecrets::append(std::vector<Event> events, Cause cause) {
  // One by one: of several processes that do the same one is first, and what is gone already holds up nothing else.
  for (Event& event : events) {
    Entry entry = own_entry(user_agent_, {std::move(event)});
    entry.cause = cause;
    replica_->append(std::move(entry), [](const Result<Outcome>& outcome) {
      if (!outcome) log::error("token_secrets.failed", {log::kv("reason", outcome.error().message)});
    });
  }
}

}  // namespace shiplog::api
