#include "services/roles/collector/member_apis.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "services/roles/collector/list_again.h"

namespace shiplog::collector {
namespace {

constexpr const char* kGroups = "/apis";
constexpr const char* kCore = "/api";
constexpr const char* kCoreList = "/api/v1";
constexpr const char* kPlain = "application/json";
/// What client-go sends: a server ignores the types that it does not know.
constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
/// A little less, as looks come at intervals.
constexpr Millis kThorough{295'000};
constexpr Millis kThoroughInPlainForm{55'000};

bool good(const Result<MemberResponse>& response) {
  return response && response.value().status == 200 && response.value().body.is_object();
}

size_t resources_in(const DiscoveredApis& apis) {
  size_t count = 0;
  for (const Value& list : apis.lists.items()) count += list["resources"].size();
  return count;
}

}  // namespace

struct MemberApis::Look {
  TraceContext trace;
  UtcMillis at;
  std::function<void()> then = {};
  bool whole = false;     // nothing counts as known
  bool thorough = false;  // reads also what rarely changes
  bool plain = false;     // asks for no aggregated groups
  std::deque<std::string> paths = {};
};

MemberApis::LookPtr MemberApis::plan(const TraceContext& trace, UtcMillis now) const {
  const auto look = std::make_shared<Look>(Look{.trace = trace, .at = now});
  const bool failed = std::ranges::any_of(documents_, [](const auto& each) { return each.second.failed; });
  const Millis pause = form_ == Form::kPlain ? kThoroughInPlainForm : kThorough;
  look->whole = !looked_ || now - whole_at_ >= list_again_after(cluster_);
  look->thorough = doubtful_ || look->whole || failed || now - thorough_at_ >= pause;
  look->plain = form_ == Form::kPlain && !look->whole;
  return look;
}

MemberRequest MemberApis::first_request(const LookPtr& look) const {
  return request_of(look, kGroups, look->plain ? kPlain : kAggregated, !look->plain);
}

void MemberApis::look(const LookPtr& look, const std::shared_ptr<Result<MemberResponse>>& first,
                      std::function<void()> then) {
  look->then = std::move(then);
  looked_ = true;
  if (look->whole) whole_at_ = look->at;
  if (look->thorough) {
    thorough_at_ = look->at;
    doubtful_ = false;
  }
  first == nullptr ? read_groups(look) : take_groups(look, *first);
}

/// `other_form`: it is read in another form if it is too large.
MemberRequest MemberApis::request_of(const LookPtr& look, const std::string& path, const std::string& accept,
                                     bool other_form) const {
  MemberRequest request;
  request.trace = look->trace;
  request.path = path;
  request.accept = accept;
  request.asks_for_less = other_form;
  request.known.emplace();
  if (const auto document = documents_.find(path); document != documents_.end()) {
    request.known = document->second.edition;
  }
  if (look->whole) request.known->etag.clear();
  return request;
}

void MemberApis::read(const LookPtr& look, const std::string& path, const std::string& accept, bool other_form,
                      OnRead then) {
  members_.request(cluster_, request_of(look, path, accept, other_form),
                   [self = shared_from_this(), then = std::move(then)](Result<MemberResponse> response) {
                     then(std::move(response));
                   });
}

/// False: there is nothing new in it. `apis` reads a body; nullopt: it is no such document.
bool MemberApis::take(const std::string& path, const Result<MemberResponse>& response, const ReadApis& apis) {
  const auto [known, first] = documents_.try_emplace(path);
  Document& document = known->second;
  changed_ |= first;
  if (response && response.value().status == 304 && document.edition != Edition{}) {
    changed_ |= std::exchange(document.failed, false);
    document.edition = response.value().edition;
    return false;
  }
  std::optional<DiscoveredApis> read;
  if (good(response)) read = apis(response.value().body);
  if (!read) {
    changed_ |= !std::exchange(document.failed, true);
    return false;
  }
  document = {response.value().edition, {common_->held(std::move(read->lists)), read->complete}, false};
  changed_ = true;
  return true;
}

void MemberApis::read_groups(const LookPtr& look) {
  members_.request(
      cluster_, first_request(look),
      [self = shared_from_this(), look](const Result<MemberResponse>& response) { self->take_groups(look, response); });
}

void MemberApis::take_groups(const LookPtr& look, const Result<MemberResponse>& response) {
  const bool refused = response && response.value().status == 406;
  const bool too_large = !response && response.error().code == ErrorCode::kTooLarge;
  if (!look->plain && (refused || too_large)) {
    look->plain = true;
    return read_groups(look);
  }
  const bool is_new = take(kGroups, response, [this](const Value& body) -> std::optional<DiscoveredApis> {
    auto apis = aggregated_apis(body);
    form_ = apis ? Form::kAggregated : Form::kPlain;
    group_versions_.clear();
    if (apis) return apis;
    apis.emplace();
    for (const Value& group : body["groups"].items()) {
      for (const Value& version : group["versions"].items()) {
        apis->complete = group_versions_.size() < kMostGroupVersions;
        if (!apis->complete) return apis;
        if (!is_group_version(version["groupVersion"].as_string())) continue;
        group_versions_.insert("/apis/" + version["groupVersion"].str());
      }
    }
    return apis;
  });
  if (is_new) {
    look->thorough = true;
    std::erase_if(documents_, [this](const auto& each) {
      const bool of_groups = each.first.starts_with("/apis/");
      return of_groups ? !group_versions_.contains(each.first) : form_ == Form::kPlain && each.first == kCore;
    });
  }
  look->thorough = look->thorough || documents_.at(kGroups).failed;
  if (!look->thorough) return end(look);
  if (form_ == Form::kAggregated) return read_core(look);
  look->paths.assign(group_versions_.begin(), group_versions_.end());
  look->paths.push_front(kCoreList);
  read_lists(look);
}

void MemberApis::read_core(const LookPtr& look) {
  read(look, kCore, kAggregated, true, [this, look](const Result<MemberResponse>& response) {
    const bool plain = good(response) && !aggregated_apis(response.value().body);
    const bool refused = response && response.value().status == 406;
    const bool too_large = !response && response.error().code == ErrorCode::kTooLarge;
    if (plain || refused || too_large) {
      documents_.erase(kCore);
      look->paths.emplace_back(kCoreList);
    } else {
      documents_.erase(kCoreList);
      take(kCore, response, aggregated_apis);
    }
    read_lists(look);
  });
}

/// One after the other.
void MemberApis::read_lists(const LookPtr& look) {
  if (look->paths.empty()) return read_version(look);
  const std::string path = std::move(look->paths.front());
  look->paths.pop_front();
  read(look, path, kPlain, false, [this, look, path](const Result<MemberResponse>& response) {
    take(path, response, [this, &path](const Value& body) {
      size_t others = 0;
      for (const auto& [other, document] : documents_) others += other == path ? 0 : resources_in(document.apis);
      DiscoveredApis apis;
      apis.lists.push_back(slim_resources(body, kMostResources - std::min(kMostResources, others)));
      return std::optional{std::move(apis)};
    });
    read_lists(look);
  });
}

void MemberApis::read_version(const LookPtr& look) {
  MemberRequest request;
  request.trace = look->trace;
  request.path = "/version";
  request.max_response_bytes = kMostStatusBytes;
  members_.request(cluster_, std::move(request),
                   [self = shared_from_this(), look](const Result<MemberResponse>& response) {
                     // As with a request that fails, without one the last one is kept.
                     const std::string version = good(response) ? git_version_from(response.value().body) : "";
                     if (!version.empty() && self->version_.as_string() != version) {
                       self->version_ = version;
                       ++self->changes_;
                     }
                     self->end(look);
                   });
}

void MemberApis::end(const LookPtr& look) {
  if (std::exchange(changed_, false)) sum_up();
  std::exchange(look->then, nullptr)();  // its owner may hold the look in turn
}

void MemberApis::sum_up() {
  Value lists = Value::array();
  bool complete = true;
  for (const auto& [path, document] : documents_) {
    complete = complete && !document.failed && document.apis.complete;
    if (document.failed) continue;
    for (const Value& list : document.apis.lists.items()) lists.push_back(list);
  }
  const size_t found = lists.size();
  Value enablements = found == 0 ? enablements_ : api_enablements(lists);
  Health completeness = completeness_of(found, complete);
  if (enablements == enablements_ && completeness == completeness_) return;
  if (enablements != enablements_) enablements_ = common_->held(std::move(enablements));
  completeness_ = std::move(completeness);
  ++changes_;
}

}  // namespace shiplog::collector
