#include "services/debugger/console.h"

#include <gtest/gtest.h>

#include "services/roles/registry.h"
#include "tests/support/golden_journal.h"

namespace shiplog::debugger {
namespace {

class ConsoleOfAJournal : public ::testing::Test {
 protected:
  explicit ConsoleOfAJournal(std::vector<std::string> records = golden_records(7))
      : session_{timeline_of(journal_with(records))}, console_{session_, decides_} {}

  std::string run(const std::string& line) {
    const auto reply = console_.run(line);
    EXPECT_TRUE(reply) << line << ": " << reply.error().message;
    return reply ? reply.value().text : "";
  }
  std::string error(const std::string& line) {
    const auto reply = console_.run(line);
    EXPECT_FALSE(reply) << line;
    return reply ? "" : reply.error().message;
  }
  static bool has(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

  const Decides decides_ = all_decides();
  Session session_;
  Console console_;
};

TEST_F(ConsoleOfAJournal, EveryDecisionIsTheSameAgain) {
  int decisions = 0;
  while (!has(run("next"), "the end")) {
    ++decisions;
    const std::string text = run("rerun");
    EXPECT_TRUE(has(text, "the same as recorded")) << text;
    EXPECT_TRUE(has(run("inputs"), "as of "));
  }
  EXPECT_GT(decisions, 40);
}

TEST_F(ConsoleOfAJournal, ADecisionWithOtherInputsIsCompared) {
  run("until event PlacementDecided and about binding default/web-deployment");
  const std::string before = run("info");
  EXPECT_TRUE(has(run("why"), "CLUSTER"));
  run("set binding default/web-deployment .spec.replicas = 7");
  EXPECT_TRUE(has(run("inputs"), ".spec.replicas 7"));
  const std::string text = run("rerun");
  EXPECT_TRUE(has(text, "the same as recorded")) << text;
  EXPECT_TRUE(has(text, "DIFFERENT from what was recorded")) << text;
  EXPECT_EQ(run("info"), before) << "neither state nor cursor has moved";
  EXPECT_EQ(run("get binding default/web-deployment .spec.replicas --inputs"),
            run("get binding default/web-deployment .spec.replicas"))
      << "the inputs are those of the journal";
  run("reset");
  EXPECT_FALSE(has(run("rerun"), "DIFFERENT"));
  run("remove Cluster m1");
  run("remove Cluster m2");
  EXPECT_TRUE(has(run("rerun"), "DIFFERENT"));
  EXPECT_TRUE(has(error("set Cluster m9 .spec.x 1"), "there is no object"));
  EXPECT_TRUE(has(error("set gate NoSuchGate true"), "there is no feature gate"));
  EXPECT_TRUE(has(error("set binding default/web-deployment .metadata[3] 1"), "no list"));
  run("set gate Failover false");
  run("set gate WorkloadAffinity true");
  // The changes belong to this decision.
  run("next");
  EXPECT_FALSE(has(run("inputs"), "changed "));
}

TEST_F(ConsoleOfAJournal, TheChainOfCausesEndsAtAPersonOrAnObservation) {
  run("until event WorkRendered");
  const std::string text = run("causes");
  EXPECT_TRUE(has(text, "WorkRendered")) << text;
  EXPECT_GE(std::count(text.begin(), text.end(), '\n'), 3) << text;
  const size_t here = session_.timeline().position();
  run("list 5");
  EXPECT_EQ(session_.timeline().position(), here);
}

TEST_F(ConsoleOfAJournal, ShowsObjectsEntriesAndWhatChanged) {
  run("until creates Deployment default/web");
  EXPECT_TRUE(has(run("diff"), "deployments.apps/default/web created"));
  EXPECT_TRUE(has(run("get Deployment default/web"), "kind: Deployment"));
  EXPECT_TRUE(has(run("get deploy/web -o json"), "\"kind\": \"Deployment\""));
  EXPECT_TRUE(has(run("get deployments"), "deployments.apps/default/web (revision "));
  EXPECT_TRUE(has(run("get Deployment web .metadata.name"), "\"web\""));
  EXPECT_TRUE(has(run("entry"), "result   accepted"));
  EXPECT_TRUE(has(run("entry -o yaml"), "kind: ObjectCreated"));
  EXPECT_TRUE(has(error("get Deployment default/nothing"), "there is no object"));
  run("until refused");
  EXPECT_TRUE(has(run("diff"), "was refused and changed nothing"));
}

TEST_F(ConsoleOfAJournal, WrongWordsAreErrorsAndChangeNothing) {
  EXPECT_TRUE(has(error("frobnicate"), "there is no command \"frobnicate\""));
  EXPECT_TRUE(has(error("entry"), "before the first entry"));
  EXPECT_TRUE(has(error("rerun"), "before the first entry"));
  run("step");
  EXPECT_TRUE(has(error("inputs"), "no service decided this entry"));
  EXPECT_TRUE(has(error("step many"), "column 6: expected a number"));
  EXPECT_TRUE(has(error("goto somewhere"), "goto first"));
  EXPECT_TRUE(has(error("goto revision 1000000"), "the journal ends"));
  EXPECT_TRUE(has(error("break colour"), "column 1"));
  EXPECT_TRUE(has(error("delete 7"), "no breakpoint 7"));
  EXPECT_TRUE(has(error("list 1000000"), "up to 1000"));
  EXPECT_TRUE(has(error("entry -o xml"), "yaml or json"));
  EXPECT_TRUE(has(error("follow"), "shiplogctl debug"));
  EXPECT_TRUE(has(error("gdb"), "no service decided"));
  EXPECT_EQ(run(""), "");
  EXPECT_EQ(run("# a remark"), "");
  EXPECT_TRUE(console_.run("quit").value().quit);
}

TEST_F(ConsoleOfAJournal, HelpListsEveryCommand) {
  const std::string help = run("help");
  for (const std::string& name : Console::commands()) {
    EXPECT_TRUE(has(help, "  " + name)) << name;
    EXPECT_TRUE(has(run("help " + name), name));
  }
}

/// A journal in which what users write is hostile.
std::vector<std::string> hostile_records() {
  Entry entry;
  const auto put = [&](Event event) {
    entry.id.bytes[0]++;
    entry.events = {std::move(event)};
    return encode(entry);
  };
  entry.actor.user = "mallory\x1b]0;owned\x07";
  const auto object = [](const char* name) {
    return Value::object({{"metadata", Value::object({{"name", name}, {"namespace", "default"}})}});
  };
  Value map = object("m");
  map.edit("data").set("k", "\x1b[2J\xe2\x80\xae");
  Value secret = object("s");
  secret.set("kind", "Secret");
  secret.edit("data").set("password", "aHVudGVyMg==");
  return {put(ObjectCreated{{type::kNamespace, "", "default"},
                            Value::object({{"metadata", Value::object({{"name", "default"}})}})}),
          put(ObjectCreated{{"configmaps", "default", "m"}, map}),
          put(ObjectCreated{{"secrets", "default", "s"}, secret})};
}

class ConsoleOfAHostileJournal : public ConsoleOfAJournal {
 protected:
  ConsoleOfAHostileJournal() : ConsoleOfAJournal{hostile_records()} {}
};

TEST_F(ConsoleOfAHostileJournal, PrintsNoControlCharactersAndNoSecrets) {
  std::string all;
  for (const char* line :
       {"step", "entry", "step", "entry -o yaml", "diff", "get ConfigMap m", "get ConfigMap m -o json",
        "get ConfigMap m .data.k", "step", "entry -o yaml", "diff", "get Secret s", "get secrets", "list", "causes"}) {
    all += run(line);
  }
  EXPECT_TRUE(has(all, "default/m")) << all;
  for (const char c : all) EXPECT_TRUE(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20) << all;
  EXPECT_FALSE(has(all, "\xe2\x80\xae"));
  EXPECT_FALSE(has(all, "aHVudGVyMg"));
  EXPECT_FALSE(has(all, "hunter2"));
}

TEST(ConsoleOfForgedDecisions, AsOfThatNobodyReachedIsAnError) {
  auto records = golden_records(7);
  const Decides decides = all_decides();
  size_t at = 0;
  for (size_t index = 60; at == 0; ++index) {
    if (!is_decision(decode(records[index]).value())) continue;
    records[index] = changed(records[index], [](Entry& entry) { entry.as_of = Revision{1'000'000'000}; });
    at = index + 1;
  }
  Session session{timeline_of(journal_with(records))};
  Console console{session, decides};
  ASSERT_TRUE(session.go_to_position(at));
  const auto reply = console.run("rerun");
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().message.find("no entry before it has reached"), std::string::npos) << reply.error().message;
}

}  // namespace
}  // namespace shiplog::debugger
