#include "services/programs/shiplogctl/ctl.h"

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/fold/fold.h"
#include "events/journal/memory_journal.h"

namespace shiplog::ctl {
namespace {

struct CommandRun {
  int code;
  std::string out, err;
};

CommandRun run(std::vector<std::string> words, const Backing& backing) {
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream out;
  std::ostringstream err;
  const int code = run_ctl(static_cast<int>(argv.size()), argv.data(), backing, out, err);
  return {code, out.str(), err.str()};
}

Backing with(std::shared_ptr<Journal> journal) {
  return {[journal](const std::string& name, const std::vector<std::string>&) -> Result<std::shared_ptr<Journal>> {
            if (name == "sqlite:j") return journal;
            return Error{ErrorCode::kIo, name + ": no such file"};
          },
          {},
          "shiplogctl 1"};
}

void append(Journal& journal, Entry entry) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  journal.append(encode(entry), [&](Result<Offset> stored) {
    EXPECT_TRUE(stored);
    const std::lock_guard lock{mutex};
    done = true;
    changed.notify_all();
  });
  std::unique_lock lock{mutex};
  changed.wait(lock, [&] { return done; });
}

Entry creation(const std::string& name) {
  Entry entry;
  entry.id.bytes[0] = static_cast<uint8_t>(name[0]);
  entry.events = {
      ObjectCreated{{type::kNamespace, "", name}, Value::object({{"metadata", Value::object({{"name", name}})}})}};
  return entry;
}

TEST(Ctl, WrongUsageExitsWith2AndRefersToHelp) {
  const Backing backing = with(make_memory_journal());
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"shiplogctl"},
                                             {"shiplogctl", "fly"},
                                             {"shiplogctl", "join"},
                                             {"shiplogctl", "join"},
                                             {"shiplogctl", "unjoin", "m1", "--wait=0s"},
                                             {"shiplogctl", "get"},
                                             {"shiplogctl", "get", "pods", "-s", "everything"},
                                             {"shiplogctl", "get", "pods", "-o", "picture"},
                                             {"shiplogctl", "logs", "web", "-C"},
                                             {"shiplogctl", "delete", "configmap", "web", "-C", ""},
                                             {"shiplogctl", "get", "pods", "-C", ""},
                                             {"shiplogctl", "get", "pods", "-C", ","},
                                             {"shiplogctl", "get", "pods", "--clusters="},
                                             {"shiplogctl", "top", "pod", "-C", ""},
                                             {"shiplogctl", "top", "pod", "--sort-by", "age"},
                                             {"shiplogctl", "promote", "deployment", "web"},
                                             {"shiplogctl", "interpret"},
                                             {"shiplogctl", "history"},
                                             {"shiplogctl", "history", "nginx"},
                                             {"shiplogctl", "history", "a/b/c"},
                                             {"shiplogctl", "audit", "-o", "wide"},
                                             {"shiplogctl", "get", "workloads", "web"},
                                             {"shiplogctl", "get", "workloads", "-l", "a=b"},
                                             {"shiplogctl", "get", "workloads", "--field-selector", "a=b"},
                                             {"shiplogctl", "get", "workloads", "-w"},
                                             {"shiplogctl", "get", "workloads", "--sort-by", ".a"},
                                             {"shiplogctl", "get", "workloads", "-L", "a"},
                                             {"shiplogctl", "get", "workloads", "--show-labels"},
                                             {"shiplogctl", "get", "workloads", "-s", "members"},
                                             {"shiplogctl", "completion", "csh"},
                                             {"shiplogctl", "events"},
                                             {"shiplogctl", "replay"},
                                             {"shiplogctl", "replay", "--journal=sqlite:j", "--to", "x"}}) {
    const CommandRun ran = run(words, backing);
    EXPECT_EQ(ran.code, 2) << words.back() << ": " << ran.err;
    EXPECT_EQ(ran.err.find("error: "), 0U) << ran.err;
    EXPECT_EQ(ran.out, "");
  }
}

TEST(Ctl, ANumberOutOfRangeIsReportedWithoutTheRange) {
  const CommandRun negative = run({"shiplogctl", "history", "cm/a", "--limit=-1"}, with(make_memory_journal()));
  EXPECT_EQ(negative.err.find("error: --limit: -1 is negative\n"), 0U) << negative.err;
  const CommandRun zero = run({"shiplogctl", "get", "pods", "--cluster-timeout=0"}, with(make_memory_journal()));
  EXPECT_EQ(zero.err.find("error: --cluster-timeout: 0 is not above zero\n"), 0U) << zero.err;
}

