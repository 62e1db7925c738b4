#include "tests/crash/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shiplog::crash {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Version::Kind;

/// A true story of one object; each test spoils one thing.
class CheckerTest : public ::testing::Test {
 protected:
  std::vector<Operation> operations = {
      {1, 2, Verb::kCreate, Known::kDone, "a", "v1", "u1", 5},  //
      {3, 4, Verb::kRead, Known::kDone, "a", "v1", "u1", 5},
      {5, 8, Verb::kUpdate, Known::kUnknown, "a", "v2", "u1", 0},
      {6, 7, Verb::kUpdate, Known::kRefused, "a", "v3", "u1", 0},
      {9, 10, Verb::kUpdate, Known::kDone, "a", "v4", "u1", 9},
      {11, 12, Verb::kRemove, Known::kDone, "a", "", "u1", 0},
      {13, 14, Verb::kRead, Known::kAbsent, "a", "", "", 0},
      {15, 16, Verb::kCreate, Known::kDone, "a", "v5", "u2", 12},
      {17, 18, Verb::kRemove, Known::kUnknown, "a", "", "u2", 0},
      {19, 20, Verb::kCreate, Known::kUnknown, "b", "v6", "", 0},
  };
  std::vector<Version> history = {
      {5, Kind::kCreated, "a", "u1", "v1"},  {6, Kind::kUpdated, "a", "u1", "v1", false},
      {8, Kind::kUpdated, "a", "u1", "v2"},  {9, Kind::kUpdated, "a", "u1", "v4"},
      {10, Kind::kRemoved, "a", "u1", "v4"}, {12, Kind::kCreated, "a", "u2", "v5"},
  };
  std::vector<Present> present = {{"a", "u2", "v5", 12}};

  std::vector<std::string> broken() const { return broken_promises(operations, history, present); }
};

TEST_F(CheckerTest, ATrueStoryBreaksNoPromise) { EXPECT_THAT(broken(), IsEmpty()); }

TEST_F(CheckerTest, AnUnknownWriteMayHaveHappenedOrNot) {
  history.erase(history.begin() + 2);
  EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(CheckerTest, AnUnknownRemovalMayHaveHappenedOrNot) {
  history.push_back({13, Kind::kRemoved, "a", "u2", "v5"});
  present.clear();
  EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(CheckerTest, AnAcknowledgedWriteThatIsNotInHistoryIsLost) {
  history.erase(history.begin() + 3);
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("value v4), acknowledged with revision 9, ticks 9 to 10 is lost")));
}

TEST_F(CheckerTest, AnAcknowledgedRemovalThatIsNotInHistoryIsLost) {
  history.resize(4);
  operations.resize(7);
  operations.pop_back();
  present = {{"a", "u1", "v4", 9}};
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("the delete of a, acknowledged, ticks 11 to 12 is lost")));
}

TEST_F(CheckerTest, AWriteAtAnotherRevisionThanItsAcknowledgementSaid) {
  operations[4].revision = 8;
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("but history has it at revision 9")));
}

TEST_F(CheckerTest, AWriteThatIsInHistoryTwice) {
  history.insert(history.begin() + 3, {8, Kind::kUpdated, "a", "u1", "v2"});
  history[3].revision = 9;
  history[4].revision = operations[4].revision = 10;
  history[5].revision = 11;
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("(value v2), of unknown outcome, ticks 5 to 8 is in history 2 times")));
}

TEST_F(CheckerTest, ARefusedWriteThatHappenedAllTheSame) {
  history[2].value = "v3";
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("refused, ticks 6 to 7 is in history all the same")));
}

TEST_F(CheckerTest, AReadThatIsOlderThanWhatWasTold) {
  operations.push_back({21, 22, Verb::kRead, Known::kDone, "a", "v4", "u1", 9});
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("is older than revision 12")));
}

TEST_F(CheckerTest, AReadThatDoesNotFindWhatWasAcknowledged) {
  operations.push_back({21, 22, Verb::kRead, Known::kAbsent, "a", "", "", 0});
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("not found, ticks 21 to 22 is older than revision 12")));
}

TEST_F(CheckerTest, AReadDuringAWriteMayBeOfBeforeOrAfterIt) {
  operations.push_back({5, 9, Verb::kRead, Known::kDone, "a", "v1", "u1", 6});
  operations.push_back({5, 9, Verb::kRead, Known::kDone, "a", "v2", "u1", 8});
  EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(CheckerTest, AReadOfSomethingThatNeverWas) {
  operations.push_back({21, 22, Verb::kRead, Known::kDone, "a", "v5", "u2", 13});
  operations.push_back({21, 22, Verb::kRead, Known::kDone, "a", "v4", "u2", 12});
  operations.push_back({21, 22, Verb::kRead, Known::kDone, "c", "v4", "u2", 12});
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("does not know that version"), HasSubstr("history has the value v5"),
                                    HasSubstr("does not know the object")));
}

TEST_F(CheckerTest, AWriteThatIsPlacedBeforeWhatWasToldEarlier) {
  operations.push_back({21, 22, Verb::kRead, Known::kDone, "a", "v5", "u2", 12});
  operations.push_back({23, 24, Verb::kCreate, Known::kDone, "c", "v7", "u3", 11});
  history.insert(history.begin() + 5, {11, Kind::kCreated, "c", "u3", "v7"});
  present.push_back({"c", "u3", "v7", 11});
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("stands at revision 11 in history, though revision 12")));
}

TEST_F(CheckerTest, AValueAndARemovalThatNobodyAskedFor) {
  history.push_back({13, Kind::kCreated, "d", "u9", "v9"});
  history.push_back({14, Kind::kRemoved, "d", "u9", "v9"});
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("value v9 of d at revision 13, which nobody has sent"),
                                    HasSubstr("nobody has asked for with success")));
}

TEST_F(CheckerTest, HistoryThatGoesBackOrMakesNoSense) {
  history.insert(history.begin() + 1, {5, Kind::kCreated, "a", "u1", "v6"});
  EXPECT_THAT(broken(), ::testing::Contains(HasSubstr("goes back at revision 5")));
  EXPECT_THAT(broken(), ::testing::Contains(HasSubstr("a was there")));
}

TEST_F(CheckerTest, AnEndThatIsNotWhatHistoryComesTo) {
  present = {{"a", "u2", "v4", 12}};
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("a has at the end")));
  present = {};
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("a is missing at the end")));
  present = {{"a", "u2", "v5", 12}, {"a", "u2", "v5", 12}, {"b", "u4", "v6", 13}};
  EXPECT_THAT(broken(), ElementsAre("a is listed twice", HasSubstr("b is there at the end and not in history")));
}

}  // namespace
}  // namespace shiplog::crash
