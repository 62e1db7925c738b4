#include "services/runtime/trace.h"

#include <gtest/gtest.h>

namespace shiplog {
namespace {

constexpr const char* kId = "4bf92f3577b34da6a3ce929d0e0e4736";

TEST(Traceparent, KeepsTheIdAndTheSampledFlagOfAValidHeader) {
  EXPECT_EQ(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), (TraceContext{kId, true}));
  EXPECT_EQ(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"), (TraceContext{kId, false}));
  EXPECT_EQ(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0b"), (TraceContext{kId, true}))
      << "other flags have no meaning in level 1";
}

TEST(Traceparent, ReadsALaterVersionAsFarAsItIsKnown) {
  EXPECT_TRUE(parse_traceparent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  EXPECT_TRUE(parse_traceparent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-may-come"));
  EXPECT_FALSE(parse_traceparent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what-may-come"));
}

TEST(Traceparent, IgnoresAnInvalidHeader) {
  for (const char* text : {
           "",
           "00",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
           "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e473\n-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
           "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01",
       }) {
    EXPECT_FALSE(parse_traceparent(text)) << text;
  }
}

TEST(Traceparent, OfACallHasTheTraceAndASpanOfItsOwn) {
  SeededRandom random{1};
  const TraceContext trace{kId, true};
  const std::string first = traceparent_of(trace, random);
  const std::string second = traceparent_of(trace, random);
  EXPECT_EQ(parse_traceparent(first), trace) << first;
  EXPECT_EQ(parse_traceparent(second), trace) << second;
  EXPECT_NE(first, second);
  EXPECT_EQ(traceparent_of({kId, false}, random).substr(52), "-00");
}

TEST(JournaledTrace, KeepsTheSampledFlag) {
  EXPECT_EQ(journaled({kId, false}), kId);
  EXPECT_EQ(journaled({kId, true}), std::string{kId} + "-01");
  EXPECT_EQ(trace_from_journal(journaled({kId, true})), (TraceContext{kId, true}));
  EXPECT_EQ(trace_from_journal(journaled({kId, false})), (TraceContext{kId, false}));
  EXPECT_EQ(trace_from_journal(""), TraceContext{}) << "entries of earlier builds";
}

TEST(NewTrace, IsAValidOneThatIsNotSampled) {
  SeededRandom random{1};
  const TraceContext trace = new_trace(random);
  EXPECT_EQ(parse_traceparent(traceparent_of(trace, random)), trace);
  EXPECT_FALSE(trace.sampled);
  EXPECT_NE(trace.id, new_trace(random).id);
}

TEST(Tracestate, IsPassedOnOnlyIfItIsValid) {
  EXPECT_TRUE(is_tracestate("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"));
  EXPECT_TRUE(is_tracestate("fw529a3039@dt=FfAAd, \tshiplog=a b"));
  EXPECT_TRUE(is_tracestate("a=1,,b=2,"));
  for (const char* text : {"", ",", " ", "a", "a=", "=1", "A=1", "1a=1", "a=1;b=2=3", "a=\x01", "@v=1", "t@1=1",
                           "a=1\r\nX-Remote-User: admin"}) {
    EXPECT_FALSE(is_tracestate(text)) << text;
  }
}

TEST(Tracestate, IsLimited) {
  const std::string value(256, 'v');
  EXPECT_TRUE(is_tracestate("a=" + value + ",b=" + std::string(251, 'v')));
  EXPECT_FALSE(is_tracestate("a=" + value + ",b=" + std::string(252, 'v'))) << "513 bytes";
  EXPECT_FALSE(is_tracestate("a=" + value + "v"));
  std::string members = "k=1";
  for (int count = 1; count < 32; ++count) members += ",k" + std::to_string(count) + "=1";
  EXPECT_TRUE(is_tracestate(members));
  EXPECT_FALSE(is_tracestate(members + ",z=1")) << "33 members";
}

}  // namespace
}  // namespace shiplog
