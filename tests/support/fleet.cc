#include "tests/support/fleet.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <gtest/gtest.h>

namespace shiplog::e2e {
namespace {

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

Fleet::Fleet() {
  std::string pattern = (std::filesystem::temp_directory_path() / "shiplog-e2e-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "no temporary folder: " << pattern;
  folder_ = pattern;
  std::filesystem::create_directories(path("home"));
}

Fleet::~Fleet() {
  std::vector<std::string> names;
  for (auto& [name, process] : processes_) {
    names.push_back(name);
    process->kill();
  }
  if (::testing::UnitTest::GetInstance()->Failed()) {
    for (const std::string& name : names) std::cerr << "--- log of " << name << "\n" << log_tail(name) << "\n";
  }
  if (std::getenv("SHIPLOG_KEEP") != nullptr) {
    std::cerr << "kept: " << folder_ << "\n";
    return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Process& Fleet::start(const std::string& name, std::vector<std::string> command, bool wait) {
  std::filesystem::remove(kubeconfig(name));
  processes_.erase(name);
  auto& process = processes_[name];
  process = std::make_unique<Process>(std::move(command), Environment{{"HOME", path("home")}}, path(name + ".log"));
  if (wait) {
    const bool answered = eventually([&] { return !process->running() || !read_file(kubeconfig(name)).empty(); });
    if (!answered || !process->running()) {
      ADD_FAILURE() << name << (answered ? " has ended" : " does not answer") << "\n" << log_tail(name);
    }
  }
  return *process;
}

Process& Fleet::serve(const std::string& name, std::vector<std::string> options, bool wait) {
  return start(name,
               joined({SHIPLOGD, "serve", "--data-dir=" + path(name), "--listen=127.0.0.1:0",
                       "--kubeconfig-out=" + kubeconfig(name)},
                      options),
               wait);
}

Process& Fleet::member(const std::string& name, std::vector<std::string> options) {
  return start(name,
               joined({SHIPLOGD, "member", "--name=" + name, "--data-dir=" + path(name), "--listen=127.0.0.1:0",
                       "--kubeconfig-out=" + kubeconfig(name), "--ready-delay-ms=50"},
                      options),
               true);
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

Process& Fleet::kubectl_beside(std::vector<std::string> words) {
  const std::string name = "kubectl-" + std::to_string(processes_.size());
  auto& process = processes_[name];
  process = std::make_unique<Process>(joined({"kubectl", "--cache-dir=" + path("cache-plane")}, words),
                                      user_environment("plane"), path(name + ".log"));
  return *process;
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

}  // namespace shiplog::e2e
