#include "tests/guides/clone.h"

#include <filesystem>

namespace shiplog::guides {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SHIPLOG_SOURCE_DIR;

std::string program(const std::string& name) {
  const e2e::Ran ran = e2e::run({"bash", "-c", "command -v " + name}, {}, "", e2e::kPatience);
  return ran.out.substr(0, ran.out.find('\n'));
}

}  // namespace

Clone::Clone() {
  const fs::path folder = path(".");
  for (const char* name : {"docs", "tests", "tools", ".cache", "README.md"}) {
    if (fs::exists(kRoot / name)) fs::create_symlink(kRoot / name, folder / name);
  }
  const fs::path bin = kRoot / "tests/guides/bin";
  fs::copy_file(kRoot / "dev", folder / ".dev");
  fs::copy_file(bin / "dev", folder / "dev");
  fs::create_directories(folder / "build/bin");
  fs::create_symlink(bin / "shiplogd", folder / "build/bin/shiplogd");
  for (const char* name : {"kubectl", "shiplogctl", "kubectl-shiplog"}) {
    fs::create_symlink(bin / "reader", folder / "build/bin" / name);
  }
}

e2e::Ran Clone::run(const std::string& script) {
  e2e::write_file(path("session"), ". '" + (kRoot / "tests/guides/session.sh").string() + "'\n" + script);
  const e2e::Environment environment{{"SHIPLOG_BUILT", SHIPLOG_BUILT}, {"SHIPLOG_KUBECTL", program("kubectl")}};
  return e2e::run({"setsid", "bash", "-c", "cd '" + path(".") + "' && exec bash session"}, environment, "",
                  std::chrono::minutes{4});
}

}  // namespace shiplog::guides
