// Versions of custom resources that a webhook converts into each other, called by the real shiplogd on a server in this
// process (CRD-10, CRD-11).
#include <atomic>
#include <mutex>
#include <thread>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/system.h"
#include "services/http/server.h"
#include "services/http/tls.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

const std::string kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Converts shirts: v1 has spec.size, v2 has spec.width, which is ten times as much.
Value converted_shirt(Value shirt, const std::string& api_version) {
  const bool to_new = api_version.ends_with("/v2");
  const Value& given = shirt["spec"][to_new ? "size" : "width"];
  const int64_t size = to_new ? given.as_int() * 10 : given.as_int() / 10;
  Value& spec = shirt.edit("spec");
  spec.erase(to_new ? "size" : "width");
  spec.set(to_new ? "width" : "size", size);
  shirt.set("apiVersion", api_version);
  return shirt;
}

/// A conversion webhook. It counts its calls, and answers as it is told.
class ConversionServer {
 public:
  ConversionServer() {
    const Validity validity = valid_for_days(SystemClock{}.now(), 1);
    authority_ = make_authority("conversion-ca", validity).value();
    const KeyPair pair =
        issue_server_certificate(authority_, "conversion", {.dns = {"localhost"}, .ips = {"127.0.0.1"}}, validity)
            .value();
    HttpServer::Options options;
    options.certificate_pem = pair.certificate_pem;
    options.key_pem = pair.key_pem;
    auto started =
        HttpServer::start(options, [this](const HttpRequest& request, const auto& writer) { answer(request, writer); });
    EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message);
    server_ = std::move(started).value();
  }

  /// Changes every answer before it is sent; empty: nothing.
  void set_change(std::function<void(Value& review)> change) {
    const std::lock_guard lock{mutex_};
    change_ = std::move(change);
  }
  /// Answers nothing until it is thawed.
  void freeze() {
    const std::lock_guard lock{mutex_};
    frozen_ = true;
  }
  void thaw() {
    std::vector<std::function<void()>> held;
    {
      const std::lock_guard lock{mutex_};
      frozen_ = false;
      held.swap(held_);
    }
    for (const auto& send : held) send();
  }
  /// The requests of the ConversionReviews so far.
  std::vector<Value> asked() {
    const std::lock_guard lock{mutex_};
    return asked_;
  }
  Value conversion() const {
    return Value::object(
        {{"strategy", "Webhook"},
         {"webhook",
          Value::object(
              {{"conversionReviewVersions", json(R"(["v1"])")},
               {"clientConfig",
                Value::object({{"url", "https://127.0.0.1:" + std::to_string(server_->bound_port()) + "/convert"},
                               {"caBundle", base64_encode(authority_.certificate_pem)}})}})}});
  }

 private:
  void answer(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer) {
    const Value review = parse_json(request.body).value();
    const Value& asked = review["request"];
    Value answer = json(R"({"kind":"ConversionReview","response":{"result":{"status":"Success"}}})");
    answer.set("apiVersion", review["apiVersion"]);
    Value& response = answer.edit("response");
    response.set("uid", asked["uid"]);
    Value objects = Value::array();
    for (const Value& object : asked["objects"].items()) {
      objects.push_back(converted_shirt(object, asked["desiredAPIVersion"].str()));
    }
    response.set("convertedObjects", std::move(objects));
    const std::lock_guard lock{mutex_};
    asked_.push_back(asked);
    if (change_) change_(answer);
    auto send = [writer, body = to_json(answer)] { writer->send({200, {{"Content-Type", "application/json"}}, body}); };
    if (frozen_) {
      held_.emplace_back(std::move(send));
    } else {
      send();
    }
  }

  KeyPair authority_;
  std::mutex mutex_;
  bool frozen_ = false;
  std::function<void(Value&)> change_;
  std::vector<Value> asked_;
  std::vector<std::function<void()>> held_;
  std::unique_ptr<HttpServer> server_;  // last: its handler uses the rest
};

