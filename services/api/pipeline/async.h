#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "services/api/pipeline/server.h"

namespace shiplog::api {

using boost::asio::awaitable;

/// Where the blocking work of one request runs: on the workers or, of a large request, on the thread of these.
struct Lane {
  const Server* server = nullptr;
  LargeRequests::Permit large;  ///< nullptr: the request is not large
  bool entered = false;         ///< the request runs there now
  void post(std::function<void()> work) const;
};

/// Runs what it is given at once, on the calling thread. With it a request continues on the thread that completes what
/// it waited for: no thread is resumed only to pass it on.
boost::asio::any_io_executor inline_executor();

// The callback interfaces, wrapped. Each completes on the thread that calls back: references must outlive that.

/// Continues on the lane.
awaitable<void> continue_on(Lane& lane);
/// Leaves the lane, and continues where admission policies are evaluated (Server::post_evaluation).
awaitable<void> continue_evaluating(Lane& lane);
/// Continues on the lane once everything that was acknowledged before is visible (Store::when_current).
awaitable<Result<void>> when_current(Store& store, Lane& lane);
/// Appends an entry of a client (Denials::append) and continues on the fold thread with its outcome. Error: also
/// kTimeout, the journal took longer than the request may.
awaitable<Result<Outcome>> append(const Server& server, const RequestContext& context, Lane& lane, Store& store,
                                  Entry& entry);
/// Continues on the fold thread with what the entry would be refused for now; it is not stored. Error: kTimeout.
awaitable<Result<Outcome>> try_out(const Server& server, const RequestContext& context, Lane& lane, Store& store,
                                   Entry& entry);
/// Appends the entry that settles a produced request which was not carried out, to the record, and calls `done` on the
/// fold thread. Threads: any.
void append_settlement(const Server& server, Entry entry, std::function<void(Result<Outcome>)> done);
/// Appends an audit entry about what was done elsewhere, to the record, and calls `done` once: on the fold thread, or
/// after `timeout` with kTimeout. Threads: any.
void append_audit(const Server& server, Entry entry, Millis timeout, std::function<void(Result<Outcome>)> done);
/// Continues on the thread of large requests, in turn: until the place is released, no other large entry is appended.
awaitable<LargeRequests::Permit> turn_to_append(LargeRequests& large);
/// See webhooks/call.h.
awaitable<AdmissionResponse> call_webhook(const WebhookCalls& calls, const AdmissionWebhook& webhook,
                                          const AdmissionRequest& request);
awaitable<AdmissionResponse> call_validating_webhooks(const WebhookCalls& calls, const AdmissionRequest& request);

}  // namespace shiplog::api
