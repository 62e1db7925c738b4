#include "tests/e2e/addon_server.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/system.h"

namespace shiplog::e2e {
namespace {

void send_json(const std::shared_ptr<ResponseWriter>& writer, int status, const Value& value) {
  writer->send({status, {{"Content-Type", "application/json"}}, to_json(value)});
}

void send_failure(const std::shared_ptr<ResponseWriter>& writer, int status, const char* reason) {
  send_json(writer, status,
            Value::object({{"kind", "Status"},
                           {"apiVersion", "v1"},
                           {"status", "Failure"},
                           {"reason", reason},
                           {"code", status},
                           {"message", std::string{reason} + " by the add-on"}}));
}

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> found;
  for (const Value& item : list.items()) found.push_back(item.str());
  return found;
}

void merge(Value& into, const Value& patch) {
  for (const auto& member : patch.members()) {
    if (member.value.is_null()) {
      into.erase(member.key());
    } else if (member.value.is_object()) {
      merge(into.edit(member.key()), member.value);
    } else {
      into.set(member.key(), member.value);
    }
  }
}

/// As a chunked stream that only ends when its reader does.
void write_on(const std::shared_ptr<ResponseWriter>& writer) {
  writer->write(std::string(1U << 20U, ' '), [writer](const Result<void>& done) {
    if (done) write_on(writer);
  });
}

}  // namespace

AddonServer::AddonServer(const Value& trusted, std::string group)
    : group_{std::move(group)}, allowed_names_{texts(json(trusted["requestheader-allowed-names"].as_string()))} {
  const Validity validity = valid_for_days(SystemClock{}.now(), 1);
  authority_ = make_authority("addon-ca", validity).value();
  const KeyPair pair =
      issue_server_certificate(authority_, "things", {.dns = {"things.default.svc"}, .ips = {}}, validity).value();
  HttpServer::Options options;
  options.certificate_pem = pair.certificate_pem;
  options.key_pem = pair.key_pem;
  options.client_ca_pem = trusted["requestheader-client-ca-file"].str();
  auto started =
      HttpServer::start(options, [this](const HttpRequest& request, const auto& writer) { take(request, writer); });
  EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message);
  server_ = std::move(started).value();
  port_ = server_->bound_port();
}

void AddonServer::stop() {
  server_.reset();
  const std::lock_guard lock{mutex_};
  watches_.clear();
  held_.clear();
}

std::string AddonServer::ca_bundle() const { return base64_encode(authority_.certificate_pem); }

size_t AddonServer::watches() const {
  const std::lock_guard lock{mutex_};
  size_t open = 0;
  for (const Writer& watch : watches_) open += watch->closed() ? 0 : 1;
  return open;
}

std::vector<AddonServer::Seen> AddonServer::seen(const std::string& prefix) const {
  const std::lock_guard lock{mutex_};
  std::vector<Seen> found;
  for (const Seen& each : seen_) {
    if (each.path.starts_with(prefix) && each.user != "system:kube-aggregator") found.push_back(each);
  }
  return found;
}

void AddonServer::take(const HttpRequest& request, const Writer& writer) {
  const bool trusted =
      request.peer.certified && std::ranges::find(allowed_names_, request.peer.common_name) != allowed_names_.end();
  if (!trusted) return send_failure(writer, 401, "Unauthorized");
  Seen seen{request.method, request.path, std::string{request.headers.get("X-Remote-User")}, {}};
  for (const auto& [name, value] : request.headers.all()) {
    if (equal_ignoring_case(name, "X-Remote-Group")) seen.groups.push_back(value);
  }
  seen.authorization = request.headers.contains("Authorization") || request.headers.contains("Impersonate-User");
  if (seen.user == "system:kube-aggregator") ++probes_;
  {
    const std::lock_guard lock{mutex_};
    seen_.push_back(std::move(seen));
  }
  if (mode_ == Mode::kGood) return serve(request, writer);
  misbehave(request, writer);
}

void AddonServer::misbehave(const HttpRequest& request, const Writer& writer) {
  switch (mode_.load()) {
    case Mode::kHangs: {
      const std::lock_guard lock{mutex_};
      held_.push_back(writer);
      return;
    }
    case Mode::kRedirects:
      return writer->send({302, {{"Location", "https://127.0.0.1:1" + request.path}}, ""});
    case Mode::kEndless:
      writer->start(200, {{"Content-Type", "application/json"}});
      return write_on(writer);
    case Mode::kCutsOff:
      writer->start(200, {{"Content-Type", "application/json"}});
      return writer->write("{\"kind\":", [writer](const Result<void>&) {});
    case Mode::kGood:
    case Mode::kGarbage:
      return writer->send({200, {{"Content-Type", "application/json"}}, "<html>no JSON</html>"});
  }
}

