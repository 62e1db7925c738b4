#include "services/programs/shiplogd/process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <future>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

TEST(StopDeadlineDeathTest, EndsAProcessThatDoesNotStop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const StopDeadline deadline{Millis{50}};
        std::this_thread::sleep_for(std::chrono::minutes{10});
      },
      ::testing::ExitedWithCode(1), "");
}

TEST(StopDeadline, LeavesAProcessThatStopsInTimeAlone) { const StopDeadline deadline{Millis{600'000}}; }

template <class Exception>
void throw_on_a_thread(const Exception& exception) {
  report_refused_resources();
  std::thread{[&] { throw exception; }}.join();
}

TEST(RefusedResourcesDeathTest, EndTheProcessWithASentenceOnAnyThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::system_error refused{EAGAIN, std::generic_category()};
  EXPECT_EXIT(throw_on_a_thread(refused), ::testing::ExitedWithCode(1),
              "Resource temporarily unavailable: raise the limits of processes, open files and memory");
}

TEST(RefusedResourcesDeathTest, OtherExceptionsAreBugs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(throw_on_a_thread(std::logic_error{"of ours"}), ::testing::KilledBySignal(SIGABRT), "of ours");
}

TEST(Stuck, ReportsHowLongTheLoopHasWorkedOnOneCallback) {
  ThreadLoop loop;
  std::promise<void> begun;
  std::promise<void> released;
  loop.post([&] {
    begun.set_value();
    released.get_future().wait();
  });
  begun.get_future().wait();
  while (loop.busy_for() < Millis{5}) std::this_thread::yield();
  EXPECT_NE(stuck(loop, Millis{1}).find("the fold thread has been working on one thing for "), std::string::npos);
  EXPECT_EQ(stuck(loop, Millis{600'000}), "");
  released.set_value();
}

TEST(MissingAuthorities, AreThoseThatTheNextStartMakes) {
  const TestDirectory directory{"authorities"};
  const std::string pki = directory.path() + "/pki/";
  EXPECT_EQ(missing_authorities(directory.path()),
            (std::vector<std::string>{pki + "ca.crt", pki + "service-accounts.crt", pki + "front-proxy-ca.crt"}));
  ASSERT_TRUE(load_identity(directory.path(), {"127.0.0.1", 0}, {}));
  EXPECT_EQ(missing_authorities(directory.path()), (std::vector<std::string>{pki + "front-proxy-ca.crt"}));
}

}  // namespace
}  // namespace shiplog
