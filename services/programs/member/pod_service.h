#pragma once

#include <memory>

#include "services/api/pipeline/server.h"
#include "services/runtime/replica.h"

namespace shiplog::member {

/// Serves log, exec, attach and portforward of the pods of a trial member: ServerOptions::pod_actions. It has a thread
/// of its own, on which all sessions run; commands take turns on it and touch nothing but their own container's files.
/// Threads: serve() from any; on_folded() from the fold thread.
class PodService final : public Observer {
 public:
  PodService();
  ~PodService() override;

  void serve(const api::RequestContextPtr& context, const Value& pod, const api::StoredObjects& objects);
  /// Ends what runs in pods that are deleted.
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;
  /// Ends all sessions. Before the HTTP server stops.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::member
