#include "events/proof/checkpoint.h"

#include <gtest/gtest.h>

#include "events/proof/tree.h"
#include "tests/support/must.h"

namespace shiplog::proof {
namespace {

NoteSigner signer(const std::string& name = "shiplog/a") {
  std::array<unsigned char, 32> seed{};
  seed.fill(3);
  return must(NoteSigner::make(name, seed));
}

TEST(Checkpoint, IsWrittenAsTheFormatSays) {
  const TreeHead head{"example.com/behind-the-sofa", 20852163,
                      *digest_from_base64("CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=")};
  EXPECT_EQ(to_text(head), "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n");
  EXPECT_EQ(must(parse_tree_head(to_text(head))), head);
  EXPECT_EQ(must(parse_tree_head(to_text(head) + "an extension\n")), head);
}

TEST(Checkpoint, WhatIsNoneIsRefused) {
  const std::string root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
  for (const std::string& text :
       {std::string{}, std::string{"a\n"}, "a\n1\n" + root, "\n1\n" + root + "\n", "a\n01\n" + root + "\n",
        "a\n-1\n" + root + "\n", "a\n1 \n" + root + "\n",
        std::string{"a\n1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2J=\n"}, std::string{"a\n1\nAAAA\n"},
        "a\n1\n" + root + "\n\n", "a\n99999999999999999999\n" + root + "\n"}) {
    EXPECT_FALSE(parse_tree_head(text)) << text;
  }
}

TEST(Checkpoint, OpensOnlyForItsOwnLog) {
  const Digest leaf = leaf_hash("first");
  for (const std::string& origin : {origin_of("shiplog/a", nullptr), origin_of("shiplog/a", &leaf)}) {
    const TreeHead head{origin, 3, leaf};
    EXPECT_EQ(must(open_checkpoint(signer().sign(to_text(head)), signer().verifier())), head);
  }
  EXPECT_EQ(origin_of("shiplog/a", &leaf).size(), std::string{"shiplog/a/from/0123456789abcdef"}.size());
  // The right key, but what it signed is about another log.
  const auto other = open_checkpoint(signer().sign(to_text(TreeHead{"shiplog/ab", 3, leaf})), signer().verifier());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kForbidden);
}

TEST(InclusionProofFile, IsReadAsItWasWritten) {
  const InclusionProof proof{17, {leaf_hash("a"), leaf_hash("b")}, signer().sign("shiplog/a\n20\nx\n")};
  EXPECT_TRUE(to_text(proof).starts_with("c2sp.org/tlog-proof@v1\nindex 17\n"));
  EXPECT_EQ(must(parse_inclusion_proof(to_text(proof))), proof);
  std::string with_extra = to_text(proof);
  with_extra.insert(with_extra.find("index"), "extra AAAA\n");
  EXPECT_EQ(must(parse_inclusion_proof(with_extra)), proof);
  for (const char* text :
       {"", "c2sp.org/tlog-proof@v2\nindex 1\n\n", "c2sp.org/tlog-proof@v1\n\n", "c2sp.org/tlog-proof@v1\nindex 01\n\n",
        "c2sp.org/tlog-proof@v1\nindex 1\nAAAA\n\n", "c2sp.org/tlog-proof@v1\nindex 1\n"}) {
    EXPECT_FALSE(parse_inclusion_proof(text)) << text;
  }
}

}  // namespace
}  // namespace shiplog::proof
