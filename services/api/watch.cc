#include "services/api/watch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <mutex>
#include <utility>

#include "events/base/json.h"
#include "events/base/thread_name.h"
#include "projections/history/history_query.h"
#include "projections/objects/object_query.h"
#include "services/api/listing.h"
#include "services/api/pipeline/conversions.h"
#include "services/api/pipeline/oldest_readable.h"
#include "services/api/pipeline/responses.h"
#include "services/api/selector/selector.h"
#include "services/api/table/table.h"
#include "services/api/versions/versions.h"
#include "services/api/websocket_watch.h"
#include "services/http/websocket/handshake.h"
#include "services/runtime/metrics.h"

namespace shiplog::api {
namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kPullChanges = 512;
constexpr auto kBookmarkEvery = std::chrono::seconds{60};
constexpr auto kVersionPatience = std::chrono::seconds{3};  // for a version that does not exist yet
constexpr auto kTick = std::chrono::milliseconds{500};

metrics::Counter event_counter(const Kind& kind) {
  static const metrics::CounterFamily family{
      "apiserver_watch_events_total", "Events sent to watches.", {"group", "version", "resource"}};
  return family.with({kind.group, kind.version, kind.plural});
}

}  // namespace

void when_reached(const ServerPtr& server, const RequestContextPtr& context, Revision wanted,
                  std::function<void()> then) {
  when_current(server, context, [server, context, wanted, then = std::move(then)] {
    Store& store = server->store(*context->kind);
    if (wanted <= store.feed().revision()) return then();
    server->watches->wait_for(store, wanted, then);
  });
}

class Watches::Session : public std::enable_shared_from_this<Watches::Session> {
 public:
  Session(Watches& watches, RequestContextPtr context, std::shared_ptr<ResponseWriter> writer, ReadOptions options,
          ParsedLabelSelector labels, FieldSelector fields)
      : watches_{watches},
        server_{*watches.server_},
        store_{server_.store(*context->kind)},
        context_{std::move(context)},
        writer_{std::move(writer)},
        options_{std::move(options)},
        labels_{std::move(labels)},
        fields_{std::move(fields)},
        type_{context_->kind->type()},
        events_{event_counter(*context_->kind)} {
    int64_t seconds = options_.timeout_seconds.value_or(0);
    // W-11: by default between 30 and 60 minutes, so that clients do not all reconnect at once.
    if (seconds <= 0) seconds = 1800 + static_cast<int64_t>(random_below(*server_.options.random, 1800));
    ends_ = Steady::now() + std::chrono::seconds{seconds};
    next_bookmark_ = Steady::now() + kBookmarkEvery;
  }

  bool over() const { return over_.load(); }

  /// The first bytes; then the session pulls by itself whenever the client has received the last ones.
  void begin() {
    writer_->start(200, {{"Content-Type", context_->accept.yaml ? "application/yaml;stream=watch" : "application/json"},
                         {"Cache-Control", "no-cache, private"}});
    writer_->on_close([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->over_ = true;
    });
    const Revision wanted = options_.revision.value_or(Revision{});
    if (context_->past) return begin_replay(wanted);
    const Revision newest = store_.feed().revision();
    if (options_.send_initial_events && wanted > newest) {
      std::string out;
      return fail(too_large(wanted, newest), out);
    }
    if (wanted == Revision{} || options_.send_initial_events) return initial();
    const auto oldest = oldest_readable(server_, *context_);
    if (!oldest || wanted < oldest.value()) {
      std::string out;
      return fail(oldest ? too_old(wanted, oldest.value()) : oldest.error(), out);
    }
    // A version from the future: changes up to it are skipped (W-10).
    skipped_ = wanted;
    at_ = std::min(wanted, newest);
  }

  /// Sends what there is, unless the client still has to take the last bytes. On the watches' thread.
  void pull() {
    const std::lock_guard lock{mutex_};
    if (over() || writing_.load() || converting_) return;
    std::string out;
    // W-17. Its events have the form of the old schema: the client begins another watch at the revision that it has.
    if (redefined()) return finish();
    const bool unserved = no_longer_served();
    if (!behind(out)) return;  // ended with an error event
    if (!unconverted_.empty()) return convert(std::move(out));
    // W-17. What was deleted with the kind has been sent by now: the definition went in the same entry, and a tick has
    // passed since.
    if (unserved && out.empty()) return finish();
    const auto now = Steady::now();
    if (out.empty() && options_.bookmarks && now >= next_bookmark_ && at_ > bookmarked_) bookmark(out, false);
    if (!out.empty()) {
      next_bookmark_ = now + kBookmarkEvery;
      return write(std::move(out));
    }
    if (now >= ends_) finish();
  }

