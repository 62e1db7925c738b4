// The part of the contract that needs several processes. A child is forked before this process opens a journal: neither
// SQLite nor a broker's client library survives a fork.

#include <csignal>
#include <map>
#include <random>
#include <semaphore>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/journal_contract/journal_contract.h"

namespace shiplog {
namespace {

struct MessagePipe {
  MessagePipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~MessagePipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  int ends[2] = {-1, -1};
};

template <class Message>
void send(int fd, const Message& message) {
  if (::write(fd, &message, sizeof message) != static_cast<ssize_t>(sizeof message)) ::_exit(3);
}

// Messages are shorter than PIPE_BUF, so each one arrives whole.
template <class Message>
bool receive(int fd, Message& message) {
  return ::read(fd, &message, sizeof message) == static_cast<ssize_t>(sizeof message);
}

// Runs `body` in a child process, which exits with its result.
template <class Body>
pid_t in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  EXPECT_GT(child, 0);
  return child;
}

int exit_code(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Any length up to several pages. The content follows from the two numbers, so any wrong byte is detected.
std::string entry(int round, int index) {
  std::minstd_rand random(static_cast<unsigned>(round * 100'003 + index + 1));
  std::string bytes = std::to_string(round) + ":" + std::to_string(index) + ":";
  const size_t length = random() % 7 == 0 ? random() % 20'000 : random() % 600;
  while (bytes.size() < length) bytes.push_back(static_cast<char>(random() & 0xFF));
  return bytes;
}

struct Acknowledged {
  int index;
  int64_t offset;
};

int append_until_killed(JournalPlace& place, int round, int acknowledgements) {
  auto journal = place.open();
  if (!journal) return 2;
  std::counting_semaphore<64> in_flight(64);
  for (int index = 0;; ++index) {
    in_flight.acquire();
    journal.value()->append(entry(round, index), [&in_flight, index, acknowledgements](const Result<Offset>& stored) {
      if (!stored) ::_exit(4);
      send(acknowledgements, Acknowledged{index, stored.value().value});
      in_flight.release();
    });
  }
}

TEST_P(JournalContract, EveryAcknowledgedEntrySurvivesKill9OnceAndInOrder) {
  if (!GetParam().durable) GTEST_SKIP() << "not a durable backend";
  constexpr int kRounds = 12;
  std::mt19937 random(20240501);
  std::map<int64_t, std::string> acknowledged_entries;  // the acknowledged entries of all rounds so far
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    MessagePipe pipe;
    const pid_t child = in_child([&] { return append_until_killed(*place_, round, pipe.ends[1]); });
    pipe.close_end(1);
    const auto kill_after = random() % 700;
    Acknowledged answer = {};
    for (size_t count = 0; count < kill_after && receive(pipe.ends[0], answer); ++count) {
      acknowledged_entries[answer.offset] = entry(round, answer.index);
    }
    ::kill(child, SIGKILL);
    EXPECT_EQ(exit_code(child), 128 + SIGKILL);
    while (receive(pipe.ends[0], answer)) acknowledged_entries[answer.offset] = entry(round, answer.index);

    const auto stored = read_all(*open());
    std::vector<int> next(static_cast<size_t>(round) + 1, 0);  // each round's entries: 0, 1, 2, ... none twice
    size_t kept = 0;
    for (const auto& record : stored) {
      const int of_round = std::stoi(record.bytes);
      ASSERT_LE(of_round, round);
      int& index = next[static_cast<size_t>(of_round)];
      ASSERT_TRUE(record.bytes == entry(of_round, index)) << "at offset " << record.offset.value;
      ++index;
      const auto promise = acknowledged_entries.find(record.offset.value);
      if (promise == acknowledged_entries.end()) continue;  // stored, but killed before the acknowledgement
      ++kept;
      ASSERT_TRUE(promise->second == record.bytes) << "at offset " << record.offset.value;
    }
    ASSERT_EQ(kept, acknowledged_entries.size()) << "acknowledged entries are missing";
  }
}

// The whole journal as a reader sees it, as one number per record.
std::vector<size_t> digests(const std::vector<JournalRecord>& records) {
  std::vector<size_t> all;
  for (const auto& record : records) {
    all.push_back(std::hash<std::string>()(std::to_string(record.offset.value) + " " + record.bytes));
  }
  return all;
}

TEST_P(JournalContract, TwoProcessesAppendToAndTailOneJournal) {
  if (!GetParam().durable) GTEST_SKIP() << "not a durable backend";
  constexpr int kEach = 300;
  MessagePipe pipe;
  const auto take_part = [this](const std::string& who) {
    const auto journal = place_->open();
    if (!journal) return std::vector<size_t>{};
    const auto tail = journal.value()->tail({}).value();
    std::vector<std::future<Result<Offset>>> answers;
    for (int i = 0; i < kEach; ++i) {
      answers.push_back(append(*journal.value(), who + std::to_string(i)));
      if (i % 10 == 9) answers.back().wait();
    }
    for (auto& answer : answers) {
      if (!answer.get()) return std::vector<size_t>{};
    }
    return digests(read(*tail, 2 * kEach));
  };
  const pid_t child = in_child([&] {
    for (const size_t digest : take_part("child ")) send(pipe.ends[1], digest);
    return 0;
  });
  pipe.close_end(1);
  const auto seen_here = take_part("parent ");
  std::vector<size_t> seen_there;
  for (size_t digest = 0; receive(pipe.ends[0], digest);) seen_there.push_back(digest);
  EXPECT_EQ(exit_code(child), 0);
  EXPECT_EQ(seen_here.size(), 2U * kEach);
  EXPECT_EQ(seen_here, seen_there);
}

TEST_P(JournalContract, AnAppendNotifiesATailOfAnotherProcess) {
  if (!GetParam().durable) GTEST_SKIP() << "not a durable backend";
  constexpr int kRounds = 100;
  // Each waits for the other's entry before it appends. Polling four times a second would take 50 s.
  const auto play = [this](int remainder) {
    const auto journal = place_->open();
    if (!journal) return 2;
    const auto tail = journal.value()->tail({}).value();
    for (int turn = 0; turn < 2 * kRounds; ++turn) {
      if (turn % 2 == remainder && append_now(*journal.value(), std::to_string(turn)).value < 0) return 3;
      if (bytes_of(read(*tail, 1)) != std::vector<std::string>{std::to_string(turn)}) return 4;
    }
    return 0;
  };
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = in_child([&] { return play(1); });
  EXPECT_EQ(play(0), 0);
  EXPECT_EQ(exit_code(child), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace shiplog
