// /shiplog/v1/sql: who may run statements, what they see, and what bounds them.
#include <chrono>
#include <thread>
#include <vector>

#include "events/base/json.h"
#include "services/http/http.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

using std::chrono::seconds;

const std::string kSql = "/shiplog/v1/sql";
const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1";
const std::string kEndless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

Value question(const std::string& statement) { return Value::object({{"statement", statement}}); }
Answer run(const std::string& statement) { return api().post(kSql, question(statement)); }
Answer run_as(const std::string& user, const std::string& statement) {
  return api().call("POST", kSql, to_json(question(statement)),
                    HttpHeaders{{"Impersonate-User", user}, {"Content-Type", "application/json"}});
}

void grant(const std::string& user, const std::string& role, const std::string& rules) {
  api().post(kRbac + "/clusterroles", json(R"({"metadata":{"name":")" + role + R"("},"rules":)" + rules + "}"));
  const Answer bound = api().post(
      kRbac + "/clusterrolebindings",
      json(R"({"metadata":{"name":")" + role + "-" + user +
           R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":")" + role +
           R"("},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":")" + user + R"("}]})"));
  ASSERT_EQ(bound.status, 201) << bound;
}

TEST(Sql, AnswersWithColumnsAndRows) {
  ASSERT_EQ(api().post(kConfigMaps, config_map("sql-read", R"({"a":"1"})")).status, 201);
  const Answer answer =
      run("SELECT operation, type, namespace, name, json_extract(manifest, '$.data.a') AS a FROM changes WHERE name = "
          "'sql-read'");
  ASSERT_EQ(answer.status, 200) << answer;
  EXPECT_EQ(answer.json["kind"].str(), "SqlResult");
  EXPECT_EQ(to_json(answer.json["columns"]), R"(["operation","type","namespace","name","a"])");
  EXPECT_EQ(to_json(answer.json["rows"]), R"([["created","configmaps","default","sql-read","1"]])");
  EXPECT_EQ(answer.json["truncated"].str(), "");
  EXPECT_GT(answer.json["revision"].as_int(), 0);
  // The same with GET.
  const Answer got = api().get(kSql + "?statement=" + percent_encode("SELECT name FROM objects WHERE name = :name") +
                               "&param.name=sql-read&limit=1");
  EXPECT_EQ(to_json(got.json["rows"]), R"([["sql-read"]])") << got;
}

TEST(Sql, ReadsWhatWasWrittenBefore) {
  for (int round = 0; round < 5; ++round) {
    const std::string name = "sql-fresh-" + std::to_string(round);
    ASSERT_EQ(api().post(kConfigMaps, config_map(name)).status, 201);
    EXPECT_EQ(run("SELECT 1 FROM objects WHERE name = '" + name + "'").json["rows"].size(), 1u);
  }
}

