#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

// Sends requests to a shiplog fleet through its topics on Apache Kafka, and reads their results. Needs librdkafka only.
// docs/guide/requests.md describes requests, results and what is guaranteed. No function throws anything but
// std::bad_alloc.
namespace shiplog::client {

struct Config {
  std::string brokers;  ///< "HOST:PORT,HOST:PORT"
  std::string fleet;    ///< as in --journal=kafka:BROKERS/FLEET
  /// Settings of librdkafka for all connections, as security.protocol and sasl.mechanism.
  std::map<std::string, std::string> settings;
  std::string requests_topic;  ///< empty: FLEET.requests
  std::string results_topic;   ///< empty: FLEET.results
};

/// One mutation. What is empty is not sent; the object's address may be left to the manifest.
struct Request {
  std::string id;    ///< idempotency id: required. Sent again with the same id, a request is carried out once.
  std::string verb;  ///< apply, create, patch, delete, scale
  std::string api_version, kind, resource, name_space, name, subresource;
  std::string manifest;    ///< JSON: the object, or the patch
  std::string patch_type;  ///< merge, json, strategic
  std::string field_manager;
  bool force = false;
  bool dry_run = false;
  std::string resource_version, uid;  ///< the object must have these
  std::optional<std::int64_t> replicas;
  std::string token;     ///< bearer token of the requester: required
  std::string deadline;  ///< RFC 3339
  std::string propagation_policy;
  std::string traceparent;  ///< W3C; a header of the record

  /// Requests with the same key are carried out in their order. Empty: namespace and name, where there is a name.
  std::string key;
};

/// What became of a request.
struct Result {
  std::string id;
  std::string outcome;  ///< applied, unchanged, refused, expired, invalid
  bool duplicate = false;
  int code = 0;  ///< HTTP status
  std::string reason, message, revision, uid, resource_version, entry_id;
  std::string json;  ///< all of it
};

/// The value of the record.
std::string to_json(const Request& request);
/// Reads the value of a result. nullopt: it is none.
std::optional<Result> parse_result(const std::string& json);

/// Threads: send() from any; the rest from one.
class Client {
 public:
  /// nullptr, and what is wrong. With `results`, result() returns those committed from now on.
  static std::unique_ptr<Client> open(const Config& config, bool results, std::string& error);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Queues a request; waits while the queue is full. False: it is not sent, and why.
  bool send(const Request& request, std::string& error);
  /// Waits until all requests are stored by the brokers. False: some are not known to be, and why. Send these again.
  bool flush(std::chrono::milliseconds timeout, std::string& error);
  /// The next result of any request of the fleet. nullopt: none came in time.
  std::optional<Result> result(std::chrono::milliseconds timeout);

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::client
