#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "events/base/json.h"
#include "events/base/value.h"
#include "events/base/yaml.h"
#include "services/http/server.h"
#include "services/http/tls.h"
#include "tests/support/api_client.h"

namespace shiplog::e2e {

/// A small aggregated API server, as an add-on brings one: it serves Things of things.example.com/v1, over HTTPS, to
/// whom the ConfigMap extension-apiserver-authentication says it may trust. One process with the test.
class AddonServer {
 public:
  enum class Mode { kGood, kHangs, kRedirects, kGarbage, kEndless, kCutsOff };

  /// A request, as it arrived.
  struct Seen {
    std::string method, path, user;
    std::vector<std::string> groups;
    bool authorization = false;  ///< an Authorization or Impersonate-User header came with it
  };

  /// `trusted`: the data of the ConfigMap.
  explicit AddonServer(const Value& trusted, std::string group = "things.example.com");
  void become(Mode mode) { mode_ = mode; }
  void stop();

  uint16_t port() const { return port_; }
  const std::string& group() const { return group_; }
  /// Base64.
  std::string ca_bundle() const;
  /// Of the paths that begin so, without those of probes.
  std::vector<Seen> seen(const std::string& prefix) const;
  size_t probes() const { return probes_; }
  size_t watches() const;

 private:
  using Writer = std::shared_ptr<ResponseWriter>;

  void take(const HttpRequest& request, const Writer& writer);
  void misbehave(const HttpRequest& request, const Writer& writer);
  void serve(const HttpRequest& request, const Writer& writer);
  void serve_things(const HttpRequest& request, const Writer& writer, const std::string& name);
  void change(const HttpRequest& request, const Writer& writer, const std::string& name);
  void store(Value thing, const char* event);
  Value document() const;

  const std::string group_;
  const std::vector<std::string> allowed_names_;
  KeyPair authority_;
  std::atomic<Mode> mode_{Mode::kGood};
  std::atomic<size_t> probes_{0};
  uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, Value> things_;
  int64_t version_ = 1;
  std::vector<Seen> seen_;
  std::vector<Writer> watches_, held_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace shiplog::e2e