TEST(Sql, NeedsThePathAndEveryObject) {
  expect_failure(run_as("sql-nobody", "SELECT 1"), 403, "Forbidden", "cannot post path \"/shiplog/v1/sql\"");
  // A tenant who is administrator of a namespace, and even one who reads the audit trail.
  grant("sql-auditor", "sql-audit-reader", R"([{"nonResourceURLs":["/shiplog/v1/*"],"verbs":["get","post"]}])");
  expect_failure(run_as("sql-auditor", "SELECT * FROM objects"), 403, "Forbidden", "cannot list resource \"*\"");
  grant("sql-lister", "sql-list-all", R"([{"apiGroups":["*"],"resources":["*"],"verbs":["list"]}])");
  expect_failure(run_as("sql-lister", "SELECT 1"), 403, "Forbidden", "cannot post path");
  grant("sql-auditor", "sql-list-all", "[]");
  EXPECT_EQ(run_as("sql-auditor", "SELECT 1 AS one").status, 200);
  // Only that: it does not permit to write.
  expect_failure(run_as("sql-auditor", "DELETE FROM entries"), 400, "BadRequest");
  EXPECT_EQ(
      api()
          .call("POST", kConfigMaps, to_json(config_map("sql-no")), HttpHeaders{{"Impersonate-User", "sql-auditor"}})
          .status,
      403);
}

TEST(Sql, ShowsNoSecret) {
  const Value secret = json(R"({"metadata":{"name":"sql-secret","annotations":{
    "kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"key\":\"c3FsLXBsYWlu\"}}"}},
    "stringData":{"key":"sql-plain"}})");
  ASSERT_EQ(api().post("/api/v1/namespaces/default/secrets", secret).status, 201);
  ASSERT_EQ(api().remove("/api/v1/namespaces/default/secrets/sql-secret").status, 200);
  const Answer answer = run("SELECT manifest FROM changes WHERE name = 'sql-secret'");
  ASSERT_EQ(answer.json["rows"].size(), 2u) << answer;
  for (const char* view :
       {"entries", "events", "refusals", "changes", "objects", "decisions", "placements", "evictions"}) {
    const Answer all = run("SELECT * FROM " + std::string{view});
    ASSERT_EQ(all.status, 200) << view << all;
    for (const char* hidden : {"sql-plain", "c3FsLXBsYWlu", "shiplog:sealed"}) {
      EXPECT_EQ(all.body.find(hidden), std::string::npos) << view << " shows " << hidden;
    }
  }
}

TEST(Sql, RefusesHostileStatements) {
  for (const char* statement :
       {"SELECT * FROM entry", "SELECT * FROM sqlite_master", "PRAGMA table_list", "ATTACH '/etc/passwd' AS x",
        "SELECT load_extension('x')", "DROP TABLE entry", "WITH entries AS (SELECT * FROM entry) SELECT * FROM entries",
        "SELECT 1; SELECT 2", "nonsense"}) {
    const Answer answer = run(statement);
    expect_failure(answer, 400, "BadRequest");
    EXPECT_LT(answer.message().size(), 500u) << answer;
  }
  expect_failure(run(std::string(70'000, ' ') + "SELECT 1"), 400, "BadRequest", "longer than 64 KiB");
}

TEST(Sql, RefusesWhatIsNoQuestion) {
  for (const char* body :
       {"", "[]", "{}", R"({"statement":1})", R"({"statement":"SELECT 1","limit":-1})",
        R"({"statement":"SELECT 1","limit":1000000})", R"({"statement":"SELECT 1","timeout":"2h"})",
        R"({"statement":"SELECT 1","timeout":"-1s"})", R"({"statement":"SELECT :a","parameters":{"a":[]}})",
        R"({"statement":"SELECT 1","other":1})"}) {
    expect_failure(api().call("POST", kSql, body), 400, "BadRequest");
  }
  expect_failure(api().get(kSql), 400, "BadRequest", "statement: a SELECT is missing");
  expect_failure(api().get(kSql + "?statement=SELECT+1&other=1"), 400, "BadRequest", "other: is not a parameter");
  expect_failure(api().call("DELETE", kSql), 405, "MethodNotAllowed", "sent with POST");
  expect_failure(api().get("/at/r1/shiplog/v1/sql"), 404, "NotFound");
}

TEST(Sql, EndsAtItsLimits) {
  Value limited = question("SELECT value FROM json_each('[1,2,3]')");
  limited.set("limit", 2);
  const Answer rows = api().post(kSql, limited);
  EXPECT_EQ(to_json(rows.json["rows"]), "[[1],[2]]");
  EXPECT_EQ(rows.json["truncated"].str(), "rows");
  const Answer bytes = run("WITH RECURSIVE n(i, t) AS (SELECT 1, hex(hex(hex('" + std::string(50'000, 'x') +
                           "'))) UNION ALL SELECT i + 1, t FROM n WHERE i < 100) SELECT t FROM n");
  EXPECT_EQ(bytes.json["truncated"].str(), "bytes");
  EXPECT_LT(bytes.body.size(), size_t{20} << 20U);
  Value endless = question(kEndless);
  endless.set("timeout", "200ms");
  expect_failure(api().post(kSql, endless), 504, "Timeout", "took longer than its time limit");
}

// The rest of the API is served meanwhile, and who goes away leaves nothing running.
TEST(Sql, ManyStatementsAreRefusedAndThoseOfGoneClientsEnd) {
  Value endless = question(kEndless);
  endless.set("timeout", "45s");
  const std::string body = to_json(endless);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    // Takes one of the user's four places, and disconnects after a while.
    clients.emplace_back([&] {
      while (api().call("POST", kSql, body, {}, seconds{10}).status == 429) {
      }
    });
  }
  // A client that waits for its turn takes a place, too, and leaves it with its connection.
  Answer refused;
  EXPECT_TRUE(eventually(
      [&] {
        refused = api().call("POST", kSql, to_json(question("SELECT 1")), {}, std::chrono::milliseconds{500});
        return refused.status == 429;
      },
      seconds{8}));
  expect_failure(refused, 429, "TooManyRequests", "too many statements");
  EXPECT_EQ(api().get(kConfigMaps).status, 200);
  EXPECT_EQ(api().post(kConfigMaps, config_map("sql-meanwhile")).status, 201);
  for (std::thread& client : clients) client.join();
  EXPECT_TRUE(eventually([&] { return run("SELECT 1").status == 200; }, seconds{20}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds{40}) << "they did not run until their own end";
}

}  // namespace
}  // namespace shiplog::e2e