void AddonServer::serve(const HttpRequest& request, const Writer& writer) {
  const std::string version = "/apis/" + group_ + "/v1";
  const std::string things = version + "/namespaces/default/things";
  if (request.path == version) {
    return send_json(writer, 200,
                     json(R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":")" + group_ +
                          R"(/v1","resources":[{"name":"things","singularName":"thing","namespaced":true,
        "kind":"Thing","shortNames":["th"],"verbs":["create","delete","get","list","patch","watch"]}]})"));
  }
  if (request.path == "/openapi/v3") {
    return send_json(writer, 200,
                     json(R"({"paths":{"apis/)" + group_ + R"(/v1":{"serverRelativeURL":"/openapi/v3/apis/)" + group_ +
                          R"(/v1?hash=1"}}})"));
  }
  if (request.path == "/openapi/v3/apis/" + group_ + "/v1") return send_json(writer, 200, document());
  if (request.path == things || request.path.starts_with(things + "/")) {
    return serve_things(request, writer, request.path.substr(std::min(things.size() + 1, request.path.size())));
  }
  send_failure(writer, 404, "NotFound");
}

void AddonServer::serve_things(const HttpRequest& request, const Writer& writer, const std::string& name) {
  const std::lock_guard lock{mutex_};
  if (request.method != "GET") return change(request, writer, name);
  if (!name.empty()) {
    const auto found = things_.find(name);
    return found == things_.end() ? send_failure(writer, 404, "NotFound") : send_json(writer, 200, found->second);
  }
  if (request.query_value("watch") != nullptr) {
    writer->start(200, {{"Content-Type", "application/json"}});
    watches_.push_back(writer);
    return;
  }
  Value list = Value::object({{"apiVersion", group_ + "/v1"}, {"kind", "ThingList"}, {"items", Value::array()}});
  list.edit("metadata").set("resourceVersion", std::to_string(version_));
  for (const auto& [key, thing] : things_) list.edit("items").push_back(thing);
  send_json(writer, 200, list);
}

void AddonServer::change(const HttpRequest& request, const Writer& writer, const std::string& name) {
  if (request.method == "DELETE") {
    const auto found = things_.find(name);
    if (found == things_.end()) return send_failure(writer, 404, "NotFound");
    const Value last = found->second;
    store(last, "DELETED");
    things_.erase(name);
    return send_json(writer, 200, last);
  }
  const auto body = parse_yaml(request.body);
  if (!body) return send_failure(writer, 400, "BadRequest");
  Value thing = body.value();
  const bool created = !things_.contains(name.empty() ? thing["metadata"]["name"].str() : name);
  if (request.method == "PATCH" && !created) {
    thing = things_[name];
    merge(thing, body.value());
  }
  thing.edit("metadata").set("namespace", "default");
  thing.edit("metadata").set("uid", "uid-" + thing["metadata"]["name"].str());
  thing.edit("metadata").set("resourceVersion", std::to_string(++version_));
  store(thing, created ? "ADDED" : "MODIFIED");
  send_json(writer, created ? 201 : 200, thing);
}

void AddonServer::store(Value thing, const char* event) {
  const std::string line = to_json(Value::object({{"type", event}, {"object", thing}})) + "\n";
  for (const Writer& watch : watches_) watch->write(line, [](const Result<void>&) {});
  const std::string name = thing["metadata"]["name"].str();
  things_[name] = std::move(thing);
}

Value AddonServer::document() const {
  const std::string kind = R"({"group":")" + group_ + R"(","version":"v1","kind":"Thing"})";
  const std::string schema = R"({"schema":{"$ref":"#/components/schemas/com.example.Thing"}})";
  const std::string answer =
      R"("responses":{"200":{"description":"OK","content":{"application/json":)" + schema + "}}}";
  const auto operation = [&](const std::string& action, const std::string& more) {
    return R"({"x-kubernetes-action":")" + action + R"(","x-kubernetes-group-version-kind":)" + kind + "," + more +
           answer + "}";
  };
  const std::string parameters =
      R"("parameters":[{"name":"dryRun","in":"query","schema":{"type":"string"}},
          {"name":"fieldValidation","in":"query","schema":{"type":"string"}}],)";
  const std::string base = "/apis/" + group_ + "/v1/namespaces/{namespace}/things";
  return json(R"({"openapi":"3.0.0","info":{"title":"things","version":"v1"},"paths":{")" + base + R"(":{"get":)" +
              operation("list", "") + R"(,"post":)" + operation("post", parameters) + R"(},")" + base +
              R"(/{name}":{"get":)" + operation("get", "") + R"(,"patch":)" +
              operation("patch", parameters + R"("requestBody":{"content":{"application/merge-patch+json":)" + schema +
                                     R"(,"application/apply-patch+yaml":)" + schema + "}},") +
              R"(}},"components":{"schemas":{"com.example.Thing":{"type":"object",
          "description":"A Thing of the add-on.","properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},
          "metadata":{"type":"object"},"spec":{"type":"object","description":"What the thing is to be.",
          "properties":{"size":{"type":"integer","description":"How large it is."}}}},
          "x-kubernetes-group-version-kind":[)" +
              kind + "]}}}}");
}

}  // namespace shiplog::e2e
