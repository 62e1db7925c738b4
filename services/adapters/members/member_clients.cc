#include "services/adapters/members/member_clients.h"

#include <utility>

#include "services/adapters/members/member_target.h"
#include "services/adapters/members/member_tunnels.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

/// A response to a request for another protocol, and one that is gathered.
constexpr size_t kMostGathered = size_t{8} << 20U;

ObjectKey secret_key(const Value& reference) {
  return {type::kSecret, reference["namespace"].str(), reference["name"].str()};
}

Value value_of(const State& state, const ObjectKey& key) {
  const Object* object = key.name.empty() ? nullptr : state.find(key);
  return object == nullptr ? Value{} : object->value;
}

}  // namespace

Result<std::shared_ptr<HttpClient>> MemberClients::make(const std::string& cluster, const Member& member) const {
  const auto unusable = [&](const std::string& why) {
    return Error{ErrorCode::kInternal, "cluster " + cluster + " cannot be reached through the cluster proxy: " + why};
  };
  ClientTarget target = member_target(member.spec);
  if (target.url.empty()) return unusable("spec.apiEndpoint is empty");
  const Value& reference = member.spec["impersonatorSecretRef"];
  if (reference["name"].is_empty()) {
    return unusable("spec.impersonatorSecretRef is not set; join it again, or set the field");
  }
  const auto text = [](const Value& secret) { return secret["namespace"].str() + "/" + secret["name"].str(); };
  if (member.impersonator.is_null()) {
    return unusable("Secret " + text(reference) + " of spec.impersonatorSecretRef does not exist");
  }
  const auto opened = [this](const Value& secret) -> Result<Value> {
    if (!options_.open) return secret;
    return options_.open(secret);
  };
  SHIPLOG_TRY(const Value impersonator, opened(member.impersonator));
  ClientTarget credentials;
  if (auto added = add_credentials(cluster, impersonator, credentials); !added) return unusable(added.error().message);
  if (credentials.bearer_token.empty()) {
    return unusable("Secret " + text(reference) + " of spec.impersonatorSecretRef has no token");
  }
  target.bearer_token = std::move(credentials.bearer_token);
  if (!member.secret.is_null()) {
    SHIPLOG_TRY(const Value secret, opened(member.secret));
    ClientTarget authority;
    if (auto added = add_credentials(cluster, secret, authority); !added) return unusable(added.error().message);
    target.ca_pem = std::move(authority.ca_pem);
    target.server_name = std::move(authority.server_name);
  }
  target.tls13 = true;
  auto made = HttpClient::create(options_.io, target, client_options(cluster, member));
  if (!made) return unusable(made.error().message);
  return std::shared_ptr<HttpClient>{std::move(made).value()};
}

HttpClient::Options MemberClients::client_options(const std::string& cluster, const Member& member) const {
  HttpClient::Options options;
  options.max_connections = options_.limits.requests;
  options.max_streams = options_.limits.streams;
  options.max_response_bytes = kMostGathered;
  options.user_agent = options_.user_agent;
  options.denied_networks = options_.denied_networks;
  if (options_.tunnels != nullptr && member.spec["syncMode"].as_string() == "Pull") {
    options.dial = options_.tunnels->dialer(cluster);
  }
  return options;
}

Result<std::shared_ptr<HttpClient>> MemberClients::make_own(const std::string& cluster, const Member& member) const {
  const auto unusable = [&](const std::string& why) {
    return Error{ErrorCode::kInternal, "cluster " + cluster + " cannot be read: " + why};
  };
  ClientTarget target = member_target(member.spec);
  if (target.url.empty()) return unusable("spec.apiEndpoint is empty");
  const Value& reference = member.spec["secretRef"];
  if (reference["name"].is_empty()) return unusable("spec.secretRef is not set");
  if (member.secret.is_null()) {
    return unusable("Secret " + reference["namespace"].str() + "/" + reference["name"].str() +
                    " of spec.secretRef does not exist");
  }
  Value secret = member.secret;
  if (options_.open) {
    SHIPLOG_TRY(secret, options_.open(std::move(secret)));
  }
  if (auto added = add_credentials(cluster, secret, target); !added) return unusable(added.error().message);
  auto made = HttpClient::create(options_.io, target, client_options(cluster, member));
  if (!made) return unusable(made.error().message);
  return std::shared_ptr<HttpClient>{std::move(made).value()};
}

Result<MemberClients::Member> MemberClients::member(const std::string& cluster) const {
  const std::lock_guard lock{mutex_};
  const auto found = members_.find(cluster);
  if (found != members_.end()) return found->second;
  return Error{ErrorCode::kNotFound, "clusters.cluster.karmada.io \"" + cluster + "\" not found"};
}

std::shared_ptr<HttpClient> MemberClients::keep(const std::string& cluster, uint64_t version,
                                                std::shared_ptr<HttpClient> Member::*which,
                                                std::shared_ptr<HttpClient> made) {
  const std::lock_guard lock{mutex_};
  const auto found = members_.find(cluster);
  if (found == members_.end() || found->second.version != version) return made;
  auto& kept = found->second.*which;
  if (kept == nullptr) kept = std::move(made);
  return kept;
}

Result<std::shared_ptr<HttpClient>> MemberClients::own_client(const std::string& cluster) {
  SHIPLOG_TRY(Member known, member(cluster));
  if (known.own != nullptr) return std::move(known.own);
  SHIPLOG_TRY(auto client, make_own(cluster, known));
  return keep(cluster, known.version, &Member::own, std::move(client));
}