TEST(Ctl, UnregisterSaysThatItNeedsTheKubeconfigOfTheMember) {
  const CommandRun help = run({"shiplogctl", "unregister", "--help"}, with(make_memory_journal()));
  EXPECT_NE(help.out.find("Kubeconfig of the member; required"), std::string::npos) << help.out;
}

TEST(Ctl, HelpNamesEveryCommandAndTheProgramName) {
  const CommandRun ran = run({"/usr/bin/kubectl-shiplog", "--help"}, with(make_memory_journal()));
  EXPECT_EQ(ran.code, 0);
  for (const char* word :
       {"kubectl shiplog", "join", "unjoin", "get", "history", "audit", "events", "replay", "status", "completion"}) {
    EXPECT_NE(ran.out.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(run({"shiplogctl", "--version"}, with(make_memory_journal())).out, "shiplogctl 1\n");
}

TEST(Ctl, AMistypedCommandOrOptionGetsASuggestion) {
  const Backing backing = with(make_memory_journal());
  for (const auto& [words, meant] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"shiplogctl", "hstory", "deployment/web"}, "\"history\""},
           {{"shiplogctl", "evnets", "tail"}, "\"events\""},
           {{"shiplogctl", "events", "tial"}, "\"tail\""},
           {{"shiplogctl", "--kubeconfig=x", "sta"}, "\"status\""},
           {{"shiplogctl", "audit", "--sicne=1h"}, "\"--since\""}}) {
    const CommandRun ran = run(words, backing);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_NE(ran.err.find("did you mean " + meant), std::string::npos) << ran.err;
  }
  EXPECT_EQ(run({"shiplogctl", "fly"}, backing).err.find("did you mean"), std::string::npos);
}

TEST(Ctl, CompletionListsCommandsOptionsAndTheirValues) {
  const Backing backing = with(make_memory_journal());
  const auto candidates = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"shiplogctl", "--kubeconfig=/nonexistent", "__complete"});
    std::rotate(words.begin() + 1, words.begin() + 2, words.begin() + 3);
    const CommandRun ran = run(words, backing);
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.err, "");
    return ran.out;
  };
  EXPECT_EQ(candidates({"une"}), ":4\n");
  EXPECT_EQ(candidates({"get", "w"}), "workloads\tworkloads by cluster\n:4\n");
  EXPECT_EQ(candidates({"audit", "-o", ""}), "json\nyaml\nk8s\n:4\n");
  EXPECT_EQ(candidates({"audit", "--output=y"}), "--output=yaml\n:4\n");
  EXPECT_EQ(candidates({"audit", "--family", "sch"}), "scheduling\n:4\n");
  EXPECT_EQ(candidates({"events", "tail", "--no-f"}), "--no-follow\tPrint the entries that exist, then exit\n:4\n");
  EXPECT_EQ(candidates({"join", "m1", "--cluster-kubeconfig", ""}), ":0\n") << "file names";
  EXPECT_EQ(candidates({"unjoin", ""}), ":4\n") << "without a control plane there are no names";
}

TEST(Ctl, EveryCommandKnowsTheContextByKarmadactlsName) {
  const std::string config = ::testing::TempDir() + "shiplogctl-context.kubeconfig";
  std::ofstream{config} << "{apiVersion: v1, kind: Config}\n";
  for (std::vector<std::string> words :
       std::vector<std::vector<std::string>>{{"get", "pods"},
                                             {"get", "clusters"},
                                             {"top", "pod"},
                                             {"top", "node"},
                                             {"cordon", "m1"},
                                             {"uncordon", "m1"},
                                             {"taint", "clusters", "m1", "a:NoSchedule"},
                                             {"promote", "pod", "web", "-C", "m1"},
                                             {"interpret", "demo", "--check"},
                                             {"describe", "pod", "web", "-C", "m1"},
                                             {"token", "create"},
                                             {"token", "list"},
                                             {"token", "delete", "abcdef"},
                                             {"unjoin", "m1"}}) {
    words.insert(words.begin(), "shiplogctl");
    words.insert(words.end(), {"--karmada-context", "elsewhere", "--kubeconfig", config});
    const CommandRun ran = run(words, with(make_memory_journal()));
    EXPECT_EQ(ran.code, 1) << words[1] << ": " << ran.err;
    EXPECT_NE(ran.err.find("there is no context \"elsewhere\""), std::string::npos) << words[1] << ": " << ran.err;
  }
  std::filesystem::remove(config);
}

