#include "services/api/search/search_watch.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "events/base/json.h"
#include "services/api/pipeline/responses.h"
#include "services/api/table/table.h"

namespace shiplog::api {
namespace {

using Steady = std::chrono::steady_clock;

constexpr size_t kEventsAtOnce = 256;
constexpr size_t kObjectsAtOnce = 64;
/// Written and not taken yet, of each watch.
constexpr size_t kBytesAtOnce = size_t{128} << 10U;
/// Of the JSON of objects, in one turn: other watches have theirs in between, also if nothing matches.
constexpr size_t kLookedAtInTurn = size_t{4} << 20U;
constexpr int64_t kLongestWatchSeconds = 7 * 24 * 3600;
constexpr auto kBookmarkEvery = std::chrono::seconds{60};
constexpr Millis kTick{1'000};

Error too_old_for_watch(const std::string& cluster) {
  return {ErrorCode::kGone, "too old resource version: what has changed in cluster " + cluster +
                                " since then is not cached any more: list again"};
}

const char* word_of(CachedChange::What what) {
  switch (what) {
    case CachedChange::What::kAdded:
      return "ADDED";
    case CachedChange::What::kModified:
      return "MODIFIED";
    case CachedChange::What::kDeleted:
      break;
  }
  return "DELETED";
}

}  // namespace

class SearchWatches::Session : public std::enable_shared_from_this<SearchWatches::Session> {
 public:
  Session(SearchWatches& watches, RequestContextPtr context, CachedQuery query, const ReadOptions& options)
      : watches_{watches}, context_{std::move(context)}, query_{std::move(query)}, bookmarks_{options.bookmarks} {
    int64_t seconds = options.timeout_seconds.value_or(0);
    if (seconds <= 0) seconds = 1800 + static_cast<int64_t>(random_below(*watches_.server_->options.random, 1800));
    ends_ = Steady::now() + std::chrono::seconds{std::min(seconds, kLongestWatchSeconds)};
    next_bookmark_ = Steady::now() + kBookmarkEvery;
  }

  const std::string& resource() const { return resource_; }
  bool over() const { return over_.load(); }

  /// Error: kGone, the version is too old, or of a cluster that is not cached any more.
  Result<void> begin(const MultiVersion& version) {
    resource_ = resource_id(*context_->kind);
    const auto selection = watches_.cache_.selection(*context_->kind);
    generation_ = selection.generation;
    std::vector<std::string> keys;
    for (const auto& source : sources_for(selection.sources, query_.ns)) {
      FollowedSource one;
      one.source = source;
      keys.push_back(source->scope().version_key());
      const auto wanted = version.at(keys.back());
      if (wanted && *wanted != "0") {
        // Also of one that is not listed yet: what was deleted meanwhile would be missed.
        const auto mark = source->collection().mark_of(*wanted);
        if (!mark) return too_old_for_watch(source->scope().cluster);
        one.mark = *mark;
        one.at = *wanted;
        one.begun = one.whole = true;
      }
      followed_.push_back(std::move(one));
    }
    for (const auto& [key, own] : version.of) {
      if (!is_object_key(key) && std::ranges::find(keys, key) == keys.end()) return too_old_for_watch(key);
    }
    context_->writer->start(
        200, {{"Content-Type", context_->accept.yaml ? "application/yaml;stream=watch" : "application/json"},
              {"Cache-Control", "no-cache, private"}});
    context_->writer->on_close([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->over_ = true;
    });
    return ok();
  }

  /// True: the caller has to run pull(). One thread at a time gets true.
  bool take_turn() { return !over() && !running_.exchange(true); }

  /// What is new, unless the client has yet to take the last bytes.
  void pull() {
    again_ = false;
    if (!over() && !writing_.load() && send_new()) again_ = true;
    running_ = false;
    if (again_.load() && !writing_.load()) watches_.run(shared_from_this());
  }
  /// Something has changed: a pull() under way runs once more.
  void mark_again() { again_ = true; }

  void finish() {
    if (!over_.exchange(true)) context_->writer->end();
  }

 private:
  struct FollowedSource {
    std::shared_ptr<MemberSource> source;
    bool begun = false;  // else its objects are sent as soon as it is listed
    bool whole = false;  // all objects that there were are sent; else those up to `after`
    std::string after;
    CachedCollection::Mark mark = 0;  // of what was sent, everything before it is sent, too
    std::string at = "0";             // up to which version everything was sent; "0": not all objects yet
  };

  /// True: there is more to look at, and nothing was written that has to be taken before.
  bool send_new() {
    std::string out;
    if (watches_.cache_.generation() != generation_ && selected_otherwise()) {
      finish();
      return false;
    }
    events_ = looked_at_ = 0;
    bool more = false;
    for (size_t step = 0; step < followed_.size() && !more; ++step) {
      FollowedSource& one = followed_[next_ % followed_.size()];
      if (auto taken = take(one, out); !taken) {
        fail(taken.error(), std::move(out));
        return false;
      }
      // The next turn begins behind it: a cluster with very many changes holds up no other.
      ++next_;
      more = enough(out);
    }
    const auto now = Steady::now();
    if (out.empty() && !more && bookmarks_ && now >= next_bookmark_) bookmark(out);
    if (now >= ends_ && out.empty()) {
      finish();
      return false;
    }
    if (out.empty()) return more;
    write(std::move(out));
    return false;
  }

