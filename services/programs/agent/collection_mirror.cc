#include "services/programs/agent/collection_mirror.h"

#include <algorithm>
#include <utility>

namespace shiplog::agent {
namespace {

constexpr int64_t kFirstMirrorPauseMs = 200;
constexpr int64_t kLongestMirrorPauseMs = 30'000;
/// Bookmarks come once a minute: a stream that is silent for so long is dead, whatever the network says.
constexpr Millis kLongestSilence{150'000};
constexpr Millis kLookForSilence{30'000};
/// A stream that has lived so long ended in the normal course of things.
constexpr Millis kLived{5'000};
constexpr size_t kMostListed = 100'000;

}  // namespace

struct CollectionMirror::Listing {
  std::vector<Value> objects;
  std::string token;
  int limit = kPageLimit;
};

CollectionMirror::CollectionMirror(Options options) : options_{std::move(options)} {}
CollectionMirror::~CollectionMirror() { *alive_ = false; }

void CollectionMirror::start() {
  list(std::make_shared<Listing>());
  guard_silence();
}

void CollectionMirror::list_again() {
  ++attempt_;
  stream_.reset();
  resource_version_.clear();
  list(std::make_shared<Listing>());
}

void CollectionMirror::list(std::shared_ptr<Listing> listing) {
  MemberRequest request;
  request.path = options_.path + "?limit=" + std::to_string(listing->limit);
  if (!options_.query.empty()) request.path += "&" + options_.query;
  if (!listing->token.empty()) request.path += "&continue=" + listing->token;
  request.timeout = Millis{30'000};
  request.max_response_bytes = kMostPageBytes;
  request.asks_for_less = listing->limit > kSmallPageLimit;
  options_.server->request(
      options_.name, std::move(request),
      [this, alive = alive_, attempt = attempt_, listing = std::move(listing)](const Result<MemberResponse>& page) {
        if (*alive && attempt == attempt_) take_page(listing, page);
      });
}

void CollectionMirror::take_page(const std::shared_ptr<Listing>& listing, const Result<MemberResponse>& page) {
  if (!page && page.error().code == ErrorCode::kTooLarge && listing->limit > kSmallPageLimit) {
    listing->limit = kSmallPageLimit;
    return list(listing);
  }
  if (!page) return failed(page.error());
  const MemberResponse& response = page.value();
  if (response.status != 200) {
    return failed({response.status == 401 || response.status == 403 ? ErrorCode::kForbidden : ErrorCode::kUnavailable,
                   "listing " + options_.path + ": " + response.message()});
  }
  const Value& body = response.body;
  for (const Value& item : body["items"].items()) listing->objects.push_back(item);
  if (listing->objects.size() > kMostListed) {
    return failed({ErrorCode::kTooLarge,
                   "listing " + options_.path + ": there are more than " + std::to_string(kMostListed) + " objects"});
  }
  listing->token = body["metadata"]["continue"].str();
  if (!listing->token.empty()) return list(listing);
  resource_version_ = body["metadata"]["resourceVersion"].str();
  complete_ = true;
  options_.listed(std::move(listing->objects));
  if (std::exchange(in_trouble_, false) && options_.trouble) options_.trouble(nullptr);
  watch();
}

void CollectionMirror::watch() {
  const uint64_t attempt = ++attempt_;
  watching_since_ = heard_ = options_.executor->now();
  std::string path = options_.path + "?resourceVersion=" + resource_version_;
  if (!options_.query.empty()) path += "&" + options_.query;
  stream_ = options_.server->watch(
      options_.name, std::move(path),
      [this, alive = alive_, attempt](const Value& event) {
        if (*alive && attempt == attempt_) on_event(event);
      },
      [this, alive = alive_, attempt](const Result<void>& end) {
        if (*alive && attempt == attempt_) on_end(end);
      });
}

void CollectionMirror::on_event(const Value& event) {
  heard_ = options_.executor->now();
  failures_ = 0;
  if (std::exchange(in_trouble_, false) && options_.trouble) options_.trouble(nullptr);
  const auto type = event["type"].as_string();
  if (type == "ERROR") {  // 410: too far behind; or a control plane that knows no such revision
    resource_version_.clear();
    return failed({ErrorCode::kUnavailable, "watching " + options_.path + ": " + event["object"]["message"].str()});
  }
  const Value& object = event["object"];
  if (std::string revision = object["metadata"]["resourceVersion"].str(); !revision.empty()) {
    resource_version_ = std::move(revision);
  }
  if (type == "ADDED" || type == "MODIFIED" || type == "DELETED") options_.changed(type, object);
}

void CollectionMirror::on_end(const Result<void>& end) {
  stream_.reset();
  if (options_.executor->now() - watching_since_ > kLived) failures_ = 0;
  // What answers next may be another control plane, or this one restored to an earlier time, where the revision stands
  // for something else: after more than the orderly end of a stream everything is listed.
  if (!end) resource_version_.clear();
  failed(end ? Error{ErrorCode::kUnavailable, "watching " + options_.path + ": the stream has ended"} : end.error());
}

void CollectionMirror::failed(const Error& error) {
  ++attempt_;
  stream_.reset();
  // The end of a stream is no trouble: the next one begins at once.
  const bool ended = failures_ == 0 && !resource_version_.empty();
  if (!ended) {
    in_trouble_ = true;
    if (options_.trouble) options_.trouble(&error);
  }
  const int64_t pause = std::min(kLongestMirrorPauseMs, kFirstMirrorPauseMs << std::min(failures_, 10));
  ++failures_;
  const auto jitter = static_cast<int64_t>(random_below(*options_.random, static_cast<uint64_t>(pause)));
  later(Millis{pause / 2 + jitter / 2}, [this, attempt = attempt_] {
    if (attempt != attempt_) return;
    resource_version_.empty() ? list(std::make_shared<Listing>()) : watch();
  });
}

void CollectionMirror::guard_silence() {
  later(kLookForSilence, [this] {
    if (stream_ != nullptr && options_.executor->now() - heard_ > kLongestSilence) {
      failed({ErrorCode::kTimeout, "watching " + options_.path + ": nothing was heard for too long"});
    }
    guard_silence();
  });
}

void CollectionMirror::later(Millis delay, std::function<void()> run) {
  options_.executor->post_after(delay, [alive = alive_, run = std::move(run)] {
    if (*alive) run();
  });
}

}  // namespace shiplog::agent
