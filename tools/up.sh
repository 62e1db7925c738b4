#!/usr/bin/env bash
# tools/up.sh [--fresh] [--once] [--members=N] [--journal=sqlite|kafka]: a fleet to try things on, in .fleet/.
. "$(dirname "$0")/environment.sh"

fleet=$root/.fleet
# The programs to run: those built here, or, with SHIPLOG_PROGRAMS=DIR, the ones in DIR; then nothing is built.
programs=${SHIPLOG_PROGRAMS:-}
pids=()
broker=""
declare -A name_of=()  # pid -> name
declare -A command_of=() began_at=() ends_of=() # by name: the command, when it last started, how often it ended soon after

stop_fleet() {
  trap - EXIT INT TERM
  [ ${#pids[@]} -gt 0 ] || return 0
  say "stopping the fleet"
  # The broker stops last: the other processes give up their leases through it.
  local others=()
  for pid in "${pids[@]}"; do [ "$pid" = "$broker" ] || others+=("$pid"); done
  if [ ${#others[@]} -gt 0 ]; then
    kill "${others[@]}" 2>/dev/null || true
    wait "${others[@]}" 2>/dev/null || true
  fi
  if [ -n "$broker" ]; then
    kill "$broker" 2>/dev/null || true
    wait "$broker" 2>/dev/null || true
  fi
  rm -rf "$fleet/run"
}

# launch NAME COMMAND...: starts a process in the background. Its pid is in run/NAME.pid, its output in log/NAME.log.
launch() {
  local name=$1; shift
  mkdir -p "$fleet/log" "$fleet/run"
  : >"$fleet/log/$name.log"
  printf -v "command_of[$name]" '%q ' "$@"
  spawn "$name" 0
}

# spawn NAME DELAY: runs the command of NAME after DELAY seconds, with the address it had before.
spawn() {
  local name=$1 delay=$2
  command_of[$name]=${command_of[$name]//--listen=127.0.0.1:0/--listen=$(listen_of "$name")}
  (
    trap - EXIT INT TERM
    [ "$delay" = 0 ] || sleep "$delay"
    eval "exec ${command_of[$name]}"
  ) >>"$fleet/log/$name.log" 2>&1 &
  pids+=("$!")
  name_of[$!]=$name
  began_at[$name]=$((SECONDS + delay))
  echo "$!" >"$fleet/run/$name.pid"
}

# start NAME READY_FILE COMMAND...: as launch, and waits until READY_FILE exists.
start() {
  local name=$1 ready=$2; shift 2
  rm -f "$ready"
  launch "$name" "$@"
  local pid=${pids[-1]}
  local waited=0
  until [ -s "$ready" ]; do
    if ! kill -0 "$pid" 2>/dev/null; then
      tail -n 5 "$fleet/log/$name.log" >&2
      die "$name did not start: the end of its log is above, all of it is in $fleet/log/$name.log"
    fi
    sleep 0.05; waited=$((waited + 1))
    [ $waited -lt 1200 ] || die "$name did not answer within a minute: see $fleet/log/$name.log"
  done
}

# Restarts each process that ends, at once the first time and then after 1, 2 and 4 s. One that ends five times, each time
# within a minute of its start, is not going to recover: that ends the fleet with an error.
supervise() {
  local pid status name how delay left
  while :; do
    pid="" status=0
    wait -n -p pid "${pids[@]}" 2>/dev/null || status=$?
    [ -n "$pid" ] || continue
    name=${name_of[$pid]}
    left=()
    for one in "${pids[@]}"; do [ "$one" = "$pid" ] || left+=("$one"); done
    pids=("${left[@]}")
    how="exit code $status"
    [ $status -le 128 ] || how="signal $(kill -l "$status")"
    [ $((SECONDS - began_at[$name])) -lt 60 ] || ends_of[$name]=0
    ends_of[$name]=$((${ends_of[$name]:-0} + 1))
    if [ "${ends_of[$name]}" -ge 5 ]; then
      tail -n 5 "$fleet/log/$name.log" >&2
      die "$name ended ${ends_of[$name]} times, the last time with $how: the end of its log is above, all of it is in $fleet/log/$name.log"
    fi
    delay=0
    [ "${ends_of[$name]}" -le 1 ] || delay=$((1 << (${ends_of[$name]} - 2)))
    spawn "$name" "$delay"
    if [ "$pid" = "$broker" ]; then broker=${pids[-1]}; fi
    say "$name (pid $pid) ended with $how; restarted as pid ${pids[-1]}$([ "$delay" = 0 ] || echo " in $delay s"). Its log: $fleet/log/$name.log"
  done
}

# The address a process had the last time, so that kubeconfigs stay good; a free port the first time.
listen_of() { cat "$fleet/$1/listen" 2>/dev/null || echo 127.0.0.1:0; }
remember_listen() { sed -n 's|.*server: *"\{0,1\}https://\([^"/]*\)"\{0,1\}.*|\1|p' "$fleet/$1.kubeconfig" | head -n 1 >"$fleet/$1/listen"; }

# A port that nobody listens on, from the one given.
free_port() {
  local port=$1
  while (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
  echo "$port"
}

start_broker() {
  mkdir -p "$fleet/kafka"
  # The ports it had the last time: its clients and its own records know it by them.
  if [ ! -s "$fleet/kafka/ports" ]; then
    local first
    first=$(free_port 19092)
    echo "$first $(free_port $((first + 1)))" >"$fleet/kafka/ports"
  fi
  local port controller
  read -r port controller <"$fleet/kafka/ports"
  say "starting a Kafka broker at 127.0.0.1:$port"
  # One that is restarted after a kill waits until the session of the one before has ended: 9 s by default.
  launch kafka tests/kafka/broker.sh run "$fleet/kafka" 1 "$port" "1@127.0.0.1:$controller" \
    broker.session.timeout.ms=3000 broker.heartbeat.interval.ms=500
  broker=${pids[-1]}
  local waited=0
  until (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    if ! kill -0 "$broker" 2>/dev/null; then
      tail -n 5 "$fleet/log/kafka.log" >&2
      die "the broker did not start (its last words are above, all of them in $fleet/log/kafka.log)"
    fi
    sleep 0.2; waited=$((waited + 1))
    [ $waited -lt 600 ] || die "the broker does not listen after two minutes: see $fleet/log/kafka.log"
  done
  journal=kafka:127.0.0.1:$port/demo
}

fresh=no members=3 once=no kind=sqlite journal=""
for word in "$@"; do
  case $word in
    --fresh) fresh=yes ;;
    --members=*) members=${word#*=} ;;
    --journal=sqlite) kind=sqlite ;;
    --journal=kafka) kind=kafka fleet=$root/.fleet/on-kafka ;;
    --once) once=yes ;;
    *) die "up: unknown option $word (there are --fresh, --once, --members=N and --journal=sqlite|kafka)" ;;
  esac
done
if [ -z "$programs" ]; then
  tools/build.sh shiplogd shiplogctl
  programs=$root/build/bin
fi
tools/install.sh kubectl
if [ $kind = kafka ]; then tools/install.sh kafka || die "no Kafka: see above"; fi
if [ $fresh = yes ]; then say "starting over: removing $fleet"; rm -rf "$fleet"; fi
mkdir -p "$fleet"
trap stop_fleet EXIT
trap 'exit 130' INT TERM

began=$SECONDS names=()
# Members first: a control plane that comes back to absent members would take them for lost.
for number in $(seq "$members"); do
  name=member$number
  names+=("$name")
  say "starting $name"
  mkdir -p "$fleet/$name"
  start "$name" "$fleet/$name.kubeconfig" "$programs"/shiplogd member --name="$name" --data-dir="$fleet/$name" \
    --listen="$(listen_of "$name")" --kubeconfig-out="$fleet/$name.kubeconfig"
  remember_listen "$name"
done
mkdir -p "$fleet/shiplog"
# The guide evicts workloads and enforces a quota. Both are off by default.
switches=(--feature-gates=Failover=true,FederatedQuotaEnforcement=true,MultiClusterService=true --enable-no-execute-taint-eviction
  --allow-no-execute-taint-policy)
if [ $kind = kafka ]; then
  start_broker
  say "starting the control plane, a process for each role"
  start shiplog "$fleet/shiplog.kubeconfig" "$programs"/shiplogd serve --roles=api --journal="$journal" \
    --keys-dir="$fleet/keys" --data-dir="$fleet/shiplog" "${switches[@]}" --listen="$(listen_of shiplog)" \
    --kubeconfig-out="$fleet/shiplog.kubeconfig"
  # The program knows its roles; the process above has the role api.
  for role in $("$programs"/shiplogd roles | grep -vx api); do
    launch "$role" "$programs"/shiplogd serve --roles="$role" --journal="$journal" --keys-dir="$fleet/keys" \
      --data-dir="$fleet/$role"
  done
else
  say "starting the control plane"
  start shiplog "$fleet/shiplog.kubeconfig" "$programs"/shiplogd serve --data-dir="$fleet/shiplog" "${switches[@]}" \
    --listen="$(listen_of shiplog)" --kubeconfig-out="$fleet/shiplog.kubeconfig"
fi
remember_listen shiplog
export KUBECONFIG=$fleet/shiplog.kubeconfig
export KUBECACHEDIR=$fleet/cache
for name in "${names[@]}"; do
  if ! kubectl get cluster "$name" >/dev/null 2>&1; then
    say "joining $name"
    "$programs"/shiplogctl join "$name" --cluster-kubeconfig "$fleet/$name.kubeconfig" >&2 ||
      die "joining $name failed: see above and $fleet/log/"
  fi
done
say "applying docs/examples/nginx"
kubectl apply -f docs/examples/nginx >&2 || die "kubectl apply failed: see above"

say "waiting for deployment nginx to become ready"
want="" ready="" waited=0 line="" last=""
while :; do
  want=$(kubectl get deployment nginx -o 'jsonpath={.spec.replicas}')
  ready=$(kubectl get deployment nginx -o 'jsonpath={.status.readyReplicas}')
  placed=$(kubectl get resourcebinding nginx-deployment -o 'jsonpath={range .spec.clusters[*]}{.name}:{.replicas} {end}' 2>/dev/null || true)
  line="    placed: ${placed:-not yet}  ready: ${ready:-0}"
  [ "$line" = "$last" ] || printf '%s\n' "$line" >&2
  last=$line
  total=$(printf '%s' "$placed" | tr ' ' '\n' | awk -F: '{sum += $2} END {print sum + 0}')
  if [ "$total" -gt 0 ] && [ "${ready:-0}" = "$total" ]; then break; fi
  sleep 0.3; waited=$((waited + 1))
  [ $waited -lt 200 ] || die "nginx is not ready after a minute: look at '$programs/shiplogctl --kubeconfig $fleet/shiplog.kubeconfig history resourcebinding/nginx-deployment' and $fleet/log/"
done

printf '\n%-12s %-10s %-9s %s\n' CLUSTER REPLICAS APPLIED READY
status=$(kubectl get resourcebinding nginx-deployment -o 'jsonpath={range .status.aggregatedStatus[*]}{.clusterName} {.applied} {.status.readyReplicas}{"\n"}{end}')
kubectl get resourcebinding nginx-deployment -o 'jsonpath={range .spec.clusters[*]}{.name} {.replicas}{"\n"}{end}' |
  while read -r name replicas; do
    set -- $(printf '%s\n' "$status" | awk -v name="$name" '$1 == name {print $2, $3}')
    printf '%-12s %-10s %-9s %s\n' "$name" "$replicas" "${1:-false}" "${2:-0}"
  done
printf '\nHow it came to this (shiplogctl history deployment/nginx --chain):\n\n'
"$programs"/shiplogctl history deployment/nginx --chain

cat <<END

The control plane is at $(sed -n 's/.*server: *"\{0,1\}\(https:[^"]*\)"\{0,1\}.*/\1/p' "$KUBECONFIG" | head -n 1) (up in $((SECONDS - began)) s). In another terminal:

    export KUBECONFIG=$fleet/shiplog.kubeconfig PATH=$programs:\$PATH
    kubectl get clusters,deployments,resourcebindings
    kubectl scale deployment nginx --replicas=7
    shiplogctl history deployment/nginx

END
[ $once = no ] || exit 0
say "running; a process that ends is restarted; Ctrl-C stops the fleet, and the next ./dev up continues with its data"
supervise
