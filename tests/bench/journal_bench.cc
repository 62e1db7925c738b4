// Measures a journal on this machine: the embedded journal, with figures of the machine itself for comparison, or a
// journal on a Kafka broker, in a topic of its own.
//   journal_bench [DIRECTORY [SECONDS]]
//   journal_bench kafka:BROKER[,BROKER...] [SECONDS [SETTING=VALUE...]]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/journal/embedded/sqlite_journal.h"
#include "events/journal/kafka/kafka_journal.h"

namespace shiplog {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kEntryBytes = 1500;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

template <class T>
T or_exit(Result<T> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(1);
}

void fsync_rate(const std::string& directory, double seconds) {
  const std::string path = directory + "/fsync";
  const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  const std::string page(4096, 'x');
  int count = 0;
  const auto start = Clock::now();
  for (; seconds_since(start) < seconds; ++count) {
    if (::pwrite(fd, page.data(), page.size(), 4096 * (count % 1000)) < 0 || ::fdatasync(fd) != 0) std::exit(1);
  }
  ::close(fd);
  std::printf("%-46s %10.0f /s\n", "machine: write 4 KiB and fdatasync", count / seconds_since(start));
}

void insert_rate(const std::string& directory, double seconds) {
  sqlite3* db = nullptr;
  sqlite3_open((directory + "/insert.db").c_str(), &db);
  const auto run = [&](const char* sql) {
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) std::exit(1);
  };
  run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(id INTEGER PRIMARY KEY, bytes BLOB)");
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO t(bytes) VALUES(?1)", -1, &insert, nullptr);
  const std::string bytes(kEntryBytes, 'x');
  int count = 0;
  const auto start = Clock::now();
  while (seconds_since(start) < seconds) {
    run("BEGIN");
    for (int i = 0; i < 1000; ++i, ++count) {
      sqlite3_bind_blob(insert, 1, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
      if (sqlite3_step(insert) != SQLITE_DONE) std::exit(1);
      sqlite3_reset(insert);
    }
    run("COMMIT");
  }
  std::printf("%-46s %10.0f /s\n", "machine: SQLite inserts, 1000 a transaction", count / seconds_since(start));
  sqlite3_finalize(insert);
  sqlite3_close(db);
}

// Keeps `clients` appends in flight: each acknowledgement starts the next append.
class AppendLoad {
 public:
  AppendLoad(Journal& journal, double seconds)
      : journal_(journal),
        until_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  /// Prints nothing without a `label`.
  void run(const char* label, int clients) {
    const auto start = Clock::now();
    running_ = clients;
    for (int i = 0; i < clients; ++i) next();
    finished_.get_future().wait();
    const double took = seconds_since(start);
    if (label == nullptr) return;
    std::sort(millis_.begin(), millis_.end());
    std::printf("%-46s %10.0f /s   p50 %.2f ms, p99 %.2f ms, max %.2f ms\n", label,
                static_cast<double>(millis_.size()) / took, millis_[millis_.size() / 2],
                millis_[millis_.size() * 99 / 100], millis_.back());
  }

 private:
  // The first calls come from run(), all further ones from the journal's thread.
  void next() {
    const auto sent = Clock::now();
    journal_.append(std::string(kEntryBytes, 'x'), [this, sent](const Result<Offset>& stored) {
      if (!stored) {
        std::fprintf(stderr, "%s\n", stored.error().message.c_str());
        std::exit(1);
      }
      millis_.push_back(seconds_since(sent) * 1000);
      if (Clock::now() < until_) {
        next();
      } else if (--running_ == 0) {
        finished_.set_value();
      }
    });
  }

