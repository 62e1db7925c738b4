#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include "events/base/random.h"
#include "events/codec/codec.h"
#include "events/journal/memory_journal.h"
#include "projections/runner.h"
#include "services/api/pipeline/async.h"
#include "services/api/pipeline/stages.h"
#include "services/runtime/manual_executor.h"
#include "tests/support/test_directory.h"

namespace shiplog::api {

/// Keeps the response.
class RecordingWriter final : public ResponseWriter {
 public:
  std::optional<HttpResponse> response;

  void send(HttpResponse sent) override { response = std::move(sent); }
  void start(int, HttpHeaders) override { ADD_FAILURE() << "nothing is streamed here"; }
  void write(std::string, Done) override { ADD_FAILURE() << "nothing is streamed here"; }
  void end() override {}
  void upgrade(HttpHeaders, Upgraded then) override { then(Error{ErrorCode::kUnavailable, "not a connection"}); }
  void on_close(std::function<void()>) override {}
  bool closed() const override { return false; }
};

/// What the handlers of an API server share, on a journal in memory and without threads or network: requests, blocking
/// work and the fold run when finish() or run() is called, one after the other.
class ManualServer {
 public:
  ManualServer() : journal_{make_memory_journal({.acknowledge_inside_append = true})} {
    auto opened = Projections::open(folder_.file("p.db"));
    EXPECT_TRUE(opened);
    projections_ = std::move(opened.value().projections);
    replica_.emplace(Replica::Options{"journal", journal_.get(), &executor_, &random_, projections_.get()});
    replica_->add_observer(kinds_);
    const auto from = replica_->open();
    EXPECT_TRUE(from);
    tail_ = std::move(journal_->tail(from.value()).value());
    store_.emplace(*journal_, *replica_, folder_.file("p.db"));
    ServerOptions& options = server_->options;
    options.record = &*store_;
    options.ephemera = &*store_;
    options.kinds = &kinds_;
    options.clock = &executor_;
    options.random = &random_;
    server_->objects = StoredObjects{*store_, *store_, nullptr};
    server_->post_blocking = [this](std::function<void()> work) {
      ++blocking_posts;
      boost::asio::post(io_, std::move(work));
    };
    server_->large = std::make_unique<LargeRequests>();
    server_->limiter = std::make_unique<ConcurrencyLimiter>(ConcurrencyLimiter::Limits{.reads = 2, .writes = 2});
    server_->denials = std::make_shared<Denials>(*replica_);
    server_->deadlines = std::make_shared<Deadlines>(executor_);
    put(ObjectCreated{{type::kNamespace, "", "default"}, object("default", "")});
  }

  Server& server() { return *server_; }
  ServerPtr shared() { return server_; }
  boost::asio::any_io_executor executor() { return io_.get_executor(); }
  const State& state() const { return replica_->state(); }
  size_t blocking_posts = 0;
  /// What was folded, with the refused entries.
  std::vector<Entry> journal;

  static Value object(const std::string& name, const std::string& ns = "default") {
    Value metadata = Value::object({{"name", name}});
    if (!ns.empty()) metadata.set("namespace", ns);
    return Value::object({{"metadata", std::move(metadata)}});
  }
  /// Stores an object, as an API server before this one did.
  void put(Event event) {
    put_unseen(std::move(event));
    run();
  }
  /// The same of another API server at this moment: it is acknowledged, but not folded here yet.
  void put_unseen(Event event) {
    Entry entry;
    entry.events = {std::move(event)};
    replica_->append(std::move(entry),
                     [](const Result<Outcome>& outcome) { EXPECT_TRUE(outcome && !outcome.value().refusal); });
  }

  /// A request of an administrator.
  static HttpRequest request(const std::string& method, const std::string& target,
                             const std::string& content_type = "application/json") {
    HttpRequest made;
    made.method = method;
    made.target = target;
    EXPECT_TRUE(parse_target(made));
    made.headers = {{"Content-Type", content_type}};
    made.peer.certified = true;
    made.peer.common_name = "admin";
    made.peer.organizations = {kMastersGroup};
    return made;
  }
  /// The context of such a request, resolved.
  std::unique_ptr<RequestContext> context(const std::string& method, const std::string& target,
                                          const std::string& content_type = "application/json") {
    auto made = std::make_unique<RequestContext>();
    made->request = request(method, target, content_type);
    made->timeout = Millis{60'000};
    made->user = {"admin", {kMastersGroup}, "", {}};
    writer = std::make_shared<RecordingWriter>();
    made->writer = writer;
    auto target_of = resolve(*server_, server_->options.kinds->current(), made->request, "");
    EXPECT_TRUE(target_of) << (target_of ? "" : target_of.error().error.message);
    if (target_of) static_cast<RequestTarget&>(*made) = std::move(target_of).value();
    return made;
  }
  std::shared_ptr<RecordingWriter> writer;

  Lane lane() { return {server_.get(), nullptr, true}; }

  /// Runs a stage to its end.
  template <class T>
  T finish(awaitable<T> stage) {
    std::optional<T> result;
    boost::asio::co_spawn(io_, store_result(std::move(stage), result),
                          [](const std::exception_ptr& failure) { EXPECT_EQ(failure, nullptr); });
    run();
    EXPECT_TRUE(result.has_value()) << "the stage waits for something that does not come";
    return std::move(*result);
  }
  void finish(awaitable<void> stage) {
    bool done = false;
    boost::asio::co_spawn(io_, std::move(stage), [&done](const std::exception_ptr& failure) {
      EXPECT_EQ(failure, nullptr);
      done = true;
    });
    run();
    EXPECT_TRUE(done) << "the stage waits for something that does not come";
  }

  /// Runs whatever is due, until nothing is.
  void run() {
    while (step()) {
    }
  }
  /// One round of it: requests, then the fold.
  bool step() {
    io_.restart();
    const bool worked = io_.poll() > 0;
    executor_.run();
    auto records = tail_->next(100, Millis{0});
    EXPECT_TRUE(records);
    if (records.value().empty()) return worked;
    std::vector<DecodedRecord> decoded;
    for (const JournalRecord& record : records.value()) {
      decoded.push_back({record.offset, shiplog::decode(record.bytes).value()});
      journal.push_back(decoded.back().entry);
    }
    replica_->deliver(std::move(decoded), [](const Result<void>& delivered) { EXPECT_TRUE(delivered); });
    return true;
  }

 private:
  template <class T>
  static awaitable<void> store_result(awaitable<T> stage, std::optional<T>& result) {
    auto value = co_await std::move(stage);
    result.emplace(std::move(value));
  }

  TestDirectory folder_;
  boost::asio::io_context io_;
  ManualExecutor executor_;
  SeededRandom random_{5};
  KindRegistry kinds_{Kinds::compiled()};
  std::shared_ptr<Journal> journal_;
  std::unique_ptr<Projections> projections_;
  std::optional<Replica> replica_;
  std::unique_ptr<Journal::Tail> tail_;
  std::optional<Store> store_;
  ServerPtr server_ = std::make_shared<Server>();
};

}  // namespace shiplog::api