  void end() {
    const std::lock_guard lock{mutex_};
    finish();
  }

 private:
  /// Of the past: replays what followed the moment.
  void begin_replay(Revision wanted) {
    began_ = Steady::now();
    if (wanted == Revision{} || options_.send_initial_events) return initial();
    // Permissions were those of the moment: nothing older is shown.
    if (const Revision moment = context_->past->past->revision(*context_->kind); wanted < moment) {
      std::string out;
      return fail(too_old(wanted, moment), out);
    }
    at_ = wanted;
  }

  /// The time up to which the past is replayed; of the present, now.
  UtcMillis now() const {
    const UtcMillis present = server_.options.clock->now();
    if (!context_->past) return present;
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - began_);
    return replayed_until(*context_->past, Millis{elapsed.count()}, present);
  }

  /// The definition of the kind has changed since the watch began.
  bool redefined() const {
    const Kind& kind = *context_->kind;
    if (context_->past || kind.builtin) return false;
    const auto kinds = server_.options.kinds->current();
    const Kind* current = kinds->find(kind.group, kind.version, kind.plural);
    return current != nullptr && current != &kind;
  }

  /// Since the last tick at least.
  bool no_longer_served() {
    const Kind& kind = *context_->kind;
    if (context_->past) return false;
    const auto kinds = server_.options.kinds->current();
    if (kind.builtin || kinds->find(kind.group, kind.version, kind.plural) != nullptr) {
      unserved_since_.reset();
      return false;
    }
    const auto now = Steady::now();
    if (!unserved_since_) unserved_since_ = now;
    return now - *unserved_since_ >= kTick;
  }

  void finish() {
    if (over_.exchange(true)) return;
    std::string out;
    // Events before at_ that are still being converted are not sent any more: the client is not to skip them.
    if (options_.bookmarks && at_ > bookmarked_ && unconverted_.empty()) bookmark(out, false);
    if (out.empty()) return writer_->end();
    writer_->write(std::move(out), [self = shared_from_this()](Result<void>) { self->writer_->end(); });
  }

  void write(std::string out) {
    writing_ = true;
    writer_->write(std::move(out), [self = shared_from_this()](Result<void> written) {
      self->writing_ = false;
      if (!written) {
        self->over_ = true;
        return;
      }
      self->watches_.wake();
    });
  }

  void initial() {
    std::string out;
    auto done = store_.read([&](const View& view) -> Result<void> {
      at_ = context_->past ? context_->past->past->revision(*context_->kind) : view.revision();
      if (at_ == Revision{}) return ok();
      ObjectList which{.type = type_};
      if (!context_->path.ns.empty()) which.ns = context_->path.ns;
      if (context_->past) which.at = at_;
      std::optional<Error> failed;
      SHIPLOG_TRY(ObjectQuery{view}.visit(which, [&](const ObjectRowView& row) {
        auto object = context_->past ? server_.objects.load_version(row.json) : server_.objects.load(row.json);
        if (!object) {
          if (object.error().code == ErrorCode::kGone) return true;  // removed meanwhile
          failed = object.error();
          return false;
        }
        add_initial(std::move(object).value(), out);
        return true;
      }));
      if (failed) return *failed;
      return ok();
    });
    if (!done) return fail(done.error(), out);
    if (!unconverted_.empty()) {
      ends_initial_ = options_.send_initial_events && options_.bookmarks;
      return convert(std::move(out));
    }
    if (options_.send_initial_events && options_.bookmarks) bookmark(out, true);
    if (!out.empty()) write(std::move(out));
  }

  bool matches_fields(const Value& object) const {
    return fields_.depends_on_version() ? fields_.matches(in_version(*context_->kind, object))
                                        : fields_.matches(object);
  }

  /// Whether the object is selected or shown only once a conversion webhook has converted it.
  bool must_convert(const Value& object) const {
    return needs_conversion(*context_->kind, object) && (shows_converted(*context_) || fields_.depends_on_version());
  }

  /// Whether the object is selected, as far as that can be decided before it is converted. Labels are compared as they
  /// are stored, as in lists.
  bool may_match(const Value& object) const {
    if (object.is_null() || !labels_.matches(object["metadata"]["labels"])) return false;
    return must_convert(object) ? fields_.may_match(object) : matches_fields(object);
  }

  void add_initial(const Value& object, std::string& out) {
    if (!may_match(object)) return;
    if (!unconverted_.empty() || must_convert(object)) {
      unconverted_.push_back({{}, {}, object, false, true});
    } else {
      event("ADDED", object, {}, out);
    }
  }

  /// Has the changes converted that wait for it, in one batch, and sends them then, after the events before them.
  /// Nothing is pulled meanwhile.
  void convert(std::string earlier) {
    converting_ = true;
    earlier_ = std::move(earlier);
    std::vector<Value> objects;
    for (const UnconvertedChange& change : unconverted_) {
      objects.push_back(change.may_have_matched ? change.before : Value{});
      objects.push_back(change.may_match ? change.after : Value{});
    }
    // Not while the mutex is held: what is known already is answered at once.
    server_.post_blocking([self = shared_from_this(), objects = std::move(objects)]() mutable {
      convert_stored(self->watches_.server_, self->context_, std::move(objects),
                     [self](Result<std::vector<Value>> converted) { self->send_converted(std::move(converted)); });
    });
  }

  void send_converted(Result<std::vector<Value>> converted) {
    const std::lock_guard lock{mutex_};
    if (over()) return;
    std::string out = std::exchange(earlier_, {});
    if (!converted) return fail(converted.error(), out);
    std::vector<Value>& objects = converted.value();
    const std::vector<UnconvertedChange> changes = std::move(unconverted_);
    unconverted_.clear();
    for (size_t i = 0; i < changes.size(); ++i) {
      const bool matched = changes[i].may_have_matched && matches_fields(objects[2 * i]);
      const bool match = changes[i].may_match && matches_fields(objects[2 * i + 1]);
      show({changes[i].revision, matched, match, changes[i].after.is_null()}, std::move(objects[2 * i]),
           objects[2 * i + 1], {}, out);
    }
    if (std::exchange(ends_initial_, false)) bookmark(out, true);
    converting_ = false;
    if (out.empty()) return watches_.wake();
    write(std::move(out));
  }

  /// Renders the changes after at_. False when the watch is over.
  bool behind(std::string& out) {
    if (context_->past) return from_history(out);
    const Feed::Batch batch = store_.feed().since(at_, type_, kPullChanges);
    if (!batch.complete) return from_history(out);
    for (const Feed::ChangePtr& change : batch.changes) {
      if (!context_->path.ns.empty() && change->object.ns != context_->path.ns) continue;
      const auto sent =
          step(change->revision, change->before, change->after, change->json ? *change->json : std::string_view{}, out);
      if (!sent) {
        fail(sent.error(), out);
        return false;
      }
    }
    at_ = batch.upto;
    return true;
  }

  bool from_history(std::string& out) {
    Revision oldest;
    auto read = store_.read([&](const View& view) -> Result<void> {
      SHIPLOG_TRY(oldest, HistoryQuery{view}.oldest());
      Revision upto = view.revision();
      if (context_->past) {
        SHIPLOG_TRY(upto, HistoryQuery{view}.revision_at(now()));
        if (upto <= at_) return ok();
      }
      ChangeList which{
          .type = type_, .ns = {}, .after = at_, .upto = upto, .limit = kPullChanges, .with_previous = true};
      if (!context_->path.ns.empty()) which.ns = context_->path.ns;
      SHIPLOG_TRY(const auto rows, HistoryQuery{view}.changes(which));
      for (const ChangeRow& row : rows) {
        Value before;
        Value after;
        if (!row.previous.empty()) {
          SHIPLOG_TRY(before, parse_stored_json(row.previous));
        }
        if (row.operation != VersionOperation::kRemoved) {
          SHIPLOG_TRY(after, parse_stored_json(row.json));
        }
        SHIPLOG_TRY(step(row.revision, before, after, row.json, out));
        at_ = row.revision;
      }
      if (rows.size() < which.limit) at_ = upto;
      return ok();
    });
    if (read) {
      if (out.empty() && !context_->past) return behind_again(out);
      return true;
    }
    if (read.error().code == ErrorCode::kGone) {
      fail(too_old(at_, oldest), out);
    } else {
      fail(read.error(), out);
    }
    return false;
  }

  /// History had nothing of our kind: on with the feed, if it reaches back far enough now.
  bool behind_again(std::string& out) {
    const Feed::Batch batch = store_.feed().since(at_, type_, 0);
    if (!batch.complete) return true;
    return behind(out);
  }

  /// W-7: what the selectors make of one change. `json`: of what it left, or of what it removed with its revision.
  /// Error: the object still exists, and its key is lost.
  Result<void> step(Revision revision, Value before, Value after, std::string_view json, std::string& out) {
    if (revision <= skipped_) return ok();
    if (server_.options.vault != nullptr) {
      for (Value* value : {&before, &after}) {
        if (value->is_null()) continue;
        SHIPLOG_TRY(Value opened, server_.objects.open_version(*value));
        if (opened != *value) json = {};  // it was sealed
        *value = std::move(opened);
      }
    }
    const bool matched = may_match(before);
    const bool match = may_match(after);
    if (!matched && !match) return ok();
    if (!unconverted_.empty() || (matched && must_convert(before)) || (match && must_convert(after))) {
      unconverted_.push_back({revision, std::move(before), std::move(after), matched, match});
    } else {
      show({revision, matched, match, after.is_null()}, std::move(before), after, json, out);
    }
    return ok();
  }

  /// What the selectors make of a change.
  struct SelectedChange {
    Revision revision;
    bool matched = false, match = false;  // before and after it
    bool removed = false;
  };

  void show(const SelectedChange& change, Value before, const Value& after, std::string_view json, std::string& out) {
    if (change.match) return event(change.matched ? "MODIFIED" : "ADDED", after, json, out);
    if (!change.matched) return;
    before.edit("metadata").set("resourceVersion", std::to_string(change.revision.value));
    event("DELETED", before, change.removed ? json : std::string_view{}, out);
  }

  /// `json`: the object's, where it is known: a thousand watches of one change do not write it out a thousand times.
  void event(const char* name, const Value& object, std::string_view json, std::string& out) {
    events_.add();
    const Accept& accept = context_->accept;
    out += "{\"type\":\"";
    out += name;
    out += "\",\"object\":";
    if (accept.form == Accept::Form::kTable) {
      const std::string include = text(context_->request, "includeObject");
      const IncludeObject wanted = include == "None"     ? IncludeObject::kNone
                                   : include == "Object" ? IncludeObject::kObject
                                                         : IncludeObject::kMetadata;
      // The tables of a view are those of what is stored.
      const Value row = context_->kind->builtin ? object : pruned_in_version(*context_->kind, object);
      Value table = table_of(*context_->kind, std::span{&row, 1}, wanted, now(), accept.meta_version, !columns_sent_);
      table.edit("metadata").set("resourceVersion", object["metadata"]["resourceVersion"]);
      columns_sent_ = true;
      append_json(table, out);
    } else if (accept.form == Accept::Form::kPartialMetadata) {
      append_json(partial_metadata(object, accept.meta_version), out);
    } else {
      const Value shown = pruned_in_version(*context_->kind, object);
      if (!json.empty() && shown == object) {  // one and the same Value, unless the version is another
        out += json;
      } else {
        append_json(shown, out);
      }
    }
    out += "}\n";
  }

  void bookmark(std::string& out, bool initial_end) {
    Value object = Value::object({{"kind", context_->kind->kind}, {"apiVersion", context_->kind->api_version()}});
    Value& metadata = object.edit("metadata");
    metadata.set("resourceVersion", std::to_string(at_.value));
    metadata.set("creationTimestamp", Value{});
    if (initial_end) metadata.edit("annotations").set("k8s.io/initial-events-end", "true");
    if (context_->accept.form == Accept::Form::kPartialMetadata) {
      object = partial_metadata(object, context_->accept.meta_version);
    } else if (context_->accept.form == Accept::Form::kTable) {
      Value table =
          table_of(*context_->kind, {}, IncludeObject::kMetadata, now(), context_->accept.meta_version, !columns_sent_);
      columns_sent_ = true;
      table.set("metadata", metadata);
      object = std::move(table);
    }
    out += "{\"type\":\"BOOKMARK\",\"object\":";
    append_json(object, out);
    out += "}\n";
    bookmarked_ = at_;
  }

  void fail(const Error& error, std::string& out) {
    out += "{\"type\":\"ERROR\",\"object\":";
    append_json(failure_status(error), out);
    out += "}\n";
    if (over_.exchange(true)) return;
    writer_->write(std::move(out), [self = shared_from_this()](Result<void>) { self->writer_->end(); });
  }

  /// One change, or an object of the initial events, that is to be converted.
  struct UnconvertedChange {
    Revision revision;
    Value before, after;
    bool may_have_matched = false, may_match = false;  // by what is not converted
  };

  std::mutex mutex_;  // what follows; pulling and ending may happen on two threads
  Watches& watches_;
  Server& server_;
  Store& store_;
  RequestContextPtr context_;
  std::shared_ptr<ResponseWriter> writer_;
  ReadOptions options_;
  ParsedLabelSelector labels_;
  FieldSelector fields_;
  std::string type_;
  metrics::Counter events_;
  Revision at_;          // everything up to here has been sent
  Revision skipped_;     // nothing up to here is sent
  Revision bookmarked_;  // of the last bookmark
  std::optional<Steady::time_point> unserved_since_;
  bool columns_sent_ = false;
  std::vector<UnconvertedChange> unconverted_;
  std::string earlier_;  // events that are sent before those
  bool converting_ = false;
  bool ends_initial_ = false;  // a bookmark follows the initial events
  Steady::time_point began_;   // of a replay
  Steady::time_point ends_, next_bookmark_;
  std::atomic<bool> writing_{false};
  std::atomic<bool> over_{false};
};

