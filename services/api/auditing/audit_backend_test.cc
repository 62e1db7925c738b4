#include "services/api/auditing/audit_backend.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "events/base/json.h"
#include "events/base/system.h"
#include "services/api/auditing/audit_log_sink.h"
#include "services/api/auditing/auditor.h"
#include "services/http/private_file.h"
#include "services/runtime/metrics.h"

namespace shiplog::api {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

AuditLogEvent event(const std::string& id, std::string body = "") {
  auto request = std::make_shared<AuditedRequest>();
  request->decision.level = body.empty() ? AuditLevel::kMetadata : AuditLevel::kRequest;
  request->audit_id = id;
  request->content_type = "application/json";
  if (!body.empty()) request->body = std::make_shared<const std::string>(std::move(body));
  AuditLogEvent event;
  event.request = std::move(request);
  return event;
}

std::string metric(const std::string& line_start) {
  const std::string all = metrics::text();
  const size_t at = all.find(line_start);
  if (at == std::string::npos) return "";
  return all.substr(at + line_start.size(), all.find('\n', at) - at - line_start.size());
}

int lost(const std::string& plugin) {
  const std::string value = metric("apiserver_audit_error_total{plugin=\"" + plugin + "\"} ");
  return value.empty() ? 0 : std::stoi(value);
}

class AuditBackendTest : public ::testing::Test {
 protected:
  AuditBackendTest() {
    std::string name = fs::temp_directory_path() / "audit-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~AuditBackendTest() override { fs::remove_all(folder_); }

  std::unique_ptr<AuditSink> log(const std::string& path) {
    RotatingFile::Options file;
    file.path = path;
    file.clock = &clock_;
    auto sink = make_audit_log(file, AuditLogFormat::kJson);
    EXPECT_TRUE(sink) << sink.error().message;
    return std::move(sink).value();
  }
  std::string path(const char* name = "audit.log") const { return folder_ / name; }

  static std::vector<std::string> ids(const std::string& lines) {
    std::vector<std::string> ids;
    for (size_t begin = 0; begin < lines.size();) {
      const size_t end = lines.find('\n', begin);
      ids.push_back(parse_json(lines.substr(begin, end - begin)).value()["auditID"].str());
      begin = end + 1;
    }
    return ids;
  }

  fs::path folder_;
  SystemClock clock_;
};

using Ids = std::vector<std::string>;

TEST_F(AuditBackendTest, WritesEventsInTheirOrderAndWhatWaitsAtItsEnd) {
  {
    AuditBackend backend{{.plugin = "log", .batching = {.batch = 400}}, log(path())};
    for (const char* id : {"a", "b", "c"}) backend.record(event(id), nullptr);
  }
  EXPECT_EQ(ids(read_file(path()).value()), (Ids{"a", "b", "c"}));
}

TEST_F(AuditBackendTest, BlockingCallsBackWhenTheEventIsWritten) {
  AuditBackend backend{{.plugin = "log", .mode = AuditMode::kBlocking}, log(path())};
  std::promise<bool> done;
  backend.record(event("a"), [&](const Result<void>& recorded) { done.set_value(recorded.has_value()); });
  EXPECT_TRUE(done.get_future().get());
  EXPECT_EQ(ids(read_file(path()).value()), (Ids{"a"}));
}

TEST_F(AuditBackendTest, AFullDiskIsSeenByThoseWhoWaitAndInTheMetrics) {
  const int before = lost("full");
  AuditBackend backend{{.plugin = "full", .mode = AuditMode::kBlockingStrict}, log("/dev/full")};
  std::promise<std::string> done;
  backend.record(event("a"),
                 [&](const Result<void>& recorded) { done.set_value(recorded ? "" : recorded.error().message); });
  EXPECT_EQ(done.get_future().get(), "/dev/full: cannot be written: No space left on device");
  EXPECT_EQ(lost("full"), before + 1);
}

/// A pipe that is full and is not read: a write to it blocks, as to a disk that hangs.
class BlockedDisk {
 public:
  explicit BlockedDisk(const std::string& path) {
    ::signal(SIGPIPE, SIG_IGN);  // as in shiplogd
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    reader_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    const int writer = ::open(path.c_str(), O_WRONLY | O_NONBLOCK);
    const std::string filling(4096, 'x');
    while (::write(writer, filling.data(), filling.size()) > 0) {
    }
    ::close(writer);
  }
  ~BlockedDisk() { ::close(reader_); }