ConversionServer& converter() {
  static ConversionServer server;
  return server;
}

/// Shirts of a group of their own, which are removed at the end of its scope.
class Shirts {
 public:
  explicit Shirts(const std::string& group) : group_{group} {
    definition = json(R"({"spec":{"scope":"Namespaced","names":{"plural":"shirts","kind":"Shirt"},"versions":[
      {"name":"v1","served":true,"storage":true,"selectableFields":[{"jsonPath":".spec.size"}],"schema":{"openAPIV3Schema":
        {"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}}},
      {"name":"v2","served":true,"storage":false,"selectableFields":[{"jsonPath":".spec.width"}],"subresources":{"scale":
        {"specReplicasPath":".spec.width","statusReplicasPath":".status.width"}},"schema":{"openAPIV3Schema":
        {"type":"object","properties":{"spec":{"type":"object","required":["width"],"properties":{
          "width":{"type":"integer","minimum":10},"unit":{"type":"string","default":"mm"}}}}}}}]}})");
    definition.edit("metadata").set("name", "shirts." + group_);
    definition.edit("spec").set("group", group_);
    definition.edit("spec").set("conversion", converter().conversion());
    const Answer made = api().post(kDefinitions, definition);
    EXPECT_EQ(made.status, 201) << made;
    definition = made.json;
  }
  ~Shirts() {
    converter().set_change({});
    EXPECT_EQ(api().remove(kDefinitions + "/shirts." + group_).status, 200);
  }
  Shirts(const Shirts&) = delete;
  Shirts& operator=(const Shirts&) = delete;

  std::string path(const std::string& version) const {
    return "/apis/" + group_ + "/" + version + "/namespaces/default/shirts";
  }
  Value shirt(const std::string& version, const std::string& name, const std::string& spec) const {
    Value object = json(R"({"kind":"Shirt"})");
    object.set("apiVersion", group_ + "/" + version);
    object.edit("metadata").set("name", name);
    object.set("spec", json(spec));
    return object;
  }
  std::string failed(const std::string& version, const std::string& why) const {
    return "conversion webhook for " + group_ + "/" + version + ", Kind=Shirt " + why;
  }

  Value definition;

 private:
  std::string group_;
};

