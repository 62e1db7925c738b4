#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/entry.h"
#include "services/api/api_server.h"
#include "services/api/auth/rbac/rule.h"
#include "services/api/deadlines.h"
#include "services/api/denials/denials.h"
#include "services/api/large_requests.h"
#include "services/api/request.h"
#include "services/api/status.h"
#include "services/runtime/workers.h"

namespace shiplog::api {

/// One request on its way through the server, and how to answer it. Shared by the callbacks it waits for.
struct Context {
  HttpRequest request;
  std::shared_ptr<ResponseWriter> writer;
  User user;
  ResourcePath path;
  std::shared_ptr<const Kinds> kinds;
  const Kind* kind = nullptr;  ///< owned by `kinds`
  std::string verb;            ///< Kubernetes verb; empty before the kind is found
  Accept accept;
  std::vector<std::string> warnings;
  LargeRequests::Place large;  ///< of a large request; nullptr: it is none

  ObjectKey key() const { return {kind->type(), path.ns, path.name}; }
  Subject subject() const { return {kind->group, kind->kind, kind->plural, path.name}; }
  Subject subject(const std::string& name) const { return {kind->group, kind->kind, kind->plural, name}; }
};
using ContextPtr = std::shared_ptr<Context>;

class Watches;

/// What the handlers of one server share.
struct Server {
  ApiServer::Options options;
  std::unique_ptr<Workers> workers;
  std::unique_ptr<LargeRequests> large;
  Watches* watches = nullptr;
  std::shared_ptr<Denials> denials;
  std::shared_ptr<Deadlines> deadlines;

  Store& store(const Kind& kind) { return kind.ephemeral ? *options.ephemera : *options.record; }

  /// The object or list as the client asked for it (Table, PartialObjectMetadata, YAML).
  void answer(const ContextPtr& context, int status, const Value& object);
  /// The same of an object that is JSON already, when the client asked for nothing else.
  void answer_json(const ContextPtr& context, int status, const std::string& json);
  void answer_list(const ContextPtr& context, std::vector<Value> items, Value list_metadata);
  void fail(const ContextPtr& context, const Error& error);
  /// The same about something else than what the path names (its namespace is missing).
  void fail(const ContextPtr& context, const Error& error, const Subject& subject);
  void answer_status(const ContextPtr& context, int http_status, const Value& status);
  void send(const ContextPtr& context, int status, std::string content_type, std::string body);

  /// Parses the stored row of an object that exists and opens what is sealed. Errors: Vault::open().
  Result<Value> load(std::string_view json);
  /// The same of a version from the past: Vault::open_version().
  Result<Value> load_version(std::string_view json);
  Result<Value> open_version(Value stored);
  /// load(); of a kind that a user defined, in the version of the request. Error: also kNotFound, it has just been
  /// removed.
  Result<Value> loaded(const Context& context, const ObjectKey& key, std::string_view json);
  /// Why no stored object has that key: kNotFound, in kubectl's words; kMethodNotAllowed, it is a read-only view
  /// (views/views.h).
  Error absent(const Context& context, const ObjectKey& key);

  /// Runs `work` where it may block: on the workers, or, of a large request, where these run.
  void post(const ContextPtr& context, std::function<void()> work);
  /// Makes the request a large one when it is about so many bytes. False: there is no room for it, which is answered.
  bool admit_bytes(const ContextPtr& context, size_t bytes);
  /// Runs `then` where it may block, once the store is current (reads are linearizable). Trouble is answered here.
  void when_current(const ContextPtr& context, std::function<void()> then);
  /// The object as stored and opened; of a kind that a user defined, in the version of the request. Errors: kNotFound,
  /// in kubectl's words; kMethodNotAllowed, it is a read-only view (views/views.h).
  Result<Value> current(const Context& context, const ObjectKey& key);
  /// The object as stored, with sealed text in it: for what must work when its key is lost.
  Result<Value> current_unopened(const Context& context, const ObjectKey& key);
  /// current(), of what the path names, for a request that changes it: once the store is current, and, as the object
  /// may be large, where large requests run.
  void when_read(const ContextPtr& context, std::function<void(Result<Value>)> then);

  /// An entry by this request's user, for this request.
  Entry entry_for(const Context& context, const std::string& verb) const;
  /// Appends an entry of a client: see Denials::append(). Error: kTimeout, the journal took longer than the request
  /// may.
  void append(const Context& context, Store& store, Entry entry, std::function<void(Result<Outcome>)> done);
  /// Leaves a trace of a refused mutation in the audit trail, without waiting for it.
  void record_denial(const ContextPtr& context, const Error& error);
  /// The same of any refused request, about `object` as far as it is known.
  void record_denial(const Context& context, Store& store, const std::string& verb, const ObjectKey& object,
                     const Error& error);
};

using ServerPtr = std::shared_ptr<Server>;

/// `writer` with what every answer of the API carries: the request's Audit-Id or a new one, how it may be cached, and,
/// of errors, that a browser must not guess what they are (HTTP-11, ERR-6). Large whole answers are compressed for
/// those who take that, streams never (HTTP-10).
std::shared_ptr<ResponseWriter> stamped(std::shared_ptr<ResponseWriter> writer, const HttpRequest& request,
                                        Random& random);

// The verbs; each answers through the context.
void get_object(const ServerPtr& server, const ContextPtr& context);
void list_objects(const ServerPtr& server, const ContextPtr& context);
void create_object(const ServerPtr& server, const ContextPtr& context);
void update_object(const ServerPtr& server, const ContextPtr& context);
void patch_object(const ServerPtr& server, const ContextPtr& context);
void delete_object(const ServerPtr& server, const ContextPtr& context);
void delete_collection(const ServerPtr& server, const ContextPtr& context);
void serve_scale(const ServerPtr& server, const ContextPtr& context);
/// POST .../pods/NAME/eviction and /binding. False: the request is about something else.
bool serve_pod_action(const ServerPtr& server, const ContextPtr& context);
/// Answers POST .../bindings, the older way to say pods/NAME/binding. False: it is not one.
bool serve_bindings(const ServerPtr& server, const ContextPtr& context);
/// DEL-9: the seconds that a pod is to be given, by what was asked for and by its spec. Whether it gets them, the fold
/// says: one that runs nowhere does not.
int64_t grace_of_pod(const Value& pod, std::optional<int64_t> asked);
/// A resource that is not served here: 404, or, when an APIService says that another server has it, 503 and why.
void answer_unserved(const ServerPtr& server, const ContextPtr& context);

/// Objects of a collection that match the selectors, and the list's metadata.
struct Listed {
  std::vector<Value> items;
  Value metadata;
};
/// As Server::when_current, once the store has reached `wanted` too: it is given a few seconds to (LIST-11).
void when_reached(const ServerPtr& server, const ContextPtr& context, Revision wanted, std::function<void()> then);
/// What to say when it has not: client libraries look for these words.
Error too_large(Revision wanted, Revision newest);

/// Blocks on the projection.
Result<Listed> list_collection(Server& server, const Context& context, const ReadOptions& options);

}  // namespace shiplog::api
