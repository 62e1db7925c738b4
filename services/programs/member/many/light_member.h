#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/api/selector/selector.h"
#include "services/http/server.h"
#include "services/programs/member/many/generated_objects.h"
#include "services/runtime/executor.h"

namespace shiplog {
struct Kind;
}

namespace shiplog::member {

/// The API of one simulated member among many: the protocol is real, the cluster is not. It serves health, discovery
/// (aggregated and plain, with the kinds of CustomResourceDefinitions, whose objects it does not serve), generated
/// nodes and pods, and a store for all other objects of the built-in kinds: create, read, replace, merge patches,
/// delete, lists with pages and label selectors, watches from a version on, bookmarks, 410 for a version that is too
/// old. Deployments, StatefulSets and ReplicaSets become ready after a while; no pods are made for them, and no other
/// controller runs. There is no admission, no defaulting, no RBAC and no impersonation: who has the token may do
/// everything. Threads: any.
class LightMember : public std::enable_shared_from_this<LightMember> {
 public:
  struct Options {
    std::string name;
    uint32_t nodes = 3;
    uint32_t pods = 0;
    Millis ready_delay{500};
    std::string token;   ///< of every client
    std::string ca_pem;  ///< for the Secrets of service accounts
    bool hangs = false;  ///< takes requests, and never answers
  };
  /// `loop` outlives it: workloads become ready on its time.
  LightMember(Options options, Executor& loop);

  const std::string& name() const { return options_.name; }
  void handle(const HttpRequest& request, std::shared_ptr<ResponseWriter> writer);
  /// One pod is replaced by another one, in the same place.
  void churn();
  /// Bodies sent so far, without HTTP and TLS, and requests answered.
  uint64_t bytes_sent() const { return bytes_sent_; }
  uint64_t requests() const { return requests_; }
  /// From now on it takes requests and never answers, and its watches are silent; or no longer. What it has not
  /// answered until then it never does; watches miss nothing.
  void hang(bool hangs);
  /// Tells watches that have had nothing to say what the present version is.
  void send_bookmarks();

 private:
  struct Target;
  using ObjectName = std::pair<std::string, std::string>;  // namespace and name
  /// What has happened. Generated objects are made again when they are sent.
  struct Past {
    int64_t version = 0;
    const char* event = "";
    std::string type;
    GeneratedPod pod;                     // of type pods
    std::shared_ptr<const Value> object;  // of others; nodes do not change
    std::shared_ptr<const Value> before;
  };
  struct Watcher {
    std::string type, ns;
    api::ParsedLabelSelector selector;
    std::shared_ptr<ResponseWriter> writer;
    std::deque<std::string> lines;
    size_t bytes = 0;
    bool writing = false;
  };
  using Watchers = std::vector<std::shared_ptr<Watcher>>;

  void reply(const std::shared_ptr<ResponseWriter>& writer, HttpResponse response);
  HttpResponse answer(const HttpRequest& request, const Target& target);
  HttpResponse discover(const HttpRequest& request, const std::vector<std::string>& segments);
  Value apis(const std::vector<std::string>& segments, bool aggregated) const;
  HttpResponse list(const HttpRequest& request, const Target& target);
  // Both set `last` when the page is not the last one.
  std::string list_generated(const Target& target, size_t limit, const api::ContinueToken& after,
                             api::ContinueToken* last) const;
  std::string list_stored(const Target& target, const api::ParsedLabelSelector& selector, size_t limit,
                          const api::ContinueToken& after, api::ContinueToken* last) const;
  HttpResponse read(const Target& target) const;
  HttpResponse create(const Target& target, Value object);
  HttpResponse replace(const Target& target, Value object);
  HttpResponse remove(const Target& target, const Value& options);
  void store(const ObjectKey& key, const Kind& kind, Value object);
  void drop(const ObjectKey& key);
  void become_ready(const ObjectKey& key, int64_t generation);
  const Value* find(const ObjectKey& key) const;

  void watch(const HttpRequest& request, const Target& target, std::shared_ptr<ResponseWriter> writer);
  void happened(Past past);
  std::optional<std::string> line_of(const Past& past, const Watcher& watcher) const;
  void send(const std::shared_ptr<Watcher>& watcher, std::string line);
  void pump(const std::shared_ptr<Watcher>& watcher);

  const Options options_;
  Executor& loop_;
  std::atomic<bool> hangs_;
  std::atomic<uint64_t> bytes_sent_{0}, requests_{0};
  std::mutex mutex_;
  int64_t version_ = 1;
  uint64_t made_ = 0;
  uint32_t next_slot_ = 0;                                      // to be replaced by churn
  std::vector<GeneratedPod> pods_;                              // by slot
  std::map<std::string, std::map<ObjectName, Value>> objects_;  // by type
  std::deque<Past> history_;
  int64_t oldest_ = 1;  // watches from here on miss nothing
  Watchers watchers_;
  std::vector<std::shared_ptr<ResponseWriter>> hanging_;
};

}  // namespace shiplog::member
