#include "tests/crash/workload.h"

#include <iterator>
#include <random>

#include "events/base/json.h"

namespace shiplog::crash {
namespace {

constexpr int kSharedObjects = 10;
constexpr int kOwnObjects = 40;  // of each client
constexpr size_t kFillerBytes = 700;

KnownOutcome outcome_of(const e2e::Answer& answer) {
  // 504 leaves the outcome open.
  if (answer.status == 0 || answer.status == 504) return KnownOutcome::kUnknown;
  return answer.status < 300 ? KnownOutcome::kDone : KnownOutcome::kRefused;
}

}  // namespace

struct ClientWorkload::Client {
  struct Seen {
    std::string uid, revision;
  };
  int number = 0;
  std::mt19937_64 random;
  uint64_t writes = 0;
  int own_objects = 0;
  std::map<std::string, Seen> seen;  ///< objects that exist as far as this client knows
  std::vector<Operation> operations;
  std::thread thread;

  uint64_t below(uint64_t bound) { return random() % bound; }
  std::string next_value() { return "c" + std::to_string(number) + "-" + std::to_string(++writes); }
};

std::map<std::string, std::string> ClientWorkload::values_at(const e2e::ApiClient& api) {
  std::map<std::string, std::string> values;
  const Value list = api.get(kConfigMaps).json;
  for (const Value& item : list["items"].items()) {
    const std::string name = item["metadata"]["name"].str();
    if (is_own(name)) values[name] = item["data"]["value"].str();
  }
  return values;
}

ClientWorkload::ClientWorkload(uint64_t seed, int clients) {
  for (int number = 0; number < clients; ++number) {
    auto client = std::make_unique<Client>();
    client->number = number;
    client->random.seed(seed * 1000 + static_cast<uint64_t>(number));
    clients_.push_back(std::move(client));
  }
  for (auto& client : clients_) client->thread = std::thread{[this, &client = *client] { run(client); }};
}

ClientWorkload::~ClientWorkload() { finish(); }

void ClientWorkload::add_server(const std::string& name, std::shared_ptr<e2e::ApiClient> client) {
  const std::lock_guard lock{mutex_};
  servers_[name] = std::move(client);
  changed_.notify_all();
}

void ClientWorkload::remove_server(const std::string& name) {
  const std::lock_guard lock{mutex_};
  servers_.erase(name);
}

bool ClientWorkload::wait_for(size_t more, std::chrono::milliseconds patience) const {
  const size_t target_count = answered_ + more;
  return e2e::eventually([&] { return answered_ >= target_count; }, patience);
}

std::vector<Operation> ClientWorkload::finish() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
    changed_.notify_all();
  }
  std::vector<Operation> all;
  for (auto& client : clients_) {
    if (client->thread.joinable()) client->thread.join();
    std::ranges::copy(client->operations, std::back_inserter(all));
  }
  return all;
}

std::vector<std::string> ClientWorkload::unexpected_responses() const {
  const std::lock_guard lock{mutex_};
  return unexpected_;
}

std::string ClientWorkload::last_server_error() const {
  const std::lock_guard lock{mutex_};
  return last_server_error_;
}

std::shared_ptr<e2e::ApiClient> ClientWorkload::any_server(Client& client) {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return stopping_ || !servers_.empty(); });
  if (stopping_) return nullptr;
  return std::next(servers_.begin(), static_cast<std::ptrdiff_t>(client.below(servers_.size())))->second;
}

void ClientWorkload::run(Client& client) {
  while (const auto api = any_server(client)) {
    step(client, *api);
    if (client.operations.back().outcome != KnownOutcome::kUnknown) continue;
    // The server was probably killed and will be restarted: do not send requests as fast as possible until then.
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::milliseconds{5}, [&] { return stopping_; });
  }
}

