// 200 watches with all kinds of selectors, which are disconnected and resumed at random, and 50,000 mutations: each
// watch receives every change that its selector matches, once and in order, and ends with exactly the objects of a
// list.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/random.h"
#include "services/http/client.h"
#include "services/http/kubeconfig.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

constexpr int kWatches = 200;
constexpr int kMutations = 50'000;
constexpr int kWriters = 16;
constexpr int kNamespaces = 4;
constexpr int kNamesOfWriter = 12;
constexpr int kGroups = 24;
constexpr uint64_t kMostEventsOfAConnection = 1500;
constexpr auto kLongest = std::chrono::seconds{240};

std::string ns_of(uint64_t number) { return "torture-" + std::to_string(number); }

/// An object after a mutation.
struct ObjectVersion {
  int64_t revision = 0;  // 0 (unknown) for a deletion, whose response does not contain it
  bool deleted = false;
  std::string group, phase;
};
struct NamespacedName {
  std::string ns, name;
  auto operator<=>(const NamespacedName&) const = default;
};
using MutationHistory = std::map<NamespacedName, std::vector<ObjectVersion>>;

/// The objects that a watch selects; empty fields match all.
struct Selector {
  std::string ns, name, group, not_phase;
  bool matches(const NamespacedName& of, const ObjectVersion& version) const {
    return !version.deleted && (ns.empty() || of.ns == ns) && (name.empty() || of.name == name) &&
           (group.empty() || version.group == group) && (not_phase.empty() || version.phase != not_phase);
  }
  std::string target() const {
    std::string query = "?allowWatchBookmarks=true";
    if (!name.empty()) query += "&fieldSelector=metadata.name%3D" + name;
    std::string labels = group.empty() ? "" : "group%3D" + group;
    if (!not_phase.empty()) labels += (labels.empty() ? "" : "%2C") + ("phase%21%3D" + not_phase);
    if (!labels.empty()) query += "&labelSelector=" + labels;
    return "/api/v1/" + (ns.empty() ? "" : "namespaces/" + ns + "/") + "configmaps" + query;
  }
};

/// The events of one object that a watch must receive.
std::vector<std::string> expected(const Selector& selector, const NamespacedName& name,
                                  const std::vector<ObjectVersion>& versions) {
  std::vector<std::string> events;
  bool before = false;
  for (const ObjectVersion& version : versions) {
    const bool now = selector.matches(name, version);
    const std::string revision = version.revision == 0 ? "" : " " + std::to_string(version.revision);
    if (now) events.push_back((before ? "MODIFIED" : "ADDED") + revision);
    if (!now && before) events.push_back("DELETED" + revision);
    before = now;
  }
  return events;
}

/// A watch that its client disconnects after some events and resumes from the last version that it received.
class ResumingWatch : public std::enable_shared_from_this<ResumingWatch> {
 public:
  ResumingWatch(HttpClient& client, Selector shown, int64_t from, uint64_t seed)
      : selector{std::move(shown)}, client_{client}, random_{seed}, last_{from} {}

  void connect() {
    const std::lock_guard lock{mutex_};
    connect_locked();
  }
  void stop() {
    const std::lock_guard lock{mutex_};
    ++connection_;
    if (stream_) stream_->cancel();
  }
  size_t count() const {
    const std::lock_guard lock{mutex_};
    return count_;
  }
  uint64_t connections() const {
    const std::lock_guard lock{mutex_};
    return connection_;
  }
  std::map<NamespacedName, std::vector<std::string>> seen() const {
    const std::lock_guard lock{mutex_};
    return seen_;
  }
  std::map<NamespacedName, int64_t> objects() const {
    const std::lock_guard lock{mutex_};
    return objects_;
  }
  std::string failure() const {
    const std::lock_guard lock{mutex_};
    return failure_;
  }

  const Selector selector;

 private:
  void connect_locked() {
    const uint64_t mine = ++connection_;
    left_ = 1 + random_below(random_, kMostEventsOfAConnection);
    rest_.clear();
    HttpRequest request;
    request.target = selector.target() + "&watch=true&resourceVersion=" + std::to_string(last_);
    auto self = shared_from_this();
    stream_ = client_.stream(
        std::move(request),
        [self, mine](const HttpResponse& head) {
          if (head.status != 200) self->fail(mine, "HTTP status " + std::to_string(head.status));
        },
        [self, mine](std::string_view data) { self->take(mine, data); },
        [self, mine](Result<void> ended) { self->again(mine, ended); });
  }

  void fail(uint64_t connection, const std::string& reason) {
    const std::lock_guard lock{mutex_};
    if (connection == connection_ && failure_.empty()) failure_ = reason;
  }

