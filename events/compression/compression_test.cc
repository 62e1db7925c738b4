#include "events/compression/compression.h"

#include <string>

#include <gtest/gtest.h>

#include "events/base/crc32c.h"
#include "events/base/random.h"
#include "events/compression/dictionaries.h"

namespace shiplog {
namespace {

constexpr size_t kMost = 1 << 20;

std::string deployment(int replicas) {
  return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"team":"payments"},"generation":)" +
         std::to_string(replicas) +
         R"(,"labels":{"app":"checkout"},"name":"checkout","namespace":"shop"},"spec":{"replicas":)" +
         std::to_string(replicas) +
         R"(,"selector":{"matchLabels":{"app":"checkout"}},"template":{"metadata":{"labels":{"app":"checkout"}},)" +
         R"("spec":{"containers":[{"image":"registry.example.com/checkout:1.4","name":"checkout"}]}}}})";
}

std::string noise(size_t size) {
  SeededRandom random{size};
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random_below(random, 256));
  return bytes;
}

TEST(Compression, WithTheDictionaryAnObjectTakesAThirdAndComesBack) {
  Compressor compressor;
  const std::string plain = deployment(3);
  const auto compressed = compressor.compress(plain);
  ASSERT_TRUE(compressed);
  const std::string packed{*compressed};
  EXPECT_LT(packed.size(), plain.size() / 3);
  EXPECT_EQ(compressor.decompress(packed, kNewestDictionary, kMost).value(), plain);
  EXPECT_FALSE(compressor.decompress(packed, kNewestDictionary, plain.size() - 1)) << "larger than it can be";
  EXPECT_EQ(Compressor{}.decompress(packed, kNewestDictionary, plain.size()).value(), plain);
}

TEST(Compression, TheDifferenceToTheVersionBeforeIsSmall) {
  Compressor compressor;
  const std::string before = deployment(3), after = deployment(12);
  const auto compressed = compressor.compress_against(after, before);
  ASSERT_TRUE(compressed);
  const std::string packed{*compressed};
  EXPECT_LT(packed.size(), 60U);
  EXPECT_EQ(compressor.decompress_against(packed, before, kMost).value(), after);
  // One use of a base says nothing about the next call.
  const auto without_base = compressor.decompress(packed, kNewestDictionary, kMost);
  EXPECT_FALSE(without_base && without_base.value() == after);
  EXPECT_EQ(compressor.decompress_against(packed, before, kMost).value(), after);
}

TEST(Compression, OtherBasesAndOtherDictionariesDoNotGiveTheText) {
  Compressor compressor;
  const std::string before = deployment(3), after = deployment(12);
  const std::string difference{compressor.compress_against(after, before).value()};
  for (const std::string& wrong :
       {noise(before.size()), before.substr(1), before.substr(0, before.size() / 2), std::string{}}) {
    const auto read = compressor.decompress_against(difference, wrong, kMost);
    EXPECT_FALSE(read && read.value() == after) << wrong;
  }
  EXPECT_EQ(compressor.decompress_against(difference, before, kMost).value(), after);
  // A base that zstd would take for a dictionary, with tables in it, is none.
  const std::string dictionary{dictionaries()[0]};
  EXPECT_FALSE(compressor.compress_against(dictionary + "!", dictionary));
  EXPECT_FALSE(compressor.decompress_against(difference, dictionary, kMost));
}

TEST(Compression, WhatCannotBecomeSmallerIsLeft) {
  Compressor compressor;
  for (const size_t size : {0U, 1U, 5U, 1000U}) {
    const std::string bytes = noise(size);
    EXPECT_FALSE(compressor.compress(bytes)) << size;
    EXPECT_FALSE(compressor.compress_against(bytes, "")) << size;
  }
  EXPECT_TRUE(compressor.compress(deployment(1))) << "and the next one is compressed";
}

TEST(Compression, AWrongByteIsAnErrorOrOtherBytesNeverTooMany) {
  Compressor compressor;
  const std::string plain = deployment(3);
  const std::string packed{compressor.compress(plain).value()};
  for (size_t at = 0; at < packed.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const auto read = compressor.decompress(damaged, kNewestDictionary, kMost);
      if (read) {
        EXPECT_LE(read.value().size(), kMost);
      } else {
        EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << read.error().message;
      }
    }
    EXPECT_FALSE(compressor.decompress(packed.substr(0, at), kNewestDictionary, kMost)) << at << " bytes of it";
  }
  EXPECT_EQ(compressor.decompress(packed, kNewestDictionary, kMost).value(), plain);
}

TEST(Compression, AnUnknownDictionaryIsAnError) {
  Compressor compressor;
  const std::string packed{compressor.compress(deployment(3)).value()};
  for (const uint32_t unknown : {0U, kNewestDictionary + 1}) {
    const auto read = compressor.decompress(packed, unknown, kMost);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("no dictionary " + std::to_string(unknown)), std::string::npos);
  }
}

// Journals depend on each of its bytes.
TEST(Compression, ADictionaryNeverChanges) {
  ASSERT_EQ(dictionaries().size(), kNewestDictionary);
  EXPECT_EQ(dictionaries()[0].size(), 65536U);
  EXPECT_EQ(crc32c(dictionaries()[0]), 2560963763U);
}

}  // namespace
}  // namespace shiplog
