// Authentication and authorization (AUTHN-1 to AUTHN-10 and AUTHZ-1 to AUTHZ-10) with real clients.
#include "events/base/base64.h"
#include "events/base/json.h"
#include "services/http/kubeconfig.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

const std::string kSelfReview = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1";
const std::string kAccounts = "/api/v1/namespaces/default/serviceaccounts";

/// A request of the administrator with impersonation of any user.
Answer as(const std::string& user, const std::string& method, const std::string& target, const std::string& body = {},
          HttpHeaders more = {}) {
  more.add("Impersonate-User", user);
  return api().call(method, target, body, std::move(more));
}

Value role(const std::string& name, const std::string& rules) {
  return json(R"({"metadata":{"name":")" + name + R"("},"rules":)" + rules + "}");
}

Value binding(const std::string& name, const std::string& role_kind, const std::string& role, const std::string& user) {
  return json(R"({"metadata":{"name":")" + name + R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":")" +
              role_kind + R"(","name":")" + role +
              R"("},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":")" + user + R"("}]})");
}

/// A kubeconfig with this token, or without credentials if it is empty, instead of the certificate.
std::string kubeconfig_with(const std::string& token, const std::string& name) {
  const auto config = read_kubeconfig({plane().kubeconfig("plane")});
  EXPECT_TRUE(config);
  ClientTarget target = context_of(config.value()).value().target;
  target.certificate_pem.clear();
  target.key_pem.clear();
  target.bearer_token = token;
  const std::string path = plane().path(name + ".kubeconfig");
  EXPECT_TRUE(write_kubeconfig(path, name, target));
  return path;
}

std::string token_for(const std::string& account, const std::string& spec = "{}") {
  const Answer issued = api().post(kAccounts + "/" + account + "/token", json(R"({"spec":)" + spec + "}"));
  EXPECT_EQ(issued.status, 201) << issued;
  EXPECT_EQ(issued.json["kind"].str(), "TokenRequest");
  return issued.json["status"]["token"].str();
}

TEST(Authentication, RequestsWithoutCredentialsAreRefused) {  // AUTHN-1
  const ApiClient anonymous{kubeconfig_with("", "nobody")};
  expect_failure(anonymous.get("/api/v1/namespaces"), 401, "Unauthorized", "Unauthorized");
  EXPECT_EQ(anonymous.get("/healthz").status, 200);
  const ApiClient guesser{kubeconfig_with("guessed", "guesser")};
  expect_failure(guesser.get("/api"), 401, "Unauthorized", "Unauthorized");
}

TEST(Authentication, CertificatesGiveNameAndGroups) {  // AUTHN-2, AUTHN-3
  const Answer review = api().post(kSelfReview, json("{}"));
  ASSERT_EQ(review.status, 201) << review;
  EXPECT_EQ(review.json["status"]["userInfo"]["username"].str(), "kubernetes-admin");
  EXPECT_EQ(review.json["status"]["userInfo"]["groups"], json(R"(["system:masters","system:authenticated"])"));
}

