// The six findings of the security audit of Karmada by Shielder for OSTIF and CNCF (report of January 2025, Karmada
// 1.11), tested on shiplog. If shiplog lacks the feature of a finding, the test covers its replacement. For finding 5,
// denial of service by Lua scripts, see interpreter_test.cc.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/base/base64.h"
#include "services/http/kubeconfig.h"
#include "tests/support/fleet.h"
#include "tests/support/stored_text.h"

namespace shiplog::e2e {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in{path, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

ClientTarget target_of(const std::string& kubeconfig) {
  const auto config = read_kubeconfig({kubeconfig});
  EXPECT_TRUE(config);
  return context_of(config.value()).value().target;
}

// 1. Insecure design of pull mode: the credential of one member's agent gave access to every member. shiplog connects
// to its members and has no agent: no identity of a member has rights in the control plane, and the credential of one
// member is valid for that member only.
TEST(AuditFindings, AMembersIdentityHasNoRightsInTheControlPlaneOrInOtherMembers) {
  Fleet fleet;
  fleet.serve();
  for (const char* member : {"member1", "member2"}) fleet.join(member);
  const ApiClient api = fleet.api();
  const std::vector<std::vector<std::string>> identities = {
      {"system:karmada:agent:member1", "system:karmada:agents"},
      {"system:node:member1", "system:nodes"},
      {"system:serviceaccount:karmada-cluster:member1", "system:serviceaccounts"}};
  for (const auto& identity : identities) {
    for (const char* path : {"/api/v1/namespaces/karmada-cluster/secrets", "/api/v1/secrets",
                             "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-member1/works",
                             "/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-member2/works",
                             "/apis/cluster.karmada.io/v1alpha1/clusters",
                             "/apis/cluster.karmada.io/v1alpha1/clusters/member2/proxy/api/v1/secrets"}) {
      HttpHeaders headers;
      headers.add("Impersonate-User", identity[0]);
      headers.add("Impersonate-Group", identity[1]);
      headers.add("Impersonate-Group", "system:authenticated");
      EXPECT_EQ(api.call("GET", path, {}, std::move(headers)).status, 403) << identity[0] << " " << path;
    }
  }
  // The credential of member1, used for other servers: they have different certificate authorities.
  const ClientTarget of_member1 = target_of(fleet.kubeconfig("member1"));
  for (const char* other : {"member2", "plane"}) {
    ClientTarget target = target_of(fleet.kubeconfig(other));
    target.certificate_pem = of_member1.certificate_pem;
    target.key_pem = of_member1.key_pem;
    target.bearer_token = of_member1.bearer_token;
    const std::string path = fleet.path(std::string{"stolen-"} + other);
    ASSERT_TRUE(write_kubeconfig(path, other, target));
    const Answer answer = ApiClient{path}.get("/api/v1/secrets");
    EXPECT_NE(answer.status, 200) << other << " accepts the credential of member1";
  }
  EXPECT_EQ(fleet.api("member1").get("/api/v1/secrets").status, 200) << "it is valid in its own member";
}

// 2. Files written outside the target folder by archives with names like "../x". No code of shiplog reads archives into
// files: tar is a command of the simulated containers of a trial member, whose files are in memory (shell_test.cc has
// the archives that lead out of the folder). No name that a client or a member chooses becomes a path.
TEST(AuditFindings, NoProgramReadsArchivesIntoFilesAndNoNameIsAPath) {
  const std::string tar = "ustar", zip{"PK\3\4", 4};  // without these neither format can be recognized or written
  for (const char* program : {SHIPLOGD, SHIPLOGCTL}) {
    const std::string code = content_of(program);
    ASSERT_GT(code.size(), 1'000'000U) << program;
    EXPECT_EQ(code.find(zip), std::string::npos) << program;
    if (program == std::string_view{SHIPLOGCTL}) {
      EXPECT_EQ(code.find(tar), std::string::npos) << program;
    }
  }
  size_t with_tar = 0;
  for (const char* tree : {"events", "projections", "services"}) {
    for (const auto& entry : fs::recursive_directory_iterator{fs::path{SHIPLOG_SOURCE_DIR} / tree}) {
      if (entry.path().extension() != ".cc" && entry.path().extension() != ".h") continue;
      const std::string code = content_of(entry.path());
      if (code.find(tar) == std::string::npos) continue;
      ++with_tar;
      EXPECT_EQ(entry.path().parent_path().filename(), "shell") << entry.path();
    }
  }
  EXPECT_GT(with_tar, 0U);
  for (const auto& entry : fs::directory_iterator{fs::path{SHIPLOG_SOURCE_DIR} / "services/programs/member/shell"}) {
    const std::string code = content_of(entry.path());
    for (const char* file : {"<fstream>", "<filesystem>", "<fcntl.h>", "<cstdio>", "fopen"}) {
      EXPECT_EQ(code.find(file), std::string::npos) << entry.path() << " uses " << file;
    }
  }
  Fleet fleet;
  fleet.serve();
  const ApiClient api = fleet.api();
  for (const char* name : {"../escaped", "..", ".", "a/../../escaped", "/tmp/escaped"}) {
    const Value cluster =
        json(R"({"apiVersion":"cluster.karmada.io/v1alpha1","kind":"Cluster","metadata":{"name":")" +
             std::string{name} + R"("},"spec":{"syncMode":"Push","apiEndpoint":"https://127.0.0.1:1"}})");
    EXPECT_EQ(api.post("/apis/cluster.karmada.io/v1alpha1/clusters", cluster).status / 100, 4) << name;
    const Value config =
        json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + std::string{name} + "\"}}");
    EXPECT_EQ(api.post("/api/v1/namespaces/default/configmaps", config).status / 100, 4) << name;
  }
  EXPECT_EQ(api.get("/api/v1/namespaces/default/configmaps/..%2f..%2f..%2fetc%2fpasswd").status / 100, 4);
  EXPECT_FALSE(fs::exists(fleet.path("escaped")));
}

