#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "services/api/listing.h"
#include "services/api/pipeline/conversions.h"
#include "services/api/pipeline/oldest_readable.h"
#include "services/api/pipeline/pipeline.h"
#include "services/api/pipeline/responses.h"
#include "services/api/pipeline/stages.h"
#include "services/api/selector/selector.h"

namespace shiplog::api {
namespace {

using Failure = std::optional<Rejection>;

/// What became of the deletions, with the warnings of all.
struct DeletedAll {
  Failure failed;
  std::vector<std::string> warnings;
};

/// The deletions that are under way.
struct Deletions {
  std::function<void(DeletedAll)> done;
  std::mutex mutex;
  size_t left = 0;
  DeletedAll all;

  void complete_one(Failure failure, std::vector<std::string> warnings) {
    {
      const std::lock_guard lock{mutex};
      if (failure) all.failed = std::move(failure);
      std::ranges::move(warnings, std::back_inserter(all.warnings));
      if (--left > 0) return;
    }
    done(std::move(all));
  }
};

awaitable<void> delete_single(const Server& server, const RequestContext& context, WriteRequest write, Lane lane,
                              std::shared_ptr<Deletions> deletions) {
  auto written = co_await carry_out(server, context, write, lane);
  Failure failure;
  std::vector<std::string> warnings;
  if (written) {
    warnings = std::move(written.value().proposal.warnings);
  } else {
    failure = std::move(written).error();
    record_rejection(server, context, *failure);
    failure->denied.reset();  // it is recorded
    warnings = std::exchange(failure->warnings, {});
    // Gone meanwhile is as good (DEL-11).
    if (failure->error.code == ErrorCode::kNotFound) failure.reset();
  }
  deletions->complete_one(std::move(failure), std::move(warnings));
}

/// Deletes the objects; completes when the last one is deleted, on the thread that completes it. All are appended
/// without waiting for each other, so that the journal stores them together.
awaitable<DeletedAll> delete_all(boost::asio::any_io_executor executor, const Server& server,
                                 const RequestContext& context, const WriteRequest& write, const Lane& lane,
                                 const std::vector<Value>& items) {
  return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(DeletedAll)>(
      [executor, &server, &context, &write, &lane, &items](auto handler) {
        auto deletions = std::make_shared<Deletions>();
        auto held = std::make_shared<decltype(handler)>(std::move(handler));
        deletions->done = [held](DeletedAll all) { std::move (*held)(std::move(all)); };
        deletions->left = items.size() + 1;  // one for this loop
        for (const Value& item : items) {
          const ObjectKey key{context.kind->type(), item["metadata"]["namespace"].str(),
                              item["metadata"]["name"].str()};
          auto single = delete_single(server, context, write.for_object(key, item), lane, deletions);
          boost::asio::co_spawn(executor, std::move(single), [deletions](const std::exception_ptr& failure) {
            if (failure == nullptr) return;
            deletions->complete_one(
                Rejection{Error{ErrorCode::kInternal, "deleting an object of the collection failed"}}, {});
          });
        }
        deletions->complete_one({}, {});
      },
      boost::asio::use_awaitable);
}

}  // namespace

awaitable<void> delete_collection(const Server& server, const RequestContext& context, const WriteRequest& write,
                                  Lane& lane) {
  const auto options = read_options(context.request);
  if (!options) co_return reject(server, context, options.error());
  auto caught_up = co_await when_current(server.store(*context.kind), lane);
  if (!caught_up) co_return reject(server, context, caught_up.error());
  const auto oldest = oldest_readable(server, context, options.value());
  if (!oldest) co_return reject(server, context, oldest.error());
  auto listed = list_collection(server.objects, *context.kind, context.path.ns, options.value(), oldest.value());
  if (!listed) co_return reject(server, context, listed.error());
  // What is deleted is not converted, unless that decides what is deleted.
  const auto fields = parse_field_selector(options.value().field_selector, *context.kind);
  if (!fields) co_return reject(server, context, fields.error());
  if (fields.value().depends_on_version()) {
    auto converted = co_await in_requested_version(server, context, lane, std::move(listed.value().items));
    if (!converted) co_return reject(server, context, converted.error());
    auto selected = selected_again(std::move(converted).value(), *context.kind, options.value());
    if (!selected) co_return reject(server, context, selected.error());
    listed.value().items = std::move(selected).value();
  }
  const auto executor = co_await boost::asio::this_coro::executor;
  DeletedAll deleted = co_await delete_all(executor, server, context, write, lane, listed.value().items);
  // Rendering may take its time: not on the fold thread.
  co_await continue_on(lane);
  deleted.warnings.insert(deleted.warnings.begin(), write.warnings.begin(), write.warnings.end());
  if (deleted.failed) {
    deleted.failed->warnings = std::move(deleted.warnings);
    co_return reject(server, context, *deleted.failed);
  }
  // They are deleted by now: a webhook that fails makes no error.
  auto shown = co_await in_requested_version(server, context, lane, listed.value().items);
  if (shown) listed.value().items = std::move(shown).value();
  answer_list(context, std::move(listed.value().items), std::move(listed.value().metadata), server.options.clock->now(),
              deleted.warnings);
}

}  // namespace shiplog::api