TEST(Authentication, ServiceAccountTokensAreValidWhileTheirAccountExists) {  // AUTHN-4, AUTHN-5
  ASSERT_EQ(api().post(kAccounts, json(R"({"metadata":{"name":"robot"}})")).status, 201);
  const std::string token = token_for("robot");
  const ApiClient robot{kubeconfig_with(token, "robot")};
  const Answer review = robot.post(kSelfReview, json("{}"));
  ASSERT_EQ(review.status, 201) << review;
  EXPECT_EQ(review.json["status"]["userInfo"]["username"].str(), "system:serviceaccount:default:robot");
  EXPECT_EQ(review.json["status"]["userInfo"]["groups"],
            json(R"(["system:serviceaccounts","system:serviceaccounts:default","system:authenticated"])"));
  expect_failure(robot.get(kConfigMaps), 403, "Forbidden",
                 "User \"system:serviceaccount:default:robot\" cannot list resource \"configmaps\" in API group \"\" "
                 "in the namespace \"default\"");
  ASSERT_EQ(api()
                .post(kRbac + "/namespaces/default/rolebindings", json(R"({"metadata":{"name":"robot-views"},
      "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},
      "subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"default"}]})"))
                .status,
            201);
  EXPECT_EQ(robot.get(kConfigMaps).status, 200);
  EXPECT_EQ(robot.get("/api/v1/namespaces/kube-system/configmaps").status, 403);
  EXPECT_EQ(robot.post(kConfigMaps, config_map("by-robot")).status, 403);

  ASSERT_EQ(api().remove(kAccounts + "/robot").status, 200);
  EXPECT_EQ(robot.get(kConfigMaps).status, 401);
  ASSERT_EQ(api().post(kAccounts, json(R"({"metadata":{"name":"robot"}})")).status, 201);
  EXPECT_EQ(robot.get(kConfigMaps).status, 401) << "a new account of that name is a different account";
}

TEST(Authentication, ABrowserSendsItsTokenAsASubprotocolOfAWebSocket) {  // AUTHN-10
  ASSERT_EQ(api().post(kAccounts, json(R"({"metadata":{"name":"browser"}})")).status, 201);
  const ApiClient page{kubeconfig_with("", "browser")};
  const auto list_with = [&](const std::string& protocols) {
    return page.call("GET", kConfigMaps, {},
                     {{"Connection", "Upgrade"}, {"Upgrade", "websocket"}, {"Sec-WebSocket-Protocol", protocols}});
  };
  const std::string token = "base64url.bearer.authorization.k8s.io." + base64url_encode(token_for("browser"));
  expect_failure(list_with(token + ", base64.binary.k8s.io"), 403, "Forbidden",
                 "User \"system:serviceaccount:default:browser\" cannot list resource \"configmaps\"");
  expect_failure(list_with(token), 401, "Unauthorized", "Unauthorized");
  expect_failure(list_with("base64.binary.k8s.io"), 401, "Unauthorized", "Unauthorized");
}

TEST(Authentication, TokensEndWithTheObjectThatTheyAreBoundTo) {  // AUTHN-4, AUTHN-5
  ASSERT_EQ(api().post(kAccounts, json(R"({"metadata":{"name":"bound"}})")).status, 201);
  ASSERT_EQ(api().post("/api/v1/namespaces/default/secrets", json(R"({"metadata":{"name":"binds"}})")).status, 201);
  const ApiClient bound{kubeconfig_with(
      token_for("bound", R"({"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"binds"}})"), "bound")};
  EXPECT_EQ(bound.get("/version").status, 200);
  ASSERT_EQ(api().remove("/api/v1/namespaces/default/secrets/binds").status, 200);
  EXPECT_EQ(bound.get("/version").status, 401);
  expect_failure(
      api().post(kAccounts + "/bound/token", json(R"({"spec":{"boundObjectRef":{"kind":"Secret","name":"none"}}})")),
      404, "NotFound");
  Value pod = json(R"({"metadata":{"name":"binds"},"spec":{"serviceAccountName":"another","containers":[{"name":"c",
      "image":"i"}]}})");
  ASSERT_EQ(api().post("/api/v1/namespaces/default/pods", pod).status, 201);
  expect_failure(
      api().post(kAccounts + "/bound/token", json(R"({"spec":{"boundObjectRef":{"kind":"Pod","name":"binds"}}})")), 400,
      "BadRequest",
      "cannot bind token for serviceaccount \"bound\" to pod running with different serviceaccount name.");
}

