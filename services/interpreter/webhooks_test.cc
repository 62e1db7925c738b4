#include "services/interpreter/webhooks.h"

#include "events/base/base64.h"
#include "services/interpreter/interpreter.h"
#include "tests/support/given.h"
#include "tests/support/interpreting.h"

namespace shiplog::interpreter {
namespace {

using testing::kNoon;
using testing::yaml;

const ObjectKey kTemplate{"deployments.apps", "default", "web"};

Value configuration(const std::string& name, const std::string& rule, const std::string& hook = "a.example.com") {
  return yaml(
      "{apiVersion: config.karmada.io/v1alpha1, kind: ResourceInterpreterWebhookConfiguration, metadata: {name: " +
      name + "}, webhooks: [{name: " + hook +
      ", clientConfig: {url: 'https://x/y'}, interpreterContextVersions: [v1alpha1], timeoutSeconds: 3, rules: [" +
      rule + "]}]}");
}

const char* const kAllOfDeployments = "{operations: ['*'], apiGroups: [apps], apiVersions: [v1], kinds: [Deployment]}";

class InterpreterWebhookAnswers : public ::testing::Test {
 protected:
  InterpreterWebhookAnswers() {
    history_.put(kTemplate,
                 yaml("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default, uid: u1}, "
                      "spec: {replicas: 2}}"));
  }
  void add(const Value& object) { history_.put({kWebhookType, "", object["metadata"]["name"].str()}, object); }
  const State& state() const { return history_.state(); }
  const Value& object() const { return state().value_of(kTemplate); }

  /// The webhook's answer as the shell records it.
  Result<Value> say(const Question& question, const Value& response) {
    Value whole = response;
    whole.set("uid", "1234");
    const Value context = Value::object(
        {{"apiVersion", "config.karmada.io/v1alpha1"}, {"kind", "ResourceInterpreterContext"}, {"response", whole}});
    return read_answer(question, context, "1234");
  }
  template <class T>
  static const Question& question_of(const Interpreted<T>& result) {
    static const Question kNone;
    EXPECT_FALSE(result.has_value());
    if (result || result.error().questions.size() != 1) {
      ADD_FAILURE() << "no question: " << (result ? "a value" : result.error().message);
      return kNone;
    }
    EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
    return *result.error().questions.front();
  }
  void record(const Question& question, const Value& answer, const std::string& failure = "") {
    const Value recorded =
        failure.empty() ? Value::object({{"answer", answer}}) : Value::object({{"failure", failure}});
    history_.accept({QuestionAnswered{question.object, question.operation, question.source, question.basis,
                                      Value::object({{question.qualifier, recorded}})}});
  }
  /// Answers the question that `result` waits for with `response`, and records the result.
  template <class T>
  void answered(const Interpreted<T>& result, const char* response) {
    const Question question = question_of(result);
    const auto answer = say(question, yaml(response));
    ASSERT_TRUE(answer) << answer.error().message;
    record(question, answer.value());
  }
  static std::string patch(const std::string& operations) {
    return "{successful: true, patchType: JSONPatch, patch: " + base64_encode(operations) + "}";
  }

