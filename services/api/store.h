#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "events/base/result.h"
#include "events/journal/journal.h"
#include "projections/objects/object_query.h"
#include "projections/store/reader.h"
#include "services/runtime/projection_queue.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// One journal as the API server uses it: appended to through its replica, read from its projection.
/// Threads: any.
class Store {
 public:
  /// `queue`: that of the replica, if it has one.
  Store(Journal& journal, Replica& replica, std::string projection_path, ProjectionQueue* queue = nullptr)
      : journal_{journal}, replica_{replica}, queue_{queue}, path_{std::move(projection_path)} {}

  Replica& replica() { return replica_; }
  /// For those who read entries as they were appended.
  Journal& journal() { return journal_; }
  /// The offset after the newest entry of the journal. Error: kIo, kUnavailable.
  Result<Offset> head() const { return journal_.head(); }
  /// The projection with its write-ahead log.
  uint64_t projection_bytes() const;
  Feed& feed() { return replica_.feed(); }

  /// Replica::when_current: everything that was acknowledged by any API server before this call is visible then.
  void when_current(std::function<void(Result<void>)> then) { replica_.when_current(std::move(then)); }

  /// Everything that is visible is in the projection when this returns: for those who read it by themselves.
  Result<void> settle() { return replica_.settle(); }

  /// Runs `read` with a view of the projection, of everything that is visible. Connections are kept and used again.
  template <class F>
  auto read(F&& read) -> decltype(read(std::declval<const View&>())) {
    SHIPLOG_TRY(settle());
    return read_as_it_is(std::forward<F>(read));
  }

  /// The visible version of an object, which may be read before it is in the projection; nullopt: there is none.
  Result<std::optional<ObjectRow>> newest(const ObjectKey& object);

 private:
  template <class F>
  auto read_as_it_is(F&& read) -> decltype(read(std::declval<const View&>())) {
    SHIPLOG_TRY(auto reader, take());
    auto answer = [&]() -> decltype(read(std::declval<const View&>())) {
      SHIPLOG_TRY(const auto view, reader->view());
      return read(view);
    }();
    give_back(std::move(reader));
    return answer;
  }

  Result<std::unique_ptr<Reader>> take();
  void give_back(std::unique_ptr<Reader> reader);

  Journal& journal_;
  Replica& replica_;
  ProjectionQueue* queue_;
  std::string path_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Reader>> idle_;
};

}  // namespace shiplog::api