TEST(Authentication, SecretsContainTokensWhileTheirAccountExists) {  // AUTHN-4
  const std::string secrets = "/api/v1/namespaces/default/secrets";
  const auto token_secret = [](const std::string& name, const std::string& account) {
    return json(R"({"type":"kubernetes.io/service-account-token","metadata":{"name":")" + name +
                R"(","annotations":{"kubernetes.io/service-account.name":")" + account + R"("}}})");
  };
  const auto is_deleted = [&](const std::string& name) {
    return eventually([&] { return api().get(secrets + "/" + name).status == 404; });
  };
  const Answer account = api().post(kAccounts, json(R"({"metadata":{"name":"keeper"}})"));
  ASSERT_EQ(account.status, 201);
  const Answer made = api().post(secrets, token_secret("keeper-token", "keeper"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.headers.get("Warning"), "");
  const Value stored = api().get(secrets + "/keeper-token").json;
  EXPECT_EQ(stored["metadata"]["annotations"]["kubernetes.io/service-account.uid"], account.json["metadata"]["uid"]);
  EXPECT_EQ(base64_decode(stored["data"]["namespace"].as_string()), "default");
  EXPECT_TRUE(base64_decode(stored["data"]["ca.crt"].as_string())->starts_with("-----BEGIN CERTIFICATE-----"));
  const std::string token = base64_decode(stored["data"]["token"].as_string()).value_or("");
  const ApiClient keeper{kubeconfig_with(token, "keeper")};
  const Answer review = keeper.post(kSelfReview, json("{}"));
  ASSERT_EQ(review.status, 201) << review;
  EXPECT_EQ(review.json["status"]["userInfo"]["username"].str(), "system:serviceaccount:default:keeper");

  // The token is valid while this Secret exists, not while another one of its name does.
  ASSERT_EQ(api().remove(secrets + "/keeper-token").status, 200);
  EXPECT_EQ(keeper.get("/version").status, 401);
  ASSERT_EQ(api().post(secrets, json(R"({"metadata":{"name":"keeper-token"}})")).status, 201);
  EXPECT_EQ(keeper.get("/version").status, 401);
  ASSERT_EQ(api().remove(secrets + "/keeper-token").status, 200);

  ASSERT_EQ(api().post(secrets, token_secret("keeper-second", "keeper")).status, 201);
  ASSERT_EQ(api().remove(kAccounts + "/keeper").status, 200);
  EXPECT_TRUE(is_deleted("keeper-second")) << "deleted with its account";
  ASSERT_EQ(api().post(secrets, token_secret("orphan", "missing")).status, 201);
  EXPECT_TRUE(is_deleted("orphan"));
  expect_failure(api().post(secrets, json(R"({"type":"kubernetes.io/service-account-token","metadata":{"name":"x"}})")),
                 422, "Invalid", "kubernetes.io/service-account.name");
}

TEST(Authentication, TokenRequestsAreChecked) {  // AUTHN-5
  ASSERT_EQ(api().post(kAccounts, json(R"({"metadata":{"name":"asks"}})")).status, 201);
  expect_failure(api().post(kAccounts + "/asks/token", json(R"({"spec":{"expirationSeconds":60}})")), 422, "Invalid",
                 "may not specify a duration less than 10 minutes");
  expect_failure(api().post(kAccounts + "/nobody/token", json("{}")), 404, "NotFound");
  EXPECT_EQ(api().get(kAccounts + "/asks/token").status, 405);
  const Answer issued = api().post(kAccounts + "/asks/token", json(R"({"spec":{"audiences":["elsewhere"]}})"));
  ASSERT_EQ(issued.status, 201) << issued;
  EXPECT_EQ(issued.json["spec"]["expirationSeconds"].as_int(), 3600);
  EXPECT_FALSE(issued.json["status"]["expirationTimestamp"].str().empty());
  const ApiClient elsewhere{kubeconfig_with(issued.json["status"]["token"].str(), "elsewhere")};
  EXPECT_EQ(elsewhere.get("/version").status, 401) << "it is for another audience";
}

