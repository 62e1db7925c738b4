#include "services/adapters/vault/vault.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/sqlite/connection.h"
#include "tests/support/test_directory.h"

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

TEST(Vault, KeyIsDestroyedWithTheObject) {
  const TestDirectory folder{"vault"};
  auto vault = Vault::open_folder(folder.path()).value();
  const Value sealed = vault->seal(kSecretKey, secret("YQ==")).value();
  const std::string id = sealed["data"]["word"].str().substr(18, 32);
  ASSERT_NE(bytes_in(folder).find(id), std::string::npos);
  vault->on_folded(State{}, DecodedRecord{}, removal_of(sealed));
  EXPECT_EQ(vault->open_version(sealed).value(), secret(""));
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
  (void)Vault::open_folder(folder.path()).value()->seal(kSecretKey, secret("YQ==")).value();
  std::ofstream{folder.file("fleet.key")} << std::string(32, 'x');
  EXPECT_EQ(Vault::open_folder(folder.path()).error().code, ErrorCode::kInvalid);
}

// What follows: keys that are missing although their objects exist.

Value named_secret(const char* text, const char* uid = "11") {
  return parse_json(
             R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"password","namespace":"default","uid":")" +
             std::string{uid} + R"("},"data":{"word":")" + text + R"("}})")
      .value();
}

/// Notifies the vault that the object exists now, as the fold does.
void note(Vault& vault, const Value& sealed) {
  Folded folded;
  folded.changes.push_back({kSecretKey, Revision{1}, Value{}, sealed, nullptr});
  vault.on_folded(State{}, DecodedRecord{}, folded);
}

void remove_keys(const TestDirectory& folder) {
  for (const char* name : {"keys.db", "keys.db-wal", "keys.db-shm"}) std::filesystem::remove(folder.file(name));
}

TEST(LostKeys, AnObjectThatExistsIsAnErrorThatNamesItAndNeverEmpty) {
  const TestDirectory folder{"vault"};
  const Value sealed = Vault::open_folder(folder.path()).value()->seal(kSecretKey, named_secret("YQ==")).value();
  remove_keys(folder);
  auto vault = Vault::open_folder(folder.path()).value();
  note(*vault, sealed);
  const Value work = Value::object({{"manifests", Value::array({sealed})}});
  for (const Value& holder : {sealed, work}) {
    for (const auto& opened : {vault->open(holder), vault->open_version(holder)}) {
      ASSERT_FALSE(opened.has_value());
      EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
      EXPECT_NE(opened.error().message.find("Secret default/password cannot be read: its key is missing"),
                std::string::npos)
          << opened.error().message;
    }
  }
  // Written anew it has a new key.
  const Value anew = vault->seal(kSecretKey, named_secret("Yg==")).value();
  note(*vault, anew);
  EXPECT_EQ(vault->open(anew).value(), named_secret("Yg=="));
  EXPECT_FALSE(vault->open_version(sealed).has_value()) << "its older versions stay unreadable";
}

TEST(LostKeys, OldVersionsOfADeletedObjectAreEmpty) {
  const TestDirectory folder{"vault"};
  auto vault = Vault::open_folder(folder.path()).value();
  const Value sealed = vault->seal(kSecretKey, named_secret("YQ==")).value();
  note(*vault, sealed);
  vault->on_folded(State{}, DecodedRecord{}, removal_of(sealed));
  EXPECT_EQ(vault->open(sealed).error().code, ErrorCode::kGone);
  EXPECT_EQ(vault->open_version(sealed).value(), named_secret(""));
  // Another object under its name does not make it one that should be readable.
  const Value other = vault->seal(kSecretKey, named_secret("Yg==", "22")).value();
  note(*vault, other);
  EXPECT_EQ(vault->open_version(sealed).value(), named_secret(""));
}

TEST(LostKeys, AnotherProcessThatDestroyedTheKeyFirstHasNotLostIt) {
  const TestDirectory folder{"vault"};
  auto ahead = Vault::open_folder(folder.path()).value();
  auto behind = Vault::open_folder(folder.path()).value();
  const Value sealed = ahead->seal(kSecretKey, named_secret("YQ==")).value();
  note(*behind, sealed);
  ahead->on_folded(State{}, DecodedRecord{}, removal_of(sealed));
  EXPECT_EQ(behind->open(sealed).error().code, ErrorCode::kGone) << "it has yet to fold the removal";
}

