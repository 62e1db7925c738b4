// `shiplogctl debug` and `bisect` on the journal of a real control plane, while it is written to, and the Debug Adapter
// Protocol as an editor speaks it with the process.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/debugger/dap/frames.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kShiplogctl = SHIPLOG_BUILT "/shiplogctl";

bool has(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

class DebuggerOfAControlPlane : public ::testing::Test {
 protected:
  static constexpr int kMaps = 40;

  void SetUp() override {
    fleet_.serve("plane", {"--snapshot-every=40"});
    fleet_.member("member1");
    fleet_.shiplogctl_ok({"join", "member1", "--cluster-kubeconfig", fleet_.kubeconfig("member1")});
    fleet_.kubectl_ok({"create", "deployment", "web", "--image=nginx:1.27", "--replicas=2"});
    fleet_.kubectl_ok({"apply", "-f", "-"},
                      "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: web}\nspec:\n"
                      "  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]\n"
                      "  placement: {clusterAffinity: {clusterNames: [member1]}}\n");
    expect_placed(fleet_.api(), "web", "member1:2");
    for (int count = 0; count < kMaps; ++count) {
      fleet_.kubectl_ok({"create", "configmap", "c" + std::to_string(count)});
    }
  }

  std::string journal() const { return fleet_.path("plane/journal.db"); }
  Ran debug(std::vector<std::string> words, const std::string& input = "", const Environment& extra = {}) {
    words.insert(words.begin(), {kShiplogctl, "debug", "--journal=" + journal()});
    return run(words, extra, input, kPatience);
  }

  Fleet fleet_;
};

TEST_F(DebuggerOfAControlPlane, StepsThroughItsJournalWhileItRuns) {
  const Ran placed = debug({"--batch", "-ex", "until binding default/web-deployment gains member1", "-ex", "why", "-ex",
                            "rerun", "-ex", "causes", "-ex", "set Cluster member1 .spec.taints[0].effect NoSchedule",
                            "-ex", "remove Cluster member1", "-ex", "rerun"});
  // The taint of a cluster that was not ready is gone, so that there is nothing to change.
  EXPECT_EQ(placed.code, 1) << placed;
  EXPECT_TRUE(has(placed.out, "PlacementDecided resourcebindings.work.karmada.io/default/web-deployment")) << placed;
  EXPECT_TRUE(has(placed.out, "the same as recorded")) << placed;
  EXPECT_TRUE(has(placed.out, "kubernetes-admin ObjectCreated propagationpolicies")) << placed;
  EXPECT_TRUE(has(placed.err, "error: .spec.taints[0].effect")) << placed;

  const Ran without = debug({"--batch", "-ex", "until binding default/web-deployment gains member1", "-ex",
                             "remove Cluster member1", "-ex", "rerun"});
  EXPECT_EQ(without.code, 0) << without;
  EXPECT_TRUE(has(without.out, "DIFFERENT from what was recorded")) << without;

  // The folder of the process is a journal, too; a script's lines are commands.
  write_file(fleet_.path("script"), "# what the end looks like\ngoto last\nget configmaps\nback 3\nstep 3\n");
  const Ran script =
      run({kShiplogctl, "debug", "--journal", fleet_.path("plane"), "-x", fleet_.path("script"), "--batch"}, {}, "",
          kPatience);
  EXPECT_EQ(script.code, 0) << script;
  EXPECT_TRUE(has(script.out, "configmaps/default/c39 (revision ")) << script;

  // Lines of standard input, of which an empty one repeats the last; one that fails shows in the exit code.
  const Ran lines = debug({}, "step\n\n\ninfo\nfrobnicate\nquit\n");
  EXPECT_EQ(lines.code, 1) << lines;
  EXPECT_TRUE(has(lines.out, "cursor       #3 ")) << lines;
  EXPECT_TRUE(has(lines.err, "there is no command \"frobnicate\"")) << lines;

  // The fleet is not affected.
  expect_replay_equals(fleet_, fleet_.api(), "sqlite:" + journal());
}

TEST_F(DebuggerOfAControlPlane, FollowsNewEntriesUntilABreakpoint) {
  Process debugger{{kShiplogctl, "debug", "--journal=" + journal(), "--batch", "-ex",
                    "break creates ConfigMap default/late", "-ex", "follow"},
                   {},
                   fleet_.path("follow.log")};
  ASSERT_TRUE(eventually([&] { return has(read_file(debugger.log()), "breakpoint 1"); }));
  EXPECT_TRUE(debugger.running());
  fleet_.kubectl_ok({"create", "configmap", "late"});
  EXPECT_TRUE(eventually([&] { return !debugger.running(); }));
  EXPECT_TRUE(has(read_file(debugger.log()), "kubernetes-admin ObjectCreated configmaps/default/late"))
      << read_file(debugger.log());
}

TEST_F(DebuggerOfAControlPlane, BisectFindsTheSameEntryWithAndWithoutSnapshots) {
  ASSERT_TRUE(eventually([&] {
    std::error_code failed;
    return std::filesystem::exists(fleet_.path("plane/snapshots"), failed) &&
           !std::filesystem::is_empty(fleet_.path("plane/snapshots"), failed);
  }));
  const auto bisect = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {kShiplogctl, "bisect", "--journal=" + journal()});
    return run(words, {}, "", kPatience);
  };
  for (const std::string name : {"c1", "c20", "c39"}) {
    const std::string condition = "object ConfigMap default/" + name + " exists";
    const Ran halved = bisect({condition});
    const Ran scanned = bisect({condition, "--first"});
    ASSERT_EQ(halved.code, 0) << halved;
    EXPECT_TRUE(has(halved.err, "snapshots/revision-")) << "snapshots show where to look: " << halved;
    EXPECT_FALSE(has(scanned.err, "snapshots/revision-")) << scanned;
    EXPECT_TRUE(has(halved.out, "ObjectCreated configmaps/default/" + name)) << halved;
    EXPECT_TRUE(has(halved.out, "kubernetes-admin")) << halved;
    // But for the number, which counts from where the reading began.
    EXPECT_EQ(halved.out.substr(halved.out.find(" at offset")), scanned.out.substr(scanned.out.find(" at offset")));
  }
  // The debugger, too, can begin at a snapshot; what was before is out of reach then.
  std::string snapshot;
  for (const auto& file : std::filesystem::directory_iterator{fleet_.path("plane/snapshots")}) {
    if (has(file.path().filename().string(), "revision-")) snapshot = file.path().string();
  }
  const Ran from = debug({"--batch", "--snapshot=" + snapshot, "-ex", "get Namespace default", "-ex", "step 2", "-ex",
                          "back 2", "-ex", "goto revision 1"});
  EXPECT_EQ(from.code, 1) << from;
  EXPECT_TRUE(has(from.out, "kind: Namespace")) << from;
  EXPECT_FALSE(has(from.err, "trimmed")) << from;
  EXPECT_TRUE(has(from.err, "error: the debugger began at revision ")) << from;

  const Ran all = bisect({"creates ConfigMap default/c*", "--all", "-o", "json"});
  ASSERT_EQ(all.code, 0) << all;
  EXPECT_EQ(parse_json(all.out).value().size(), static_cast<size_t>(kMaps));
  const Ran never = bisect({"object ConfigMap default/never exists"});
  EXPECT_EQ(never.code, 1);
  EXPECT_TRUE(has(never.err, "error: the condition holds at no entry after revision ")) << never;
  EXPECT_TRUE(has(never.err, "; --first reads the entries before, too")) << "it may have held and ended: " << never;
  const Ran nowhere = bisect({"object ConfigMap default/never exists", "--first"});
  EXPECT_TRUE(has(nowhere.err, "error: the condition holds at no entry up to revision ")) << nowhere;
  EXPECT_FALSE(has(nowhere.err, "--first")) << nowhere;
  const Ran behind = run({kShiplogctl, "replay", "--journal=sqlite:" + journal(), "--snapshot=" + snapshot, "--to=1"},
                         {}, "", kPatience);
  EXPECT_EQ(behind.code, 1) << behind;
  EXPECT_TRUE(has(behind.err, ", which is behind 1: name an older one with --snapshot")) << behind;
  const Ran wrong = bisect({"object ConfigMap default/c1 exist"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(has(wrong.err, "column 29: expected exists")) << wrong;
}

TEST_F(DebuggerOfAControlPlane, AnotherBuildDecidesAgain) {
  const Ran ran = debug({"--batch", "-ex", "until binding default/web-deployment gains member1", "-ex",
                         "rerun --with " + kShiplogctl, "-ex", "rerun --with /nowhere/shiplogctl"});
  EXPECT_TRUE(has(ran.out, kShiplogctl + " decides the same as recorded")) << ran;
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(has(ran.err, "/nowhere/shiplogctl cannot be run")) << ran;
}

TEST_F(DebuggerOfAControlPlane, GdbStopsInsideDecide) {
  const std::vector<std::string> words = {"-ex", "until binding default/web-deployment gains member1", "--gdb"};
  const Ran missing = debug(words, "", {{"PATH", "/nowhere"}});
  EXPECT_EQ(missing.code, 1);
  EXPECT_TRUE(has(missing.err, "gdb is not installed: install the package gdb")) << missing;
  if (std::system("gdb --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no gdb";
  if (std::system(("strip -o " + fleet_.path("stripped") + " " + kShiplogctl + " 2> /dev/null").c_str()) == 0) {
    auto command = words;
    command.insert(command.begin(), {fleet_.path("stripped"), "debug", "--journal=" + journal()});
    const Ran stripped = run(command, {}, "", kPatience);
    EXPECT_EQ(stripped.code, 1);
    EXPECT_TRUE(has(stripped.err, "was stripped of its symbols")) << stripped;
  }
  const Ran ran = debug(words, "bt 2\ncontinue\nquit\n");
  EXPECT_TRUE(has(ran.out, "Breakpoint 1, ")) << ran;
  EXPECT_TRUE(has(ran.out, "shiplog::scheduler::decide")) << ran;
  EXPECT_TRUE(has(ran.out, "the same as recorded")) << ran;
}

/// What an editor sends, as bytes.
class Editor {
 public:
  void ask(const std::string& command, Value arguments = Value::object()) {
    bytes += debugger::frame(to_json(Value::object(
        {{"seq", ++seq_}, {"type", "request"}, {"command", command}, {"arguments", std::move(arguments)}})));
  }
  std::string bytes;

 private:
  int64_t seq_ = 0;
};

std::vector<Value> messages_in(const std::string& bytes) {
  debugger::FrameReader reader;
  reader.feed(bytes);
  std::vector<Value> messages;
  while (true) {
    const auto message = reader.next();
    EXPECT_TRUE(message) << message.error().message;
    if (!message || !message.value()) return messages;
    messages.push_back(parse_json(*message.value()).value());
  }
}

TEST_F(DebuggerOfAControlPlane, SpeaksTheDebugAdapterProtocol) {
  Editor editor;
  editor.ask("initialize", Value::object({{"adapterID", "shiplog"}}));
  editor.ask("launch", Value::object({{"journal", journal()}}));
  editor.ask(
      "setFunctionBreakpoints",
      Value::object({{"breakpoints",
                      Value::array({Value::object({{"name", "binding default/web-deployment gains member1"}})})}}));
  editor.ask("configurationDone");
  editor.ask("threads");
  editor.ask("continue", Value::object({{"threadId", 1}}));
  editor.ask("stackTrace", Value::object({{"threadId", 1}}));
  editor.ask("evaluate", Value::object({{"expression", "rerun"}, {"context", "repl"}}));
  editor.ask("stepBack", Value::object({{"threadId", 1}}));
  editor.ask("noSuchRequest");
  editor.bytes += debugger::frame("{\"seq\": 11, no json");
  editor.ask("disconnect");
  const Ran ran = run({kShiplogctl, "debug", "--dap"}, {}, editor.bytes, kPatience);
  EXPECT_EQ(ran.code, 0) << ran;
  std::vector<std::string> seen;
  int64_t seq = 0;
  for (const Value& message : messages_in(ran.out)) {
    EXPECT_EQ(message["seq"].as_int(), ++seq);
    seen.push_back(message["type"].as_string() == "event"
                       ? "event " + message["event"].str() + " " + message["body"]["reason"].str()
                       : message["command"].str() + (message["success"].as_bool() ? "" : " failed"));
    if (message["command"].as_string() == "stackTrace") {
      const Value& frames = message["body"]["stackFrames"];
      EXPECT_TRUE(has(frames[0]["name"].str(), "PlacementDecided")) << to_json(message);
      EXPECT_GE(frames.size(), 3U) << "the entries that led to it";
    }
    if (message["command"].as_string() == "evaluate") {
      EXPECT_TRUE(has(message["body"]["result"].str(), "the same as recorded")) << to_json(message);
    }
  }
  const std::vector<std::string> expected{"initialize",
                                          "launch",
                                          "event initialized ",
                                          "setFunctionBreakpoints",
                                          "configurationDone",
                                          "event stopped entry",
                                          "threads",
                                          "continue",
                                          "event stopped function breakpoint",
                                          "stackTrace",
                                          "evaluate",
                                          "stepBack",
                                          "event stopped step",
                                          "noSuchRequest failed",
                                          " failed",
                                          "disconnect",
                                          "event terminated "};
  EXPECT_EQ(seen, expected) << ran;
}

TEST(DebugAdapterProcess, EndsWithAnErrorOnWhatIsNoFrame) {
  for (const std::string& bytes :
       {std::string{"Content-Length: 99999999999\r\n\r\n{}"}, std::string{"GET / HTTP/1.1\r\n\r\n"},
        std::string(100'000, 'x'), std::string{"Content-Length: -3\r\n\r\n"}}) {
    const Ran ran = run({kShiplogctl, "debug", "--dap"}, {}, bytes, kPatience);
    EXPECT_EQ(ran.code, 1) << ran;
    EXPECT_TRUE(has(ran.err, "error: standard input: ")) << ran;
  }
  // The end of the input is the end of the editor.
  EXPECT_EQ(run({kShiplogctl, "debug", "--dap"}, {}, "", kPatience).code, 0);
  EXPECT_EQ(run({kShiplogctl, "debug", "--dap"}, {}, "Content-Length: 30\r\n\r\n{", kPatience).code, 0);
}

TEST(DebuggerProcess, OpensOnlyJournals) {
  const TestDirectory folder{"debugger"};
  write_file(folder.file("text"), "this is no journal");
  const auto error_of = [](const std::string& journal) {
    const Ran ran = run({kShiplogctl, "debug", "--journal=" + journal, "--batch", "-ex", "step"}, {}, "", kPatience);
    EXPECT_EQ(ran.code, 1) << ran;
    EXPECT_TRUE(ran.err.starts_with("error: ")) << ran;
    return ran.err;
  };
  EXPECT_TRUE(has(error_of("/nowhere/journal.db"), "there is no file or folder /nowhere/journal.db"));
  EXPECT_TRUE(has(error_of(folder.file("")), "has no journal.db"));
  EXPECT_TRUE(has(error_of(folder.file("text")), "text"));
  EXPECT_EQ(run({kShiplogctl, "debug"}, {}, "", kPatience).code, 2);
}

}  // namespace
}  // namespace shiplog::e2e