TEST(Authentication, TokenReviewsReturnTheUser) {  // AUTHZ-8
  ASSERT_EQ(api().post(kAccounts, json(R"({"metadata":{"name":"reviewed"}})")).status, 201);
  const std::string reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
  const auto review = [&](const std::string& token, const std::string& audiences) {
    return api().post(reviews, json(R"({"spec":{"token":")" + token + R"(","audiences":)" + audiences + "}}"));
  };
  const Answer good = review(token_for("reviewed", R"({"audiences":["one","two"]})"), R"(["two","three"])");
  ASSERT_EQ(good.status, 201) << good;
  EXPECT_TRUE(good.json["status"]["authenticated"].as_bool());
  EXPECT_EQ(good.json["status"]["user"]["username"].str(), "system:serviceaccount:default:reviewed");
  EXPECT_EQ(good.json["status"]["audiences"], json(R"(["two"])"));
  const Answer bad = review("no.such.token", "[]");
  EXPECT_EQ(bad.status, 201) << bad;
  EXPECT_FALSE(bad.json["status"]["authenticated"].as_bool());
  EXPECT_FALSE(bad.json["status"]["error"].str().empty());
}

TEST(Authentication, BootstrapTokensAreReadFromKubeSystem) {  // AUTHN-6, 1.6.2
  ASSERT_EQ(api()
                .post("/api/v1/namespaces/kube-system/secrets", json(R"({"metadata":{"name":"bootstrap-token-abcdef"},
      "type":"bootstrap.kubernetes.io/token","stringData":{"token-id":"abcdef","token-secret":"0123456789abcdef",
      "usage-bootstrap-authentication":"true","auth-extra-groups":"system:bootstrappers:new"}})"))
                .status,
            201);
  const ApiClient joining{kubeconfig_with("abcdef.0123456789abcdef", "joining")};
  const Answer review = joining.post(kSelfReview, json("{}"));
  ASSERT_EQ(review.status, 201) << review;
  EXPECT_EQ(review.json["status"]["userInfo"]["username"].str(), "system:bootstrap:abcdef");
  const ApiClient wrong{kubeconfig_with("abcdef.0123456789abcdee", "wrong")};
  EXPECT_EQ(wrong.get("/version").status, 401);
  ASSERT_EQ(api().remove("/api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef").status, 200);
  EXPECT_EQ(joining.get("/version").status, 401);
}

TEST(Authentication, TheKeySetIsPublishedToPermittedUsers) {  // AUTHN-8
  const Answer keys = api().get("/openid/v1/jwks");
  ASSERT_EQ(keys.status, 200) << keys;
  EXPECT_EQ(keys.json["keys"][0]["crv"].str(), "P-256");
  EXPECT_EQ(api().get("/.well-known/openid-configuration").json["issuer"].str(),
            "https://kubernetes.default.svc.cluster.local");
  EXPECT_EQ(as("jane", "GET", "/openid/v1/jwks").status, 403);
}

TEST(Authorization, RefusesWithKubernetesMessagesAndRecordsThem) {  // AUTHZ-1
  const Answer refused = as("jane", "GET", kDeployments);
  expect_failure(refused, 403, "Forbidden");
  EXPECT_EQ(
      refused.message(),
      "deployments.apps is forbidden: User \"jane\" cannot list resource \"deployments\" in API group \"apps\" in "
      "the namespace \"default\"");
  EXPECT_EQ(refused.json["details"], json(R"({"group":"apps","kind":"deployments"})"));
  EXPECT_EQ(as("jane", "GET", "/metrics").message(), "forbidden: User \"jane\" cannot get path \"/metrics\"");
  EXPECT_EQ(as("jane", "GET", "/api/v1/unheardofs").status, 403)
      << "a user without permission cannot find out what exists";
  EXPECT_EQ(as("jane", "GET", "/shiplog/v1/audit").status, 403);
  EXPECT_EQ(as("jane", "GET", "/apis").status, 200) << "discovery is permitted to all authenticated users";
  EXPECT_TRUE(eventually([] {
    const std::string audit = api().get("/shiplog/v1/audit?user=jane").body;
    return audit.find("cannot list resource") != std::string::npos &&
           audit.find("cannot get path") != std::string::npos;
  })) << api().get("/shiplog/v1/audit?user=jane");
}