// 3. Insecure defaults: certificates that were not verified.
TEST(AuditFindings, CertificatesAreVerifiedUnlessTheUserDisablesIt) {
  Fleet fleet;
  fleet.serve();
  fleet.member("member1");
  ClientTarget target = target_of(fleet.kubeconfig("member1"));
  EXPECT_FALSE(target.insecure) << "a kubeconfig that shiplog writes verifies";
  EXPECT_FALSE(target_of(fleet.kubeconfig("plane")).insecure);

  // A different certificate authority than the member's, as with an intercepting proxy.
  const std::string genuine = target.ca_pem;
  target.ca_pem = target_of(fleet.kubeconfig("plane")).ca_pem;
  ASSERT_NE(target.ca_pem, genuine);
  ASSERT_TRUE(write_kubeconfig(fleet.path("intercepted"), "member1", target));
  const Ran refused = fleet.shiplogctl({"join", "member1", "--cluster-kubeconfig=" + fleet.path("intercepted")});
  EXPECT_FALSE(refused.ok()) << refused;
  EXPECT_TRUE(refused.says("certificate")) << refused;
  EXPECT_EQ(fleet.api().get("/apis/cluster.karmada.io/v1alpha1/clusters/member1").status, 404);
  EXPECT_EQ(ApiClient{fleet.path("intercepted")}.get("/version").status, 0);

  const Ran joined = fleet.shiplogctl({"join", "member1", "--cluster-kubeconfig=" + fleet.kubeconfig("member1")});
  ASSERT_TRUE(joined.ok()) << joined;
  const Value cluster = fleet.api().get("/apis/cluster.karmada.io/v1alpha1/clusters/member1").json;
  EXPECT_FALSE(cluster["spec"]["insecureSkipTLSVerification"].as_bool());
  EXPECT_EQ(fleet.shiplogctl({"join", "--help"}).out.find("insecure"), std::string::npos)
      << "it is set in the member's kubeconfig, not by a flag that could end up in scripts";
}

// 4. Tokens in output: bootstrap tokens were printed to logs.
TEST(AuditFindings, CredentialsAreInNoLogNoOutputAndNoJournal) {
  Fleet fleet;
  fleet.serve("plane", {"--log-level=debug"});
  fleet.member("member1");
  std::string printed = fleet.shiplogctl_ok({"join", "member1", "--cluster-kubeconfig=" + fleet.kubeconfig("member1")});
  const ApiClient api = fleet.api();
  ASSERT_EQ(api.post("/api/v1/namespaces/default/serviceaccounts", json(R"({"metadata":{"name":"robot"}})")).status,
            201);
  const Answer issued = api.post("/api/v1/namespaces/default/serviceaccounts/robot/token", json(R"({"spec":{}})"));
  const std::string account_token = issued.json["status"]["token"].str();
  ASSERT_FALSE(account_token.empty()) << issued;
  const std::string bootstrap_secret = "0123456789abcdef";
  ASSERT_EQ(api.post("/api/v1/namespaces/kube-system/secrets",
                     json(R"({"metadata":{"name":"bootstrap-token-abcdef"},
      "type":"bootstrap.kubernetes.io/token","stringData":{"token-id":"abcdef","token-secret":")" +
                          bootstrap_secret + R"(","usage-bootstrap-authentication":"true"}})"))
                .status,
            201);
  for (const std::string& token :
       {account_token, "abcdef." + bootstrap_secret, std::string{"abcdef.fedcba9876543210"}}) {
    ClientTarget target = target_of(fleet.kubeconfig("plane"));
    target.certificate_pem.clear();
    target.key_pem.clear();
    target.bearer_token = token;
    ASSERT_TRUE(write_kubeconfig(fleet.path("with-token"), "robot", target));
    EXPECT_NE(ApiClient{fleet.path("with-token")}.get("/api/v1/namespaces").status, 200);
  }
  printed += fleet.shiplogctl_ok({"audit"}) + fleet.shiplogctl_ok({"get", "clusters"}) +
             fleet.kubectl_ok({"get", "secrets", "-A"});
  EXPECT_EQ(fleet.process("plane").terminate(), 0);

  const std::string key = target_of(fleet.kubeconfig("member1")).key_pem;
  ASSERT_FALSE(key.empty());
  const std::vector<std::pair<std::string, std::string>> secrets = {
      {"a ServiceAccount's token", account_token},
      {"its signature", account_token.substr(account_token.rfind('.') + 1)},
      {"a bootstrap token", bootstrap_secret},
      {"a bootstrap token in base64", base64_encode(bootstrap_secret)},
      {"a rejected token", "fedcba9876543210"},
      {"the key of a member", key.substr(60, 60)},
      {"the same in base64", base64_encode(key).substr(80, 80)}};
  std::vector<std::pair<std::string, std::string>> places = {{"what shiplogctl and kubectl print", printed},
                                                             {"the log", content_of(fleet.path("plane.log"))}};
  for (const auto& entry : fs::directory_iterator(fleet.path("plane"))) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("journal.db") || name.starts_with("projection.db")) {
      places.emplace_back(name, stored_text(entry.path()));
    }
  }
  EXPECT_GT(places.size(), 3U);
  for (const auto& [place, text] : places) {
    EXPECT_FALSE(text.empty() && place == "the log");
    for (const auto& [what, secret] : secrets) {
      EXPECT_EQ(text.find(secret), std::string::npos) << what << " is in " << place;
    }
  }
}