  given::History history_;
};

TEST_F(InterpreterWebhookAnswers, RecordedAnswersAreReadFromTheState_L_19_L_20) {
  add(configuration("deployments", kAllOfDeployments));
  const Question question = question_of(replicas(state(), object(), kNoon));
  EXPECT_EQ(question.object, kTemplate);
  EXPECT_EQ(question.source, "deployments/a.example.com");
  EXPECT_EQ(question.timeout, Millis{3000});
  const Value context = context_of(question, "77");
  EXPECT_EQ(context["apiVersion"].as_string(), "config.karmada.io/v1alpha1");
  EXPECT_EQ(context["kind"].as_string(), "ResourceInterpreterContext");
  Value request = context["request"];
  request.erase("object");
  EXPECT_EQ(request,
            yaml("{uid: '77', kind: {group: apps, version: v1, kind: Deployment}, name: web, namespace: default, "
                 "operation: InterpretReplica}"));
  EXPECT_EQ(context["request"]["object"], object());

  answered(replicas(state(), object(), kNoon),
           "{successful: true, replicas: 7, replicaRequirements: {resourceRequest: {cpu: '1500m'}}}");
  EXPECT_EQ(replicas(state(), object(), kNoon).value(), (Replicas{7, yaml("{resourceRequest: {cpu: 1500m}}")}));

  answered(components(state(), object(), kNoon), "{successful: true, components: [{name: a, replicas: 2}, {name: b}]}");
  EXPECT_EQ(components(state(), object(), kNoon).value(), (std::vector<WorkloadComponent>{{"a", 2, {}}, {"b", 0, {}}}));

  answered(dependencies(state(), object(), kNoon),
           "{successful: true, dependencies: [{apiVersion: v1, kind: ConfigMap, namespace: default, name: c}]}");
  EXPECT_EQ(dependencies(state(), object(), kNoon).value(),
            (std::vector<Dependency>{{"v1", "ConfigMap", "default", "c", {}}}));

  const auto five = revise_replica(state(), object(), 5, kNoon);
  EXPECT_EQ(question_of(five).request["replicas"].as_int(), 5) << "the JSON name of the desired count";
  answered(five, patch(R"([{"op":"replace","path":"/spec/replicas","value":5}])").c_str());
  EXPECT_EQ((*revise_replica(state(), object(), 5, kNoon).value())["spec"]["replicas"].as_int(), 5);
  answered(revise_replica(state(), object(), 6, kNoon), "{successful: true}");
  EXPECT_EQ(*revise_replica(state(), object(), 6, kNoon).value(), object()) << "neither patch nor type: unchanged";
  EXPECT_EQ((*revise_replica(state(), object(), 5, kNoon).value())["spec"]["replicas"].as_int(), 5) << "still known";

  const Value items = yaml("[{clusterName: m1, status: {x: 1}}]");
  const auto aggregated = aggregate_status(state(), object(), items, kNoon);
  EXPECT_EQ(question_of(aggregated).request["aggregatedStatus"], items);
  answered(aggregated, patch(R"([{"op":"add","path":"/status","value":{"sum":1}}])").c_str());
  EXPECT_EQ(aggregate_status(state(), object(), items, kNoon).value(), yaml("{sum: 1}"));
  EXPECT_FALSE(aggregate_status(state(), object(), yaml("[]"), kNoon).has_value())
      << "other items are another question";
}

TEST_F(InterpreterWebhookAnswers, AnswersAboutMembersObjectsAreNotKept_L_19) {
  add(configuration("deployments", kAllOfDeployments));
  EXPECT_EQ(question_of(reflect_status(state(), object(), kNoon)).operation, "InterpretStatus");
  EXPECT_EQ(question_of(health(state(), object(), kNoon)).operation, "InterpretHealth");
  const Value observed = yaml("{kept: 1}");
  const Question question = question_of(retain(state(), object(), observed, kNoon));
  EXPECT_EQ(question.request["observedObject"], observed);
  const auto result = say(question, yaml(patch(R"([{"op":"add","path":"/spec/kept","value":1}])")));
  ASSERT_TRUE(result);
  EXPECT_EQ((*retain(state(), object(), observed, kNoon, &result.value()).value())["spec"],
            yaml("{replicas: 2, kept: 1}"));
}

TEST_F(InterpreterWebhookAnswers, TheMatchingWebhookWithTheSmallestNameIsCalled_L_18) {
  EXPECT_TRUE(replicas(state(), object(), kNoon).value()) << "none: native";
  add(configuration("b", "{operations: [InterpretReplica], apiGroups: ['*'], apiVersions: ['*'], kinds: ['*']}"));
  EXPECT_EQ(question_of(replicas(state(), object(), kNoon)).source, "b/a.example.com");
  EXPECT_TRUE(revise_replica(state(), object(), 3, kNoon).value()) << "another operation: native";
  add(configuration("a", kAllOfDeployments, "z.example.com"));
  EXPECT_EQ(question_of(replicas(state(), object(), kNoon)).source, "a/z.example.com");
  for (const char* rule : {"{operations: ['*'], apiGroups: [''], apiVersions: [v1], kinds: [Deployment]}",
                           "{operations: ['*'], apiGroups: [apps], apiVersions: [v2], kinds: [Deployment]}",
                           "{operations: ['*'], apiGroups: [apps], apiVersions: [v1], kinds: [deployment]}",
                           "{operations: [Retain], apiGroups: [apps], apiVersions: [v1], kinds: [Deployment]}"}) {
    add(configuration("a", rule));
    EXPECT_EQ(question_of(replicas(state(), object(), kNoon)).source, "b/a.example.com") << rule;
  }
}

TEST_F(InterpreterWebhookAnswers, ScriptsOfCustomizationsComeFirst_L_2) {
  add(configuration("a", kAllOfDeployments));
  history_.put(
      {kCustomizationType, "", "c"},
      yaml("{apiVersion: config.karmada.io/v1alpha1, kind: ResourceInterpreterCustomization, metadata: {name: c}, "
           "spec: {target: {apiVersion: apps/v1, kind: Deployment}, customizations: {replicaResource: "
           "{luaScript: 'function GetReplicas(o) return 9 end'}}}}"));
  EXPECT_EQ(replicas(state(), object(), kNoon).value()->count, 9);
  EXPECT_EQ(question_of(revise_replica(state(), object(), 3, kNoon)).operation, "ReviseReplica");
  // Compiled-in scripts come after it.
  const Value clone_set = yaml(
      "{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {name: c, namespace: "
      "default}, status: {}}");
  const auto by_script = health(state(), clone_set, kNoon);
  EXPECT_TRUE(by_script || by_script.error().questions.empty());
  add(configuration("k", "{operations: ['*'], apiGroups: [apps.kruise.io], apiVersions: ['*'], kinds: ['*']}"));
  EXPECT_EQ(question_of(health(state(), clone_set, kNoon)).source, "k/a.example.com");
}

TEST_F(InterpreterWebhookAnswers, AnAnswerIsValidOnlyForItsQuestion_L_19) {
  add(configuration("a", kAllOfDeployments));
  answered(replicas(state(), object(), kNoon), "{successful: true, replicas: 7}");
  history_.edit(kTemplate, [](Value& value) { value.edit("status").set("replicas", 1); });
  EXPECT_TRUE(replicas(state(), object(), kNoon)) << "D-5: a change of the status alone calls no webhook";
  history_.edit(kTemplate, [](Value& value) { value.edit("spec").set("replicas", 3); });
  const Question changed = question_of(replicas(state(), object(), kNoon));
  record(changed, yaml("{replicas: 8}"));
  EXPECT_EQ(replicas(state(), object(), kNoon).value()->count, 8);
  EXPECT_EQ(state().objects(kAnswersType).size(), 1u) << "the answer about the former object is dropped";
  // Another configuration is another question.
  add(configuration("a", "{operations: ['*'], apiGroups: ['*'], apiVersions: [v1], kinds: [Deployment]}"));
  EXPECT_NE(question_of(replicas(state(), object(), kNoon)).basis, changed.basis);
  const Change gone{{kWebhookType, "", "a"}, {}, configuration("a", kAllOfDeployments), {}, {}};
  EXPECT_EQ(concerned(state(), gone), (std::vector<InterpretedKind>{{"apps/v1", "Deployment"}}));
}

TEST_F(InterpreterWebhookAnswers, AFailureIsReportedAndTheQuestionRemains_L_21) {
  add(configuration("a", kAllOfDeployments));
  record(question_of(replicas(state(), object(), kNoon)), {}, "interpreter webhook a/a.example.com: refused");
  const auto again = replicas(state(), object(), kNoon);
  EXPECT_EQ(again.error().message, "interpreter webhook a/a.example.com: refused") << "never a fallback";
  EXPECT_EQ(question_of(again).failure, again.error().message);
  record(question_of(again), yaml("{replicas: 1}"));
  EXPECT_EQ(replicas(state(), object(), kNoon).value()->count, 1);
}

TEST_F(InterpreterWebhookAnswers, InvalidAnswers_L_20) {
  add(configuration("a", kAllOfDeployments));
  Value changed = object();
  const auto why = [&](const auto& result, const std::string& response) {
    const auto answer = say(question_of(result), yaml(response));
    const std::string name = "interpreter webhook a/a.example.com: ";
    if (answer) return std::string{"taken"};
    EXPECT_TRUE(answer.error().message.starts_with(name)) << answer.error().message;
    return answer.error().message.substr(name.size());
  };
  const auto count = replicas(state(), object(), kNoon);
  EXPECT_EQ(why(count, "{successful: false}"), "it failed, and response.status does not say why");
  EXPECT_EQ(why(count, "{successful: false, status: {message: no such game, code: 404}}"),
            "it failed: no such game (code 404)");
  EXPECT_EQ(why(count, "{successful: true}"), "response.replicas is missing or of the wrong type");
  EXPECT_EQ(why(count, "{successful: true, replicas: many}"), "response.replicas is missing or of the wrong type");
  EXPECT_EQ(why(reflect_status(state(), object(), kNoon), "{successful: true}"),
            "response.rawStatus is missing or of the wrong type");
  EXPECT_EQ(why(health(state(), object(), kNoon), "{successful: true, healthy: 'yes'}"),
            "response.healthy is missing or of the wrong type");
  const auto revised = revise_replica(state(), object(), 3, kNoon);
  EXPECT_EQ(why(revised, "{successful: true, patchType: JSONPatch}"),
            "response.patch and response.patchType are needed together");
  EXPECT_EQ(why(revised, "{successful: true, patch: W10=}"),
            "response.patch and response.patchType are needed together");
  EXPECT_EQ(why(revised, "{successful: true, patch: W10=, patchType: MergePatch}"),
            "response.patchType is \"MergePatch\", only JSONPatch is known");
  EXPECT_EQ(why(revised, "{successful: true, patch: '!', patchType: JSONPatch}"), "response.patch is not base64");
  EXPECT_TRUE(why(revised, patch(R"([{"op":"replace","path":"/spec/nothing","value":1}])"))
                  .starts_with("response.patch does not apply: "));
  EXPECT_EQ(why(revised, patch(R"([{"op":"replace","path":"/metadata/name","value":"other"}])")),
            "response.patch: the result is another object than Deployment web: it changes metadata.name");
  EXPECT_EQ(why(revised, patch(R"([{"op":"replace","path":"","value":1}])")), "response.patch leaves no object");

  const Question& question = question_of(count);
  const auto read = [&](const char* context) {
    const auto answer = read_answer(question, yaml(context), "1234");
    return answer ? "taken"
                  : answer.error().message.substr(std::string{"interpreter webhook a/a.example.com: "}.size());
  };
  EXPECT_EQ(read("{}"), "its answer has no response");
  EXPECT_EQ(read("{response: {uid: '1235', successful: true, replicas: 1}}"),
            "response.uid is not that of the request");
  EXPECT_EQ(read("{kind: Pod, response: {uid: '1234', successful: true, replicas: 1}}"),
            "its answer's kind is \"Pod\", not ResourceInterpreterContext");
  EXPECT_EQ(read("{response: {uid: '1234', successful: true, replicas: 1}}"), "taken");
}

TEST_F(InterpreterWebhookAnswers, IncompleteDependenciesAreAnError_B_31_L_7) {
  add(configuration("a", kAllOfDeployments));
  const Question question = question_of(dependencies(state(), object(), kNoon));
  const auto why = [&](const std::string& listed) {
    const auto answer = say(question, yaml("{successful: true, dependencies: " + listed + "}"));
    EXPECT_TRUE(answer) << answer.error().message;
    record(question, answer.value());
    const auto read = dependencies(state(), object(), kNoon);
    if (read) return std::string{"taken"};
    EXPECT_TRUE(read.error().questions.empty()) << "it has been answered";
    return read.error().message;
  };
  const std::string begin = "dependencies of Deployment web: ";
  EXPECT_EQ(why("[{kind: Secret, name: x}]"), begin + "dependencies[0]: apiVersion is missing");
  EXPECT_EQ(why("[{apiVersion: v1, kind: Secret, name: x}, {apiVersion: v1, name: y}]"),
            begin + "dependencies[1]: kind is missing");
  EXPECT_EQ(why("[{apiVersion: v1, kind: Secret}]"), begin + "dependencies[0]: it has neither name nor labelSelector");
  EXPECT_EQ(why("[{apiVersion: v1, kind: Secret, name: x}]"), "taken");
}

TEST_F(InterpreterWebhookAnswers, NoWebhookIsCalledForSecrets) {
  add(configuration("all", "{operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], kinds: ['*']}"));
  const Value secret = yaml("{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default}}");
  EXPECT_TRUE(retain(state(), secret, secret, kNoon).has_value());
  EXPECT_TRUE(reflect_status(state(), secret, kNoon).has_value());
  EXPECT_FALSE(names_secrets(state().value_of({kWebhookType, "", "all"})));
  EXPECT_TRUE(names_secrets(
      configuration("s", "{operations: ['*'], apiGroups: [''], apiVersions: ['*'], kinds: [Pod, Secret]}")));
}

TEST_F(InterpreterWebhookAnswers, AnswersAreRemovedWithTheirObject) {
  add(configuration("a", kAllOfDeployments));
  answered(replicas(state(), object(), kNoon), "{successful: true, replicas: 7}");
  const Value& kept = state().value_of(answers_key(kTemplate, "InterpretReplica"));
  EXPECT_EQ(kept["metadata"]["ownerReferences"][0]["uid"].as_string(), uid_of(object()));
  EXPECT_FALSE(answers_obsolete(state(), kept));
  const Question question = question_of(revise_replica(state(), object(), 3, kNoon));
  history_.remove({kWebhookType, "", "a"});
  EXPECT_TRUE(answers_obsolete(state(), kept));
  history_.remove(kTemplate);
  EXPECT_TRUE(history_
                  .fold({QuestionAnswered{question.object, question.operation, question.source, question.basis,
                                          yaml("{'3': {answer: null}}")}})
                  .refusal)
      << "no answer about a removed object is kept";
}

}  // namespace
}  // namespace shiplog::interpreter