TEST(Conversion, AnObjectIsStoredInOneVersionAndReadInEach) {
  const Shirts shirts{"read.example.com"};
  const Answer made = api().post(shirts.path("v2"), shirts.shirt("v2", "a", R"({"width":30})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["apiVersion"].str(), "read.example.com/v2");
  EXPECT_EQ(made.json["spec"], json(R"({"width":30})")) << "as it was stored, without the default of v2";
  const std::vector<Value> asked = converter().asked();
  const size_t calls = asked.size();
  ASSERT_GE(calls, 2U);
  EXPECT_EQ(asked[calls - 2]["desiredAPIVersion"].str(), "read.example.com/v1");
  EXPECT_EQ(asked[calls - 2]["objects"][0]["spec"], json(R"({"unit":"mm","width":30})"));
  EXPECT_EQ(asked[calls - 1]["desiredAPIVersion"].str(), "read.example.com/v2") << "the answer is converted back";
  EXPECT_EQ(api().get(shirts.path("v1") + "/a").json["spec"], json(R"({"size":3})")) << "unit is pruned";
  EXPECT_EQ(converter().asked().size(), calls) << "it is stored like this";
  const Answer read = api().get(shirts.path("v2") + "/a");
  EXPECT_EQ(read.json["spec"], json(R"({"width":30})")) << read;
  EXPECT_EQ(read.json["metadata"], made.json["metadata"]);

  expect_failure(api().post(shirts.path("v2"), shirts.shirt("v2", "b", R"({"width":3})")), 422, "Invalid",
                 "spec.width");
  ASSERT_EQ(api().post(shirts.path("v1"), shirts.shirt("v1", "b", R"({"size":5})")).status, 201);
  const Answer patched = api().patch(shirts.path("v2") + "/a", "merge", json(R"({"spec":{"width":40}})"));
  EXPECT_EQ(patched.json["spec"]["width"].as_int(), 40) << patched;
  EXPECT_EQ(patched.json["metadata"]["generation"].as_int(), 2);
  EXPECT_EQ(api().get(shirts.path("v1") + "/a").json["spec"]["size"].as_int(), 4);
  EXPECT_EQ(api().patch(shirts.path("v2") + "/a/scale", "merge", json(R"({"spec":{"replicas":50}})")).status, 200);
  EXPECT_EQ(api().get(shirts.path("v2") + "/a/scale").json["spec"]["replicas"].as_int(), 50);
  EXPECT_EQ(api().patch(shirts.path("v1") + "/a", "merge", json("{}")).json["metadata"]["resourceVersion"],
            api().get(shirts.path("v2") + "/a").json["metadata"]["resourceVersion"])
      << "nothing changes";

  const Answer list = api().get(shirts.path("v2"));
  ASSERT_EQ(list.json["items"].size(), 2U) << list;
  EXPECT_EQ(list.json["items"][0]["spec"]["width"].as_int(), 50);
  EXPECT_EQ(list.json["items"][1]["spec"]["width"].as_int(), 50);
  EXPECT_EQ(list.json["items"][1]["apiVersion"].str(), "read.example.com/v2");
  EXPECT_EQ(api().get(shirts.path("v2") + "?fieldSelector=spec.width%3D50,metadata.name%3Da").json["items"].size(), 1U);
  EXPECT_EQ(api().get(shirts.path("v2") + "?fieldSelector=spec.width%3D5").json["items"].size(), 0U);
  EXPECT_EQ(api().get(shirts.path("v1") + "?fieldSelector=spec.size%3D5").json["items"].size(), 2U);
  expect_failure(api().get(shirts.path("v1") + "?fieldSelector=spec.width%3D5"), 400, "BadRequest",
                 "field label not supported: spec.width");

  EXPECT_EQ(api().call("DELETE", shirts.path("v2") + "?fieldSelector=spec.width%3D50,metadata.name%3Db").status, 200);
  EXPECT_EQ(api().get(shirts.path("v1") + "/b").status, 404);
  EXPECT_EQ(api().get(shirts.path("v1") + "/a").status, 200);
}

TEST(Conversion, AWatchShowsItsVersion) {
  const Shirts shirts{"watch.example.com"};
  ASSERT_EQ(api().post(shirts.path("v1"), shirts.shirt("v1", "a", R"({"size":1})")).status, 201);
  const auto all = api().watch(shirts.path("v2") + "?watch=true");
  const auto wide = api().watch(shirts.path("v2") + "?watch=true&fieldSelector=spec.width%3D20");
  ASSERT_TRUE(all->wait_for(1));
  for (const int size : {2, 3}) {
    ASSERT_EQ(api()
                  .patch(shirts.path("v1") + "/a", "merge", json(R"({"spec":{"size":)" + std::to_string(size) + "}}"))
                  .status,
              200);
  }
  ASSERT_EQ(api().remove(shirts.path("v1") + "/a").status, 200);
  ASSERT_TRUE(all->wait_for(4));
  ASSERT_TRUE(wide->wait_for(2));
  std::string seen;
  for (const Value& event : all->events()) {
    EXPECT_EQ(event["object"]["apiVersion"].str(), "watch.example.com/v2");
    seen += event["type"].str() + std::to_string(event["object"]["spec"]["width"].as_int()) + " ";
  }
  EXPECT_EQ(seen, "ADDED10 MODIFIED20 MODIFIED30 DELETED30 ");
  EXPECT_EQ(wide->events()[0]["type"].str(), "ADDED");
  EXPECT_EQ(wide->events()[1]["type"].str(), "DELETED");
}

TEST(Conversion, WritingAnObjectMovesItToTheStorageVersion) {  // CRD-11
  Shirts shirts{"moves.example.com"};
  ASSERT_EQ(api().post(shirts.path("v1"), shirts.shirt("v1", "a", R"({"size":1})")).status, 201);
  Value& versions = shirts.definition.edit("spec").edit("versions");
  versions.edit_items()[0].set("storage", false);
  versions.edit_items()[1].set("storage", true);
  const Answer updated = api().put(kDefinitions + "/shirts.moves.example.com", shirts.definition);
  ASSERT_EQ(updated.status, 200) << updated;
  EXPECT_EQ(updated.json["status"]["storedVersions"], json(R"(["v1","v2"])"));
  EXPECT_NE(updated.headers.get("Warning").find(
                "let policies and overrides that select moves.example.com/v1 select both versions"),
            std::string::npos);
  const Answer old = api().get(shirts.path("v2") + "/a");
  EXPECT_EQ(old.json["spec"]["width"].as_int(), 10) << old;
  const Answer moved = api().put(shirts.path("v2") + "/a", old.json);
  ASSERT_EQ(moved.status, 200) << moved;
  EXPECT_NE(moved.json["metadata"]["resourceVersion"], old.json["metadata"]["resourceVersion"]);
  const size_t calls = converter().asked().size();
  EXPECT_EQ(api().get(shirts.path("v2") + "/a").json["spec"], moved.json["spec"]);
  EXPECT_EQ(converter().asked().size(), calls) << "it is stored in v2 now";
  EXPECT_EQ(api().put(shirts.path("v2") + "/a", moved.json).json["metadata"]["resourceVersion"],
            moved.json["metadata"]["resourceVersion"])
      << "once is enough";
}

TEST(Conversion, AuthorsOfPoliciesAreWarnedOfVersionsThatAreNotStored) {
  const Shirts shirts{"policies.example.com"};
  Value policy = json(R"({"metadata":{"name":"shirts"},"spec":{"resourceSelectors":[{"kind":"Shirt"}],
      "placement":{"clusterAffinity":{"clusterNames":["m"]}}}})");
  policy.edit("spec").edit("resourceSelectors").edit_items()[0].set("apiVersion", "policies.example.com/v2");
  const std::string policies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";
  const Answer made = api().post(policies, policy);
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_NE(made.headers.get("Warning").find("shirts are stored in policies.example.com/v1"), std::string::npos)
      << made.headers.get("Warning");
  EXPECT_EQ(api().remove(policies + "/shirts").status, 200);

  policy.edit("spec").erase("placement");
  policy.edit("spec").set("overrideRules", json(R"([{"overriders":{"plaintext":[
      {"path":"/spec/size","operator":"replace","value":2}]}}])"));
  const std::string overrides = "/apis/policy.karmada.io/v1alpha1/namespaces/default/overridepolicies";
  const Answer overriding = api().post(overrides, policy);
  ASSERT_EQ(overriding.status, 201) << overriding;
  EXPECT_NE(overriding.headers.get("Warning").find("this selector overrides nothing in policies.example.com/v2"),
            std::string::npos)
      << overriding.headers.get("Warning");
  EXPECT_EQ(api().remove(overrides + "/shirts").status, 200);
}

