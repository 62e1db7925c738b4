#include "services/api/proof/proof.h"

#include "events/base/json.h"
#include "events/proof/checkpoint.h"
#include "events/proof/tree.h"
#include "tests/support/journal_fleet.h"

namespace shiplog::api {
namespace {

class ProofWriter final : public ResponseWriter {
 public:
  void send(HttpResponse response) override {
    status = response.status;
    body = std::move(response.body);
  }
  void start(int, HttpHeaders) override {}
  void write(std::string, Done) override {}
  void end() override {}
  void upgrade(HttpHeaders, Upgraded) override {}
  void on_close(std::function<void()>) override {}
  bool closed() const override { return false; }

  int status = 0;
  std::string body;
};

proof::NoteSigner signer(unsigned char byte) {
  std::array<unsigned char, 32> seed{};
  seed.fill(byte);
  return must(proof::NoteSigner::make("shiplog/test", seed));
}

class ProofTest : public testing::Test {
 protected:
  ProofTest() {
    fleet_.make_fleet();
    fleet_.write_maps(35);
  }

  ProofWriter ask(const std::string& target, const std::string& method = "GET", bool with_key = true) {
    HttpRequest request;
    request.method = method;
    request.target = "/shiplog/v1/proof/" + target;
    EXPECT_TRUE(parse_target(request));
    ProofWriter writer;
    EXPECT_TRUE(serve_proof(store_, with_key ? &signer_ : nullptr, request, writer));
    return writer;
  }
  Value answer(const std::string& target) {
    const ProofWriter writer = ask(target);
    EXPECT_EQ(writer.status, 200) << writer.body;
    return must(parse_json(writer.body));
  }
  proof::TreeHead head_in(const Value& answer) {
    return must(proof::open_checkpoint(answer["checkpoint"].str(), signer_.verifier()));
  }
  static std::vector<proof::Digest> path_in(const Value& answer) {
    std::vector<proof::Digest> path;
    for (const Value& hash : answer["path"].items()) path.push_back(*proof::digest_from_base64(hash.str()));
    return path;
  }
  /// What the journal holds, read without the projection.
  std::vector<JournalRecord> records() {
    const auto tail = must(fleet_.journal_->tail(Offset{0}));
    return must(tail->next(1000, Millis{1000}));
  }

  JournalFleet fleet_;
  Store store_{*fleet_.journal_, fleet_.replica_, fleet_.projection()};
  const proof::NoteSigner signer_ = signer(1);
};

TEST_F(ProofTest, TheCheckpointIsOfTheRecordsOfTheJournal) {
  proof::Frontier frontier;
  for (const JournalRecord& record : records()) frontier.add(proof::leaf_hash(record.bytes));
  const Value newest = answer("checkpoint");
  const proof::TreeHead head = head_in(newest);
  EXPECT_EQ(head, (proof::TreeHead{"shiplog/test", 37, frontier.root()}));
  EXPECT_EQ(newest["verifierKey"].str(), proof::to_text(signer_.verifier()));
  EXPECT_EQ(answer("key")["verifierKey"].str(), proof::to_text(signer_.verifier()));
  EXPECT_FALSE(proof::open_checkpoint(newest["checkpoint"].str(), signer(2).verifier())) << "another fleet's key";
}

TEST_F(ProofTest, EveryRecordIsProven) {
  const auto all = records();
  for (size_t index = 0; index < all.size(); ++index) {
    const Value found = answer("inclusion?offset=" + std::to_string(all[index].offset.value));
    const proof::TreeHead head = head_in(found);
    EXPECT_EQ(found["ordinal"].as_int(), static_cast<int64_t>(index));
    EXPECT_TRUE(
        proof::verify_inclusion(proof::leaf_hash(all[index].bytes), index, head.size, path_in(found), head.root));
  }
  // By a revision, and in an earlier checkpoint.
  const Value early = answer("inclusion?revision=5&size=6");
  const proof::TreeHead head = head_in(early);
  EXPECT_EQ(head.size, 6U);
  const auto ordinal = static_cast<uint64_t>(early["ordinal"].as_int());
  EXPECT_TRUE(proof::verify_inclusion(proof::leaf_hash(all[ordinal].bytes), ordinal, 6, path_in(early), head.root));
}

TEST_F(ProofTest, LaterCheckpointsContinueEarlierOnes) {
  const proof::TreeHead early = head_in(answer("checkpoint?size=10"));
  fleet_.write_maps(30);
  const Value found = answer("consistency?from=10");
  const proof::TreeHead late = head_in(found);
  EXPECT_EQ(late.size, 67U);
  EXPECT_TRUE(proof::verify_consistency(10, late.size, path_in(found), early.root, late.root));
}

TEST_F(ProofTest, WhatCannotBeAnsweredIsRefused) {
  for (const auto& [target, status] :
       std::vector<std::pair<std::string, int>>{{"inclusion", 400},
                                                {"inclusion?offset=1&revision=2", 400},
                                                {"inclusion?offset=x", 400},
                                                {"inclusion?offset=-1", 400},
                                                {"inclusion?ordinal=37", 404},
                                                {"inclusion?offset=900", 404},
                                                {"inclusion?revision=900", 404},
                                                {"inclusion?revision=9223372036854775807", 404},
                                                {"inclusion?ordinal=18446744073709551615", 400},
                                                {"inclusion?ordinal=5&size=5", 400},
                                                {"checkpoint?size=38", 400},
                                                {"consistency", 400},
                                                {"consistency?from=5&to=4", 400},
                                                {"consistency?from=38", 400},
                                                {"nothing", 404}}) {
    EXPECT_EQ(ask(target).status, status) << target;
  }
  EXPECT_EQ(ask("checkpoint", "POST").status, 405);
  EXPECT_EQ(ask("checkpoint", "GET", false).status, 404);
}

}  // namespace
}  // namespace shiplog::api
