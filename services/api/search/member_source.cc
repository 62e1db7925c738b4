#include "services/api/search/member_source.h"

#include <algorithm>
#include <utility>

#include "events/base/json.h"
#include "services/adapters/members/members.h"
#include "services/adapters/members/watch_line.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

constexpr int kObjectsPerPage = 250;
/// What is parsed at a time: 500,000 values take some 16 MB.
constexpr size_t kMostValues = 500'000;
constexpr Millis kPageTimeout{30'000};
constexpr Millis kHeadTimeout{30'000};
constexpr int64_t kShortestWatchSeconds = 300;
constexpr int64_t kLongestFailureMillis = 60'000;
constexpr Millis kOldWatch{5'000};
constexpr int kGone = 410;

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

}  // namespace

void ListTurns::take(std::function<void()> begin) {
  if (under_way_ >= most_) return waiting_.push_back(std::move(begin));
  ++under_way_;
  begin();
}

void ListTurns::give_back() {
  if (waiting_.empty()) {
    --under_way_;
    return;
  }
  loop_->post(std::move(waiting_.front()));  // not from here: each of many might fail at once
  waiting_.pop_front();
}

void MemberSource::start() { list(); }

void MemberSource::stop() {
  stopped_ = true;
  const std::lock_guard lock{mutex_};
  if (stream_ != nullptr) stream_->cancel();
}

std::string MemberSource::problem() const {
  const std::lock_guard lock{mutex_};
  return problem_;
}

bool MemberSource::settled() const { return collection_.listed() || !problem().empty(); }

void MemberSource::later(Millis delay, void (MemberSource::*step)()) {
  shared_.loop->post_after(delay, [self = shared_from_this(), step] {
    if (!self->over()) ((*self).*step)();
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
  shared_.turns.take([self = shared_from_this(), attempt = attempt_] {
    const auto give_back = [&] { self->shared_.turns.give_back(); };
    if (self->over()) return give_back();
    auto client = self->shared_.client(self->scope().cluster);
    if (!client) {
      give_back();
      return self->fail(client.error());
    }
    self->client_ = std::move(client).value();
    HttpRequest request;
    HttpRequest::Query query{{"limit", std::to_string(self->page_limit_)}};
    if (!self->page_token_.empty()) query.emplace_back("continue", self->page_token_);
    request.target = encode_target(self->scope().path(), query);
    request.headers.set("Accept", "application/json");
    self->client_->request(std::move(request), kPageTimeout,
                           [self, attempt](Result<HttpResponse> response) {
                             auto held = std::make_shared<Result<HttpResponse>>(std::move(response));
                             self->shared_.loop->post([self, attempt, held] {
                               if (!self->over() && attempt == self->attempt_) self->take_page(*held);
                               self->shared_.turns.give_back();
                             });
                           },
                           {.max_response_bytes = kMostPageBytes});
  });
}

void MemberSource::take_page(const Result<HttpResponse>& response) {
  if (!response) {
    if (response.error().code == ErrorCode::kTooLarge && page_limit_ > kSmallPageLimit) {
      page_limit_ = kSmallPageLimit;
      return next_page(page_token_);
    }
    return fail(response.error());
  }
  if (response.value().status != 200) return fail(answered(response.value().status, "list"));
  const auto page = parse_within_limits(response.value().body);
  if (!page) return fail(page.error());
  const Value& metadata = page.value()["metadata"];
  // That of the first page: what has changed since is repeated by the watch.
  if (fresh_version_.empty()) fresh_version_ = metadata["resourceVersion"].str();
  if (fresh_version_.empty()) return fail({ErrorCode::kInvalid, "list: it has no resourceVersion"});
  const size_t before = fresh_.size();
  if (auto taken = take_items(page.value()); !taken) return fail(taken.error());
  const std::string token = metadata["continue"].str();
  if (token.empty()) {
    collection_.replace(std::exchange(fresh_, {}), fresh_version_);
    return watch();
  }
  if (fresh_.size() == before) return fail({ErrorCode::kInvalid, "list: a page has no object that those before lack"});
  page_limit_ = kObjectsPerPage;
  next_page(token);
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
    SHIPLOG_TRY(auto object, cached(item));
    fresh_.insert(std::move(object));
  }
  return ok();
}

Result<CachedObject::Ptr> MemberSource::cached(Value object) {
  return CachedObject::make(scope(), std::move(object), shared_.compressor, budget_);
}

void MemberSource::watch() {
  const uint64_t attempt = ++attempt_;
  line_.clear();
  status_ = 0;
  began_watch_ = shared_.loop->now();
  auto client = shared_.client(scope().cluster);
  if (!client) return fail(client.error());
  client_ = std::move(client).value();
  const int64_t seconds =
      kShortestWatchSeconds + static_cast<int64_t>(random_below(*shared_.random, kShortestWatchSeconds));
  HttpRequest request;
  request.headers.set("Accept", "application/json");
  request.target = encode_target(scope().path(), {{"watch", "true"},
                                                  {"allowWatchBookmarks", "true"},
                                                  {"resourceVersion", collection_.version()},
                                                  {"timeoutSeconds", std::to_string(seconds)}});
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
      self.status_ = status;
      if (status != 200) return;
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
  auto stream = client_->stream(std::move(request), std::move(paced));
  const std::lock_guard lock{mutex_};
  stream_ = std::move(stream);
  if (over()) stream_->cancel();
}

void MemberSource::take_bytes(std::string_view bytes, const std::function<void()>& more) {
  if (status_ != 200) return more();  // its text says nothing that the status does not
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    line_.append(bytes.substr(0, end));
    if (line_.size() > kMostObjectBytes) {
      return fail(
          {ErrorCode::kTooLarge, "watch: a line is larger than " + std::to_string(kMostObjectBytes) + " bytes"});
    }
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
    const auto taken = take_line(line_);
    line_.clear();
    if (!taken) return fail(taken.error());
  }
  if (line_.capacity() > (size_t{64} << 10U) && line_.empty()) line_.shrink_to_fit();
  more();
}

Result<void> MemberSource::take_line(std::string_view line) {
  if (line.empty()) return ok();
  std::string shorter;
  SHIPLOG_TRY(Value event, parse_within_limits(without_managed_fields(line, shorter)));
  const std::string type = event["type"].str();
  if (type == "BOOKMARK") {
    const std::string version = event["object"]["metadata"]["resourceVersion"].str();
    if (!version.empty() && version.size() <= 128) collection_.advance(version);
  } else if (type == "ADDED" || type == "MODIFIED") {
    SHIPLOG_TRY(auto object, cached(event["object"]));
    collection_.put(std::move(object));
  } else if (type == "DELETED") {
    SHIPLOG_TRY(auto object, cached(event["object"]));
    collection_.remove(std::move(object));
  } else if (type == "ERROR") {
    const auto code = static_cast<int>(event["object"]["code"].as_int(500));
    return answered(code, "watch");
  }
  failed_times_ = 0;
  return ok();
}

void MemberSource::watch_ended(const Result<void>& ended) {
  if (status_ != 0 && status_ != 200) return fail(answered(status_, "watch"));
  if (!ended) return fail(ended.error());
  // A member that ends each watch at once is not asked again and again without a pause.
  const bool old = shared_.loop->now() - began_watch_ >= kOldWatch;
  if (old) return watch();
  later(Millis{1'000}, &MemberSource::watch);
}

void MemberSource::fail(const Error& error) {
  ++attempt_;
  failures_.fetch_add(1, std::memory_order_relaxed);
  fresh_.clear();
  line_ = {};
  {
    const std::lock_guard lock{mutex_};
    if (stream_ != nullptr) stream_->cancel();
    stream_ = nullptr;
  }
  client_ = nullptr;
  const bool full = error.code == ErrorCode::kTooLarge && error.message == kSearchCacheFull;
  if (full) collection_.drop();
  const bool again_at_once = error.code == ErrorCode::kGone && failed_times_ == 0;
  ++failed_times_;
  if (again_at_once) return later(Millis{0}, &MemberSource::list);
  std::string text = error.message;
  if (full) text += ": raise --search-cache-bytes, or select less";
  bool changed = false;
  {
    const std::lock_guard lock{mutex_};
    changed = problem_ != text;
    problem_ = text;
  }
  if (changed) {
    const auto fields = {log::kv("cluster", scope().cluster), log::kv("resource", resource_id(scope())),
                         log::kv("reason", text)};
    full ? log::error("search.cache_full", fields) : log::warn("search.source_failed", fields);
  }
  const int64_t most = std::min(kLongestFailureMillis, int64_t{1000} << std::min(failed_times_, 6));
  const int64_t delay = full ? kLongestFailureMillis : most / 2;
  const auto jitter = static_cast<int64_t>(random_below(*shared_.random, static_cast<uint64_t>(most / 2 + 1)));
  // A watch that was cut off goes on where it was; all else begins anew.
  const bool goes_on = collection_.listed() && error.code == ErrorCode::kUnavailable && failed_times_ < 5;
  later(Millis{delay + jitter}, goes_on ? &MemberSource::watch : &MemberSource::list);
}

}  // namespace shiplog::api
