#pragma once

#include <memory>
#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"

namespace shiplog {

namespace sqlite {
class Connection;
}

/// A read transaction: every query through it sees the same revision, regardless of concurrent writes. Short-lived:
/// while it is open the file cannot reclaim the space of newer writes. Must be destroyed before its Reader. Threads:
/// the reader's.
class View {
 public:
  View(View&& other) noexcept;
  View& operator=(View&&) = delete;
  ~View();

  /// The newest folded revision in this view. 0: nothing yet.
  Revision revision() const { return revision_; }
  /// The first journal offset that is not in this view.
  Offset next() const { return next_; }

  /// For the query classes.
  sqlite::Connection& connection() const { return *connection_; }

 private:
  friend class Reader;
  View(sqlite::Connection* connection, Revision revision, Offset next);

  sqlite::Connection* connection_;  // null: moved from
  Revision revision_;
  Offset next_;
};

/// A read-only connection. Any number may be open, also while Projections applies entries and in other processes;
/// readers and writer do not wait for each other. Threads: one at a time.
class Reader {
 public:
  /// The file must have been created by Projections::open of this build. Errors: kUnavailable, created by another build
  /// (or not created yet); kIo; kCorrupt.
  static Result<Reader> open(const std::string& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// Begins a view at the newest committed batch. One view per reader at a time.
  Result<View> view();

 private:
  explicit Reader(std::unique_ptr<sqlite::Connection> connection);
  std::unique_ptr<sqlite::Connection> connection_;
};

}  // namespace shiplog