TEST(Conversion, AFailureIsShownAndNothingIsStored) {
  const Shirts shirts{"fails.example.com"};
  ASSERT_EQ(api().post(shirts.path("v1"), shirts.shirt("v1", "a", R"({"size":1})")).status, 201);
  converter().set_change([](Value& review) {
    review.edit("response").set("result", json(R"({"status":"Failure","message":"no idea what this is"})"));
  });
  expect_failure(api().get(shirts.path("v2") + "/a"), 500, "InternalError",
                 shirts.failed("v1", "failed: no idea what this is"));
  expect_failure(api().get(shirts.path("v2")), 500, "InternalError", "no idea what this is");
  expect_failure(api().post(shirts.path("v2"), shirts.shirt("v2", "b", R"({"width":10})")), 500, "InternalError",
                 shirts.failed("v2", "failed: no idea what this is"));
  expect_failure(api().patch(shirts.path("v2") + "/a", "merge", json(R"({"spec":{"width":20}})")), 500,
                 "InternalError");
  EXPECT_EQ(api().get(shirts.path("v1")).json["items"].size(), 1U) << "what is stored like this is shown";
  const auto watch = api().watch(shirts.path("v2") + "?watch=true");
  ASSERT_TRUE(watch->wait_for(1));
  EXPECT_EQ(watch->events()[0]["type"].str(), "ERROR");
  EXPECT_NE(watch->events()[0]["object"]["message"].str().find("no idea"), std::string::npos);

  converter().set_change([](Value& review) {
    for (Value& object : review.edit("response").edit("convertedObjects").edit_items()) {
      object.edit("metadata").set("name", "other");
    }
  });
  expect_failure(api().get(shirts.path("v2") + "/a"), 500, "InternalError",
                 shirts.failed("v1", "returned invalid object: must have the same name: a != other"));
  EXPECT_EQ(api().remove(shirts.path("v2") + "/a").status, 200) << "a converter keeps nothing";
  EXPECT_EQ(api().get(shirts.path("v1") + "/a").status, 404);
}