TEST(Authorization, RolesAndBindingsTakeEffectAtOnce) {  // AUTHZ-2, AUTHZ-3
  const std::string roles = kRbac + "/namespaces/default/roles";
  const std::string bindings = kRbac + "/namespaces/default/rolebindings";
  ASSERT_EQ(api().post(bindings, binding("ann-keeps", "Role", "keeper", "ann")).status, 201);
  const Answer dangling = as("ann", "GET", kConfigMaps);
  EXPECT_EQ(dangling.status, 403);
  EXPECT_NE(dangling.message().find(R"(: RBAC: role.rbac.authorization.k8s.io "keeper" not found)"), std::string::npos)
      << dangling;
  ASSERT_EQ(api()
                .post(roles, role("keeper", R"([{"verbs":["get","create","patch"],"apiGroups":[""],
      "resources":["configmaps"]},{"verbs":["delete"],"apiGroups":[""],"resources":["configmaps"],
      "resourceNames":["kept"]}])"))
                .status,
            201);
  EXPECT_EQ(as("ann", "POST", kConfigMaps, R"({"metadata":{"name":"kept"}})").status, 201);
  EXPECT_EQ(as("ann", "GET", kConfigMaps + "/kept").status, 200);
  EXPECT_EQ(as("ann", "GET", kConfigMaps).status, 403);
  EXPECT_EQ(as("ann", "PUT", kConfigMaps + "/kept", R"({"metadata":{"name":"kept"}})").status, 403);
  EXPECT_EQ(as("ann", "DELETE", kConfigMaps + "/other").status, 403);
  EXPECT_EQ(as("ann", "DELETE", kConfigMaps + "/kept").status, 200);
  ASSERT_EQ(api().remove(bindings + "/ann-keeps").status, 200);
  EXPECT_EQ(as("ann", "GET", kConfigMaps + "/kept").status, 403);
}

TEST(Authorization, ApplyOfAMissingObjectRequiresCreate) {  // AUTHZ-1
  ASSERT_EQ(api()
                .post(kRbac + "/namespaces/default/roles", role("patcher", R"([{"verbs":["patch"],"apiGroups":[""],
      "resources":["configmaps"]}])"))
                .status,
            201);
  ASSERT_EQ(api().post(kRbac + "/namespaces/default/rolebindings", binding("pat", "Role", "patcher", "pat")).status,
            201);
  const auto apply = [](const std::string& name) {
    return as("pat", "PATCH", kConfigMaps + "/" + name + "?fieldManager=pat",
              R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("},"data":{"a":"1"}})",
              {{"Content-Type", "application/apply-patch+yaml"}});
  };
  expect_failure(apply("unmade"), 403, "Forbidden", "cannot create resource \"configmaps\"");
  ASSERT_EQ(api().post(kConfigMaps, config_map("made")).status, 201);
  EXPECT_EQ(apply("made").status, 200);
}

TEST(Authorization, AggregatedRolesFollowTheirParts) {  // AUTHZ-4, AUTHZ-6
  ASSERT_EQ(api().post(kRbac + "/rolebindings", json("{}")).status, 405);
  ASSERT_EQ(api().post(kRbac + "/clusterrolebindings", binding("vera-views", "ClusterRole", "view", "vera")).status,
            201);
  const std::string widgets = "/apis/example.org/v1/widgets";
  EXPECT_EQ(as("vera", "GET", widgets).status, 403);
  Value more = role("widget-views", R"([{"verbs":["list"],"apiGroups":["example.org"],"resources":["widgets"]}])");
  more.edit("metadata").edit("labels").set("rbac.authorization.k8s.io/aggregate-to-view", "true");
  ASSERT_EQ(api().post(kRbac + "/clusterroles", more).status, 201);
  EXPECT_TRUE(eventually([&] { return as("vera", "GET", widgets).status == 404; })) << as("vera", "GET", widgets);
  const auto holds = [](const char* name) {
    return api().get(kRbac + "/clusterroles/" + name).body.find("widgets") != std::string::npos;
  };
  EXPECT_TRUE(eventually([&] { return holds("view") && holds("edit") && holds("admin"); }));
  ASSERT_EQ(api().remove(kRbac + "/clusterroles/widget-views").status, 200);
  EXPECT_TRUE(eventually([&] { return as("vera", "GET", widgets).status == 403; }));
}

