#include "services/programs/shiplogctl/rehearse.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/programs/shiplogctl/rehearsal_text.h"

namespace shiplog::ctl {
namespace {

std::string error_of(const RehearseCommandOptions& options) {
  const auto result = rehearsal_options(options);
  return result ? "no error" : result.error().message;
}

Value report(const std::string& workloads, const std::string& healthy = "null") {
  const auto parsed = parse_json(R"({"revision":41,"clusters":3,"failedClusters":["m1"],"taintedClusters":[],
      "failedRegions":[],"lengthSeconds":1800.0,"evictions":2,"attached":1,"quotas":[{"namespace":"default","name":"q",
      "enforced":true,"overall":{"cpu":"4"},"usedBefore":{"cpu":"2"},"usedAfter":{"cpu":"3"},"refusals":1}],
      "eviction":{"byNoExecuteTaints":true,"ratePerSecond":"0.5","budget":"","purgeMode":"Gracefully",
      "gracefulTimeout":"10m"},"health":[{"atSeconds":0.0,"healthy":0,"evicting":2,"unhealthy":2},
      {"atSeconds":75.0,"healthy":2,"evicting":0,"unhealthy":0}],"timeline":[{"atSeconds":0.0,"untilSeconds":0.0,
      "kind":"fails","count":1,"text":"m1 stops <answering> & so on"},{"atSeconds":40.0,"untilSeconds":75.0,
      "kind":"evicted","count":2,"text":"2 evictions"}],"unanswered":[],"allHealthyAfterSeconds":)" +
                                 healthy + R"(,"workloads":[)" + workloads + "]}");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? parsed.value() : Value{};
}

const std::string kMoves = R"({"kind":"Deployment","namespace":"default","name":"web","replicas":5,"moves":true,
    "from":[{"cluster":"m1","replicas":3},{"cluster":"m2","replicas":2}],"to":[{"cluster":"m2","replicas":4},
    {"cluster":"m3","replicas":1}],"outcome":"healthy","healthyAfterSeconds":75.2})";
const std::string kNoRoom = R"({"kind":"StatefulSet","namespace":"default","name":"db","replicas":2,"moves":true,
    "from":[{"cluster":"m1","replicas":2}],"to":[],"outcome":"does not fit","reason":"0/2 clusters are available"})";

TEST(RehearseOptions, AreReadOrRefusedByName) {
  RehearseCommandOptions options;
  options.fail_clusters = {"m1"};
  options.taints = {"m2=fire=high:NoExecute", "m3=dry:NoSchedule"};
  options.settings = {"graceful-eviction-timeout=1m"};
  options.gates = "Failover=true,WorkloadAffinity=false";
  options.toleration_seconds = 0;
  const auto read = rehearsal_options(options);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read.value().taints[0].cluster, "m2");
  EXPECT_EQ(read.value().taints[0].taint, (Taint{"fire", "high", "NoExecute"}));
  EXPECT_EQ(read.value().taints[1].taint, (Taint{"dry", "", "NoSchedule"}));
  EXPECT_EQ(read.value().settings[0], (OptionSetting{"graceful-eviction-timeout", {"1m"}}));
  EXPECT_EQ(read.value().gates[1], (std::pair<std::string, bool>{"WorkloadAffinity", false}));
  EXPECT_EQ(read.value().toleration_seconds, 0);
  EXPECT_EQ(read.value().length, Millis{1'800'000});
}

TEST(RehearseOptions, NameWhatIsWrong) {
  EXPECT_NE(error_of({.taints = {"m2"}}).find("--taint: \"m2\" is not CLUSTER=KEY[=VALUE]:EFFECT"), std::string::npos);
  EXPECT_NE(error_of({.taints = {"m2=:NoExecute"}}).find("--taint"), std::string::npos);
  EXPECT_NE(error_of({.taints = {"m2=a:Sometimes"}}).find("is not NoExecute, NoSchedule"), std::string::npos);
  EXPECT_NE(error_of({.settings = {"eviction"}}).find("--set: \"eviction\" is not OPTION=VALUE"), std::string::npos);
  EXPECT_NE(error_of({.settings = {"graceful-eviction-timeout=soon"}}).find("a duration such as 10m"),
            std::string::npos);
  EXPECT_NE(error_of({.settings = {"resource-eviction-rat=10"}}).find("there is no option resource-eviction-rat"),
            std::string::npos);
  EXPECT_NE(error_of({.toleration_seconds = -1}).find("--toleration-seconds: 0 or more is expected, not -1"),
            std::string::npos);
  EXPECT_NE(error_of({.gates = "Failover"}).find("--feature-gates: \"Failover\" is not NAME=true"), std::string::npos);
  EXPECT_NE(error_of({.length = "0s"}).find("--for"), std::string::npos);
  EXPECT_NE(error_of({.length = "a while"}).find("--for"), std::string::npos);
}

TEST(RehearsalText, BeginsWithWhatMatters) {
  const std::string text = rehearsal_text(report(kNoRoom + "," + kMoves), 40);
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "Rehearsal at revision 41: m1 fails, of 3 clusters. The fleet itself is not affected.\n"
            "2 workloads concerned: 1 move and are healthy, 1 do not fit, 0 not healthy yet, 0 stay.\n"
            "Not everything is healthy after 30m.");
  EXPECT_NE(text.find("deployment/default/web   m1:3   m2:2, m3:1   5          1m15s   healthy"), std::string::npos)
      << text;
  EXPECT_NE(text.find("statefulset/default/db   m1:2   -            2          -       does not fit"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("0/2 clusters are available"), std::string::npos);
  EXPECT_NE(text.find("default/q   yes        cpu=4   cpu=2         cpu=3        1"), std::string::npos) << text;
  EXPECT_NE(text.find("+40s   +1m15s   2 evictions"), std::string::npos) << text;
}

TEST(RehearsalText, FitsIntoANarrowTerminalWithoutColours) {
  const std::string text = rehearsal_text(report(kNoRoom + "," + kMoves, "75.2"), 40, {.columns = 60});
  EXPECT_NE(text.find("Everything is healthy after 1m15s."), std::string::npos);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  const size_t table = text.find("WORKLOAD");
  for (size_t begin = table; begin < text.find("\nEvictions"); begin = text.find('\n', begin) + 1) {
    EXPECT_LE(text.find('\n', begin) - begin, 60U) << text.substr(begin, text.find('\n', begin) - begin);
  }
}

TEST(RehearsalText, ListsSoManyWorkloadsAndCountsTheRest) {
  const std::string text = rehearsal_text(report(kNoRoom + "," + kMoves), 1);
  EXPECT_NE(text.find("... and 1 more workload (--limit=0 lists all)"), std::string::npos) << text;
}

TEST(RehearsalSvg, IsOneDocumentWithEscapedText) {
  const std::string svg = rehearsal_svg(report(kMoves, "75.2"));
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("m1 stops &lt;answering&gt; &amp; so on"), std::string::npos);
  EXPECT_NE(svg.find("all healthy after 1m15s"), std::string::npos);
  EXPECT_NE(svg.find("<polyline"), std::string::npos);
}

}  // namespace
}  // namespace shiplog::ctl
