#include "services/programs/member/pod_sessions.h"

#include <utility>

namespace shiplog::member {

Result<void> PodSessions::enter(const std::string& pod_uid, const std::shared_ptr<PodSession>& session) {
  const auto found = pods_.find(pod_uid);
  const bool full = found != pods_.end() && found->second.sessions.size() >= kMostOfPod;
  if (full || count_ >= kMost) {
    return Error{ErrorCode::kTooManyRequests,
                 "a trial member serves " + std::to_string(kMostOfPod) + " streams of a pod and " +
                     std::to_string(kMost) + " in all at a time: try again when one has ended"};
  }
  pods_[pod_uid].sessions.push_back(session);
  ++count_;
  return ok();
}

void PodSessions::leave(const std::string& pod_uid, const PodSession* session) {
  const auto found = pods_.find(pod_uid);
  if (found == pods_.end()) return;
  Pod& pod = found->second;
  count_ -= std::erase_if(pod.sessions, [&](const auto& each) { return each.get() == session; });
  if (pod.sessions.empty() && pod.written.empty()) pods_.erase(found);
}

std::shared_ptr<WrittenFiles> PodSessions::written(const std::string& pod_uid, const std::string& container) {
  auto& files = pods_[pod_uid].written[container];
  if (files == nullptr) files = std::make_shared<WrittenFiles>(written_bytes_, kMostWritten);
  return files;
}

void PodSessions::pod_gone(const std::string& pod_uid) {
  const auto found = pods_.find(pod_uid);
  if (found == pods_.end()) return;
  const Pod pod = std::move(found->second);
  pods_.erase(found);
  count_ -= pod.sessions.size();
  for (const auto& session : pod.sessions) session->end();
}

void PodSessions::end_all() {
  while (!pods_.empty()) pod_gone(std::string{pods_.begin()->first});
}

}  // namespace shiplog::member