Result<MemberClients::Borrowed> MemberClients::borrow(const std::string& cluster, Use use) {
  SHIPLOG_TRY(Member known, member(cluster));
  SHIPLOG_TRY(auto taken, place(cluster, known.counts, use));
  if (known.client != nullptr) return Borrowed{std::move(known.client), std::move(taken)};
  SHIPLOG_TRY(auto client, make(cluster, known));
  return Borrowed{keep(cluster, known.version, &Member::client, std::move(client)), std::move(taken)};
}

Result<std::shared_ptr<void>> MemberClients::place(const std::string& cluster, const std::shared_ptr<Counts>& counts,
                                                   Use use) const {
  const bool streams = use == Use::kStream;
  std::atomic<size_t>& count = streams ? counts->streams : counts->requests;
  const size_t most = streams ? options_.limits.streams : options_.limits.requests;
  if (count.fetch_add(1) >= most) {
    count.fetch_sub(1);
    return Error{ErrorCode::kTooManyRequests, "cluster " + cluster + " has " + std::to_string(most) +
                                                  (streams ? " streams" : " requests") +
                                                  " under way through the cluster proxy, please try again later"};
  }
  return std::shared_ptr<void>{&count,
                               [counts](void* taken) { static_cast<std::atomic<size_t>*>(taken)->fetch_sub(1); }};
}

bool MemberClients::ready(const std::string& cluster) const {
  const std::lock_guard lock{mutex_};
  const auto found = members_.find(cluster);
  return found != members_.end() && found->second.client != nullptr;
}

bool MemberClients::knows(const std::string& cluster) const {
  const std::lock_guard lock{mutex_};
  return members_.contains(cluster);
}

std::vector<std::string> MemberClients::names() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::string> names;
  names.reserve(members_.size());
  for (const auto& [name, member] : members_) names.push_back(name);
  return names;
}

void MemberClients::set_listener(std::function<void(const std::string&)> listener) {
  const std::lock_guard lock{listener_mutex_};
  listener_ = std::move(listener);
}

void MemberClients::notify(const std::string& cluster) {
  const std::lock_guard lock{listener_mutex_};
  if (listener_) listener_(cluster);
}

/// Under the lock.
void MemberClients::drop_clients(Member& member) {
  member.client = member.own = nullptr;
  member.version = ++last_version_;
}

/// Under the lock.
void MemberClients::forget_secrets(const std::string& cluster, const Member& member) {
  for (const char* reference : {"secretRef", "impersonatorSecretRef"}) {
    const auto named = clusters_of_.find(secret_key(member.spec[reference]));
    if (named == clusters_of_.end()) continue;
    named->second.erase(cluster);
    if (named->second.empty()) clusters_of_.erase(named);
  }
}

void MemberClients::put(const State& state, const std::string& cluster, const Value& spec) {
  {
    const std::lock_guard lock{mutex_};
    Member& member = members_[cluster];
    if (member.version > 0 && member.spec == spec) return;  // its status changes all the time
    forget_secrets(cluster, member);
    const ObjectKey secret = secret_key(spec["secretRef"]);
    const ObjectKey impersonator = secret_key(spec["impersonatorSecretRef"]);
    clusters_of_[secret].insert(cluster);
    clusters_of_[impersonator].insert(cluster);
    member.spec = spec;
    member.secret = value_of(state, secret);
    member.impersonator = value_of(state, impersonator);
    drop_clients(member);
  }
  notify(cluster);
}

void MemberClients::put_secret(const ObjectKey& key, const Value& secret) {
  std::set<std::string> clusters;
  {
    const std::lock_guard lock{mutex_};
    const auto named = clusters_of_.find(key);
    if (named == clusters_of_.end()) return;
    clusters = named->second;
    for (const std::string& cluster : clusters) {
      Member& member = members_[cluster];
      if (secret_key(member.spec["secretRef"]) == key) member.secret = secret;
      if (secret_key(member.spec["impersonatorSecretRef"]) == key) member.impersonator = secret;
      drop_clients(member);
    }
  }
  for (const std::string& cluster : clusters) notify(cluster);
}

void MemberClients::remove(const std::string& cluster) {
  const std::lock_guard lock{mutex_};
  const auto known = members_.find(cluster);
  if (known == members_.end()) return;
  forget_secrets(cluster, known->second);
  members_.erase(known);
}

void MemberClients::clear() {
  const std::lock_guard lock{mutex_};
  for (const auto& [name, member] : members_) {
    if (member.client != nullptr) member.client->close();
    if (member.own != nullptr) member.own->close();
  }
  members_.clear();
  clusters_of_.clear();
  options_.io.reset();
}

void MemberClients::load(const State& state) {
  fold_version_ = state.fold_version();
  for (const auto& [name, object] : state.objects(type::kCluster)) put(state, name.name.str(), object.value["spec"]);
}

void MemberClients::on_folded(const State& state, const DecodedRecord& /*record*/, const Folded& folded) {
  fold_version_ = state.fold_version();
  for (const Change& change : folded.changes) {
    if (change.object.type == type::kSecret) {
      put_secret(change.object, change.after);
    } else if (change.object.type == type::kCluster && change.removed()) {
      remove(change.object.name.str());
    } else if (change.object.type == type::kCluster) {
      put(state, change.object.name.str(), change.after["spec"]);
    }
  }
}

}  // namespace shiplog
