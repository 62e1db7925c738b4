#include "services/runtime/vault/vault.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/test_directory.h"

namespace shiplog {
namespace {

const ObjectKey kSecretKey{type::kSecret, "default", "password"};

std::string bytes_in(const TestDirectory& folder) {
  std::stringstream all;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) all << std::ifstream{file.path()}.rdbuf();
  return all.str();
}

Value secret(const char* text) {
  return Value::object({{"kind", "Secret"}, {"data", Value::object({{"word", text}})}});
}

Folded removal_of(const Value& before) {
  Folded folded;
  folded.changes.push_back({kSecretKey, Revision{9}, before, Value{}, nullptr});
  return folded;
}

TEST(Vault, WhatIsSealedOpensAgainAlsoInAnotherProcess) {
  const TestDirectory folder{"vault"};
  Value sealed;
  {
    auto vault = Vault::open_folder(folder.path()).value();
    sealed = vault->seal(kSecretKey, secret("aHVudGVyMg==")).value();
    EXPECT_EQ(to_json(sealed).find("aHVudGVyMg"), std::string::npos);
    EXPECT_EQ(vault->open(sealed).value(), secret("aHVudGVyMg=="));
  }
  EXPECT_EQ(Vault::open_folder(folder.path()).value()->open(sealed).value(), secret("aHVudGVyMg=="));
}

TEST(Vault, EqualTextsSealAlikeAndOthersDoNot) {
  const TestDirectory folder{"vault"};
  auto vault = Vault::open_folder(folder.path()).value();
  EXPECT_EQ(vault->seal(kSecretKey, secret("YQ==")).value(), vault->seal(kSecretKey, secret("YQ==")).value());
  EXPECT_NE(vault->seal(kSecretKey, secret("YQ==")).value(), vault->seal(kSecretKey, secret("Yg==")).value());
  const Value once = vault->seal(kSecretKey, secret("YQ==")).value();
  EXPECT_EQ(vault->seal(kSecretKey, once).value(), once) << "sealing twice";
}

// A Work is read with its Secrets opened, so that is how it comes back.
TEST(Vault, SecretsThatAWorkCarriesAreSealedUnderTheirOwnKeys) {
  const TestDirectory folder{"vault"};
  auto vault = Vault::open_folder(folder.path()).value();
  Value whole = secret("YQ==");
  whole.set("apiVersion", "v1");
  whole.set("metadata", Value::object({{"namespace", "default"}, {"name", "password"}}));
  const Value sealed = vault->seal(kSecretKey, whole).value();
  const auto work_of = [](const Value& manifest) {
    return Value::object(
        {{"spec", Value::object({{"workload", Value::object({{"manifests", Value::array({manifest})}})}})}});
  };
  const ObjectKey key{type::kWork, "karmada-es-m1", "password-1"};
  EXPECT_EQ(vault->seal(key, work_of(whole)).value(), work_of(sealed)) << "as its template is";
  EXPECT_EQ(vault->seal(key, work_of(sealed)).value(), work_of(sealed)) << "sealing twice";
}

TEST(Vault, CopiesInsideOtherObjectsOpenToo) {
  const TestDirectory folder{"vault"};
  auto vault = Vault::open_folder(folder.path()).value();
  const Value work = Value::object({{"manifests", Value::array({vault->seal(kSecretKey, secret("YQ==")).value()})}});
  EXPECT_EQ(vault->open(work).value()["manifests"][0], secret("YQ=="));
}

TEST(Vault, OtherTypesPassUnchanged) {
  const TestDirectory folder{"vault"};
  auto vault = Vault::open_folder(folder.path()).value();
  EXPECT_EQ(vault->seal({"configmaps", "default", "x"}, secret("YQ==")).value(), secret("YQ=="));
}

TEST(Vault, KeyGoesWithTheObject) {
  const TestDirectory folder{"vault"};
  auto vault = Vault::open_folder(folder.path()).value();
  const Value sealed = vault->seal(kSecretKey, secret("YQ==")).value();
  const std::string id = sealed["data"]["word"].str().substr(18, 32);
  ASSERT_NE(bytes_in(folder).find(id), std::string::npos);
  vault->on_folded(State{}, DecodedRecord{}, removal_of(sealed));
  EXPECT_EQ(vault->open(sealed).value(), secret(""));
  EXPECT_EQ(bytes_in(folder).find(id), std::string::npos) << "neither key file nor its log still has the row";
}

TEST(Vault, AlteredTextIsNotOpened) {
  const TestDirectory folder{"vault"};
  auto vault = Vault::open_folder(folder.path()).value();
  Value sealed = vault->seal(kSecretKey, secret("YWJjZGVm")).value();
  std::string text = sealed["data"]["word"].str();
  text[text.size() - 6] = text[text.size() - 6] == 'A' ? 'B' : 'A';
  sealed.edit("data").set("word", text);
  EXPECT_EQ(vault->open(sealed).error().code, ErrorCode::kCorrupt);
}

TEST(Vault, AnotherFleetsKeyIsNamed) {
  const TestDirectory folder{"vault"};
  const Value sealed = Vault::open_folder(folder.path()).value()->seal(kSecretKey, secret("YQ==")).value();
  std::ofstream{folder.file("fleet.key")} << std::string(32, 'x');
  EXPECT_EQ(Vault::open_folder(folder.path()).value()->open(sealed).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace shiplog