TEST(LostKeys, KeysRemovedWhileItRunsAreNoticedAndPutBackFromMemory) {
  for (const bool removed : {true, false}) {
    const TestDirectory folder{"vault"};
    auto vault = Vault::open_folder(folder.path()).value();
    const Value sealed = vault->seal(kSecretKey, named_secret("YQ==")).value();
    note(*vault, sealed);
    if (removed) {
      remove_keys(folder);
    } else {
      auto file = sqlite::Connection::open(folder.file("keys.db"), {}).value();
      ASSERT_TRUE(file->execute("DELETE FROM key").has_value());
    }
    vault->watch_keys(Millis{10}, [](const std::vector<ObjectKey>&) { ADD_FAILURE() << "nothing is lost"; });
    const auto put_back = [&] {
      auto other = Vault::open_folder(folder.path());
      return other && other.value()->open(sealed).has_value();
    };
    for (int tries = 0; tries < 1000 && !put_back(); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    EXPECT_TRUE(put_back()) << removed;
    EXPECT_EQ(vault->lost(), 0U);
  }
}

TEST(LostKeys, AreReportedOnceEach) {
  const TestDirectory folder{"vault"};
  const Value sealed = Vault::open_folder(folder.path()).value()->seal(kSecretKey, named_secret("YQ==")).value();
  remove_keys(folder);
  auto vault = Vault::open_folder(folder.path()).value();
  note(*vault, sealed);
  std::promise<std::vector<ObjectKey>> reported;
  vault->watch_keys(Millis{10}, [&](const std::vector<ObjectKey>& lost) { reported.set_value(lost); });
  EXPECT_EQ(reported.get_future().get(), std::vector<ObjectKey>{kSecretKey});
  EXPECT_EQ(vault->lost(), 1U);
  // Replaced, it is no longer lost.
  note(*vault, vault->seal(kSecretKey, named_secret("Yg==")).value());
  for (int tries = 0; tries < 1000 && vault->lost() > 0; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  EXPECT_EQ(vault->lost(), 0U);
}

TEST(FleetKey, WithoutItTheKeysCannotBeUsedSoTheProcessDoesNotStart) {
  const TestDirectory folder{"vault"};
  (void)Vault::open_folder(folder.path()).value()->seal(kSecretKey, named_secret("YQ==")).value();
  std::filesystem::rename(folder.file("fleet.key"), folder.file("elsewhere"));
  const auto missing = Vault::open_folder(folder.path());
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kInvalid);
  EXPECT_NE(missing.error().message.find("restore fleet.key from a backup"), std::string::npos)
      << missing.error().message;
  EXPECT_FALSE(std::filesystem::exists(folder.file("fleet.key"))) << "no other key is made in its place";

  std::ofstream{folder.file("fleet.key")} << std::string(32, 'k');
  const auto other = Vault::open_folder(folder.path());
  ASSERT_FALSE(other.has_value());
  EXPECT_NE(other.error().message.find("is not the key that wrapped those in"), std::string::npos)
      << other.error().message;

  std::filesystem::rename(folder.file("elsewhere"), folder.file("fleet.key"));
  EXPECT_TRUE(Vault::open_folder(folder.path()).has_value());
}

TEST(FleetKey, ANewOneFitsAStoreThatHoldsNoKeys) {
  const TestDirectory folder{"vault"};
  EXPECT_TRUE(Vault::open_folder(folder.path()).has_value());
  std::filesystem::remove(folder.file("fleet.key"));
  EXPECT_TRUE(Vault::open_folder(folder.path()).has_value());
  EXPECT_TRUE(Vault::open_folder(folder.path()).has_value()) << "and goes on fitting";
}

TEST(Vault, InMemorySealsAndForgets) {
  const auto vault = Vault::in_memory();
  const Value sealed = vault->seal(kSecretKey, named_secret("YQ==")).value();
  EXPECT_TRUE(Vault::has_sealed(sealed));
  EXPECT_EQ(vault->open(sealed).value(), named_secret("YQ=="));
  note(*vault, sealed);
  vault->on_folded(State{}, DecodedRecord{}, removal_of(sealed));
  EXPECT_EQ(vault->open_version(sealed).value(), named_secret(""));
}

}  // namespace
}  // namespace shiplog