// 6. Missing security contexts: components ran with more privileges than they need. shiplog ships no manifests; its
// documented requirements are: any user, no capabilities, no new privileges, one writable folder.
TEST(AuditFindings, RunsWithoutPrivilegesAndWritesItsOwnFoldersOnly) {
  Fleet fleet;
  fs::permissions(fleet.path(""), fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  const std::string home = fleet.path("unprivileged");
  fs::create_directory(home);
  std::vector<std::string> command = {"setpriv", "--no-new-privs"};
  if (::geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    ASSERT_EQ(::chown(home.c_str(), kNobody, kNobody), 0);
    for (const char* option :
         {"--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"}) {
      command.emplace_back(option);
    }
  }
  for (const std::string& option : {std::string{SHIPLOGD}, std::string{"serve"}, "--data-dir=" + home + "/data",
                                    "--kubeconfig-out=" + home + "/kubeconfig", std::string{"--listen=127.0.0.1:0"}}) {
    command.push_back(option);
  }
  Process process{command, {{"TMPDIR", home}, {"HOME", home}}, fleet.path("unprivileged.log")};
  ASSERT_TRUE(eventually([&] { return !process.running() || fs::exists(home + "/kubeconfig"); }));
  ASSERT_TRUE(process.running()) << content_of(fleet.path("unprivileged.log"));
  EXPECT_EQ(ApiClient{home + "/kubeconfig"}.get("/readyz").status, 200);

  // A test runner may have left files open in this process, which its children inherit.
  std::set<std::string> inherited;
  for (const auto& descriptor : fs::directory_iterator("/proc/self/fd")) {
    std::error_code vanished;
    inherited.insert(fs::read_symlink(descriptor.path(), vanished).string());
  }
  const std::string proc = "/proc/" + std::to_string(process.pid());
  const std::string status = content_of(proc + "/status");
  EXPECT_NE(status.find("NoNewPrivs:\t1"), std::string::npos) << status;
  EXPECT_NE(status.find("CapEff:\t0000000000000000"), std::string::npos) << status;
  for (const auto& descriptor : fs::directory_iterator(proc + "/fd")) {
    std::error_code vanished;
    const std::string file = fs::read_symlink(descriptor.path(), vanished).string();
    struct stat opened {};
    if (vanished || !file.starts_with('/') || file.starts_with("/dev/") || ::stat(file.c_str(), &opened) != 0) continue;
    if (!S_ISREG(opened.st_mode) || file == fleet.path("unprivileged.log") || inherited.contains(file)) continue;
    const std::string flags = content_of(proc + "/fdinfo/" + descriptor.path().filename().string());
    const size_t position = flags.find("flags:\t");
    ASSERT_NE(position, std::string::npos);
    const bool writable = (std::stoul(flags.substr(position + 7), nullptr, 8) & 3U) != 0;
    EXPECT_TRUE(!writable || file.starts_with(home)) << "it writes " << file;
  }
  // Other users cannot read the data folder.
  EXPECT_EQ(fs::status(home + "/data").permissions() & (fs::perms::group_all | fs::perms::others_all), fs::perms::none);
  EXPECT_EQ(process.terminate(), 0);
}

}  // namespace
}  // namespace shiplog::e2e