  void take(uint64_t connection, std::string_view data) {
    const std::lock_guard lock{mutex_};
    rest_ += data;
    size_t begin = 0;
    for (size_t end = 0; connection == connection_ && (end = rest_.find('\n', begin)) != std::string::npos;) {
      auto event = parse_json(std::string_view{rest_}.substr(begin, end - begin));
      begin = end + 1;
      if (!event) {
        failure_ = event.error().message;
        return;
      }
      if (!take_event(event.value())) return;
    }
    rest_.erase(0, begin);
  }

  /// False if this connection has ended.
  bool take_event(const Value& event) {
    const std::string type = event["type"].str();
    const Value& metadata = event["object"]["metadata"];
    const int64_t revision = std::atoll(metadata["resourceVersion"].str().c_str());
    if (type == "ERROR" || revision < last_ || (revision == last_ && type != "BOOKMARK")) {
      if (failure_.empty()) failure_ = "after " + std::to_string(last_) + " came " + to_json(event).substr(0, 300);
      return false;
    }
    last_ = revision;
    if (type == "BOOKMARK") return true;
    ++count_;
    const NamespacedName name{metadata["namespace"].str(), metadata["name"].str()};
    seen_[name].push_back(type + " " + std::to_string(revision));
    if (type == "DELETED") {
      objects_.erase(name);
    } else {
      objects_[name] = revision;
    }
    if (--left_ > 0) return true;
    stream_->cancel();  // events of it that arrive later are ignored
    connect_locked();
    return false;
  }

  void again(uint64_t connection, const Result<void>& ended) {
    const std::lock_guard lock{mutex_};
    if (connection != connection_) return;
    if (!ended && failure_.empty()) failure_ = ended.error().message;
    if (ended) connect_locked();  // the server's timeout
  }

  mutable std::mutex mutex_;  // guards the members below
  HttpClient& client_;
  SeededRandom random_;
  std::shared_ptr<HttpClient::Stream> stream_;
  uint64_t connection_ = 0;  // the current one; events of older ones are ignored
  uint64_t left_ = 0;        // events until this one is disconnected
  std::string rest_;
  int64_t last_;
  size_t count_ = 0;
  std::map<NamespacedName, std::vector<std::string>> seen_;
  std::map<NamespacedName, int64_t> objects_;
  std::string failure_;
};

/// Sends one mutation after another, of objects that no other writer changes.
class MutationWriter : public std::enable_shared_from_this<MutationWriter> {
 public:
  MutationWriter(HttpClient& client, std::atomic<int>& left, int number)
      : client_{client}, left_{left}, number_{number}, random_{static_cast<uint64_t>(number) + 1} {}