  void write(std::string out) {
    writing_ = true;
    context_->writer->write(std::move(out), [self = shared_from_this()](const Result<void>& written) {
      self->writing_ = false;
      if (!written) {
        self->over_ = true;
        return;
      }
      self->watches_.run(self);
    });
  }

  bool selected_otherwise() {
    const auto selection = watches_.cache_.selection(*context_->kind);
    generation_ = selection.generation;
    const auto now = sources_for(selection.sources, query_.ns);
    return !std::ranges::equal(now, followed_, {}, {}, [](const FollowedSource& one) { return one.source; });
  }

  Result<void> take(FollowedSource& one, std::string& out) {
    if (!one.begun) {
      if (!one.source->collection().listed()) return ok();
      one.mark = one.source->collection().now(query_.ns, {}, 0).mark;
      one.begun = true;
    }
    while (!one.whole) {
      if (enough(out)) return ok();
      SHIPLOG_TRY(send_some(one, out));
    }
    const std::string newest = one.source->collection().version();
    SHIPLOG_TRY(const bool all, send_changes(one, std::nullopt, out));
    if (all && !newest.empty()) one.at = newest;
    return ok();
  }

  /// Some more of the objects that are there. No object is held until its turn; what has changed since the last turn is
  /// sent first of those that were sent, so that these and the new ones are of the same moment.
  Result<void> send_some(FollowedSource& one, std::string& out) {
    const auto moment = one.source->collection().now(query_.ns, one.after, kObjectsAtOnce);
    SHIPLOG_TRY(const bool all, send_changes(one, moment.mark, out));
    if (!all) return ok();
    for (const auto& cached : moment.objects) {
      if (enough(out)) return ok();
      looked_at_ += cached->json_bytes();
      SHIPLOG_TRY(const Value object, cached->value(compressor_));
      if (matches(object)) event("ADDED", object, *cached, out);
      one.after = CachedCollection::position_text(*cached);
    }
    if (moment.objects.size() < kObjectsAtOnce) {
      one.whole = true;
      one.at = moment.version;
    }
    return ok();
  }

  /// The changes up to the mark, or all there are. False: more are left for the next turn.
  Result<bool> send_changes(FollowedSource& one, std::optional<CachedCollection::Mark> until, std::string& out) {
    while (!until || one.mark < *until) {
      if (enough(out)) return false;
      const auto changes = one.source->collection().changes(one.mark, kEventsAtOnce);
      if (!changes) return too_old_for_watch(one.source->scope().version_key());
      if (changes->empty()) return true;
      for (const CachedChange& change : *changes) {
        if (until && one.mark >= *until) return true;
        if (enough(out)) return false;
        ++one.mark;
        if (one.whole) one.at = change.version;
        if (one.whole || change.object->position() <= CachedCollection::position_of(one.after)) {
          SHIPLOG_TRY(send_change(change, out));
        }
      }
    }
    return true;
  }

  bool enough(const std::string& out) const {
    return events_ >= kEventsAtOnce || out.size() >= kBytesAtOnce || looked_at_ >= kLookedAtInTurn;
  }

  bool matches(const Value& object) const {
    const Value& metadata = object["metadata"];
    if (!query_.ns.empty() && metadata["namespace"].as_string() != query_.ns) return false;
    if (!query_.name.empty() && metadata["name"].as_string() != query_.name) return false;
    return query_.labels.matches(metadata["labels"]) && query_.fields.matches(object);
  }

  /// An object that does no longer match is a deletion for this client, one that does now is new.
  Result<void> send_change(const CachedChange& change, std::string& out) {
    if (!query_.ns.empty() && change.object->ns() != query_.ns) return ok();
    looked_at_ += change.object->json_bytes();
    SHIPLOG_TRY(const Value object, change.object->value(compressor_));
    const bool selects = !query_.labels.empty() || !query_.fields.empty() || !query_.name.empty();
    if (!selects) {
      event(word_of(change.what), object, *change.object, out);
      return ok();
    }
    bool before = false;
    if (change.before != nullptr) {
      SHIPLOG_TRY(const Value old, change.before->value(compressor_));
      before = matches(old);
    }
    const bool now = change.what != CachedChange::What::kDeleted && matches(object);
    if (now) {
      event(before ? "MODIFIED" : "ADDED", object, *change.object, out);
    } else if (before) {
      event("DELETED", object, *change.object, out);
    }
    return ok();
  }