e2e::Answer ClientWorkload::send(const e2e::ApiClient& api, Operation& operation, const std::string& method,
                                 const std::string& target, const std::string& body, const std::string& type) {
  operation.invoked = ++tick_;
  HttpHeaders headers;
  if (!body.empty()) headers.set("Content-Type", type);
  auto answer = api.call(method, target, body, std::move(headers), std::chrono::milliseconds{patience_ms_});
  operation.answered = ++tick_;
  operation.outcome = outcome_of(answer);
  const bool read = operation.verb == Verb::kRead;
  if (read && answer.status == 404) operation.outcome = KnownOutcome::kAbsent;
  if (answer.status != 0) ++answered_;
  if (!read && operation.outcome == KnownOutcome::kDone) ++acknowledged_;
  if (answer.status >= 500) {
    const std::lock_guard lock{mutex_};
    last_server_error_ = "HTTP " + std::to_string(answer.status) + " " + answer.message();
  } else if (answer.status >= 300 && answer.status != 404 && answer.status != 409) {
    const std::lock_guard lock{mutex_};
    unexpected_.push_back("unexpected HTTP " + std::to_string(answer.status) + " for " + method + " " + target + ": " +
                          answer.body);
  }
  return answer;
}

void ClientWorkload::step(Client& client, const e2e::ApiClient& api) {
  const bool shared = client.below(2) == 0;
  const auto dice = client.below(100);
  Operation operation;
  if (shared) {
    operation.object = "shared-" + std::to_string(client.below(kSharedObjects));
  } else if (client.own_objects == 0 || (dice < 35 && client.own_objects < kOwnObjects)) {
    operation.object = "own-" + std::to_string(client.number) + "-" + std::to_string(++client.own_objects);
  } else {
    operation.object = "own-" + std::to_string(client.number) + "-" +
                       std::to_string(1 + client.below(static_cast<uint64_t>(client.own_objects)));
  }
  const std::string target = std::string{kConfigMaps} + "/" + operation.object;
  const auto seen = client.seen.find(operation.object);
  const bool exists = seen != client.seen.end();

  Value metadata = Value::object({{"name", operation.object}});
  std::string method = "GET", url_path = target, body, type = "application/json";
  if (dice < 35) {
    operation.verb = Verb::kCreate;
    method = "POST", url_path = kConfigMaps;
  } else if (dice < 60 && exists) {
    operation.verb = Verb::kUpdate;
    method = "PUT";
    metadata.set("resourceVersion", seen->second.revision);
  } else if (dice < 70 && exists) {
    operation.verb = Verb::kUpdate;
    method = "PATCH", type = "application/merge-patch+json";
  } else if (dice < 80 && exists) {
    operation.verb = Verb::kRemove;
    method = "DELETE";
    operation.uid = seen->second.uid;
    body = to_json(Value::object({{"kind", "DeleteOptions"},
                                  {"apiVersion", "v1"},
                                  {"preconditions", Value::object({{"uid", seen->second.uid}})}}));
  }
  if (operation.verb == Verb::kCreate || operation.verb == Verb::kUpdate) {
    operation.value = client.next_value();
    const Value data = Value::object({{"value", operation.value}, {"filler", std::string(kFillerBytes, 'x')}});
    body = method == "PATCH" ? to_json(Value::object({{"data", data}}))
                             : to_json(Value::object({{"metadata", metadata}, {"data", data}}));
  }

  const e2e::Answer answer = send(api, operation, method, url_path, body, type);
  const Value& found = answer.json["metadata"];
  if (operation.outcome == KnownOutcome::kDone && operation.verb != Verb::kRemove) {
    operation.uid = found["uid"].str();
    operation.revision = std::stoull(found["resourceVersion"].str());
    operation.value = answer.json["data"]["value"].str();
    client.seen[operation.object] = {operation.uid, found["resourceVersion"].str()};
  } else {
    client.seen.erase(operation.object);  // unknown until the next read
  }
  client.operations.push_back(std::move(operation));
}

}  // namespace shiplog::crash
