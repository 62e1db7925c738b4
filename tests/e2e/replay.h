#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {

/// What `shiplogctl replay --verify` says about the journal; null after a failure.
inline Value replayed(Fleet& fleet, const std::string& journal) {
  const Ran ran = fleet.shiplogctl({"replay", "--verify", "--journal=sqlite:" + journal, "-o", "json"});
  EXPECT_TRUE(ran.ok()) << ran;
  return ran.ok() ? json(ran.out) : Value{};
}

/// The server's state is what the journal folds to, and every recorded decision comes out the same again.
inline Value expect_replay_equals(Fleet& fleet, const std::string& process, const std::string& journal) {
  const ApiClient api = fleet.api(process);
  Value state, replay;
  // The services may still have something to say: compare when nothing came in between.
  EXPECT_TRUE(eventually([&] {
    state = api.get("/shiplog/v1/state").json;
    replay = replayed(fleet, journal);
    return ::testing::Test::HasFailure() || api.get("/shiplog/v1/state").json["nextOffset"] == state["nextOffset"];
  })) << "the journal never comes to rest";
  EXPECT_EQ(replay["revision"], state["revision"]);
  EXPECT_EQ(replay["stateHash"].str(), state["stateHash"].str());
  EXPECT_EQ(replay["differences"].as_int(-1), 0);
  return replay;
}

}  // namespace shiplog::e2e
