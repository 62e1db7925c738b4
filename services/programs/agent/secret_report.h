#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "events/base/error.h"
#include "events/base/value.h"
#include "services/adapters/members/members.h"
#include "services/programs/agent/options.h"
#include "services/runtime/executor.h"

namespace shiplog::agent {

/// Makes accounts in the member and stores their tokens in the control plane (1.11.2): Secret NAME with `token` and
/// `caBundle`, an administrator of the member, and NAME-impersonator, as which the cluster proxy acts. Names are those
/// of join, so that the same tools remove them. What is there stays, except that the Secrets get the owner. Runs once;
/// a new report begins anew. Threads: the executor.
class SecretReport : public std::enable_shared_from_this<SecretReport> {
 public:
  struct Options {
    const AgentOptions* agent = nullptr;
    Executor* executor = nullptr;
    Members* member = nullptr;  ///< by the cluster's name
    Members* control_plane = nullptr;
    std::string control_plane_name;
    Value owner;              ///< of the Secrets in the control plane; null: its Cluster is not there yet
    std::string ca_pem;       ///< the member's; empty: that of its token
    std::string server_name;  ///< that its certificate is for; empty: its address
    /// nullopt: everything is reported.
    std::function<void(const std::optional<Error>& error)> done;
  };
  static void run(Options options);
  explicit SecretReport(Options options) : options_{std::move(options)} {}

 private:
  /// One object that has to exist. `take` gets it.
  struct Step {
    bool in_member = true;
    std::string collection;
    Value object;
    std::function<void(const Value& found)> take = {};
  };
  void begin();
  void add_account(const std::string& account);
  void report(const std::string& secret, bool with_ca);
  void next();
  void create(const Step& step);
  void wait_for_token(const std::string& account, int tries);
  void write_secret(const std::string& name, const Value& data);
  bool owned(const Value& secret) const;
  void ask(bool in_member, MemberRequest request, std::function<void(const Result<MemberResponse>&)> then);
  void finish(const std::optional<Error>& error);
  Value labelled(const char* kind, const char* api_version, const std::string& name) const;
  std::string in_namespace(const char* resource) const;

  const Options options_;
  std::deque<std::function<void()>> steps_;
  std::string token_, ca_;  // of the account at hand, base64
};

}  // namespace shiplog::agent
