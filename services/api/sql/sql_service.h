#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/base/random.h"
#include "events/base/time.h"
#include "services/api/sql/sql_request.h"
#include "services/api/store.h"
#include "services/http/server.h"

namespace shiplog::api {

/// Answers /shiplog/v1/sql: statements of users over the views of the record's projection. They run on two threads of
/// their own, so that the server's workers never wait for one; a few wait, the rest are refused. A statement ends at
/// its deadline, when its client disconnects, and when the server stops. Threads: any.
class SqlService {
 public:
  struct Limits {
    size_t threads = 2;
    size_t most = 10;         ///< running and waiting, of all users
    size_t most_of_user = 4;  ///< the same of one
    int64_t memory_bytes = int64_t{256} << 20U;
  };
  SqlService(const Clock& clock, Random& random, Limits limits);
  SqlService(const Clock& clock, Random& random) : SqlService{clock, random, Limits{}} {}
  ~SqlService();
  SqlService(const SqlService&) = delete;
  SqlService& operator=(const SqlService&) = delete;

  /// The caller has checked that the user may read everything. Does not block. JSON: {kind: "SqlResult", revision,
  /// columns, rows, truncated: "", "rows" or "bytes"}. Errors are answered as metav1.Status: kTooManyRequests too.
  /// `path`: of the projection.
  void serve(const std::string& path, const std::string& user, const HttpRequest& request, const std::string& body,
             std::shared_ptr<ResponseWriter> writer);

  /// Cancels what runs and waits for it; forgets what waits.
  void stop();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog::api
