#include "events/sqlite/unpacked.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "events/sqlite/connection.h"

namespace shiplog::sqlite {
namespace {

const std::string kBefore =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"default"},"data":{"size":"1"}})";
const std::string kAfter =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"default"},"data":{"size":"2"}})";

class UnpackedTest : public testing::Test {
 protected:
  UnpackedTest() : connection_{Connection::open(":memory:", {.create = true}).value()} {}

  void bind(Statement& statement, int index, const PackedText& text) {
    text.compressed ? statement.bind_blob(index, text.bytes) : statement.bind(index, text.bytes);
  }
  Result<std::string> unpacked(const PackedText& text) {
    auto statement = connection_->prepare("SELECT unpacked(?)").value();
    bind(statement, 1, text);
    SHIPLOG_TRY([[maybe_unused]] const bool found, statement.next());
    return std::string{statement.text(0)};
  }
  Result<std::string> unpacked(const PackedText& text, const PackedText& base) {
    auto statement = connection_->prepare("SELECT unpacked(?, ?)").value();
    bind(statement, 1, text);
    bind(statement, 2, base);
    SHIPLOG_TRY([[maybe_unused]] const bool found, statement.next());
    return std::string{statement.text(0)};
  }

  std::unique_ptr<Connection> connection_;
  TextPacker packer_, other_;
};

TEST_F(UnpackedTest, ATextComesBackCompressedOrNot) {
  const PackedText packed = packer_.pack(kBefore);
  EXPECT_TRUE(packed.compressed);
  EXPECT_LT(packed.bytes.size(), kBefore.size());
  EXPECT_EQ(unpacked(packed).value(), kBefore);
  for (const std::string& text : {std::string{}, std::string{"x"}}) {
    EXPECT_FALSE(packer_.pack(text).compressed);
    EXPECT_EQ(unpacked(packer_.pack(text)).value(), text);
  }
}

TEST_F(UnpackedTest, ADifferenceComesBackWithItsBase) {
  const PackedText base = other_.pack(kBefore);
  const PackedText difference = packer_.pack_against(kAfter, kBefore);
  EXPECT_TRUE(difference.compressed);
  EXPECT_LT(difference.bytes.size(), base.bytes.size());
  EXPECT_EQ(unpacked(difference, base).value(), kAfter);
  EXPECT_EQ(unpacked(difference, {kBefore, false}).value(), kAfter) << "a base need not be compressed";
  EXPECT_EQ(packer_.pack_against(kBefore, kBefore).bytes, "");
  EXPECT_EQ(unpacked(packer_.pack_against(kBefore, kBefore), base).value(), kBefore);
  EXPECT_EQ(unpacked({kAfter, false}, base).value(), kAfter) << "one that is not compressed needs no base";
}

TEST_F(UnpackedTest, EachDifferenceIsReadWithItsOwnBaseInAnyOrder) {
  const std::string other = R"({"kind":"Secret","metadata":{"name":"other"},"data":{"key":"a value of some length"}})";
  TextPacker third, fourth;
  const PackedText base = other_.pack(kBefore), other_base = third.pack(other);
  ASSERT_TRUE(other_base.compressed);
  const PackedText difference = packer_.pack_against(kAfter, kBefore);
  const PackedText other_difference = fourth.pack_against(other + " ", other);
  for (const int which : {0, 0, 1, 0, 1, 1, 2, 0, 3, 1, 3, 1, 0, 3, 0}) {
    switch (which) {
      case 0:
        EXPECT_EQ(unpacked(difference, base).value(), kAfter);
        break;
      case 1:
        EXPECT_EQ(unpacked(other_difference, other_base).value(), other + " ");
        break;
      case 2:
        EXPECT_EQ(unpacked(difference, {kBefore, false}).value(), kAfter) << "a base that is not compressed";
        break;
      default: {
        const std::string damaged = std::string{base.bytes} + "x";  // found when the rest has been written
        EXPECT_FALSE(unpacked(difference, {damaged, true})) << "even if the last one was intact";
      }
    }
  }
  const auto wrong = unpacked(difference, other_base);
  EXPECT_FALSE(wrong && wrong.value() == kAfter);
}

TEST_F(UnpackedTest, WhatIsDamagedIsAnErrorOfTheStatement) {
  const std::string packed{packer_.pack(kBefore).bytes};
  for (const std::string& wrong : {packed.substr(0, packed.size() - 1), packed.substr(0, 5), std::string{},
                                   "\x7f" + packed.substr(1), packed + "x"}) {
    const auto read = unpacked({wrong, true});
    ASSERT_FALSE(read) << wrong.size();
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(read.error().message.find("a compressed text is damaged"), std::string::npos) << read.error().message;
  }
  const std::string difference{packer_.pack_against(kAfter, kBefore).bytes};
  auto without = connection_->prepare("SELECT unpacked(?, 0)").value();
  without.bind_blob(1, difference);
  const auto read = without.next();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace shiplog::sqlite
