#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "services/api/pipeline/server.h"
#include "services/api/search/search_cache.h"
#include "services/api/search/search_list.h"

namespace shiplog::api {

/// Watches over clusters (6.5.8 to 6.5.12). A watch takes what is new when its client has received the last bytes: a
/// slow client delays no other, and one that falls behind the newest changes ends with 410. It ends when the selection
/// changes, so that the client begins again with the clusters that there are then. Threads: any.
class SearchWatches : public std::enable_shared_from_this<SearchWatches> {
 public:
  /// `post`: where events are made.
  SearchWatches(ServerPtr server, SearchCache& cache, std::function<void(std::function<void()>)> post)
      : server_{std::move(server)}, cache_{cache}, post_{std::move(post)} {}

  /// Answers the request from here on.
  void start(const RequestContextPtr& context, const ReadOptions& options);
  /// Something of the resource has changed; "": the selection has.
  void wake(const std::string& resource);
  void stop();
  size_t count() const;

 private:
  class Session;
  void tick();
  void run(const std::shared_ptr<Session>& session);

  const ServerPtr server_;
  SearchCache& cache_;
  const std::function<void(std::function<void()>)> post_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Session>> sessions_;
  bool ticking_ = false;
};

}  // namespace shiplog::api
