#include "services/programs/estimator/member_client.h"

#include <utility>

#include "services/http/same_target.h"
#include "services/runtime/log.h"

namespace shiplog::estimator {
namespace {

constexpr Millis kReadAgainAfter{10'000};

}  // namespace

Result<MemberClient> MemberClient::open(Read read, Connect connect, const Clock& clock) {
  MemberClient made{std::move(read), std::move(connect), clock};
  SHIPLOG_TRY(made.read_again());
  return made;
}

std::shared_ptr<HttpClient> MemberClient::current() {
  if (clock_->now() < read_at_ + kReadAgainAfter) return client_;
  const auto done = read_again();
  const std::string trouble = done ? "" : done.error().message;
  if (!trouble.empty() && trouble != trouble_) log::warn("estimator.credentials", {log::kv("reason", trouble)});
  trouble_ = trouble;
  return client_;
}

Result<void> MemberClient::read_again() {
  read_at_ = clock_->now();
  SHIPLOG_TRY(const ClientTarget target, read_());
  if (client_ != nullptr && same_target(target, target_)) return ok();
  SHIPLOG_TRY(auto client, connect_(target));
  if (client_ != nullptr) log::info("estimator.credentials_replaced", {log::kv("url", target.url)});
  client_ = std::move(client);
  target_ = target;
  return ok();
}

}  // namespace shiplog::estimator