 private:
  int reader_ = -1;
};

TEST_F(AuditBackendTest, ABlockedDiskDelaysNothingInBatchModeAndDropsAreCounted) {
  const BlockedDisk disk{path("fifo")};
  const int before = lost("blocked");
  const auto begin = std::chrono::steady_clock::now();
  {
    AuditBackend backend{{.plugin = "blocked", .batching = {.buffer = 10}}, log(path("fifo"))};
    backend.record(event("first"), nullptr);
    std::this_thread::sleep_for(100ms);  // it is being written, for ever
    const auto record = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) backend.record(event(std::to_string(i)), nullptr);
    EXPECT_LT(std::chrono::steady_clock::now() - record, 500ms);
    EXPECT_EQ(lost("blocked"), before + 90);
  }
  // The end of the process does not wait for it either, and what waited is counted.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_EQ(lost("blocked"), before + 101);
}

TEST_F(AuditBackendTest, WaitingEventsAreBoundedByTheirBytesToo) {
  const BlockedDisk disk{path("fifo")};
  const int before = lost("bytes");
  AuditBackend backend{{.plugin = "bytes", .most_bytes = 100'000}, log(path("fifo"))};
  backend.record(event("first"), nullptr);
  std::this_thread::sleep_for(100ms);
  for (int i = 0; i < 10; ++i) backend.record(event("x", std::string(30'000, 'x')), nullptr);
  EXPECT_EQ(lost("bytes"), before + 7);
}

TEST_F(AuditBackendTest, ALongEventIsShortenedOrLost) {
  const int before = lost("long");
  {
    AuditBackend backend{{.plugin = "long", .truncation = {true, 600, 10'000}}, log(path())};
    backend.record(event("a", R"({"data":")" + std::string(2000, 'x') + R"("})"), nullptr);
    backend.record(event(std::string(1000, 'i')), nullptr);
    backend.record(event("b"), nullptr);
  }
  const std::string lines = read_file(path()).value();
  EXPECT_EQ(ids(lines), (Ids{"a", "b"}));
  EXPECT_NE(lines.find("\"audit.k8s.io/truncated\":\"true\""), std::string::npos);
  EXPECT_EQ(lost("long"), before + 1);
}

/// Remembers how many events came together.
class CountingSink final : public AuditSink {
 public:
  explicit CountingSink(std::vector<size_t>& sizes) : sizes_{sizes} {}
  Result<void> deliver(const std::vector<Value>& events) override {
    sizes_.push_back(events.size());
    return ok();
  }

 private:
  std::vector<size_t>& sizes_;
};

TEST_F(AuditBackendTest, ABatchIsFullOrHasWaited) {
  std::vector<size_t> sizes;
  {
    AuditBackend backend{{.plugin = "log", .batching = {.batch = 3, .wait = Millis{300}}},
                         std::make_unique<CountingSink>(sizes)};
    for (int i = 0; i < 7; ++i) backend.record(event("a"), nullptr);
    std::this_thread::sleep_for(100ms);
    backend.record(event("a"), nullptr);
    std::this_thread::sleep_for(600ms);
    backend.record(event("a"), nullptr);
  }
  EXPECT_EQ(sizes, (std::vector<size_t>{3, 3, 2, 1}));
}

TEST_F(AuditBackendTest, BatchesAreThrottled) {
  std::vector<size_t> sizes;
  AuditBackend backend{{.plugin = "log", .batching = {.batch = 1, .throttled = true, .per_second = 1, .burst = 2}},
                       std::make_unique<CountingSink>(sizes)};
  for (int i = 0; i < 10; ++i) backend.record(event("a"), nullptr);
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(sizes.size(), 2U);
}

TEST_F(AuditBackendTest, OnlyAStrictBackendRefuses) {
  const auto stored = [&](AuditMode mode) {
    std::vector<std::unique_ptr<AuditBackend>> backends;
    backends.push_back(
        std::make_unique<AuditBackend>(AuditBackend::Options{.plugin = "full", .mode = mode}, log("/dev/full")));
    backends.push_back(std::make_unique<AuditBackend>(AuditBackend::Options{.plugin = "log"}, log(path())));
    const Auditor auditor{AuditPolicy{}, std::move(backends)};
    auto done = std::make_shared<std::promise<bool>>();
    auto result = done->get_future();
    auditor.record(event("a"), [done](bool is_stored) { done->set_value(is_stored); });
    return result.get();
  };
  EXPECT_TRUE(stored(AuditMode::kBatch));
  EXPECT_TRUE(stored(AuditMode::kBlocking));
  EXPECT_FALSE(stored(AuditMode::kBlockingStrict));
}

}  // namespace
}  // namespace shiplog::api
