#include "tests/support/fleet.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

namespace shiplog::e2e {
namespace {

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

Fleet::Fleet() {
  for (const std::string& folder : {path("home"), temporary()}) std::filesystem::create_directories(folder);
}

Fleet::~Fleet() {
  for (auto& [name, process] : processes_) process->kill();
  if (!::testing::UnitTest::GetInstance()->Failed()) return;
  for (auto& [name, process] : processes_) std::cerr << "--- log of " << name << "\n" << log_tail(name) << "\n";
}

Process& Fleet::start(const std::string& name, std::vector<std::string> command, bool wait) {
  std::filesystem::remove(kubeconfig(name));
  processes_.erase(name);
  auto& process = processes_[name];
  const Environment own{{"HOME", path("home")}, {"TMPDIR", temporary()}};
  process = std::make_unique<Process>(std::move(command), own, path(name + ".log"));
  if (wait) {
    const bool answered = eventually([&] { return !process->running() || !read_file(kubeconfig(name)).empty(); });
    if (!answered || !process->running()) {
      ADD_FAILURE() << name << (answered ? " has ended" : " does not answer") << "\n" << log_tail(name);
    }
  }
  return *process;
}

Process& Fleet::serve(const std::string& name, std::vector<std::string> options, bool wait) {
  const bool told_where =
      std::ranges::any_of(options, [](const std::string& option) { return option.starts_with("--listen="); });
  if (!told_where) options.push_back("--listen=127.0.0.1:0");
  return start(name,
               joined({SHIPLOGD, "serve", "--data-dir=" + path(name), "--kubeconfig-out=" + kubeconfig(name)}, options),
               wait);
}

Process& Fleet::member(const std::string& name, std::vector<std::string> options) {
  return start(name,
               joined({SHIPLOGD, "member", "--name=" + name, "--data-dir=" + path(name), "--listen=127.0.0.1:0",
                       "--kubeconfig-out=" + kubeconfig(name), "--ready-delay-ms=50"},
                      options),
               true);
}

std::string Fleet::estimator(const std::string& member, std::vector<std::string> options) {
  const std::string name = "estimator-" + member;
  const std::string address = path(name + ".address");
  std::filesystem::remove(address);
  const bool told_where =
      std::ranges::any_of(options, [](const std::string& option) { return option.starts_with("--listen="); });
  if (!told_where) options.push_back("--listen=127.0.0.1:0");
  Process& process = start(name,
                           joined({SHIPLOGD, "estimator", "--cluster-name=" + member,
                                   "--kubeconfig=" + kubeconfig(member), "--address-out=" + address},
                                  options),
                           false);
  const bool listens = eventually([&] { return !process.running() || !read_file(address).empty(); });
  if (!listens || !process.running()) ADD_FAILURE() << name << " does not listen\n" << log_tail(name);
  return read_file(address);
}

Process& Fleet::agent(const std::string& member, std::vector<std::string> options) {
  const std::string name = "agent-" + member;
  processes_.erase(name);
  auto& process = processes_[name];
  const Environment own{{"HOME", path("home")}, {"TMPDIR", temporary()}};
  process = std::make_unique<Process>(
      joined({SHIPLOGD, "agent", "--cluster-name=" + member, "--karmada-kubeconfig=" + kubeconfig(name),
              "--kubeconfig=" + kubeconfig(member)},
             options),
      own, path(name + ".log"));
  return *process;
}

Process& Fleet::process(const std::string& name) { return *processes_.at(name); }

void Fleet::kill(const std::string& name) { processes_.at(name)->kill(); }

std::string Fleet::log_tail(const std::string& name, size_t bytes) const {
  const std::string text = read_file(path(name + ".log"));
  return text.size() <= bytes ? text : "..." + text.substr(text.size() - bytes);
}

Environment Fleet::user_environment(const std::string& process) const {
  return {{"HOME", path("home")}, {"KUBECONFIG", kubeconfig(process)}, {"KUBECACHEDIR", path("cache-" + process)}};
}

Ran Fleet::kubectl(std::vector<std::string> words, const std::string& input, const std::string& process,
                   const Environment& extra) {
  Environment environment = user_environment(process);
  environment.insert(extra.begin(), extra.end());
  // A missing kubectl is a failure, not a reason to skip: these tests are about what its users see.
  return run(joined({"kubectl", "--cache-dir=" + path("cache-" + process)}, words), environment, input, kPatience);
}

std::string Fleet::kubectl_ok(std::vector<std::string> words, const std::string& input, const std::string& process) {
  const Ran ran = kubectl(std::move(words), input, process);
  if (!ran.ok()) ADD_FAILURE() << ran;
  return ran.out;
}

Process& Fleet::kubectl_beside(std::vector<std::string> words, const std::string& process, const Environment& extra) {
  const std::string name = "kubectl-" + std::to_string(processes_.size());
  Environment environment = user_environment(process);
  environment.insert(extra.begin(), extra.end());
  auto& beside = processes_[name];
  beside = std::make_unique<Process>(joined({"kubectl", "--cache-dir=" + path("cache-" + process)}, words), environment,
                                     path(name + ".log"));
  return *beside;
}

Ran Fleet::shiplogctl(std::vector<std::string> words, const std::string& process) {
  return run(joined({SHIPLOGCTL}, words), user_environment(process), "", kPatience);
}

std::string Fleet::shiplogctl_ok(std::vector<std::string> words, const std::string& process) {
  const Ran ran = shiplogctl(std::move(words), process);
  if (!ran.ok()) ADD_FAILURE() << ran;
  return ran.out;
}

void Fleet::join(const std::string& name, std::vector<std::string> options) {
  member(name, std::move(options));
  shiplogctl_ok({"join", name, "--cluster-kubeconfig", kubeconfig(name)});
}

void Fleet::join_pull(const std::string& name, std::vector<std::string> agent_options) {
  member(name);
  std::istringstream printed{shiplogctl_ok({"token", "create", "--print-register-command"})};
  std::vector<std::string> words{std::istream_iterator<std::string>{printed}, {}};
  if (!words.empty()) words.erase(words.begin());  // the program
  words.push_back("--cluster-name=" + name);
  words.push_back("--agent-kubeconfig-out=" + kubeconfig("agent-" + name));
  shiplogctl_ok(words, name);
  agent(name, std::move(agent_options));
  const bool ready = eventually([&] {
    return kubectl({"wait", "--for=condition=Ready", "cluster/" + name, "--timeout=10s"}).ok();
  });
  if (!ready) ADD_FAILURE() << name << " does not become ready\n" << log_tail("agent-" + name);
}

void expect_placed(const ApiClient& api, const std::string& deployment, const std::string& clusters) {
  const auto placed = [&] {
    const Answer binding =
        api.get("/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/" + deployment + "-deployment");
    std::string words;
    for (const Value& target : binding.json["spec"]["clusters"].items()) {
      words += (words.empty() ? "" : " ") + target["name"].str() + ":" + std::to_string(target["replicas"].as_int());
    }
    return words;
  };
  EXPECT_TRUE(eventually([&] { return placed() == clusters; })) << placed() << " instead of " << clusters;
}

std::string leader(const ApiClient& api, const std::string& role) {
  return api.get("/shiplog/v1/state").json["leases"][role]["holder"].str();
}

Value replayed(Fleet& fleet, const std::string& journal) {
  const Ran ran = fleet.shiplogctl({"replay", "--verify", "--journal=" + journal, "-o", "json"});
  EXPECT_TRUE(ran.ok()) << ran;
  return ran.ok() ? json(ran.out) : Value{};
}

Value expect_replay_equals(Fleet& fleet, const ApiClient& api, const std::string& journal) {
  Value state, replay;
  // The roles may still append: compare when no entry came in between.
  EXPECT_TRUE(eventually([&] {
    state = api.get("/shiplog/v1/state").json;
    replay = replayed(fleet, journal);
    return ::testing::Test::HasFailure() || api.get("/shiplog/v1/state").json["nextOffset"] == state["nextOffset"];
  })) << "the journal never comes to rest";
  EXPECT_EQ(replay["revision"], state["revision"]);
  EXPECT_EQ(replay["stateHash"].str(), state["stateHash"].str());
  EXPECT_EQ(replay["differences"].as_int(-1), 0);
  return replay;
}

}  // namespace shiplog::e2e
