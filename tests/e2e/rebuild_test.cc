// The projection is derived from the journal: after its file is deleted, all responses are the same, also for past
// revisions.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

/// Responses to all kinds of queries: all objects of all kinds, histories, decisions, the audit trail.
std::map<std::string, std::string> everything(const ApiClient& api) {
  std::vector<std::string> versions = {"/api/v1"};
  const Value groups = api.get("/apis").json["groups"];
  for (const Value& group : groups.items()) {
    for (const Value& version : group["versions"].items()) {
      versions.push_back("/apis/" + version["groupVersion"].str());
    }
  }
  std::map<std::string, std::string> answers;
  const auto ask = [&](const std::string& path) {
    const Answer answer = api.get(path);
    EXPECT_EQ(answer.status, 200) << path << ": " << answer;
    answers[path] = answer.body;
  };
  for (const std::string& version : versions) {
    const Value resources = api.get(version).json["resources"];
    for (const Value& resource : resources.items()) {
      const auto verbs = resource["verbs"].items();
      if (std::ranges::none_of(verbs, [](const Value& verb) { return verb.as_string() == "list"; })) continue;
      ask(version + "/" + resource["name"].str());
    }
  }
  const std::string history = "/shiplog/v1/history?limit=0&kind=";
  ask(history + "deployment&name=nginx");
  ask(history + "deployment&name=gone");
  ask(history + "resourcebinding&name=nginx-deployment");
  ask(history + "cluster&name=member1");
  ask("/shiplog/v1/chain?kind=deployment&name=nginx");
  ask("/shiplog/v1/decisions?kind=resourcebinding&name=nginx-deployment");
  // A start of an API server appends one entry: its signer takes the lease.
  const auto is_lease = [](const Value& entry) {
    return std::ranges::any_of(entry["events"].items(),
                               [](const Value& event) { return event["kind"].as_string() == "LeaseTaken"; });
  };
  ask("/shiplog/v1/audit?limit=0");
  Value audit = json(answers["/shiplog/v1/audit?limit=0"]);
  std::erase_if(audit.edit("items").edit_items(), is_lease);
  answers["/shiplog/v1/audit?limit=0"] = to_json(audit);
  ask("/shiplog/v1/events");
  std::istringstream lines{std::exchange(answers["/shiplog/v1/events"], "")};
  for (std::string line; std::getline(lines, line);) {
    if (!is_lease(json(line))) answers["/shiplog/v1/events"] += line + "\n";
  }
  return answers;
}

TEST(Rebuild, WithoutItsProjectionTheControlPlaneAnswersTheSame) {
  Fleet fleet;
  fleet.serve();
  for (const char* name : {"member1", "member2", "member3"}) fleet.join(name);
  fleet.kubectl_ok({"apply", "-f", SHIPLOG_EXAMPLES "/nginx"});
  fleet.kubectl_ok({"rollout", "status", "deployment/nginx", "--timeout=50s"});
  fleet.kubectl_ok({"scale", "deployment", "nginx", "--replicas=9"});
  fleet.kubectl_ok({"create", "deployment", "gone", "--image=nginx:1.27"});
  fleet.kubectl_ok({"delete", "deployment", "gone", "--timeout=50s"});
  fleet.kubectl_ok({"create", "secret", "generic", "password", "--from-literal=value=s3cret"});
  const std::string server =
      parse_yaml(read_file(fleet.kubeconfig("plane"))).value()["clusters"][0]["cluster"]["server"].str();
  const std::string listen = "--listen=" + server.substr(server.find("//") + 2);
  EXPECT_EQ(fleet.process("plane").terminate(), 0);

  // From here on only the API role, at the same address, so that no process appends to the journal: the server's own
  // Endpoints contain its address.
  const std::vector<std::string> api_only = {"--roles=api", listen};
  fleet.serve("plane", api_only);
  const auto before = everything(fleet.api());
  EXPECT_EQ(fleet.process("plane").terminate(), 0);
  EXPECT_GT(before.size(), 50u);

  size_t removed = 0;
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator{fleet.path("plane")}) {
    const std::string name = file.path().filename().string();
    if (name.find("projection") != std::string::npos || name == "snapshots") files.push_back(file.path());
  }
  for (const auto& file : files) removed += std::filesystem::remove_all(file);
  EXPECT_GT(removed, 0u);

  fleet.serve("plane", api_only);
  const auto after = everything(fleet.api());
  EXPECT_EQ(before.size(), after.size());
  for (const auto& [path, body] : before) {
    const auto found = after.find(path);
    ASSERT_NE(found, after.end()) << path;
    EXPECT_EQ(body, found->second) << path;
  }
}

}  // namespace
}  // namespace shiplog::e2e
