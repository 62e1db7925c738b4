#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include "events/base/value.h"
#include "services/http/server.h"
#include "services/programs/member/pod_sessions.h"

namespace shiplog::member {

/// What is known of a pod whose ports are forwarded.
struct ForwardedPod {
  std::string uid, ns, name, node;
  std::set<int64_t> ports;  ///< that its containers declare: on others nothing listens
};
ForwardedPod forwarded_pod(const Value& pod);

/// What a container answers to an HTTP request on one of its ports, of which `request` has been received: empty as long
/// as that is no whole request head. Pure.
std::string answer_of_port(const ForwardedPod& pod, int64_t port, std::string_view request);

/// A request whose head is longer is not answered.
inline constexpr size_t kLongestHead = 16 * 1024;

/// kubelet's words for a port on which nothing listens.
std::string refused_port(const ForwardedPod& pod, int64_t port);

/// Answers the request with an upgrade: SPDY/3.1 (portforward.k8s.io), the same in a WebSocket
/// (SPDY/3.1+portforward.k8s.io), or the older WebSocket channels (v4.channel.k8s.io and its base64 form).
/// Threads: any; the streams are the sessions' executor's.
void open_port_forward(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer, ForwardedPod pod,
                       PodSessions& sessions);

}  // namespace shiplog::member
