#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/api_client.h"
#include "tests/support/process.h"
#include "tests/support/test_directory.h"

namespace shiplog::e2e {

/// Real processes in a folder of their own: shiplogd with any roles, trial members, and the programs a user has
/// (kubectl with its own HOME and cache, shiplogctl). Everything is killed and removed at the end; when the test has
/// failed, the tails of the logs are printed and the folder stays.
/// A failing step fails the test (ADD_FAILURE) and reports what it ran. Threads: the main one.
class Fleet {
 public:
  Fleet();
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  std::string path(const std::string& name) const { return folder_.file(name); }
  std::string kubeconfig(const std::string& process) const { return path(process + ".kubeconfig"); }
  /// The processes' TMPDIR.
  std::string temporary() const { return path("tmp"); }

  /// `shiplogd serve` with data folder and kubeconfig named after it. With `wait`, until the API answers.
  /// Started again under the same name it goes on with the same data.
  Process& serve(const std::string& name = "plane", std::vector<std::string> options = {}, bool wait = true);
  /// `shiplogd member`.
  Process& member(const std::string& name, std::vector<std::string> options = {});
  /// `shiplogd estimator` for a member, as the process "estimator-NAME"; where it listens, as "HOST:PORT".
  std::string estimator(const std::string& member, std::vector<std::string> options = {});
  /// `shiplogd agent` for a member, as the process "agent-NAME", with the kubeconfig agent-NAME.kubeconfig.
  Process& agent(const std::string& member, std::vector<std::string> options = {});
  Process& process(const std::string& name);
  /// kill -9.
  void kill(const std::string& name);
  /// The end of a process's log.
  std::string log_tail(const std::string& name, size_t bytes = 4000) const;

  /// kubectl against the control plane called "plane", or another process.
  Ran kubectl(std::vector<std::string> words, const std::string& input = {}, const std::string& process = "plane",
              const Environment& extra = {});
  /// The same, which must succeed; its standard output.
  std::string kubectl_ok(std::vector<std::string> words, const std::string& input = {},
                         const std::string& process = "plane");
  /// kubectl that runs beside the test (get -w); what it prints is in its log.
  Process& kubectl_beside(std::vector<std::string> words, const std::string& process = "plane",
                          const Environment& extra = {});
  Ran shiplogctl(std::vector<std::string> words, const std::string& process = "plane");
  std::string shiplogctl_ok(std::vector<std::string> words, const std::string& process = "plane");

  /// Starts a member and joins it under its name; waits until it is ready.
  void join(const std::string& name, std::vector<std::string> options = {});
  /// Starts a member, registers it as a pull member under its name, and starts its agent with these options; waits
  /// until it is ready.
  void join_pull(const std::string& name, std::vector<std::string> agent_options = {});
  ApiClient api(const std::string& process = "plane") const { return ApiClient{kubeconfig(process)}; }

 private:
  Process& start(const std::string& name, std::vector<std::string> command, bool wait);
  Environment user_environment(const std::string& process) const;

  TestDirectory folder_{"e2e"};
  std::map<std::string, std::unique_ptr<Process>> processes_;
};

/// A Deployment of namespace default is placed, or will be, on "member1:1 member2:2".
void expect_placed(const ApiClient& api, const std::string& deployment, const std::string& clusters);
/// The leader of a role; empty: there was none yet.
std::string leader(const ApiClient& api, const std::string& role);

/// The result of `shiplogctl replay --verify` for a journal, which is named as for --journal; null after a failure.
Value replayed(Fleet& fleet, const std::string& journal);
/// The server's state is what the journal folds to, and every recorded decision is the same again.
Value expect_replay_equals(Fleet& fleet, const ApiClient& api, const std::string& journal);

}  // namespace shiplog::e2e
