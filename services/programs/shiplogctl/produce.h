#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/access.h"
#include "services/programs/shiplogctl/resources.h"
#include "services/programs/shiplogctl/terminal.h"

namespace shiplog::ctl {

/// Sends objects as requests of the event-producer API: to the API server, or into the topic of a fleet on Kafka.
struct ProduceOptions {
  std::vector<std::string> files;  ///< files, folders of them, or "-"
  std::string ns;                  ///< of objects that name none; empty: the context's, and none in a topic
  std::string verb = "apply";      ///< or "create"
  std::string field_manager;
  bool force = false;
  std::string id;  ///< ids are this, a dash and a number; empty: a random one
  bool wait = false;
  Millis timeout{60'000};
  std::string output;  ///< "", "json"

  std::string journal;             ///< "kafka:BROKERS/FLEET"; empty: over HTTP
  std::vector<std::string> kafka;  ///< settings of the Kafka client, KEY=VALUE
  std::string requests_topic;
  std::string token_file;  ///< the token of the requests in a topic
};

/// Returns true if each request was accepted and, with `wait`, carried out. Errors: a file cannot be read; the server
/// or the brokers cannot be reached.
Result<bool> produce(const AccessOptions& access, const ProduceOptions& options, const Output& to);

// --- parts, pure

/// A document's objects: the items of a List, or itself.
std::vector<Value> listed_objects(Value document);
/// Sets the namespace of an object that names none, unless `resources` has its kind as one without namespaces.
void add_namespace(Value& object, const std::string& ns, const std::vector<Resource>& resources);

}  // namespace shiplog::ctl