  void next() {
    if (--left_ < 0) {
      done = true;
      return;
    }
    const NamespacedName name{
        ns_of(random_below(random_, kNamespaces)),
        "c-" + std::to_string(number_) + "-" + std::to_string(random_below(random_, kNamesOfWriter))};
    std::vector<ObjectVersion>& versions = history[name];
    const bool exists = !versions.empty() && !versions.back().deleted;
    const uint64_t action = random_below(random_, 10);
    ObjectVersion version{0, exists && action == 0, std::to_string(random_below(random_, kGroups)),
                          "p" + std::to_string(random_below(random_, 3))};
    // An update without a change has no revision.
    if (exists && version.group == versions.back().group) {
      version.phase = versions.back().phase == "p0" ? "p1" : "p0";
    }
    HttpRequest request;
    request.target = "/api/v1/namespaces/" + name.ns + "/configmaps" + (exists ? "/" + name.name : "");
    request.method = !exists ? "POST" : version.deleted ? "DELETE" : action < 5 ? "PUT" : "PATCH";
    if (!version.deleted) {
      request.headers.set("Content-Type",
                          request.method == "PATCH" ? "application/merge-patch+json" : "application/json");
      const Value labels = Value::object({{"group", version.group}, {"phase", version.phase}});
      const Value metadata = Value::object({{"name", name.name}, {"labels", labels}});
      request.body = to_json(Value::object({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", metadata}}));
    }
    client_.request(std::move(request), Millis{60'000},
                    [self = shared_from_this(), name, version](Result<HttpResponse> answer) mutable {
                      if (!answer || answer.value().status / 100 != 2) {
                        self->failure = answer ? answer.value().body : answer.error().message;
                        self->done = true;
                        return;
                      }
                      if (!version.deleted) {
                        const auto body = parse_json(answer.value().body);
                        version.revision = std::atoll(body.value()["metadata"]["resourceVersion"].str().c_str());
                      }
                      self->history[name].push_back(version);
                      self->next();
                    });
  }

  MutationHistory history;  // to be read when done
  std::string failure;
  std::atomic<bool> done{false};

 private:
  HttpClient& client_;
  std::atomic<int>& left_;
  int number_;
  SeededRandom random_;
};

Selector selector_of(int number) {
  const auto offset = static_cast<uint64_t>(number);
  Selector selector;
  if (number % 50 == 0) return selector;  // everything
  if (number % 4 == 1) selector.ns = ns_of(offset / 4 % kNamespaces);
  if (number % 2 == 0 || number % 12 == 5) selector.group = std::to_string(offset / 2 % kGroups);
  if (number % 6 == 0) selector.not_phase = "p1";
  if (number % 4 == 3) {
    selector.name = "c-" + std::to_string(offset % kWriters) + "-" + std::to_string(offset % kNamesOfWriter);
  }
  return selector;
}

TEST(WatchTorture, EachWatchReceivesEveryChangeOnceAndEndsWithTheListedObjects) {
  Fleet fleet;
  fleet.serve();
  const ApiClient api = fleet.api();
  for (uint64_t i = 0; i < kNamespaces; ++i) {
    const Value metadata = Value::object({{"name", ns_of(i)}});
    ASSERT_EQ(api.post("/api/v1/namespaces",
                       Value::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", metadata}}))
                  .status,
              201);
  }
  const auto from = std::stoll(api.get("/api/v1/configmaps").json["metadata"]["resourceVersion"].str());

  const auto config = read_kubeconfig({fleet.kubeconfig("plane")});
  ASSERT_TRUE(config.has_value());
  const auto context = context_of(config.value());
  ASSERT_TRUE(context.has_value());
  const auto io = std::make_shared<IoThreads>(1);
  HttpClient::Options options;
  options.max_connections = kWriters;
  options.max_streams = 2 * kWatches;  // a disconnected stream counts until it is closed
  const auto client = HttpClient::create(io, context.value().target, options);
  ASSERT_TRUE(client.has_value()) << client.error().message;

  std::vector<std::shared_ptr<ResumingWatch>> watchers;
  for (int number = 0; number < kWatches; ++number) {
    watchers.push_back(std::make_shared<ResumingWatch>(*client.value(), selector_of(number), from,
                                                       1000U + static_cast<uint64_t>(number)));
    watchers.back()->connect();
  }
  std::atomic<int> left{kMutations};
  std::vector<std::shared_ptr<MutationWriter>> writers;
  for (int number = 0; number < kWriters; ++number) {
    writers.push_back(std::make_shared<MutationWriter>(*client.value(), left, number));
    writers.back()->next();
  }
  ASSERT_TRUE(eventually(
      [&] { return std::ranges::all_of(writers, [](const auto& writer) { return writer->done.load(); }); }, kLongest))
      << left.load() << " mutations are left";
  MutationHistory history;
  for (const auto& writer : writers) {
    ASSERT_EQ(writer->failure, "");
    history.merge(writer->history);
  }

  uint64_t connections = 0;
  size_t events = 0;
  for (const auto& watcher : watchers) {
    std::map<NamespacedName, std::vector<std::string>> expected_events;
    size_t count = 0;
    for (const auto& [name, versions] : history) {
      auto of_object = expected(watcher->selector, name, versions);
      count += of_object.size();
      if (!of_object.empty()) expected_events[name] = std::move(of_object);
    }
    const std::string target = watcher->selector.target();
    ASSERT_TRUE(eventually([&] { return watcher->count() >= count || !watcher->failure().empty(); }, kLongest))
        << target << " saw " << watcher->count() << " of " << count;
    ASSERT_EQ(watcher->failure(), "") << target;
    ASSERT_EQ(watcher->count(), count) << target;
    for (auto& [name, seen] : watcher->seen()) {
      const auto& wanted = expected_events[name];
      ASSERT_EQ(seen.size(), wanted.size()) << target << " " << name.ns << "/" << name.name;
      for (size_t index = 0; index < seen.size(); ++index) {
        // Only the watch contains the version of a deletion.
        ASSERT_TRUE(seen[index] == wanted[index] || (wanted[index] == "DELETED" && seen[index].starts_with("DELETED ")))
            << target << " " << name.ns << "/" << name.name << ": " << seen[index] << ", not " << wanted[index];
      }
    }
    std::map<NamespacedName, int64_t> listed;
    const Value list = api.get(target).json;
    for (const Value& item : list["items"].items()) {
      if (item["metadata"]["namespace"].as_string().starts_with("kube-")) continue;  // from before the watches
      listed[{item["metadata"]["namespace"].str(), item["metadata"]["name"].str()}] =
          std::stoll(item["metadata"]["resourceVersion"].str());
    }
    ASSERT_EQ(watcher->objects(), listed) << target;
    connections += watcher->connections();
    events += count;
  }
  EXPECT_GT(connections, 2U * kWatches) << "too few watches were disconnected";
  RecordProperty("events", std::to_string(events));
  RecordProperty("connections", std::to_string(connections));
  std::printf("%d mutations, %zu events to %d watches over %llu connections\n", kMutations, events, kWatches,
              static_cast<unsigned long long>(connections));
  for (const auto& watcher : watchers) watcher->stop();
}

}  // namespace
}  // namespace shiplog::e2e
