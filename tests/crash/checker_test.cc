#include "tests/crash/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shiplog::crash {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = HistoryVersion::Kind;

/// A consistent history of one object; each test makes one thing inconsistent.
class HistoryChecker : public ::testing::Test {
 protected:
  std::vector<Operation> operations = {
      {1, 2, Verb::kCreate, KnownOutcome::kDone, "a", "v1", "u1", 5},  //
      {3, 4, Verb::kRead, KnownOutcome::kDone, "a", "v1", "u1", 5},
      {5, 8, Verb::kUpdate, KnownOutcome::kUnknown, "a", "v2", "u1", 0},
      {6, 7, Verb::kUpdate, KnownOutcome::kRefused, "a", "v3", "u1", 0},
      {9, 10, Verb::kUpdate, KnownOutcome::kDone, "a", "v4", "u1", 9},
      {11, 12, Verb::kRemove, KnownOutcome::kDone, "a", "", "u1", 0},
      {13, 14, Verb::kRead, KnownOutcome::kAbsent, "a", "", "", 0},
      {15, 16, Verb::kCreate, KnownOutcome::kDone, "a", "v5", "u2", 12},
      {17, 18, Verb::kRemove, KnownOutcome::kUnknown, "a", "", "u2", 0},
      {19, 20, Verb::kCreate, KnownOutcome::kUnknown, "b", "v6", "", 0},
  };
  std::vector<HistoryVersion> history = {
      {5, Kind::kCreated, "a", "u1", "v1"},  {6, Kind::kUpdated, "a", "u1", "v1", false},
      {8, Kind::kUpdated, "a", "u1", "v2"},  {9, Kind::kUpdated, "a", "u1", "v4"},
      {10, Kind::kRemoved, "a", "u1", "v4"}, {12, Kind::kCreated, "a", "u2", "v5"},
  };
  std::vector<ListedObject> listed = {{"a", "u2", "v5", 12}};

  std::vector<std::string> violations() const { return find_violations(operations, history, listed); }
};

TEST_F(HistoryChecker, AConsistentHistoryHasNoViolations) { EXPECT_THAT(violations(), IsEmpty()); }

TEST_F(HistoryChecker, AWriteOfUnknownOutcomeMayBeAppliedOrNot) {
  history.erase(history.begin() + 2);
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(HistoryChecker, ARemovalOfUnknownOutcomeMayBeAppliedOrNot) {
  history.push_back({13, Kind::kRemoved, "a", "u2", "v5"});
  listed.clear();
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(HistoryChecker, AnAcknowledgedWriteThatIsNotInHistoryIsLost) {
  history.erase(history.begin() + 3);
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("value v4), acknowledged with revision 9, ticks 9 to 10 is lost")));
}

TEST_F(HistoryChecker, AnAcknowledgedRemovalThatIsNotInHistoryIsLost) {
  history.resize(4);
  operations.resize(7);
  operations.pop_back();
  listed = {{"a", "u1", "v4", 9}};
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("the delete of a, acknowledged, ticks 11 to 12 is lost")));
}

TEST_F(HistoryChecker, AWriteAtAnotherRevisionThanAcknowledged) {
  operations[4].revision = 8;
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("but the history has it at revision 9")));
}

TEST_F(HistoryChecker, AWriteThatIsInHistoryTwice) {
  history.insert(history.begin() + 3, {8, Kind::kUpdated, "a", "u1", "v2"});
  history[3].revision = 9;
  history[4].revision = operations[4].revision = 10;
  history[5].revision = 11;
  EXPECT_THAT(violations(),
              ElementsAre(HasSubstr("(value v2), of unknown outcome, ticks 5 to 8 is in the history 2 times")));
}

TEST_F(HistoryChecker, ARefusedWriteThatWasApplied) {
  history[2].value = "v3";
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("refused, ticks 6 to 7 is in the history although it was refused")));
}

TEST_F(HistoryChecker, AReadThatIsOlderThanAnEarlierResponse) {
  operations.push_back({21, 22, Verb::kRead, KnownOutcome::kDone, "a", "v4", "u1", 9});
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("is older than revision 12")));
}

TEST_F(HistoryChecker, AReadThatDoesNotFindAnAcknowledgedObject) {
  operations.push_back({21, 22, Verb::kRead, KnownOutcome::kAbsent, "a", "", "", 0});
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("not found, ticks 21 to 22 is older than revision 12")));
}

TEST_F(HistoryChecker, AReadDuringAWriteMayReturnEitherVersion) {
  operations.push_back({5, 9, Verb::kRead, KnownOutcome::kDone, "a", "v1", "u1", 6});
  operations.push_back({5, 9, Verb::kRead, KnownOutcome::kDone, "a", "v2", "u1", 8});
  EXPECT_THAT(violations(), IsEmpty());
}

TEST_F(HistoryChecker, AReadOfAVersionThatNeverExisted) {
  operations.push_back({21, 22, Verb::kRead, KnownOutcome::kDone, "a", "v5", "u2", 13});
  operations.push_back({21, 22, Verb::kRead, KnownOutcome::kDone, "a", "v4", "u2", 12});
  operations.push_back({21, 22, Verb::kRead, KnownOutcome::kDone, "c", "v4", "u2", 12});
  EXPECT_THAT(violations(),
              ElementsAre(HasSubstr("the version is not in the history"), HasSubstr("the history has the value v5"),
                          HasSubstr("the object is not in the history")));
}

TEST_F(HistoryChecker, AWriteThatIsOrderedBeforeAnEarlierResponse) {
  operations.push_back({21, 22, Verb::kRead, KnownOutcome::kDone, "a", "v5", "u2", 12});
  operations.push_back({23, 24, Verb::kCreate, KnownOutcome::kDone, "c", "v7", "u3", 11});
  history.insert(history.begin() + 5, {11, Kind::kCreated, "c", "u3", "v7"});
  listed.push_back({"c", "u3", "v7", 11});
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("is at revision 11 in the history, but revision 12")));
}

TEST_F(HistoryChecker, AValueAndARemovalThatNoClientRequested) {
  history.push_back({13, Kind::kCreated, "d", "u9", "v9"});
  history.push_back({14, Kind::kRemoved, "d", "u9", "v9"});
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("value v9 of d at revision 13, which no client has sent"),
                                        HasSubstr("no client has requested successfully")));
}

TEST_F(HistoryChecker, AHistoryThatGoesBackOrIsInconsistent) {
  history.insert(history.begin() + 1, {5, Kind::kCreated, "a", "u1", "v6"});
  EXPECT_THAT(violations(), ::testing::Contains(HasSubstr("goes back at revision 5")));
  EXPECT_THAT(violations(), ::testing::Contains(HasSubstr("a existed")));
}

TEST_F(HistoryChecker, AFinalStateThatDiffersFromTheHistory) {
  listed = {{"a", "u2", "v4", 12}};
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("a has at the end")));
  listed = {};
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("a is missing at the end")));
  listed = {{"a", "u2", "v5", 12}, {"a", "u2", "v5", 12}, {"b", "u4", "v6", 13}};
  EXPECT_THAT(violations(),
              ElementsAre("a is listed twice", HasSubstr("b exists at the end but is not in the history")));
}

}  // namespace
}  // namespace shiplog::crash
