#include "services/programs/shiplogctl/produce.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

#include <shiplog/client.h>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/base/system.h"
#include "events/base/yaml.h"

namespace shiplog::ctl {
namespace {

namespace fs = std::filesystem;

/// As much as one call of the server takes, with room for large objects; as many ids as a request line has room for.
constexpr size_t kMostInCall = 100;

struct ManifestRequest {
  std::string id, label;  ///< "ConfigMap default/settings"
  Value object;
};

Result<std::string> file_text(const std::string& file) {
  std::ostringstream text;
  if (file == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream in{file, std::ios::binary};
  text << in.rdbuf();
  if (!in) return Error{ErrorCode::kIo, file + " cannot be read"};
  return text.str();
}

/// The files of a folder in the order of their names, as kubectl takes them.
Result<std::vector<std::string>> files_of(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& name : given) {
    std::error_code failed;
    if (name == "-" || !fs::is_directory(name, failed)) {
      files.push_back(name);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(name, failed)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".yaml" || extension == ".yml" || extension == ".json") found.push_back(entry.path().string());
    }
    if (failed) return Error{ErrorCode::kIo, name + " cannot be read: " + failed.message()};
    if (found.empty()) return Error{ErrorCode::kNotFound, name + " holds no file that ends in .yaml, .yml or .json"};
    std::ranges::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

Result<std::vector<Value>> read_objects(const ProduceOptions& options) {
  SHIPLOG_TRY(const auto files, files_of(options.files));
  std::vector<Value> objects;
  for (const std::string& file : files) {
    SHIPLOG_TRY(const std::string text, file_text(file));
    auto documents = parse_yaml_stream(text);
    if (!documents) return documents.error().context(file);
    for (Value& document : documents.value()) {
      for (Value& object : listed_objects(std::move(document))) {
        if (!object.is_object()) return Error{ErrorCode::kInvalid, file + ": a document is no object"};
        objects.push_back(std::move(object));
      }
    }
  }
  if (objects.empty()) return Error{ErrorCode::kInvalid, "there is no object in the given files"};
  return objects;
}

bool names_namespace(const Value& object) { return !object["metadata"]["namespace"].is_null(); }

/// The namespace that is given, or the context's, for what names none. Which kinds have one, the server knows: a topic
/// does not, and there only a namespace that is given is used.
Result<void> add_namespaces(std::vector<Value>& objects, const AccessOptions& access, const ProduceOptions& options) {
  if (std::ranges::all_of(objects, names_namespace)) return ok();
  std::vector<Resource> resources;
  std::string ns = options.ns;
  if (options.journal.empty()) {
    SHIPLOG_TRY(ns, access.namespace_or_default());
    SHIPLOG_TRY(auto plane, access.connect());
    SHIPLOG_TRY(resources, read_resources(plane));
  }
  if (ns.empty()) return ok();
  for (Value& object : objects) add_namespace(object, ns, resources);
  return ok();
}

std::vector<ManifestRequest> requests_of(std::vector<Value> objects, const ProduceOptions& options) {
  std::string prefix = options.id;
  if (prefix.empty()) {
    SystemRandom random;
    prefix = to_string(new_entry_id(random));
  }
  std::vector<ManifestRequest> requests;
  for (Value& object : objects) {
    const Value& metadata = object["metadata"];
    const std::string ns = metadata["namespace"].str();
    std::string label = object["kind"].str() + " " + (ns.empty() ? "" : ns + "/") + metadata["name"].str();
    requests.push_back({prefix + "-" + std::to_string(requests.size() + 1), std::move(label), std::move(object)});
  }
  return requests;
}

/// Prints results, and keeps count of those that are outstanding or not a success.
class ResultPrinter {
 public:
  ResultPrinter(const std::vector<ManifestRequest>& requests, const ProduceOptions& options, const Output& to)
      : options_{options}, to_{to} {
    for (const ManifestRequest& request : requests) labels_[request.id] = request.label;
  }

  bool awaits(const std::string& id) const { return labels_.contains(id); }
  size_t left() const { return labels_.size(); }
  bool all_succeeded() const { return labels_.empty() && succeeded_; }
  std::vector<std::string> some(size_t most) const {
    std::vector<std::string> ids;
    for (const auto& [id, label] : labels_) {
      if (ids.size() < most) ids.push_back(id);
    }
    return ids;
  }

  void print(const Value& result) {
    const auto label = labels_.find(result["id"].str());
    if (label == labels_.end()) return;
    const std::string outcome = result["outcome"].str();
    succeeded_ = succeeded_ && (outcome == "applied" || outcome == "unchanged");
    if (options_.output == "json") {
      to_.out << to_json(result) << "\n";
    } else {
      to_.out << label->second << " " << outcome << (result["duplicate"].as_bool() ? " before" : "");
      if (const std::string message = result["message"].str(); !message.empty()) {
        to_.out << ": " << result["code"].as_int() << " " << result["reason"].str() << ": " << message;
      }
      to_.out << "\n";
    }
    to_.out << std::flush;
    labels_.erase(label);
  }

  void report_missing() const {
    if (labels_.empty()) return;
    to_.err << "error: no result came in time for " << labels_.size() << " requests, the first is "
            << labels_.begin()->first << " (" << labels_.begin()->second
            << "); they may still be carried out: send them again with the same --id to learn their results"
            << std::endl;
  }

 private:
  const ProduceOptions& options_;
  const Output& to_;
  std::map<std::string, std::string> labels_;
  bool succeeded_ = true;
};

Value request_value(const ManifestRequest& request, const ProduceOptions& options) {
  Value value = Value::object({{"id", request.id}, {"verb", options.verb}, {"manifest", request.object}});
  if (!options.field_manager.empty()) value.set("fieldManager", options.field_manager);
  if (options.force) value.set("force", true);
  return value;
}

class Deadline {
 public:
  explicit Deadline(Millis timeout) : at_{Steady::now() + std::chrono::milliseconds{timeout.value}} {}
  std::chrono::milliseconds left() const {
    return std::max(std::chrono::milliseconds{0},
                    std::chrono::duration_cast<std::chrono::milliseconds>(at_ - Steady::now()));
  }

 private:
  using Steady = std::chrono::steady_clock;
  Steady::time_point at_;
};

Result<bool> produce_over_http(const AccessOptions& access, const std::vector<ManifestRequest>& requests,
                               const ProduceOptions& options, const Output& to) {
  SHIPLOG_TRY(auto plane, access.connect());
  ResultPrinter printer{requests, options, to};
  const Deadline deadline{options.timeout};
  bool invalid = false;
  for (size_t begin = 0; begin < requests.size(); begin += kMostInCall) {
    Value batch = Value::array();
    for (size_t at = begin; at < std::min(begin + kMostInCall, requests.size()); ++at) {
      batch.push_back(request_value(requests[at], options));
    }
    SHIPLOG_TRY(const Value answer, plane.create("/shiplog/v1/requests", batch));
    for (const Value& result : answer["invalid"].items()) {
      printer.print(result);
      invalid = true;
    }
  }
  if (!options.wait) return !invalid;
  while (printer.left() > 0 && deadline.left().count() > 0) {
    HttpRequest::Query query;
    for (std::string& id : printer.some(kMostInCall)) query.emplace_back("id", std::move(id));
    query.emplace_back("timeout", std::to_string(std::min<int64_t>(deadline.left().count(), 30'000)) + "ms");
    SHIPLOG_TRY(const Value answer, plane.get("/shiplog/v1/requests/results", query));
    for (const Value& result : answer["results"].items()) printer.print(result);
  }
  printer.report_missing();
  return printer.all_succeeded();
}

Result<client::Config> config_of(const ProduceOptions& options) {
  constexpr std::string_view kKafka = "kafka:";
  const size_t slash = options.journal.rfind('/');
  if (!options.journal.starts_with(kKafka) || slash == std::string::npos) {
    return Error{ErrorCode::kBadRequest, "--journal=" + options.journal +
                                             ": kafka:BROKER[,BROKER...]/FLEET is expected; a fleet whose journal is a "
                                             "file takes requests over HTTP, without this option"};
  }
  client::Config config;
  config.brokers = options.journal.substr(kKafka.size(), slash - kKafka.size());
  config.fleet = options.journal.substr(slash + 1);
  config.requests_topic = options.requests_topic;
  for (const std::string& setting : options.kafka) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) return Error{ErrorCode::kBadRequest, "--kafka-option: KEY=VALUE is expected"};
    config.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return config;
}

Result<bool> produce_to_topic(const std::vector<ManifestRequest>& requests, const ProduceOptions& options,
                              const Output& to) {
  SHIPLOG_TRY(const client::Config config, config_of(options));
  if (options.token_file.empty()) {
    return Error{ErrorCode::kBadRequest, "--token-file: required with --journal, as a topic knows no user"};
  }
  SHIPLOG_TRY(std::string token, file_text(options.token_file));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  std::string error;
  const auto client = client::Client::open(config, options.wait, error);
  if (client == nullptr) return Error{ErrorCode::kUnavailable, error};
  ResultPrinter printer{requests, options, to};
  const Deadline deadline{options.timeout};
  for (const ManifestRequest& request : requests) {
    client::Request message;
    message.id = request.id;
    message.verb = options.verb;
    message.manifest = to_json(request.object);
    message.name_space = request.object["metadata"]["namespace"].str();
    message.name = request.object["metadata"]["name"].str();
    message.field_manager = options.field_manager;
    message.force = options.force;
    message.token = token;
    if (!client->send(message, error)) return Error{ErrorCode::kUnavailable, error};
  }
  if (!client->flush(deadline.left(), error)) return Error{ErrorCode::kUnavailable, error};
  if (!options.wait) return true;
  while (printer.left() > 0 && deadline.left().count() > 0) {
    const auto result = client->result(deadline.left());
    if (!result || !printer.awaits(result->id)) continue;
    SHIPLOG_TRY(const Value json, parse_json(result->json));
    printer.print(json);
  }
  printer.report_missing();
  return printer.all_succeeded();
}

}  // namespace

std::vector<Value> listed_objects(Value document) {
  constexpr std::string_view kList = "List";
  const std::string kind = document["kind"].str();
  if (!kind.ends_with(kList) || !document["items"].is_array()) return {std::move(document)};
  std::vector<Value> objects;
  for (Value object : document["items"].items()) {
    // Items of a list of one kind, as ConfigMapList, need not name it.
    if (kind != kList && object.is_object() && object["kind"].is_null()) {
      object.set("apiVersion", document["apiVersion"]);
      object.set("kind", kind.substr(0, kind.size() - kList.size()));
    }
    objects.push_back(std::move(object));
  }
  return objects;
}

void add_namespace(Value& object, const std::string& ns, const std::vector<Resource>& resources) {
  if (names_namespace(object)) return;
  const std::string api_version = object["apiVersion"].str();
  const std::string group =
      api_version.substr(0, api_version.find('/') == std::string::npos ? 0 : api_version.find('/'));
  const bool cluster_scoped = std::ranges::any_of(resources, [&](const Resource& resource) {
    return resource.group == group && resource.kind == object["kind"].as_string() && !resource.namespaced;
  });
  if (!cluster_scoped) object.edit("metadata").set("namespace", ns);
}

Result<bool> produce(const AccessOptions& access, const ProduceOptions& options, const Output& to) {
  SHIPLOG_TRY(auto objects, read_objects(options));
  SHIPLOG_TRY(add_namespaces(objects, access, options));
  const auto requests = requests_of(std::move(objects), options);
  SHIPLOG_TRY(const bool done, options.journal.empty() ? produce_over_http(access, requests, options, to)
                                                       : produce_to_topic(requests, options, to));
  if (!options.wait)
    to.err << requests.size() << " requests sent, " << requests.front().id << " and following" << std::endl;
  return done;
}

}  // namespace shiplog::ctl
