#include "services/programs/estimator/member_view.h"

#include <array>
#include <mutex>
#include <utility>
#include <vector>

#include "events/base/json.h"
#include "events/base/percent_encoding.h"

namespace shiplog::estimator {
namespace {

constexpr Millis kListTimeout{10'000};

struct ListRequest {
  const char* path;
  std::vector<Value> MemberObjects::*into;
};
// The last one is for gate ResourceQuotaEstimate: without it the estimator may lack the permission.
constexpr std::array<ListRequest, 5> kLists = {{{"/api/v1/nodes", &MemberObjects::nodes},
                                                {"/api/v1/pods", &MemberObjects::pods},
                                                {"/apis/apps/v1/deployments", &MemberObjects::deployments},
                                                {"/apis/apps/v1/replicasets", &MemberObjects::replica_sets},
                                                {"/api/v1/resourcequotas", &MemberObjects::resource_quotas}}};

}  // namespace

struct MemberView::Impl : std::enable_shared_from_this<MemberView::Impl> {
  using Then = std::function<void(Result<MemberObjectsPtr>)>;

  Impl(MemberClient a_member, const Clock& a_clock, Millis for_so_long, bool with_quotas)
      : member{std::move(a_member)},
        clock{a_clock},
        fresh_for{for_so_long},
        lists{with_quotas ? kLists.size() : kLists.size() - 1} {}

  void list(std::shared_ptr<MemberObjects> into, size_t at, const std::string& token) {
    if (at == lists) return finish(MemberObjectsPtr{std::move(into)});
    HttpRequest request;
    request.target = std::string{kLists.at(at).path} + "?limit=2000" +
                     (token.empty() ? "" : "&continue=" + percent_encoded(token, ""));
    request.headers = {{"Accept", "application/json"}};
    const auto used = client;  // the answer may be followed by the next list before this call returns
    used->request(std::move(request), kListTimeout,
                  [self = shared_from_this(), into, at](Result<HttpResponse> response) {
                    self->take(into, at, std::move(response));
                  });
  }

  void take(const std::shared_ptr<MemberObjects>& into, size_t at, Result<HttpResponse> response) {
    if (!response) return finish(response.error());
    const std::string call = client->name() + ": listing " + kLists.at(at).path;
    if (response.value().status != 200) {
      return finish(Error{ErrorCode::kUnavailable, call + ": HTTP status " + std::to_string(response.value().status)});
    }
    auto body = parse_json(response.value().body);
    if (!body) return finish(body.error().context(call));
    for (const Value& item : body.value()["items"].items()) ((*into).*kLists.at(at).into).push_back(item);
    const std::string token = body.value()["metadata"]["continue"].str();
    token.empty() ? list(into, at + 1, "") : list(into, at, token);
  }

  void finish(const Result<MemberObjectsPtr>& listed) {
    std::vector<Then> waited;
    {
      const std::lock_guard lock{mutex};
      if (listed) {
        seen = listed.value();
        seen_at = clock.now();
      }
      waited = std::exchange(waiting, {});
    }
    for (const Then& then : waited) then(listed);
  }

  MemberClient member;                 // of the caller that starts a list
  std::shared_ptr<HttpClient> client;  // of the list in progress
  const Clock& clock;
  const Millis fresh_for;
  const size_t lists;
  std::mutex mutex;
  MemberObjectsPtr seen;
  UtcMillis seen_at;
  std::vector<Then> waiting;
};

MemberView::MemberView(MemberClient client, const Clock& clock, Millis fresh_for, bool with_quotas)
    : impl_{std::make_shared<Impl>(std::move(client), clock, fresh_for, with_quotas)} {}

MemberView::~MemberView() = default;

void MemberView::with(std::function<void(Result<MemberObjectsPtr>)> then) {
  std::unique_lock lock{impl_->mutex};
  if (impl_->seen != nullptr && impl_->clock.now() - impl_->seen_at < impl_->fresh_for) {
    const MemberObjectsPtr fresh = impl_->seen;
    lock.unlock();
    return then(fresh);
  }
  impl_->waiting.push_back(std::move(then));
  if (impl_->waiting.size() > 1) return;  // the list in progress serves this caller too
  lock.unlock();
  impl_->client = impl_->member.current();
  impl_->list(std::make_shared<MemberObjects>(), 0, "");
}

}  // namespace shiplog::estimator