  Journal& journal_;
  Clock::time_point until_;
  int running_ = 0;
  std::vector<double> millis_;
  std::promise<void> finished_;
};

void read_rate(Journal& journal) {
  const auto head = or_exit(journal.head());
  const auto tail = or_exit(journal.tail({}));
  const auto start = Clock::now();
  int64_t count = 0;
  while (count < head.value) count += static_cast<int64_t>(or_exit(tail->next(1000, Millis{0})).size());
  std::printf("%-46s %10.0f /s\n", "tail: records read and verified",
              static_cast<double>(count) / seconds_since(start));
}

// Two processes append in turn, each after it has read the other's entry.
void ping_pong(const std::string& path, double seconds) {
  const auto play = [&](int64_t first, bool print) {
    const auto journal = or_exit(open_sqlite_journal(path));
    const auto tail = or_exit(journal->tail({}));
    std::vector<double> millis;
    const auto start = Clock::now();
    auto sent = start;
    for (int64_t turn = 0; true; ++turn) {
      if (turn % 2 == first) {
        const bool last = first == 0 && seconds_since(start) > seconds;
        sent = Clock::now();
        journal->append(last ? "end" : "turn", [](const Result<Offset>&) {});
      }
      const auto seen = or_exit(tail->next(1, Millis{60'000}));
      if (seen.empty() || seen[0].bytes == "end") break;
      if (turn % 2 != first) millis.push_back(seconds_since(sent) * 500);
    }
    if (!print || millis.empty()) return;
    std::sort(millis.begin(), millis.end());
    std::printf("%-46s p50 %.2f ms, p99 %.2f ms\n", "append to seen by another process", millis[millis.size() / 2],
                millis[millis.size() * 99 / 100]);
  };
  const pid_t child = ::fork();
  if (child == 0) {
    play(1, false);
    ::_exit(0);
  }
  play(0, true);
  ::waitpid(child, nullptr, 0);
}

// A process that commits continuously must not lock out the others.
void beside_a_busy_process(const std::string& path, double seconds) {
  const pid_t child = ::fork();
  if (child == 0) {
    AppendLoad(*or_exit(open_sqlite_journal(path)), seconds + 0.5).run(nullptr, 1000);
    ::_exit(0);
  }
  AppendLoad(*or_exit(open_sqlite_journal(path)), seconds).run("journal: 1 client beside a process with 1000", 1);
  ::waitpid(child, nullptr, 0);
}

void measure(const std::string& directory, double seconds) {
  fsync_rate(directory, seconds / 3);
  insert_rate(directory, seconds / 3);
  ping_pong(directory + "/pingpong.db", seconds / 3);
  beside_a_busy_process(directory + "/shared.db", seconds);
  const auto journal = or_exit(open_sqlite_journal(directory + "/journal.db"));
  AppendLoad(*journal, seconds).run("journal: 1 client, 1500 bytes, durable", 1);
  AppendLoad(*journal, seconds).run("journal: 64 clients, 1500 bytes, durable", 64);
  AppendLoad(*journal, seconds).run("journal: 1000 clients, 1500 bytes, durable", 1000);
  read_rate(*journal);
}

void measure_kafka(const std::string& brokers, double seconds, const std::vector<std::string>& settings) {
  KafkaJournalOptions options;
  options.brokers = brokers;
  options.topic = "bench-" + std::to_string(::getpid()) + ".journal";
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    options.settings[setting.substr(0, equals)] = equals == std::string::npos ? "" : setting.substr(equals + 1);
  }
  const auto journal = or_exit(open_kafka_journal(options));
  std::printf("%s\n", journal->describe().c_str());
  AppendLoad(*journal, seconds / 3).run(nullptr, 64);  // warms up the broker's just-in-time compiler
  AppendLoad(*journal, seconds).run("journal: 1 client, 1500 bytes", 1);
  AppendLoad(*journal, seconds).run("journal: 64 clients, 1500 bytes", 64);
  AppendLoad(*journal, seconds).run("journal: 1000 clients, 1500 bytes", 1000);
  read_rate(*journal);
  std::vector<double> millis;
  for (int i = 0; i < 200; ++i) {
    const auto start = Clock::now();
    or_exit(journal->head());
    millis.push_back(seconds_since(start) * 1000);
  }
  std::sort(millis.begin(), millis.end());
  std::printf("%-46s p50 %.2f ms, p99 %.2f ms\n", "head()", millis[100], millis[198]);
}

}  // namespace
}  // namespace shiplog

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const double seconds = argc > 2 ? std::strtod(argv[2], nullptr) : 3.0;
  if (argc > 1 && std::string_view{argv[1]}.starts_with("kafka:")) {
    shiplog::measure_kafka(argv[1] + 6, seconds, {argv + std::min(argc, 3), argv + argc});
    return 0;
  }
  std::string directory = std::string(argc > 1 ? argv[1] : ".") + "/journal-bench-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr) {
    std::perror(directory.c_str());
    return 1;
  }
  shiplog::measure(directory, seconds);
  std::filesystem::remove_all(directory);
}
