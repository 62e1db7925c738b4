#include "services/api/pipeline/async.h"

#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace shiplog::api {
namespace {

namespace asio = boost::asio;

class InlineExecutor {
 public:
  bool operator==(const InlineExecutor&) const noexcept = default;

  template <class Work>
  void execute(Work&& work) const {
    std::decay_t<Work> run{std::forward<Work>(work)};
    std::move(run)();
  }
  asio::execution_context& query(asio::execution::context_t) const noexcept {
    static asio::execution_context context;
    return context;
  }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.possibly;
  }
  // "Never" is treated as "soon": what runs at once here has been suspended before.
  InlineExecutor require(asio::execution::blocking_t::never_t) const noexcept { return {}; }
  InlineExecutor require(asio::execution::blocking_t::possibly_t) const noexcept { return {}; }
};

/// Completion handlers are move-only, callbacks are copied.
template <class Handler>
auto shared(Handler handler) {
  return std::make_shared<Handler>(std::move(handler));
}

using asio::use_awaitable;
using Token = const asio::use_awaitable_t<>;

}  // namespace

void Lane::post(std::function<void()> work) const {
  if (large != nullptr) return server->large->post(std::move(work));
  server->post_blocking(std::move(work));
}

asio::any_io_executor inline_executor() { return InlineExecutor{}; }

awaitable<void> continue_on(Lane& lane) {
  return asio::async_initiate<Token, void()>(
      [&lane](auto handler) {
        lane.entered = true;
        lane.post([held = shared(std::move(handler))] { std::move (*held)(); });
      },
      use_awaitable);
}

awaitable<void> continue_evaluating(Lane& lane) {
  return asio::async_initiate<Token, void()>(
      [&lane](auto handler) {
        lane.entered = false;
        lane.server->post_evaluation([held = shared(std::move(handler))] { std::move (*held)(); });
      },
      use_awaitable);
}

awaitable<Result<void>> when_current(Store& store, Lane& lane) {
  return asio::async_initiate<Token, void(Result<void>)>(
      [&store, &lane](auto handler) {
        lane.entered = true;
        store.when_current([&lane, held = shared(std::move(handler))](const Result<void>& current) {
          lane.post([held, current] { std::move (*held)(current); });
        });
      },
      use_awaitable);
}

awaitable<Result<Outcome>> append(const Server& server, const RequestContext& context, Lane& lane, Store& store,
                                  Entry& entry) {
  return asio::async_initiate<Token, void(Result<Outcome>)>(
      [&server, &context, &lane, &store, &entry](auto handler) {
        lane.entered = false;
        auto done = [held = shared(std::move(handler))](Result<Outcome> outcome) {
          std::move (*held)(std::move(outcome));
        };
        server.denials->append(store, std::move(entry), server.deadlines->guard(context.timeout, std::move(done)));
      },
      use_awaitable);
}

awaitable<Result<Outcome>> try_out(const Server& server, const RequestContext& context, Lane& lane, Store& store,
                                   Entry& entry) {
  entry.id = new_entry_id(*server.options.random);
  entry.time = server.options.clock->now();
  return asio::async_initiate<Token, void(Result<Outcome>)>(
      [&server, &context, &lane, &store, &entry](auto handler) {
        lane.entered = false;
        auto done = [held = shared(std::move(handler))](Result<Outcome> outcome) {
          std::move (*held)(std::move(outcome));
        };
        Replica& replica = store.replica();
        replica.executor().post(
            [&replica, entry = std::move(entry), answer = server.deadlines->guard(context.timeout, std::move(done))] {
              const State& state = replica.state();
              answer(Outcome{replica.next(), state.revision(), would_refuse(state, entry), {}, false});
            });
      },
      use_awaitable);
}

void append_settlement(const Server& server, Entry entry, std::function<void(Result<Outcome>)> done) {
  constexpr Millis kLongest{60'000};
  append_audit(server, std::move(entry), kLongest, std::move(done));
}

void append_audit(const Server& server, Entry entry, Millis timeout, std::function<void(Result<Outcome>)> done) {
  Replica& replica = server.options.record->replica();
  replica.append(std::move(entry), server.deadlines->guard(timeout, std::move(done)));
}

awaitable<LargeRequests::Permit> turn_to_append(LargeRequests& large) {
  return asio::async_initiate<Token, void(LargeRequests::Permit)>(
      [&large](auto handler) {
        large.append(
            [held = shared(std::move(handler))](LargeRequests::Permit turn) { std::move (*held)(std::move(turn)); });
      },
      use_awaitable);
}

awaitable<AdmissionResponse> call_webhook(const WebhookCalls& calls, const AdmissionWebhook& webhook,
                                          const AdmissionRequest& request) {
  return asio::async_initiate<Token, void(AdmissionResponse)>(
      [&calls, &webhook, &request](auto handler) {
        call_webhook(calls, webhook, request, [held = shared(std::move(handler))](AdmissionResponse response) {
          std::move (*held)(std::move(response));
        });
      },
      use_awaitable);
}

awaitable<AdmissionResponse> call_validating_webhooks(const WebhookCalls& calls, const AdmissionRequest& request) {
  return asio::async_initiate<Token, void(AdmissionResponse)>(
      [&calls, &request](auto handler) {
        call_validating_webhooks(calls, request, [held = shared(std::move(handler))](AdmissionResponse response) {
          std::move (*held)(std::move(response));
        });
      },
      use_awaitable);
}

}  // namespace shiplog::api
