#include "services/http/tls.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/http/private_file.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr UtcMillis kNow{1'790'000'000'000};
constexpr int64_t kDay = 86'400'000;

struct TlsFiles : ::testing::Test {
  TestDirectory directory{"tls"};
  const std::string& folder = directory.path();
};

TEST(Tls, AuthoritySignsItselfAndMaySign) {
  const KeyPair authority = make_authority("shiplog-ca", valid_for_days(kNow, 10)).value();
  const auto info = inspect_certificate(authority.certificate_pem).value();
  EXPECT_TRUE(info.authority);
  EXPECT_EQ(info.subject, "CN=shiplog-ca");
  EXPECT_EQ(info.issuer, info.subject);
  EXPECT_EQ(info.not_before, (UtcMillis{kNow.value - 300'000}));
  EXPECT_EQ(info.not_after, (UtcMillis{kNow.value + 10 * kDay}));
  EXPECT_EQ(info.fingerprint.size(), 64U);
  EXPECT_TRUE(issued_by(authority, authority));
}

TEST(Tls, ServerCertificateHasItsNames) {
  const KeyPair authority = make_authority("ca", valid_for_days(kNow, 10)).value();
  const ServerNames names{{"localhost", "kubernetes.default.svc"}, {"127.0.0.1", "::1"}};
  const KeyPair server = issue_server_certificate(authority, "shiplog", names, valid_for_days(kNow, 5)).value();
  const auto info = inspect_certificate(server.certificate_pem).value();
  EXPECT_FALSE(info.authority);
  EXPECT_EQ(info.issuer, "CN=ca");
  EXPECT_EQ(info.dns_names, names.dns);
  EXPECT_EQ(info.ip_addresses, names.ips);
  EXPECT_TRUE(issued_by(server, authority));
  EXPECT_FALSE(issued_by(server, make_authority("ca", valid_for_days(kNow, 10)).value()));
}

TEST(Tls, ClientCertificateCarriesUserAndGroupsEvenUnusualOnes) {
  const KeyPair authority = make_authority("ca", valid_for_days(kNow, 10)).value();
  const KeyPair client =
      issue_client_certificate(authority, "system:node:müller, O=x", {"system:masters", "a+b"}, valid_for_days(kNow, 5))
          .value();
  const auto info = inspect_certificate(client.certificate_pem).value();
  EXPECT_EQ(info.common_name, "system:node:müller, O=x");
  EXPECT_THAT(info.organizations, ElementsAre("system:masters", "a+b"));
}

TEST(Tls, RefusesNamesThatAreNone) {
  const KeyPair authority = make_authority("ca", valid_for_days(kNow, 10)).value();
  const auto issue = [&](const ServerNames& names) {
    return issue_server_certificate(authority, "x", names, valid_for_days(kNow, 5)).error().message;
  };
  EXPECT_THAT(issue({{}, {"300.1.1.1"}}), HasSubstr("no IP address"));
  EXPECT_THAT(issue({{"a b"}, {}}), HasSubstr("no DNS name"));
  EXPECT_EQ(issue_client_certificate(authority, std::string(200, 'x'), {}, valid_for_days(kNow, 5)).error().code,
            ErrorCode::kInvalid);  // a common name has at most 64 characters
  EXPECT_EQ(issue_client_certificate({"no", "pem"}, "x", {}, valid_for_days(kNow, 5)).error().code,
            ErrorCode::kBadRequest);
  EXPECT_FALSE(inspect_certificate("no pem"));
}

TEST_F(TlsFiles, KeysNameTheirAlgorithm) {
  const KeyPair authority = make_authority("ca", valid_for_days(kNow, 10)).value();
  const KeyPair client = issue_client_certificate(authority, "x", {}, valid_for_days(kNow, 5)).value();
  EXPECT_THAT(authority.key_pem, ::testing::StartsWith("-----BEGIN EC PRIVATE KEY-----\n"));
  EXPECT_THAT(client.key_pem, ::testing::StartsWith("-----BEGIN EC PRIVATE KEY-----\n"));
}

TEST_F(TlsFiles, AuthorityIsMadeOnceAndItsKeyIsPrivate) {
  const KeyPair made = load_or_create_authority(folder + "/ca", "ca", kNow).value();
  const KeyPair again = load_or_create_authority(folder + "/ca", "ca", kNow).value();
  EXPECT_EQ(made.certificate_pem, again.certificate_pem);
  EXPECT_EQ(made.key_pem, again.key_pem);
  struct stat status = {};
  ASSERT_EQ(::stat((folder + "/ca.key").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(TlsFiles, AuthorityThatDoesNotBelongToItsKeyIsNotReplaced) {
  load_or_create_authority(folder + "/ca", "ca", kNow).value();
  load_or_create_authority(folder + "/other", "other", kNow).value();
  std::filesystem::copy_file(folder + "/other.key", folder + "/ca.key",
                             std::filesystem::copy_options::overwrite_existing);
  const auto loaded = load_or_create_authority(folder + "/ca", "ca", kNow);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("do not belong together"));
  std::ofstream{folder + "/ca.crt"} << "rubbish";
  EXPECT_THAT(load_or_create_authority(folder + "/ca", "ca", kNow).error().message,
              HasSubstr("holds no PEM certificate"));
}

TEST_F(TlsFiles, AReplacedFileKeepsItsLinkModeAndOwner) {
  const std::string path = folder + "/config";
  const std::string link = folder + "/link";
  std::ofstream{path} << "one";
  ::chmod(path.c_str(), 0640);
  const bool may_give_away = ::chown(path.c_str(), 65534, 65534) == 0;
  std::filesystem::create_symlink("config", link);
  ASSERT_TRUE(replace_file(link, "two"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(path).value(), "two");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
  if (may_give_away) {
    EXPECT_EQ(status.st_uid, 65534U);
    EXPECT_EQ(status.st_gid, 65534U);
  }
}

TEST_F(TlsFiles, AReplacedFileThatDoesNotExistIsPrivate) {
  const std::string path = folder + "/config";
  ASSERT_TRUE(replace_file(path, "one"));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(replace_file(folder + "/no/folder", "x").error().code, ErrorCode::kIo);
}

TEST_F(TlsFiles, ServerCertificateIsRenewedWhenNamesAuthorityOrTimeRequireIt) {
  const KeyPair authority = make_authority("ca", valid_for_days(kNow, 1000)).value();
  const auto load = [&](const KeyPair& by, const ServerNames& names, UtcMillis now) {
    const KeyPair pair = load_or_create_server_certificate(folder + "/server", by, "s", names, now).value();
    return inspect_certificate(pair.certificate_pem).value().fingerprint;
  };
  const ServerNames names{{"localhost"}, {"0:0::1"}};
  const auto first = load(authority, names, kNow);
  EXPECT_EQ(load(authority, names, kNow), first);
  EXPECT_EQ(load(authority, {{"localhost"}, {}}, {kNow.value + 300 * kDay}), first);  // fewer names will do
  const auto later = load(authority, names, {kNow.value + 340 * kDay});
  EXPECT_NE(later, first);
  const auto named = load(authority, {{"localhost", "web"}, {"::1"}}, {kNow.value + 340 * kDay});
  EXPECT_NE(named, later);
  EXPECT_NE(load(make_authority("ca", valid_for_days(kNow, 1000)).value(), names, {kNow.value + 340 * kDay}), named);
}

TEST_F(TlsFiles, ManyStartingAtOnceGetTheSamePair) {
  std::vector<std::string> seen(8);
  std::vector<std::thread> threads;
  for (auto& pem : seen) {
    threads.emplace_back([&] { pem = load_or_create_authority(folder + "/ca", "ca", kNow).value().certificate_pem; });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& pem : seen) EXPECT_EQ(pem, seen[0]);
}

TEST_F(TlsFiles, PrivateFileReplacesTheOldOneAndLeavesNoneBehind) {
  const std::string path = folder + "/secret";
  ASSERT_TRUE(write_private_file(path, "one"));
  ASSERT_TRUE(write_private_file(path, "two"));
  EXPECT_EQ(read_file(path).value(), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder}, {}), 1);
  EXPECT_EQ(read_file(folder + "/absent").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(write_private_file(folder + "/no/folder", "x").error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace shiplog