TEST(Authorization, UsersGrantOnlyRightsThatTheyHold) {  // AUTHZ-5
  ASSERT_EQ(
      api().post(kRbac + "/namespaces/default/rolebindings", binding("adam", "ClusterRole", "admin", "adam")).status,
      201);
  const std::string roles = kRbac + "/namespaces/default/roles";
  const std::string held = to_json(role("adams", R"([{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}])"));
  const std::string more = to_json(role("adams", R"([{"verbs":["get"],"apiGroups":[""],"resources":["nodes"]}])"));
  expect_failure(as("adam", "POST", roles, more), 403, "Forbidden",
                 "is attempting to grant RBAC permissions not currently held:\n{APIGroups:[\"\"], "
                 "Resources:[\"nodes\"], Verbs:[\"get\"]}");
  EXPECT_EQ(as("adam", "POST", roles, held).status, 201);
  EXPECT_EQ(as("adam", "PUT", roles + "/adams", more).status, 403);
  const std::string bindings = kRbac + "/namespaces/default/rolebindings";
  EXPECT_EQ(as("adam", "POST", bindings, to_json(binding("e", "ClusterRole", "edit", "eve"))).status, 201);
  EXPECT_EQ(as("adam", "POST", bindings, to_json(binding("r", "ClusterRole", "cluster-admin", "eve"))).status, 403);
}

TEST(Authorization, AccessReviewsAnswerForOneselfAndOthers) {  // AUTHZ-7
  const std::string group = "/apis/authorization.k8s.io/v1";
  ASSERT_EQ(api().post(kRbac + "/namespaces/default/rolebindings", binding("rev", "ClusterRole", "view", "rev")).status,
            201);
  const auto self = [&](const std::string& spec) {
    return as("rev", "POST", group + "/selfsubjectaccessreviews", R"({"spec":)" + spec + "}");
  };
  const Answer yes = self(R"({"resourceAttributes":{"namespace":"default","verb":"list","resource":"pods"}})");
  ASSERT_EQ(yes.status, 201) << yes;
  EXPECT_TRUE(yes.json["status"]["allowed"].as_bool());
  EXPECT_EQ(yes.json["status"]["reason"].str(),
            R"(RBAC: allowed by RoleBinding "rev/default" of ClusterRole "view" to User "rev")");
  const Answer no = self(R"({"resourceAttributes":{"namespace":"default","verb":"delete","resource":"pods"}})");
  EXPECT_EQ(no.json["status"], json(R"({"allowed":false})")) << no;
  EXPECT_TRUE(
      self(R"({"nonResourceAttributes":{"verb":"get","path":"/version"}})").json["status"]["allowed"].as_bool());
  EXPECT_EQ(self("{}").status, 422);
  const Answer other = api().post(group + "/subjectaccessreviews", json(R"({"spec":{"user":"rev","resourceAttributes":
      {"namespace":"default","verb":"get","group":"apps","resource":"deployments"}}})"));
  EXPECT_TRUE(other.json["status"]["allowed"].as_bool()) << other;
  EXPECT_EQ(as("rev", "POST", group + "/subjectaccessreviews", "{}").status, 403);
  const std::string local = group + "/namespaces/default/localsubjectaccessreviews";
  EXPECT_TRUE(api()
                  .post(local, json(R"({"spec":{"user":"rev","resourceAttributes":{"namespace":"default","verb":"get",
      "resource":"pods"}}})"))
                  .json["status"]["allowed"]
                  .as_bool());
  EXPECT_EQ(api()
                .post(local, json(R"({"spec":{"user":"rev","resourceAttributes":{"verb":"get","resource":"pods"}}})"))
                .status,
            422);
  EXPECT_EQ(api().get(group + "/selfsubjectaccessreviews").status, 405);
}

