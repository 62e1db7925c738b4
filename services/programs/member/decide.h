#pragma once

#include <optional>

#include "events/decision.h"

namespace shiplog::member {

// One controller per file: the shape of shiplog::Decide. Pure. Decisions are steps: after one was folded, the key is
// decided again until nothing remains to be done. Errors: kInvalid, the object uses a feature that is not simulated
// (the message names it).

/// A ReplicaSet per template, scaled so that a rollout keeps to maxSurge and maxUnavailable; the Deployment's status.
/// Source: pkg/controller/deployment (rolling.go, recreate.go, sync.go, progress.go).
Result<Decided> decide_deployment(const State& state, const ObjectKey& key, UtcMillis now);
/// The desired number of pods, and the ReplicaSet's status.
Result<Decided> decide_replica_set(const State& state, const ObjectKey& key, UtcMillis now);
/// Pods by ordinal, one after the other unless podManagementPolicy is Parallel.
Result<Decided> decide_stateful_set(const State& state, const ObjectKey& key, UtcMillis now);
/// A pod on every node that the template's selector and tolerations admit.
Result<Decided> decide_daemon_set(const State& state, const ObjectKey& key, UtcMillis now);
/// Pods until enough of them have succeeded.
Result<Decided> decide_job(const State& state, const ObjectKey& key, UtcMillis now);
/// A Job at each time of the schedule.
Result<Decided> decide_cron_job(const State& state, const ObjectKey& key, UtcMillis now);
/// Cluster IP, node ports and the load balancer's address of a Service; the load balancer's address of an Ingress.
Result<Decided> decide_address(const State& state, const ObjectKey& key, UtcMillis now);
/// A PersistentVolumeClaim is bound as soon as it exists, with the capacity that it requests, as if a provisioner had
/// made its volume; there is no PersistentVolume.
Result<Decided> decide_claim(const State& state, const ObjectKey& key, UtcMillis now);
/// The ServiceAccount `default` of a Namespace.
Result<Decided> decide_service_account(const State& state, const ObjectKey& key, UtcMillis now);

// The time after which a key is requeued although nothing changes; 0: never. Pure.
Millis look_again_deployment(const State& state, const ObjectKey& key, UtcMillis now);
/// ReplicaSet, StatefulSet and DaemonSet: spec.minReadySeconds.
Millis look_again_pods(const State& state, const ObjectKey& key, UtcMillis now);
Millis look_again_job(const State& state, const ObjectKey& key, UtcMillis now);
Millis look_again_cron_job(const State& state, const ObjectKey& key, UtcMillis now);

/// One decision creates or deletes at most this many objects; further decisions handle the rest.
inline constexpr size_t kMostAtOnce = 200;

}  // namespace shiplog::member