TEST(Conversion, NothingIsCreatedOfADefinitionThatIsDeletedDuringTheCall) {  // CRD-13
  const Shirts shirts{"deleted.example.com"};
  converter().freeze();
  const size_t calls = converter().asked().size();
  Answer created;
  std::thread author{[&] {
    const ApiClient client{plane().kubeconfig("plane")};
    created = client.post(shirts.path("v2"), shirts.shirt("v2", "a", R"({"width":10})"));
  }};
  EXPECT_TRUE(eventually([&] { return converter().asked().size() > calls; }));
  const std::string definition = kDefinitions + "/shirts.deleted.example.com";
  EXPECT_EQ(api().remove(definition).status, 200);
  EXPECT_TRUE(eventually([&] { return api().get(definition).status == 404; }));
  converter().thaw();
  author.join();
  expect_failure(created, 404, "NotFound", "the server could not find the requested resource");
  Value again = shirts.definition;
  for (const char* field : {"uid", "resourceVersion", "creationTimestamp"}) again.edit("metadata").erase(field);
  ASSERT_EQ(api().post(kDefinitions, again).status, 201);
  EXPECT_EQ(api().get(shirts.path("v1")).json["items"].size(), 0U);
}

TEST(Conversion, AFailureAfterAWriteMakesNoErrorOfIt) {
  const Shirts shirts{"later.example.com"};
  converter().set_change([](Value& review) {
    if (!review["response"]["convertedObjects"][0]["apiVersion"].as_string().ends_with("/v2")) return;
    review.edit("response").set("result", json(R"({"status":"Failure","message":"not back"})"));
  });
  const Answer made = api().post(shirts.path("v2"), shirts.shirt("v2", "a", R"({"width":10})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["spec"], json(R"({"unit":"mm","width":10})")) << "as it was requested";
  EXPECT_EQ(made.json["metadata"], api().get(shirts.path("v1") + "/a").json["metadata"]);
}

TEST(Conversion, ReadsFillInTheDefaultsOfTheStorageVersion) {  // CRD-7
  Shirts shirts{"filled.example.com"};
  ASSERT_EQ(api().post(shirts.path("v1"), shirts.shirt("v1", "a", R"({"size":1})")).status, 201);
  ASSERT_EQ(api().get(shirts.path("v2") + "/a").json["spec"], json(R"({"width":10})"));
  const Answer changed =
      api().patch(kDefinitions + "/shirts.filled.example.com", "json",
                  json(R"([{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/unit",
                            "value":{"type":"string","default":"in"}}])"));
  ASSERT_EQ(changed.status, 200) << changed;
  const Value whole = json(R"({"unit":"in","width":10})");
  EXPECT_TRUE(eventually([&] { return api().get(shirts.path("v2") + "/a").json["spec"] == whole; }));
  EXPECT_EQ(api().get(shirts.path("v2")).json["items"][0]["spec"], whole);
  EXPECT_EQ(converter().asked().back()["objects"][0]["spec"], json(R"({"size":1,"unit":"in"})"));
}

TEST(Conversion, PagesHaveTheObjectsThatAreSelectedAfterConversion) {
  const Shirts shirts{"pages.example.com"};
  for (const char* name : {"a", "b", "c", "d"}) {
    const std::string size = std::string_view{name} < "c" ? "1" : "2";
    ASSERT_EQ(api().post(shirts.path("v1"), shirts.shirt("v1", name, R"({"size":)" + size + "}")).status, 201);
  }
  std::string names;
  std::string next;
  do {
    const Answer page = api().get(shirts.path("v2") + "?fieldSelector=spec.width%3D20&limit=3&continue=" + next);
    ASSERT_EQ(page.status, 200) << page;
    for (const Value& item : page.json["items"].items()) names += item["metadata"]["name"].str();
    next = page.json["metadata"]["continue"].str();
  } while (!next.empty());
  EXPECT_EQ(names, "cd");
}

TEST(Conversion, AppliedFieldsBelongToTheVersionTheyWereAppliedIn) {
  const Shirts shirts{"applied.example.com"};
  const auto apply = [&](const std::string& version, const std::string& manager, const std::string& spec) {
    return api().call("PATCH", shirts.path(version) + "/a?fieldManager=" + manager,
                      to_json(shirts.shirt(version, "a", spec)), {{"Content-Type", "application/apply-patch+yaml"}});
  };
  ASSERT_EQ(apply("v1", "one", R"({"size":3})").status, 201);
  EXPECT_EQ(apply("v2", "one", R"({"width":30})").json["spec"]["width"].as_int(), 30);
  const Answer other = apply("v2", "two", R"({"width":40})");
  EXPECT_EQ(other.status, 409) << other;
  const Value stored = api().get(shirts.path("v1") + "/a").json;
  EXPECT_EQ(stored["spec"], json(R"({"size":3})"));
  ASSERT_EQ(stored["metadata"]["managedFields"].size(), 1U) << to_json(stored);
  EXPECT_EQ(stored["metadata"]["managedFields"][0]["apiVersion"].str(), "applied.example.com/v2");
}

TEST(Conversion, AConverterAnswersWithLittleMoreThanItIsAsked) {
  const Shirts shirts{"bloated.example.com"};
  ASSERT_EQ(api().post(shirts.path("v1"), shirts.shirt("v1", "a", R"({"size":1})")).status, 201);
  converter().set_change([](Value& review) { review.set("padding", std::string(size_t{2} << 20U, 'x')); });
  expect_failure(api().get(shirts.path("v2") + "/a"), 500, "InternalError", shirts.failed("v1", "failed: Post"));
  converter().set_change([](Value& review) { review.set("padding", std::string(size_t{1} << 19U, 'x')); });
  EXPECT_EQ(api().get(shirts.path("v2") + "/a").status, 200);
}

TEST(Conversion, AWatchConvertsWhatItSelectsAndComparesStoredLabels) {  // as lists do
  const Shirts shirts{"labels.example.com"};
  for (const char* name : {"a", "b"}) {
    Value shirt = shirts.shirt("v1", name, R"({"size":1})");
    shirt.edit("metadata").set("labels", json(R"({"color":"red"})"));
    ASSERT_EQ(api().post(shirts.path("v1"), shirt).status, 201);
  }
  // Labels have other names in v2, and the webhook cannot convert b.
  converter().set_change([](Value& review) {
    for (Value& object : review.edit("response").edit("convertedObjects").edit_items()) {
      object.edit("metadata").set("labels", json(R"({"colour":"red"})"));
      if (object["metadata"]["name"].as_string() == "b") object.set("kind", "Broken");
    }
  });
  const std::string named = shirts.path("v2") + "?watch=true&fieldSelector=metadata.name%3Da";
  const auto by_name = api().watch(named);
  const auto by_label = api().watch(named + "&labelSelector=color%3Dred");
  const auto by_converted_label = api().watch(named + "&labelSelector=colour%3Dred");
  ASSERT_TRUE(by_name->wait_for(1));
  ASSERT_TRUE(by_label->wait_for(1));
  for (const char* name : {"/b", "/a"}) ASSERT_EQ(api().remove(shirts.path("v1") + name).status, 200);
  ASSERT_TRUE(by_name->wait_for(2));
  ASSERT_TRUE(by_label->wait_for(2));
  for (const auto* watch : {by_name.get(), by_label.get()}) {
    EXPECT_EQ(watch->events()[0]["type"].str(), "ADDED");
    EXPECT_EQ(watch->events()[1]["type"].str(), "DELETED");
    EXPECT_EQ(watch->events()[1]["object"]["metadata"]["name"].str(), "a");
  }
  EXPECT_TRUE(by_converted_label->events().empty()) << "as a list with this selector";
}

TEST(Conversion, AConverterChangesNoMetadataOfOthers) {
  const Shirts shirts{"hostile.example.com"};
  converter().set_change([](Value& review) {
    for (Value& object : review.edit("response").edit("convertedObjects").edit_items()) {
      Value& metadata = object.edit("metadata");
      metadata.set("finalizers", json(R"(["stuck.example.com/ever"])"));
      metadata.set("ownerReferences", json(R"([{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"x"}])"));
      metadata.set("labels", json(R"({"propagationpolicy.karmada.io/permanent-id":"stolen","mine":"x"})"));
    }
  });
  const Answer made = api().post(shirts.path("v2"), shirts.shirt("v2", "a", R"({"width":10})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["metadata"]["labels"], json(R"({"mine":"x"})")) << "the answer shows what is stored";
  const Value stored = api().get(shirts.path("v1") + "/a").json["metadata"];
  EXPECT_TRUE(stored["finalizers"].is_null()) << to_json(stored);
  EXPECT_TRUE(stored["ownerReferences"].is_null());
  EXPECT_EQ(stored["labels"], json(R"({"mine":"x"})"));
}

TEST(Conversion, AFrozenConverterHoldsUpNothingElse) {
  const Shirts shirts{"frozen.example.com"};
  ASSERT_EQ(api().post(shirts.path("v1"), shirts.shirt("v1", "a", R"({"size":1})")).status, 201);
  converter().freeze();
  constexpr int kReaders = 44;
  std::atomic<int> shown{0};
  std::atomic<int> refused{0};
  std::vector<std::thread> readers;
  const size_t calls = converter().asked().size();
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] {
      const ApiClient client{plane().kubeconfig("plane")};
      const Answer answer = client.get(shirts.path("v2") + "/a");
      if (answer.status == 200) ++shown;
      if (answer.status == 429) ++refused;
    });
  }
  EXPECT_TRUE(eventually([&] { return refused == kReaders - 40; })) << refused << " were refused";
  EXPECT_EQ(api().get(shirts.path("v1") + "/a").status, 200) << "no conversion is needed";
  EXPECT_EQ(api().post(kConfigMaps, config_map("while-frozen")).status, 201);
  EXPECT_LE(converter().asked().size() - calls, 8U) << "further calls wait";
  converter().thaw();
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(shown, 40);
}

}  // namespace
}  // namespace shiplog::e2e
