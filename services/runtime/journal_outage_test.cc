#include "services/runtime/journal_outage.h"

#include <gtest/gtest.h>

namespace shiplog {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(JournalOutage, IsReportedOnceRequestsNoLongerWaitForItAndUntilItEnds) {
  JournalOutage outage;
  const JournalOutage::Time start{};
  EXPECT_EQ(outage.describe(start), "");
  outage.failed(start);
  EXPECT_EQ(outage.describe(start + seconds{29}), "");
  outage.failed(start + seconds{34});
  EXPECT_EQ(outage.describe(start + seconds{35}),
            "it could not be read for 35 s; the log has the reason (journal.read_failed)");
  EXPECT_EQ(outage.so_far(start + seconds{35}), seconds{35});
  outage.ended(start + seconds{36});
  EXPECT_EQ(outage.so_far(start + seconds{90}), seconds{0});
  EXPECT_EQ(outage.describe(start + seconds{90}), "");
}

TEST(JournalOutage, IsLoggedAtItsBeginningOnceAMinuteAndAtItsEnd) {
  JournalOutage outage;
  const JournalOutage::Time start{};
  EXPECT_FALSE(outage.ended(start));
  EXPECT_TRUE(outage.failed(start));
  int lines = 0;
  for (milliseconds after{600}; after < seconds{180}; after += milliseconds{600}) {
    if (outage.failed(start + after)) ++lines;
  }
  EXPECT_EQ(lines, 2);
  EXPECT_EQ(outage.ended(start + seconds{180}), seconds{180});
  EXPECT_FALSE(outage.ended(start + seconds{181}));
  EXPECT_TRUE(outage.failed(start + seconds{182}));
}

}  // namespace
}  // namespace shiplog
