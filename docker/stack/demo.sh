#!/usr/bin/env bash
# demo.sh URL EXAMPLE CREDENTIALS MEMBER...: joins the members to the fleet, applies the manifests of EXAMPLE, and prints where
# the replicas are once all are ready. URL is that of the fleet. CREDENTIALS holds the kubeconfigs: that of one API server
# (api.kubeconfig), and one for each member.
set -euo pipefail
url=$1 example=$2 credentials=$3; shift 3
export KUBECONFIG=$credentials/fleet.kubeconfig
say() { printf '==> %s\n' "$*" >&2; }
# await SECONDS COMMAND...: until it succeeds.
await() {
  local end=$((SECONDS + $1)); shift
  until "$@" >/dev/null 2>&1; do
    if [ $SECONDS -ge $end ]; then say "in vain: $*"; "$@"; return 1; fi
    sleep 0.25
  done
}
# A connection that is not answered is tried again, on another server.
kubectl() { command kubectl --request-timeout=10s "$@"; }
ready() {
  local placed running
  placed=$(kubectl get deployment nginx -o 'jsonpath={.spec.replicas}')
  running=$(kubectl get deployment nginx -o 'jsonpath={.status.readyReplicas}')
  [ -n "$running" ] && [ "$running" = "$placed" ]
}

say "waiting for the control plane"
await 120 test -s "$credentials/api.kubeconfig"
(umask 077; sed "s|server: .*|server: $url|" "$credentials/api.kubeconfig" >"$KUBECONFIG")
await 120 kubectl get --raw /readyz
for member in "$@"; do
  await 60 test -s "$credentials/$member.kubeconfig"
  kubectl get cluster "$member" >/dev/null 2>&1 && continue
  say "joining $member"
  shiplogctl join "$member" --cluster-kubeconfig "$credentials/$member.kubeconfig" >&2
done
say "applying $example"
kubectl apply -f "$example" >&2
say "waiting for deployment nginx"
await 120 ready
printf '%-12s %s\n' CLUSTER REPLICAS
kubectl get resourcebinding nginx-deployment \
  -o 'jsonpath={range .spec.clusters[*]}{.name} {.replicas}{"\n"}{end}' | while read -r name replicas; do
  printf '%-12s %s\n' "$name" "$replicas"
done
