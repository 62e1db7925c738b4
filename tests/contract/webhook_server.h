#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/system.h"
#include "services/http/server.h"
#include "services/http/tls.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {

inline const std::string kConfigurations = "/apis/admissionregistration.k8s.io/v1/";

/// Answers AdmissionReviews, with a function for each path, and records the requests.
class WebhookServer {
 public:
  using Answer = std::function<Value(const Value& request)>;

  /// The path whose response is not an AdmissionReview, but set with set_raw.
  static constexpr const char* kRaw = "/raw";

  WebhookServer() {
    const Validity validity = valid_for_days(SystemClock{}.now(), 1);
    authority_ = make_authority("hooks-ca", validity).value();
    const KeyPair pair =
        issue_server_certificate(authority_, "hooks", {.dns = {"localhost", "hooks.default.svc"}, .ips = {"127.0.0.1"}},
                                 validity)
            .value();
    HttpServer::Options options;
    options.certificate_pem = pair.certificate_pem;
    options.key_pem = pair.key_pem;
    auto started = HttpServer::start(options, [this](const HttpRequest& request, const auto& writer) {
      if (request.path == kRaw) return writer->send(raw());
      writer->send({200, {{"Content-Type", "application/json"}}, answer(request)});
    });
    EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message);
    server_ = std::move(started).value();
  }

  /// Sets the function that returns the members of AdmissionResponse, except uid, for `path`.
  void set_answer(const std::string& path, Answer answer) {
    const std::lock_guard lock{mutex_};
    answers_[path] = std::move(answer);
  }
  void set_raw(HttpResponse response) {
    const std::lock_guard lock{mutex_};
    raw_ = std::move(response);
  }
  /// The headers of the newest request for `path`.
  HttpHeaders headers(const std::string& path) {
    const std::lock_guard lock{mutex_};
    return headers_[path];
  }
  /// The query of the newest request for `path`.
  std::string query(const std::string& path) {
    const std::lock_guard lock{mutex_};
    return queries_[path];
  }
  std::vector<Value> asked(const std::string& path) {
    const std::lock_guard lock{mutex_};
    return asked_[path];
  }
  uint16_t port() const { return server_->bound_port(); }
  std::string ca() const { return base64_encode(authority_.certificate_pem); }
  /// A clientConfig for that path.
  Value client(const std::string& path) const {
    return Value::object({{"url", "https://127.0.0.1:" + std::to_string(port()) + path}, {"caBundle", ca()}});
  }

 private:
  std::string answer(const HttpRequest& request) {
    auto review = parse_json(request.body);
    const Value asked = review ? review.value()["request"] : Value{};
    Answer answer;
    {
      const std::lock_guard lock{mutex_};
      asked_[request.path].push_back(asked);
      headers_[request.path] = request.headers;
      queries_[request.path] = request.target.substr(request.path.size());
      answer = answers_[request.path];
    }
    Value response = answer ? answer(asked) : Value::object({{"allowed", true}});
    response.set("uid", asked["uid"]);
    return to_json(Value::object(
        {{"kind", "AdmissionReview"}, {"apiVersion", "admission.k8s.io/v1"}, {"response", std::move(response)}}));
  }

  HttpResponse raw() {
    const std::lock_guard lock{mutex_};
    return raw_;
  }

  KeyPair authority_;
  std::mutex mutex_;
  HttpResponse raw_;
  std::map<std::string, HttpHeaders> headers_;
  std::map<std::string, std::string> queries_;
  std::map<std::string, Answer> answers_;
  std::map<std::string, std::vector<Value>> asked_;
  std::unique_ptr<HttpServer> server_;  // last: its handler uses the rest
};

inline WebhookServer& webhook_server() {
  static WebhookServer webhook_server;
  return webhook_server;
}

/// The members of an AdmissionResponse with this JSON patch.
inline Value patched_by(const std::string& operations) {
  return Value::object({{"allowed", true}, {"patchType", "JSONPatch"}, {"patch", base64_encode(operations)}});
}

/// A configuration with one webhook for ConfigMaps with the label test=NAME; it is deleted at the end of its scope.
class WebhookConfiguration {
 public:
  WebhookConfiguration(bool mutating, const std::string& name, const std::string& path, const std::string& more = "{}",
                       const std::string& label = "")
      : target_{kConfigurations + (mutating ? "mutating" : "validating") + "webhookconfigurations"}, name_{name} {
    Value hook = json(R"({"sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"operations":["*"],
        "apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]})");
    hook.set("name", name + ".hooks.example");
    hook.set("clientConfig", webhook_server().client(path));
    hook.set("objectSelector",
             Value::object({{"matchLabels", Value::object({{"test", label.empty() ? name : label}})}}));
    const Value extra = json(more);
    for (const auto& member : extra.members()) hook.set(member.key(), member.value);
    made = api().post(target_, Value::object({{"metadata", Value::object({{"name", name}})},
                                              {"webhooks", Value::array({std::move(hook)})}}));
    EXPECT_EQ(made.status, 201) << made;
  }
  ~WebhookConfiguration() { EXPECT_EQ(api().remove(target_ + "/" + name_).status, 200); }
  WebhookConfiguration(const WebhookConfiguration&) = delete;
  WebhookConfiguration& operator=(const WebhookConfiguration&) = delete;

  Answer made;

 private:
  std::string target_, name_;
};

/// A ConfigMap that the hooks and policies of that test are about.
inline Value labelled(const std::string& name, const std::string& test) {
  return config_map(name, "{}", R"({"test":")" + test + "\"}");
}

}  // namespace shiplog::e2e
