#pragma once

#include <functional>

#include "services/api/pipeline/server.h"

namespace shiplog::api {

/// `kubectl logs|exec|attach|port-forward` of a workload lists the workload's pods and then watches until there is one.
/// The pods of a template run in members, so such a watch would never end: it is answered with an error that explains
/// where they are. False: the watch is another one (an informer's, that of `kubectl get`), and the caller serves it.
/// True: it is answered, or `serve` is called, from a worker.
bool answer_wait_for_pods(const ServerPtr& server, const RequestContextPtr& context, const ReadOptions& watch,
                          std::function<void()> serve);

}  // namespace shiplog::api
