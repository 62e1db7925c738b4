#include "services/roles/registry.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

TEST(Registry, NamesAreUniqueAndEveryRoleIsDescribed) {
  std::set<std::string_view> names;
  for (const RoleEntry& role : all_roles()) {
    EXPECT_TRUE(names.insert(role.name).second) << role.name;
    EXPECT_FALSE(role.documentation.empty()) << role.name;
    EXPECT_TRUE(role.part_of.empty() || find_role(role.part_of) != nullptr) << role.name;
    EXPECT_NE(role.decide == nullptr, role.not_replayed.empty())
        << role.name << ": either it is replayed, or says why not";
  }
}

// Folders are named after roles, with _ for -.
TEST(Registry, EveryFolderIsARoleAndEveryRoleHasAFolder) {
  std::set<std::string> folders, roles;
  for (const auto& entry : std::filesystem::directory_iterator{SHIPLOG_SOURCE_DIR "/services/roles"}) {
    if (entry.is_directory()) folders.insert(entry.path().filename().string());
  }
  for (const RoleEntry& role : all_roles()) {
    if (role.make == nullptr) continue;
    std::string folder{role.name};
    std::ranges::replace(folder, '-', '_');
    roles.insert(folder);
  }
  EXPECT_EQ(folders, roles);
}

TEST(Registry, TheTableOfTheArchitectureIsTheRegistry) {
  std::ifstream file{SHIPLOG_SOURCE_DIR "/docs/architecture.md"};
  std::stringstream text;
  text << file.rdbuf();
  for (const RoleEntry& role : all_roles()) {
    const std::string row = "| " + std::string{role.name} + " | " +
                            (role.part_of.empty() ? "" : "part of `" + std::string{role.part_of} + "`: ") +
                            std::string{role.documentation} + " |";
    EXPECT_NE(text.str().find(row), std::string::npos) << "docs/architecture.md lacks the row\n" << row;
  }
}

TEST(Registry, AProcessHasWhatItsRolesBring) {
  const auto names = [](const std::vector<std::string>& selected) {
    std::vector<std::string_view> found;
    for (const RoleEntry* role : roles_of_process(selected)) found.push_back(role->name);
    return found;
  };
  EXPECT_EQ(names({"quota", "binder"}), (std::vector<std::string_view>{"binder", "quota"}));
  EXPECT_EQ(names({"api"}),
            (std::vector<std::string_view>{"signer", "clusterrole-aggregation", "apiservice-registration",
                                           "apiservice-availability", "kubernetes-service", "service-ip-repair",
                                           "serviceaccount-token", "ephemera-gc"}));
  EXPECT_EQ(names(selectable_roles()).size() + 1, all_roles().size()) << "all but api itself have a lease";
}

}  // namespace
}  // namespace shiplog
