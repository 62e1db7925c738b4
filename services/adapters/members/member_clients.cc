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

Result<std::shared_ptr<HttpClient>> MemberClients::own_client(const std::string& cluster) {
  Member member;
  {
    const std::lock_guard lock{mutex_};
    const auto found = members_.find(cluster);
    if (found == members_.end()) {
      return Error{ErrorCode::kNotFound, "clusters.cluster.karmada.io \"" + cluster + "\" not found"};
    }
    member = found->second;
  }
  if (member.own != nullptr) return std::move(member.own);
  SHIPLOG_TRY(auto client, make_own(cluster, member));
  const std::lock_guard lock{mutex_};
  const auto found = members_.find(cluster);
  if (found != members_.end() && found->second.version == member.version) {
    if (found->second.own == nullptr) found->second.own = client;
    client = found->second.own;
  }
  return client;
}

Result<MemberClients::Borrowed> MemberClients::borrow(const std::string& cluster, Use use) {
  Member member;
  {
    const std::lock_guard lock{mutex_};
    const auto found = members_.find(cluster);
    if (found == members_.end()) {
      return Error{ErrorCode::kNotFound, "clusters.cluster.karmada.io \"" + cluster + "\" not found"};
    }
    member = found->second;
  }
  SHIPLOG_TRY(auto taken, place(cluster, member.counts, use));
  if (member.client != nullptr) return Borrowed{std::move(member.client), std::move(taken)};
  SHIPLOG_TRY(auto client, make(cluster, member));
  const std::lock_guard lock{mutex_};
  const auto found = members_.find(cluster);
  if (found != members_.end() && found->second.version == member.version) {
    if (found->second.client == nullptr) found->second.client = client;
    client = found->second.client;
  }
  return Borrowed{std::move(client), std::move(taken)};
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

void MemberClients::put(const State& state, const std::string& cluster, const Value& spec) {
  const std::lock_guard lock{mutex_};
  Member& member = members_[cluster];
  if (member.version > 0 && member.spec == spec) return;  // its status changes all the time
  member.spec = spec;
  member.secret = value_of(state, secret_key(spec["secretRef"]));
  member.impersonator = value_of(state, secret_key(spec["impersonatorSecretRef"]));
  member.client = member.own = nullptr;
  ++member.version;
}

void MemberClients::put_secret(const ObjectKey& key, const Value& secret) {
  const std::lock_guard lock{mutex_};
  for (auto& [name, member] : members_) {
    const bool of_cluster = secret_key(member.spec["secretRef"]) == key;
    const bool of_impersonator = secret_key(member.spec["impersonatorSecretRef"]) == key;
    if (!of_cluster && !of_impersonator) continue;
    if (of_cluster) member.secret = secret;
    if (of_impersonator) member.impersonator = secret;
    member.client = member.own = nullptr;
    ++member.version;
  }
}

void MemberClients::clear() {
  const std::lock_guard lock{mutex_};
  for (const auto& [name, member] : members_) {
    if (member.client != nullptr) member.client->close();
    if (member.own != nullptr) member.own->close();
  }
  members_.clear();
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
      const std::lock_guard lock{mutex_};
      members_.erase(change.object.name.str());
    } else if (change.object.type == type::kCluster) {
      put(state, change.object.name.str(), change.after["spec"]);
    }
  }
}

}  // namespace shiplog