Watches::Watches(ServerPtr server) : server_{std::move(server)} {
  std::vector<Feed*> feeds{&server_->options.record->feed()};
  if (server_->options.ephemera != server_->options.record) feeds.push_back(&server_->options.ephemera->feed());
  for (Feed* feed : feeds) listening_.emplace_back(feed, feed->listen([this] { on_published(); }));
  thread_ = std::thread{[this] { run(); }};
}

Watches::~Watches() {
  stop();
  for (const auto& [feed, handle] : listening_) feed->ignore(handle);
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

/// Without watches the thread sleeps: a write of a lone client wakes no thread that it does not need.
void Watches::on_published() {
  {
    const std::lock_guard lock{mutex_};
    if (sessions_.empty() && waiting_.empty()) return;
    published_ = true;
  }
  changed_.notify_one();
}

void Watches::wake() {
  {
    const std::lock_guard lock{mutex_};
    published_ = true;
  }
  changed_.notify_one();
}

size_t Watches::count() const {
  const std::lock_guard lock{mutex_};
  return sessions_.size();
}

void Watches::start(const RequestContextPtr& context, const ReadOptions& options) {
  auto labels = parse_label_selector(options.label_selector);
  if (!labels) return fail(*context, labels.error());
  auto fields = parse_field_selector(options.field_selector, *context->kind);
  if (!fields) return fail(*context, fields.error());
  std::shared_ptr<ResponseWriter> writer = context->writer;
  if (websocket::is_upgrade(context->request)) {
    auto over_websocket = websocket_watch(context->request, std::move(writer));
    if (!over_websocket) return fail(*context, over_websocket.error());
    writer = std::move(over_websocket).value();
  }
  auto session = std::make_shared<Session>(*this, context, std::move(writer), options, std::move(labels).value(),
                                           std::move(fields).value());
  const Revision wanted = options.send_initial_events ? options.revision.value_or(Revision{}) : Revision{};
  when_reached(server_, context, wanted, [this, session] {
    session->begin();
    {
      const std::lock_guard lock{mutex_};
      sessions_.push_back(session);
    }
    wake();
  });
}

void Watches::wait_for(Store& store, Revision revision, std::function<void()> then) {
  {
    const std::lock_guard lock{mutex_};
    if (!stopping_) waiting_.push_back({&store, revision, Steady::now() + kVersionPatience, std::move(then)});
  }
  wake();
}

void Watches::stop() {
  std::vector<std::shared_ptr<Session>> ending;
  std::vector<Waiting> waiting;
  {
    const std::lock_guard lock{mutex_};
    ending.swap(sessions_);
    waiting.swap(waiting_);
  }
  for (Waiting& watcher : waiting) server_->post_blocking(std::move(watcher.then));
  for (const auto& session : ending) session->end();
}

void Watches::run() {
  name_thread("watches");
  std::unique_lock lock{mutex_};
  while (!stopping_) {
    changed_.wait_for(lock, kTick, [&] { return published_ || stopping_; });
    if (stopping_) return;
    published_ = false;
    std::erase_if(sessions_, [](const auto& session) { return session->over(); });
    const auto pulling = sessions_;
    const auto ready = std::stable_partition(waiting_.begin(), waiting_.end(), [](const Waiting& watcher) {
      return watcher.store->feed().revision() < watcher.revision && Steady::now() < watcher.until;
    });
    std::vector<Waiting> over{std::make_move_iterator(ready), std::make_move_iterator(waiting_.end())};
    waiting_.erase(ready, waiting_.end());
    lock.unlock();
    for (Waiting& watcher : over) server_->post_blocking(std::move(watcher.then));
    for (const auto& session : pulling) session->pull();
    lock.lock();
  }
}

}  // namespace shiplog::api
