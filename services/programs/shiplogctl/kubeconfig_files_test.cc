#include "services/programs/shiplogctl/kubeconfig_files.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace shiplog::ctl {
namespace {

namespace fs = std::filesystem;

TEST(KubeconfigFiles, AnAuthorityOfAnotherFileIsNamedByItsAbsolutePath) {
  const fs::path folder = fs::path{::testing::TempDir()} / "kubeconfig-files";
  fs::create_directories(folder);
  std::ofstream{folder / "contexts"} << "contexts: [{name: fleet, context: {cluster: c, user: me}}]\n";
  std::ofstream{folder / "clusters"}
      << "clusters: [{name: c, cluster: {server: 'https://h', certificate-authority: ca.crt}}]\n";
  const std::string relative = fs::relative(folder).string();
  const auto files = read_kubeconfig_files({relative + "/contexts", relative + "/nowhere", relative + "/clusters"});
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files.value().size(), 2U);
  const auto changed = with_past_context(files.value(), {"past", "fleet", "/at/r1"});
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(changed.value().path, (folder / "contexts").string());
  EXPECT_EQ(changed.value().content["clusters"][0]["cluster"]["certificate-authority"].str(),
            (folder / "ca.crt").string());
}

TEST(KubeconfigFiles, WhatCannotBeReadIsNamed) {
  const std::string path = ::testing::TempDir() + "kubeconfig-files-broken";
  std::ofstream{path} << "a: [\n";
  const auto files = read_kubeconfig_files({path});
  ASSERT_FALSE(files);
  EXPECT_NE(files.error().message.find(path), std::string::npos) << files.error().message;
}

}  // namespace
}  // namespace shiplog::ctl