TEST(Authorization, RulesReviewsListWhatIsHeld) {  // AUTHZ-8
  ASSERT_EQ(api().post(kRbac + "/namespaces/default/rolebindings", binding("lis", "ClusterRole", "view", "lis")).status,
            201);
  const Answer rules =
      as("lis", "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", R"({"spec":{"namespace":"default"}})");
  ASSERT_EQ(rules.status, 201) << rules;
  EXPECT_FALSE(rules.json["status"]["incomplete"].as_bool());
  EXPECT_NE(to_json(rules.json["status"]["resourceRules"]).find("propagationpolicies"), std::string::npos);
  EXPECT_NE(to_json(rules.json["status"]["nonResourceRules"]).find("/openapi/*"), std::string::npos);
}

TEST(Authorization, ImpersonationNeedsItsVerb) {  // AUTHZ-9
  const Answer review = api().call(
      "POST", kSelfReview, "{}", {{"Impersonate-User", "joe"}, {"Impersonate-Group", "a"}, {"Impersonate-Group", "b"}});
  EXPECT_EQ(review.json["status"]["userInfo"], json(R"({"username":"joe","groups":["a","b","system:authenticated"]})"))
      << review;
  EXPECT_FALSE(review.json["metadata"]["creationTimestamp"].is_empty()) << review;
  EXPECT_EQ(api().call("POST", kSelfReview, "{}", {{"Impersonate-Group", "a"}}).status, 400);
  ASSERT_EQ(api().post(kAccounts, json(R"({"metadata":{"name":"actor"}})")).status, 201);
  const ApiClient actor{kubeconfig_with(token_for("actor"), "actor")};
  expect_failure(actor.call("GET", kConfigMaps, {}, {{"Impersonate-User", "joe"}}), 403, "Forbidden",
                 "users \"joe\" is forbidden: User \"system:serviceaccount:default:actor\" cannot impersonate resource "
                 "\"users\" in API group \"\" at the cluster scope");
  ASSERT_EQ(api()
                .post(kRbac + "/clusterroles", role("acts", R"([{"verbs":["impersonate"],"apiGroups":[""],
      "resources":["users"],"resourceNames":["joe"]}])"))
                .status,
            201);
  ASSERT_EQ(api()
                .post(kRbac + "/clusterrolebindings",
                      binding("acts", "ClusterRole", "acts", "system:serviceaccount:default:actor"))
                .status,
            201);
  EXPECT_EQ(actor.call("GET", "/apis", {}, {{"Impersonate-User", "joe"}}).status, 200);
  EXPECT_EQ(actor.call("GET", "/apis", {}, {{"Impersonate-User", "jim"}}).status, 403);
  EXPECT_EQ(
      actor.call("GET", "/apis", {}, {{"Impersonate-User", "joe"}, {"Impersonate-Group", "system:masters"}}).status,
      403);
}

TEST(Authorization, ReviewsAreListedInDiscovery) {  // DISC-4
  const Answer list = api().get("/apis/authorization.k8s.io/v1");
  ASSERT_EQ(list.status, 200) << list;
  EXPECT_EQ(list.json["resources"].size(), 4u);
  for (const Value& resource : list.json["resources"].items()) EXPECT_EQ(resource["verbs"], json(R"(["create"])"));
}

}  // namespace
}  // namespace shiplog::e2e
