#include "events/proof/note.h"

#include <gtest/gtest.h>

#include "tests/support/must.h"

namespace shiplog::proof {
namespace {

// The example of golang.org/x/mod/sumdb/note.
constexpr const char* kNeumann = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
constexpr const char* kText =
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n";
constexpr const char* kSignature =
    "\xE2\x80\x94 PeterNeumann "
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

std::array<unsigned char, 32> seed_of(unsigned char byte) {
  std::array<unsigned char, 32> seed{};
  seed.fill(byte);
  return seed;
}

TEST(SignedNote, OpensTheExampleOfGo) {
  const VerifierKey key = must(parse_verifier_key(kNeumann));
  EXPECT_EQ(to_text(key), kNeumann);
  EXPECT_EQ(must(open_note(std::string{kText} + "\n" + kSignature, key)), kText);
  std::string changed = std::string{kText} + "\n" + kSignature;
  changed[3] = 'Y';
  EXPECT_EQ(open_note(changed, key).error().code, ErrorCode::kForbidden);
}

TEST(SignedNote, IsSignedAndOpened) {
  const NoteSigner signer = must(NoteSigner::make("shiplog/a", seed_of(7)));
  const std::string note = signer.sign("one\n\ntwo\n");
  EXPECT_EQ(must(open_note(note, signer.verifier())), "one\n\ntwo\n");
  EXPECT_EQ(note, must(NoteSigner::make("shiplog/a", seed_of(7))).sign("one\n\ntwo\n")) << "the same each time";
  EXPECT_EQ(must(parse_verifier_key(to_text(signer.verifier()) + "\n")), signer.verifier());
}

TEST(SignedNote, EveryFlippedBitIsNoticed) {
  const NoteSigner signer = must(NoteSigner::make("shiplog/a", seed_of(7)));
  const std::string note = signer.sign("origin\n5\nroot\n");
  for (size_t bit = 0; bit < note.size() * 8; ++bit) {
    std::string changed = note;
    changed[bit / 8] = static_cast<char>(static_cast<unsigned char>(changed[bit / 8]) ^ (1U << (bit % 8)));
    EXPECT_FALSE(open_note(changed, signer.verifier())) << "bit " << bit;
  }
}

TEST(SignedNote, OfAnotherKeyOfTheSameNameIsRefused) {
  const NoteSigner ours = must(NoteSigner::make("shiplog/a", seed_of(7)));
  const NoteSigner theirs = must(NoteSigner::make("shiplog/a", seed_of(8)));
  const auto refused = open_note(theirs.sign("text\n"), ours.verifier());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
  // The key ID is no secret: with it in front, the signature still is another's.
  std::string forged = theirs.sign("text\n");
  const std::string own = ours.sign("text\n");
  const size_t at = own.rfind(' ') + 1;
  forged.replace(at, 5, own.substr(at, 5));
  EXPECT_EQ(open_note(forged, ours.verifier()).error().code, ErrorCode::kForbidden);
}

TEST(SignedNote, MayHaveSignaturesOfOthers) {
  const NoteSigner ours = must(NoteSigner::make("shiplog/a", seed_of(7)));
  const NoteSigner witness = must(NoteSigner::make("witness.example", seed_of(8)));
  const std::string signed_by_witness = witness.sign("text\n");
  const std::string both = ours.sign("text\n") + signed_by_witness.substr(signed_by_witness.find("\n\n") + 2);
  EXPECT_EQ(must(open_note(both, ours.verifier())), "text\n");
  EXPECT_EQ(must(open_note(both, witness.verifier())), "text\n");
}

TEST(SignedNote, WhatIsNoneIsRefused) {
  const VerifierKey key = must(NoteSigner::make("a", seed_of(1))).verifier();
  for (const std::string note : {"", "\n", "text\n", "text\n\n", "text\n\nsignature\n", "text\n\n\xE2\x80\x94 a\n",
                                 "text\n\n\xE2\x80\x94 a AAAA", "te\x01xt\n\n\xE2\x80\x94 a AAAAAAA=\n",
                                 "te\xFFxt\n\n\xE2\x80\x94 a AAAAAAA=\n"}) {
    EXPECT_FALSE(open_note(note, key)) << note;
  }
  for (const char* text :
       {"", "a", "a+b", "a b+00000000+AAAA", "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+AhpcMQ=="}) {
    EXPECT_FALSE(parse_verifier_key(text)) << text;
  }
  EXPECT_FALSE(NoteSigner::make("a+b", seed_of(1)));
  EXPECT_FALSE(NoteSigner::make("a b", seed_of(1)));
  EXPECT_FALSE(NoteSigner::make("", seed_of(1)));
}

}  // namespace
}  // namespace shiplog::proof
