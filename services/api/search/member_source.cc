#include "services/api/search/member_source.h"

#include <algorithm>
#include <utility>

#include "events/base/json.h"
#include "services/adapters/members/members.h"
#include "services/adapters/members/watch_line.h"

namespace shiplog::api {
namespace {

constexpr int kObjectsPerPage = 250;
/// What is parsed at a time: 500,000 values take some 16 MB.
constexpr size_t kMostValues = 500'000;
/// Of a continue token; Kubernetes' are made of a key.
constexpr size_t kLongestToken = 4096;
/// A shorter beginning of a line is not counted.
constexpr size_t kSmallLine = size_t{64} << 10U;
/// For how long a reader waits for a first list.
constexpr Millis kPatience{3'000};
constexpr Millis kPageTimeout{30'000};
constexpr Millis kHeadTimeout{30'000};
constexpr int64_t kShortestWatchSeconds = 300;
constexpr int64_t kLongestFailureMillis = 60'000;
constexpr Millis kOldWatch{5'000};
constexpr int kGone = 410;

Error no_room() { return {ErrorCode::kTooLarge, kSearchCacheFull}; }
bool is_full(const Error& error) { return error.code == ErrorCode::kTooLarge && error.message == kSearchCacheFull; }

Result<Value> parse_within_limits(std::string_view text) {
  if (values_in(text) > kMostValues) {
    return Error{ErrorCode::kTooLarge, "more than " + std::to_string(kMostValues) + " values at once"};
  }
  return parse_json(text);
}

Error answered(int status, const std::string& what) {
  const bool gone = status == kGone;
  return {gone ? ErrorCode::kGone : ErrorCode::kUnavailable,
          what + ": the member answered with HTTP status " + std::to_string(status)};
}

Result<Value> page_of(const Result<HttpResponse>& response) {
  if (!response) return response.error();
  if (response.value().status != 200) return answered(response.value().status, "list");
  return parse_within_limits(response.value().body);
}

}  // namespace

void ListTurns::take(const std::string& cluster, std::function<void()> begin) {
  OfCluster& own = clusters_[cluster];
  own.waiting.push_back(std::move(begin));
  if (own.waiting.size() == 1 && own.under_way < most_of_one_) next_.push_back(cluster);
  begin_next();
}

void ListTurns::give_back(const std::string& cluster) {
  --under_way_;
  const auto own = clusters_.find(cluster);
  const bool had_all = own->second.under_way-- == most_of_one_;
  if (own->second.waiting.empty()) {
    if (own->second.under_way == 0) clusters_.erase(own);
  } else if (had_all) {
    next_.push_back(cluster);
  }
  begin_next();
}

void ListTurns::begin_next() {
  if (under_way_ >= most_ || next_.empty()) return;
  const std::string cluster = std::move(next_.front());
  next_.pop_front();
  OfCluster& own = clusters_[cluster];
  auto begin = std::move(own.waiting.front());
  own.waiting.pop_front();
  ++under_way_;
  ++own.under_way;
  if (!own.waiting.empty() && own.under_way < most_of_one_) next_.push_back(cluster);
  loop_->post(std::move(begin));  // not from here: each of many might fail at once
}

MemberSource::~MemberSource() { budget_->give(line_charged_); }

void MemberSource::start() {
  shared_.loop->post_after(kPatience, [self = shared_from_this()] { self->late_ = true; });
  list();
}

void MemberSource::use_other_client() {
  if (over()) return;
  end_attempt();
  failed_times_ = 0;
  list();
}

void MemberSource::give_room() { fail(no_room()); }

size_t MemberSource::bytes() const {
  size_t bytes = collection_.bytes() + line_charged_;
  for (const auto& object : fresh_) {
    // What has not changed is counted with the collection.
    if (collection_.find(object->ns(), object->name()) != object) bytes += object->bytes();
  }
  return bytes;
}

void MemberSource::stop() {
  stopped_ = true;
  const std::lock_guard lock{mutex_};
  if (stream_ != nullptr) stream_->cancel();
}

std::string MemberSource::problem() const {
  const std::lock_guard lock{mutex_};
  return problem_;
}

bool MemberSource::settled() const { return collection_.listed() || late_.load() || !problem().empty(); }

void MemberSource::later(Millis delay, void (MemberSource::*step)()) {
  shared_.loop->post_after(delay, [self = shared_from_this(), step, attempt = attempt_] {
    if (!self->over() && attempt == self->attempt_) ((*self).*step)();
  });
}

void MemberSource::list() {
  ++attempt_;
  fresh_.clear();
  fresh_version_.clear();
  page_limit_ = kObjectsPerPage;
  next_page("");
}

void MemberSource::next_page(const std::string& token) {
  page_token_ = token;
  shared_.turns.take(scope().cluster, [self = shared_from_this(), attempt = attempt_] {
    const auto give_back = [self] { self->shared_.turns.give_back(self->scope().cluster); };
    if (self->over() || attempt != self->attempt_) return give_back();
    auto client = self->shared_.client(self->scope().cluster);
    if (!client) {
      give_back();
      return self->fail(client.error());
    }
    self->client_ = std::move(client).value();
    self->listed_with_ = self->client_;
    HttpRequest request;
    HttpRequest::Query query{{"limit", std::to_string(self->page_limit_)}};
    if (!self->page_token_.empty()) query.emplace_back("continue", self->page_token_);
    request.target = encode_target(self->scope().path(), query);
    request.headers.set("Accept", "application/json");
    self->client_->request(std::move(request), kPageTimeout,
                           [self, attempt, give_back](Result<HttpResponse> response) {
                             auto held = std::make_shared<Result<HttpResponse>>(std::move(response));
                             self->shared_.loop->post([self, attempt, held, give_back] {
                               if (!self->over() && attempt == self->attempt_) self->take_page(*held);
                               give_back();
                             });
                           },
                           {.max_response_bytes = kMostPageBytes});
  });
}

void MemberSource::take_page(const Result<HttpResponse>& response) {
  const auto page = page_of(response);
  if (!page) {
    if (page.error().code == ErrorCode::kTooLarge && page_limit_ > kSmallPageLimit) {
      page_limit_ = kSmallPageLimit;
      return next_page(page_token_);
    }
    return fail(page.error());
  }
  const Value& metadata = page.value()["metadata"];
  const size_t before = fresh_.size();
  if (auto taken = take_metadata(metadata); !taken) return fail(taken.error());
  if (auto taken = take_items(page.value()); !taken) return fail(taken.error());
  const std::string token = metadata["continue"].str();
  if (token.empty()) {
    collection_.replace(std::exchange(fresh_, {}), fresh_version_);
    listed_at_ = shared_.loop->now();
    return watch();
  }
  if (fresh_.size() == before) return fail({ErrorCode::kInvalid, "list: a page has no object that those before lack"});
  page_limit_ = kObjectsPerPage;
  next_page(token);
}

/// What is kept besides the objects is limited, as the budget does not count it.
Result<void> MemberSource::take_metadata(const Value& metadata) {
  const std::string_view version = metadata["resourceVersion"].as_string();
  if (version.empty()) return Error{ErrorCode::kInvalid, "list: it has no resourceVersion"};
  if (version.size() > kLongestVersion || metadata["continue"].as_string().size() > kLongestToken) {
    return Error{ErrorCode::kInvalid, "list: its resourceVersion or continue token is too long"};
  }
  // That of the first page: what has changed since is repeated by the watch.
  if (fresh_version_.empty()) fresh_version_ = version;
  return ok();
}

Result<void> MemberSource::take_items(const Value& list) {
  for (const Value& item : list["items"].items()) {
    const Value& metadata = item["metadata"];
    // An object that has not changed is kept as it is.
    auto known = collection_.find(metadata["namespace"].as_string(), metadata["name"].as_string());
    if (known != nullptr && known->version() == metadata["resourceVersion"].as_string()) {
      fresh_.insert(std::move(known));
      continue;
    }
    SHIPLOG_TRY(auto object, cached(item, CacheBudget::Use::kList));
    fresh_.insert(std::move(object));
  }
  return ok();
}

Result<CachedObject::Ptr> MemberSource::cached(Value object, CacheBudget::Use use) {
  return CachedObject::make(scope(), std::move(object), shared_.compressor, budget_, use);
}

/// Where there is no room for a change, the kind that takes the most is dropped, not the one that happens to change.
Result<CachedObject::Ptr> MemberSource::changed_object(const Value& object) {
  auto made = cached(object, CacheBudget::Use::kChange);
  if (made || !is_full(made.error()) || !shared_.biggest) return made;
  const auto biggest = shared_.biggest(scope().cluster);
  if (biggest == nullptr || biggest.get() == this) return made;
  biggest->give_room();
  return cached(object, CacheBudget::Use::kChange);
}

HttpRequest MemberSource::watch_request(int64_t seconds) const {
  HttpRequest request;
  request.headers.set("Accept", "application/json");
  request.target = encode_target(scope().path(), {{"watch", "true"},
                                                  {"allowWatchBookmarks", "true"},
                                                  {"resourceVersion", collection_.version()},
                                                  {"timeoutSeconds", std::to_string(seconds)}});
  return request;
}

void MemberSource::watch() {
  auto client = shared_.client(scope().cluster);
  if (!client) return fail(client.error());
  if (client.value() != listed_with_.lock()) return list();
  const uint64_t attempt = ++attempt_;
  line_.clear();
  began_watch_ = shared_.loop->now();
  client_ = std::move(client).value();
  const int64_t seconds =
      kShortestWatchSeconds + static_cast<int64_t>(random_below(*shared_.random, kShortestWatchSeconds));
  const auto on_loop = [self = shared_from_this(), attempt](std::function<void(MemberSource&)> step) {
    self->shared_.loop->post([self, attempt, step = std::move(step)] {
      if (!self->over() && attempt == self->attempt_) step(*self);
    });
  };
  HttpClient::PacedStream paced;
  paced.head_timeout = kHeadTimeout;
  // Longer than the member may keep it open: a connection that is dead without notice ends all the same.
  paced.idle_timeout = Millis{(seconds + 30) * 1000};
  paced.on_head = [on_loop](const HttpResponse& head) {
    on_loop([status = head.status](MemberSource& self) {
      // Its text says nothing that the status does not, and might never end.
      if (status != 200) return self.fail(answered(status, "watch"));
      const std::lock_guard lock{self.mutex_};
      self.problem_.clear();
    });
  };
  paced.on_part = [on_loop](std::string bytes, std::function<void()> more) {
    on_loop([bytes = std::move(bytes), more = std::move(more)](MemberSource& self) { self.take_bytes(bytes, more); });
  };
  paced.on_end = [on_loop](const Result<void>& ended) {
    on_loop([ended](MemberSource& self) { self.watch_ended(ended); });
  };
  auto stream = client_->stream(watch_request(seconds), std::move(paced));
  const std::lock_guard lock{mutex_};
  stream_ = std::move(stream);
  if (over()) stream_->cancel();
}

void MemberSource::take_bytes(std::string_view bytes, const std::function<void()>& more) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    if (auto extended = extend_line(bytes.substr(0, end)); !extended) return fail(extended.error());
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
    const auto taken = take_line(line_);
    line_.clear();
    if (!taken) return fail(taken.error());
  }
  if (line_.capacity() > kSmallLine && line_.empty()) line_.shrink_to_fit();
  charge_line();
  more();
}

Result<void> MemberSource::extend_line(std::string_view bytes) {
  line_.append(bytes);
  if (line_.size() > kMostObjectBytes) {
    return Error{ErrorCode::kTooLarge, "watch: a line is larger than " + std::to_string(kMostObjectBytes) + " bytes"};
  }
  if (charge_line()) return ok();
  return Error{ErrorCode::kTooLarge,
               "watch: the search cache has no room for a line of " + std::to_string(line_.size()) + " bytes"};
}

/// Counts the beginning of a line, which each of many watches may hold, in the budget. False: there is no room.
bool MemberSource::charge_line() {
  const size_t held = line_.capacity() > kSmallLine ? line_.capacity() : 0;
  if (held > line_charged_ && !budget_->take(held - line_charged_)) return false;
  if (held < line_charged_) budget_->give(line_charged_ - held);
  line_charged_ = held;
  return true;
}

Result<void> MemberSource::take_line(std::string_view line) {
  if (line.empty()) return ok();
  std::string shorter;
  SHIPLOG_TRY(Value event, parse_within_limits(without_managed_fields(line, shorter)));
  const std::string type = event["type"].str();
  if (type == "BOOKMARK") {
    const std::string version = event["object"]["metadata"]["resourceVersion"].str();
    if (!version.empty() && version.size() <= kLongestVersion) collection_.advance(version);
  } else if (type == "ADDED" || type == "MODIFIED") {
    SHIPLOG_TRY(auto object, changed_object(event["object"]));
    collection_.put(std::move(object));
  } else if (type == "DELETED") {
    SHIPLOG_TRY(auto object, changed_object(event["object"]));
    collection_.remove(std::move(object));
  } else if (type == "ERROR") {
    const auto code = static_cast<int>(event["object"]["code"].as_int(500));
    return answered(code, "watch");
  }
  // Not of one that has just begun: a member that ends each watch after a line is asked less and less often.
  if (shared_.loop->now() - began_watch_ >= kOldWatch) failed_times_ = 0;
  return ok();
}

void MemberSource::watch_ended(const Result<void>& ended) {
  if (!ended) return fail(ended.error());
  // A member that ends each watch at once is not asked again and again without a pause.
  const bool old = shared_.loop->now() - began_watch_ >= kOldWatch;
  if (!old) return later(Millis{1'000}, &MemberSource::watch);
  failed_times_ = 0;
  watch();
}

/// What is under way ends, and is of no effect from here on.
void MemberSource::end_attempt() {
  ++attempt_;
  fresh_.clear();
  std::string{}.swap(line_);  // an assignment would keep the memory
  charge_line();
  {
    const std::lock_guard lock{mutex_};
    if (stream_ != nullptr) stream_->cancel();
    stream_ = nullptr;
  }
  client_ = nullptr;
}

/// Listed a moment ago: a list at once would be one in an endless series.
bool MemberSource::within_new_list() const {
  return listed_at_.has_value() && shared_.loop->now() - *listed_at_ < kOldWatch;
}

void MemberSource::note_problem(const std::string& text, bool full) {
  {
    const std::lock_guard lock{mutex_};
    if (problem_ == text) return;
    problem_ = text;
  }
  if (shared_.on_problem) shared_.on_problem(scope(), text, full);
}

void MemberSource::fail(const Error& error) {
  end_attempt();
  failures_.fetch_add(1, std::memory_order_relaxed);
  const bool full = is_full(error);
  if (full) collection_.drop();
  const bool again_at_once = error.code == ErrorCode::kGone && failed_times_ == 0 && !within_new_list();
  ++failed_times_;
  if (again_at_once) return later(Millis{0}, &MemberSource::list);
  note_problem(full ? error.message + ": raise --search-cache-bytes, or select less" : error.message, full);
  const int64_t most = std::min(kLongestFailureMillis, int64_t{1000} << std::min(failed_times_, 6));
  const int64_t delay = full ? kLongestFailureMillis : most / 2;
  const auto jitter = static_cast<int64_t>(random_below(*shared_.random, static_cast<uint64_t>(most / 2 + 1)));
  // A watch that was interrupted resumes at its version; after any other failure the kind is listed again.
  const bool resumes = collection_.listed() && error.code == ErrorCode::kUnavailable && failed_times_ < 5;
  later(Millis{delay + jitter}, resumes ? &MemberSource::watch : &MemberSource::list);
}

}  // namespace shiplog::api