  /// 6.5.8: what was sent of all clusters.
  MultiVersion version() const {
    MultiVersion version;
    for (const FollowedSource& one : followed_) version.of.emplace(one.source->scope().version_key(), one.at);
    return version;
  }

  void event(const char* type, Value object, const CachedObject& cached, std::string& out) {
    MultiVersion reached = version();
    const std::string cluster = object["metadata"]["annotations"][kCachedFromCluster].str();
    reached.of.emplace(object_key(cluster), cached.version());
    object.edit("metadata").set("resourceVersion", to_text(reached));
    write_event(type, cached_in_form(*context_, object, watches_.server_->options.clock->now(), !columns_sent_), out);
    columns_sent_ = true;
    ++events_;
  }

  void bookmark(std::string& out) {
    next_bookmark_ = Steady::now() + kBookmarkEvery;
    const Kind& kind = *context_->kind;
    Value object = Value::object({{"apiVersion", kind.api_version()}, {"kind", kind.kind}});
    object.edit("metadata").set("resourceVersion", to_text(version()));
    object.edit("metadata").set("creationTimestamp", Value{});
    if (context_->accept.form == Accept::Form::kTable) {
      Value table = table_of(kind, {}, IncludeObject::kMetadata, watches_.server_->options.clock->now(),
                             context_->accept.meta_version, !std::exchange(columns_sent_, true));
      table.set("metadata", object["metadata"]);
      object = std::move(table);
    } else if (context_->accept.form == Accept::Form::kPartialMetadata) {
      object = partial_metadata(object, context_->accept.meta_version);
    }
    write_event("BOOKMARK", object, out);
  }

  static void write_event(const char* type, const Value& object, std::string& out) {
    out += std::string{"{\"type\":\""} + type + "\",\"object\":";
    append_json(object, out);
    out += "}\n";
  }

  void fail(const Error& error, std::string out) {
    write_event("ERROR", failure_status(error), out);
    if (over_.exchange(true)) return;
    context_->writer->write(std::move(out),
                            [self = shared_from_this()](const Result<void>&) { self->context_->writer->end(); });
  }

  SearchWatches& watches_;
  const RequestContextPtr context_;
  const CachedQuery query_;
  const bool bookmarks_;
  std::string resource_;
  uint64_t generation_ = 0;
  std::vector<FollowedSource> followed_;
  Compressor compressor_;
  size_t events_ = 0, looked_at_ = 0;  // in this turn
  size_t next_ = 0;                    // of followed_, where it begins
  bool columns_sent_ = false;
  Steady::time_point ends_, next_bookmark_;
  std::atomic<bool> running_{false}, again_{false}, writing_{false}, over_{false};
};

void SearchWatches::start(const RequestContextPtr& context, const ReadOptions& options) {
  CachedQuery query;
  query.ns = context->path.ns;
  query.name = context->path.name;
  auto labels = parse_label_selector(options.label_selector);
  if (!labels) return fail(*context, labels.error());
  auto fields = parse_field_selector(options.field_selector, *context->kind);
  if (!fields) return fail(*context, fields.error());
  query.labels = std::move(labels).value();
  query.fields = std::move(fields).value();
  const auto session = std::make_shared<Session>(*this, context, std::move(query), options);
  const auto begun = session->begin(parse_multi_version(text(context->request, "resourceVersion")));
  if (!begun) return fail(*context, begun.error());
  bool first = false;
  {
    const std::lock_guard lock{mutex_};
    sessions_.push_back(session);
    first = !std::exchange(ticking_, true);
  }
  if (first) tick();
  run(session);
}

void SearchWatches::run(const std::shared_ptr<Session>& session) {
  session->mark_again();
  if (!session->take_turn()) return;
  post_([self = shared_from_this(), session] { session->pull(); });
}

void SearchWatches::wake(const std::string& resource) {
  std::vector<std::shared_ptr<Session>> waking;
  {
    const std::lock_guard lock{mutex_};
    std::erase_if(sessions_, [](const auto& session) { return session->over(); });
    for (const auto& session : sessions_) {
      if (resource.empty() || session->resource() == resource) waking.push_back(session);
    }
  }
  for (const auto& session : waking) run(session);
}

/// Bookmarks, and the ends of watches.
void SearchWatches::tick() {
  {
    const std::lock_guard lock{mutex_};
    std::erase_if(sessions_, [](const auto& session) { return session->over(); });
    if (sessions_.empty()) {
      ticking_ = false;
      return;
    }
  }
  wake("");
  Executor* loop = cache_.loop();
  if (loop == nullptr) return;
  loop->post_after(kTick, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
}

void SearchWatches::stop() {
  std::vector<std::shared_ptr<Session>> ending;
  {
    const std::lock_guard lock{mutex_};
    ending.swap(sessions_);
  }
  for (const auto& session : ending) session->finish();
}

size_t SearchWatches::count() const {
  const std::lock_guard lock{mutex_};
  return sessions_.size();
}

}  // namespace shiplog::api
