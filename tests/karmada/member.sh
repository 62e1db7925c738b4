#!/usr/bin/env bash
# Trial members of the fleet in $SHIPLOG_FLEET, of the programs in $SHIPLOG_PROGRAMS.
#   member.sh start NAME                        starts one, with the kubeconfig kube/NAME
#   member.sh prepare NAME                      gives it what a cluster of kind has from the start
#   member.sh create NAME KUBECONFIG CONTEXT    both, with a kubeconfig at that place, and runs the agent once it is deployed there
#   member.sh agent FLEET NAME                  runs the agent as long as its Deployment exists
#   member.sh delete NAME                       ends the member and its agent
# The suite calls create and delete.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fleet=$SHIPLOG_FLEET programs=$SHIPLOG_PROGRAMS

# The process writes its pid itself: the caller may be killed at any time.
launch() {
  local name=$1; shift
  # shellcheck disable=SC2016
  setsid -f bash -c 'echo $$ >"$0"; exec "$@"' "$fleet/run/$name.pid" "$@" >"$fleet/log/$name.log" 2>&1 </dev/null
}

end() {
  local file=$fleet/run/$1.pid pid
  [ -s "$file" ] || return 0
  pid=$(cat "$file")
  if grep -qsF "$fleet" "/proc/$pid/cmdline"; then
    kill "$pid"
    for _ in $(seq 100); do
      grep -qsF "$fleet" "/proc/$pid/cmdline" || break
      sleep 0.05
    done
  fi
  rm -f "$file"
}

start() {
  launch "$1" "$programs/shiplogd" member --nodes=1 --name="$1" --data-dir="$fleet/members/$1" --listen=127.0.0.1:0 \
    --kubeconfig-out="$fleet/kube/$1"
  for _ in $(seq 300); do
    [ ! -s "$fleet/kube/$1" ] || return 0
    sleep 0.1
  done
  tail -n 5 "$fleet/log/$1.log" >&2
  echo "member.sh: $1 did not start: the end of its log is above" >&2
  return 1
}

# Specs look for these by name. The node takes no pods, also none of DaemonSets.
prepare() {
  kubectl --kubeconfig "$fleet/kube/$1" apply -f - >>"$fleet/log/setup.log" <<END
apiVersion: v1
kind: Node
metadata:
  name: $1-control-plane
spec:
  taints:
    - key: node-role.kubernetes.io/control-plane
      effect: NoSchedule
---
apiVersion: v1
kind: Pod
metadata:
  name: etcd-$1-control-plane
  namespace: kube-system
spec:
  containers:
    - name: etcd
      image: etcd
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: coredns
  namespace: kube-system
spec:
  selector:
    matchLabels: {app: coredns}
  template:
    metadata:
      labels: {app: coredns}
    spec:
      containers:
        - name: coredns
          image: coredns
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: kube-proxy
  namespace: kube-system
spec:
  selector:
    matchLabels: {app: kube-proxy}
  template:
    metadata:
      labels: {app: kube-proxy}
    spec:
      containers:
        - name: kube-proxy
          image: kube-proxy
END
}

# No program runs in the pods of a trial member: this runs the agent of shiplog for the one that `karmadactl register` deploys,
# again for each Deployment.
agent() {
  local name=$1 running="" wanted
  local member=(kubectl --kubeconfig "$fleet/kube/$name" -n karmada-system)
  trap 'end "agent-$name"' EXIT
  trap 'exit 0' INT TERM
  while [ -s "$fleet/kube/$name" ]; do
    wanted=$("${member[@]}" get deployment karmada-agent -o 'jsonpath={.metadata.uid}' 2>/dev/null || true)
    if [ "$wanted" != "$running" ]; then
      end "agent-$name"
      running=""
      if [ -n "$wanted" ] && "${member[@]}" get secret karmada-kubeconfig -o 'jsonpath={.data.karmada-kubeconfig}' \
        >"$fleet/kube/$name.agent" && [ -s "$fleet/kube/$name.agent" ]; then
        base64 -d <"$fleet/kube/$name.agent" >"$fleet/kube/$name.agent-kubeconfig"
        launch "agent-$name" "$programs/shiplogd" agent --karmada-kubeconfig="$fleet/kube/$name.agent-kubeconfig" \
          --kubeconfig="$fleet/kube/$name" --cluster-name="$name"
        running=$wanted
      fi
    fi
    sleep 0.5
  done
}

case $1 in
  start) start "$2" ;;
  prepare) prepare "$2" ;;
  create)
    start "$2"
    prepare "$2"
    "$here/contexts.py" "$3" "$4=$fleet/kube/$2"
    launch "watch-$2" "$here/member.sh" agent "$fleet" "$2"
    ;;
  agent) agent "$3" ;;
  delete)
    rm -f "$fleet/kube/$2"
    end "watch-$2"
    end "agent-$2"
    end "$2"
    rm -rf "$fleet/members/$2"
    ;;
  *) echo "member.sh: there is no '$1'" >&2; exit 1 ;;
esac
