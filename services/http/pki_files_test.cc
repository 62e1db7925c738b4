// What becomes of the files of a certificate that are lost or damaged.
#include <filesystem>
#include <fstream>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/http/private_file.h"
#include "services/http/tls.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

using ::testing::HasSubstr;

constexpr UtcMillis kMadeAt{1'790'000'000'000};

struct PkiFiles : ::testing::Test {
  TestDirectory directory{"pki"};
  const std::string& folder = directory.path();
};

TEST_F(PkiFiles, AuthorityWithOneOfItsFilesLostIsNotReplaced) {
  const KeyPair made = load_or_create_authority(folder + "/ca", "ca", kMadeAt).value();
  for (const auto& [lost, left] : {std::pair{"/ca.crt", "/ca.key"}, std::pair{"/ca.key", "/ca.crt"}}) {
    const std::string before = read_file(folder + left).value();
    std::filesystem::rename(folder + lost, folder + "/backup");
    const auto loaded = load_or_create_authority(folder + "/ca", "ca", kMadeAt);
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr(folder + lost + " is missing, but not " + folder + left));
    EXPECT_THAT(loaded.error().message, HasSubstr("restore it from a backup; or remove " + folder + left));
    EXPECT_EQ(read_file(folder + left).value(), before);
    std::filesystem::rename(folder + "/backup", folder + lost);
  }
  EXPECT_EQ(load_or_create_authority(folder + "/ca", "ca", kMadeAt).value().key_pem, made.key_pem);
}

TEST_F(PkiFiles, DamagedAuthorityIsNotReplaced) {
  load_or_create_authority(folder + "/ca", "ca", kMadeAt).value();
  { std::ofstream{folder + "/ca.crt"} << "rubbish"; }
  EXPECT_THAT(load_or_create_authority(folder + "/ca", "ca", kMadeAt).error().message,
              HasSubstr("ca.crt holds no PEM certificate: restore both files from a backup; or remove both"));
  EXPECT_EQ(read_file(folder + "/ca.crt").value(), "rubbish");
}

TEST_F(PkiFiles, AuthorityIsWholeAfterACrashWhileItWasMade) {
  const KeyPair made = load_or_create_authority(folder + "/ca", "ca", kMadeAt).value();
  std::filesystem::rename(folder + "/ca.key", folder + "/ca.key.new");  // as before the last step
  EXPECT_EQ(load_or_create_authority(folder + "/ca", "ca", kMadeAt).value().key_pem, made.key_pem);
  EXPECT_EQ(read_file(folder + "/ca.key").value(), made.key_pem);
  std::filesystem::rename(folder + "/ca.key", folder + "/ca.key.new");  // as after the first one
  std::filesystem::remove(folder + "/ca.crt");
  const KeyPair again = load_or_create_authority(folder + "/ca", "ca", kMadeAt).value();
  EXPECT_NE(again.key_pem, made.key_pem);
  EXPECT_EQ(load_or_create_authority(folder + "/ca", "ca", kMadeAt).value().key_pem, again.key_pem);
}

TEST_F(PkiFiles, CertificateThatSignsNothingIsMadeAgainWhenAFileIsLostOrDamaged) {
  const KeyPair authority = make_authority("ca", valid_for_days(kMadeAt, 1000)).value();
  const auto load = [&] {
    return load_or_create_server_certificate(folder + "/server", authority, "s", {{"localhost"}, {}}, kMadeAt).value();
  };
  const KeyPair first = load();
  { std::ofstream{folder + "/server.crt"} << "rubbish"; }
  const KeyPair second = load();
  EXPECT_NE(second.key_pem, first.key_pem);
  EXPECT_TRUE(issued_by(second, authority));
  std::ofstream{folder + "/server.key"} << "";
  EXPECT_TRUE(issued_by(load(), authority));
  std::filesystem::remove(folder + "/server.crt");
  EXPECT_TRUE(issued_by(load(), authority));
}

}  // namespace
}  // namespace shiplog
