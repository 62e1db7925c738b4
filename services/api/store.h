#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/journal/journal.h"
#include "projections/store/reader.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// One journal as the API server uses it: appended to through its replica, read from its projection.
/// Threads: any.
class Store {
 public:
  Store(Journal& journal, Replica& replica, std::string projection_path)
      : journal_{journal}, replica_{replica}, path_{std::move(projection_path)} {}

  Replica& replica() { return replica_; }
  /// For those who read entries as they were appended.
  Journal& journal() { return journal_; }
  /// The offset after the newest entry of the journal. Error: kIo, kUnavailable.
  Result<Offset> head() const { return journal_.head(); }
  /// The projection with its write-ahead log.
  uint64_t projection_bytes() const;
  Feed& feed() { return replica_.feed(); }

  /// Calls back, here or on the executor, once everything that was acknowledged by any API server before this call is
  /// visible: with it, a read is linearizable.
  void when_current(std::function<void(Result<void>)> then);

  /// Runs `read` with a view of the projection. Connections are kept and used again.
  template <class F>
  auto read(F&& read) -> decltype(read(std::declval<const View&>())) {
    SHIPLOG_TRY(auto reader, take());
    auto answer = [&]() -> decltype(read(std::declval<const View&>())) {
      SHIPLOG_TRY(const auto view, reader->view());
      return read(view);
    }();
    give_back(std::move(reader));
    return answer;
  }

 private:
  Result<std::unique_ptr<Reader>> take();
  void give_back(std::unique_ptr<Reader> reader);

  Journal& journal_;
  Replica& replica_;
  std::string path_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Reader>> idle_;
};

}  // namespace shiplog::api