TEST(Ctl, FailureIsOneSentenceAndExitsWith1) {
  const Backing backing = with(make_memory_journal());
  const CommandRun missing = run({"shiplogctl", "--kubeconfig=/nonexistent/config", "get", "clusters"}, backing);
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("/nonexistent/config"), std::string::npos);
  EXPECT_EQ(std::count(missing.err.begin(), missing.err.end(), '\n'), 1);
  const CommandRun name = run({"shiplogctl", "unjoin", "No!"}, backing);
  EXPECT_EQ(name.code, 1);
  EXPECT_EQ(name.err.find("error: invalid cluster name(No!): "), 0U);
  EXPECT_EQ(run({"shiplogctl", "replay", "--journal=sqlite:other"}, backing).err,
            "error: sqlite:other: no such file\n");
}

/// Takes nothing, as a file on a full disk.
class FullDisk : public std::streambuf {};

TEST(Ctl, LostOutputIsAFailureUnlessItsReaderIsGone) {
  Backing backing = with(make_memory_journal());
  const auto run_on_full_disk = [&](std::vector<const char*> words) {
    FullDisk disk;
    std::ostream out{&disk};
    std::ostringstream err;
    const int code = run_ctl(static_cast<int>(words.size()), words.data(), backing, out, err);
    return CommandRun{code, "", err.str()};
  };
  for (const std::vector<const char*>& words :
       std::vector<std::vector<const char*>>{{"shiplogctl", "completion", "bash"}, {"shiplogctl", "--help"}}) {
    backing.reader_is_gone = {};
    const CommandRun lost = run_on_full_disk(words);
    EXPECT_EQ(lost.code, 1) << words[1];
    EXPECT_EQ(lost.err.find("error: the output cannot be written"), 0U) << lost.err;
    backing.reader_is_gone = [] { return true; };
    const CommandRun closed = run_on_full_disk(words);
    EXPECT_EQ(closed.code, 0) << words[1];
    EXPECT_EQ(closed.err, "");
  }
}

TEST(Ctl, ReplayReportsEntriesRevisionAndHash) {
  const auto journal = make_memory_journal();
  for (const char* name : {"a", "b"}) append(*journal, creation(name));
  append(*journal, creation("a"));  // a duplicate of the first
  State state;
  fold(state, creation("a"));
  fold(state, creation("b"));
  const CommandRun ran = run({"shiplogctl", "replay", "--journal=sqlite:j", "--verify"}, with(journal));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("3 (2 accepted, 0 refused, 1 duplicates)"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("state hash   " + to_string(state.hash())), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("0 run again, 0 differences"), std::string::npos) << ran.out;
  EXPECT_NE(run({"shiplogctl", "replay", "--journal=sqlite:j", "-o", "json", "--to=1"}, with(journal))
                .out.find("\"revision\": 1"),
            std::string::npos);
}

TEST(Ctl, ReplayOfADecisionByAnUnknownRoleExitsWith1) {
  const auto journal = make_memory_journal();
  append(*journal, creation("a"));
  Entry decided = creation("b");
  decided.request = {"decide", "namespaces/b"};
  decided.fence.service = "somebody";
  decided.as_of = Revision{1};
  append(*journal, decided);
  const CommandRun ran = run({"shiplogctl", "replay", "--journal=sqlite:j", "--verify"}, with(journal));
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("DIFFERENT at offset 1, decided as of revision 1: somebody about namespaces/b"),
            std::string::npos)
      << ran.out;
}

TEST(Ctl, AnInvalidTraceIdIsAUsageErrorThatNamesTheOption) {
  for (const char* id : {"", "4bf92f35", "4BF92F3577B34DA6A3CE929D0E0E4736", "4bf92f3577b34da6a3ce929d0e0e473g"}) {
    const CommandRun ran = run({"shiplogctl", "audit", "--trace", id}, with(make_memory_journal()));
    EXPECT_EQ(ran.code, 2) << id;
    EXPECT_NE(ran.err.find("--trace"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("32 hexadecimal digits"), std::string::npos) << ran.err;
  }
}

TEST(Ctl, ReplayOfATrimmedJournalIsRefused) {
  const auto journal = make_memory_journal();
  for (const char* name : {"a", "b", "c", "d"}) append(*journal, creation(name));
  ASSERT_TRUE(journal->trim(Offset{3}));
  const CommandRun ran = run({"shiplogctl", "replay", "--journal=sqlite:j"}, with(journal));
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("begins at offset 3"), std::string::npos) << ran.err;
}

TEST(Ctl, ReplayOfADamagedEntryNamesItsOffset) {
  const auto journal = make_memory_journal();
  append(*journal, creation("a"));
  journal->append("no entry", [](Result<Offset>) {});
  append(*journal, creation("b"));
  const CommandRun ran = run({"shiplogctl", "replay", "--journal=sqlite:j"}, with(journal));
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("offset 1"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace shiplog::ctl
