#!/usr/bin/env bash
# run.sh --source=DIR --suite=DIR [--focus=REGEX] [--procs=N] [--stay]: Karmada's end-to-end suite on a fleet of trial members.
# See README.md.
. "$(dirname "$0")/../../tools/environment.sh"

here=$root/tests/karmada
source="" suite="" focus="" procs=6 stay=no
for word in "$@"; do
  case $word in
    --source=*) source=${word#*=} ;;
    --suite=*) suite=${word#*=} ;;
    --focus=*) focus=${word#*=} ;;
    --procs=*) procs=${word#*=} ;;
    --stay) stay=yes ;;
    *) die "karmada: unknown option $word (there are --source=DIR, --suite=DIR, --focus=REGEX, --procs=N and --stay)" ;;
  esac
done
[[ $procs =~ ^[1-9][0-9]*$ ]] || die "karmada: --procs=$procs is not a number of processes"
example=$source/examples/customresourceinterpreter
[ -n "$source" ] && [ -f "$example/webhook-configuration.yaml" ] ||
  die "karmada: --source=DIR must be a checkout of Karmada, e.g. of
    git clone --depth=1 https://github.com/karmada-io/karmada.git"
for program in base.test ginkgo karmadactl webhook; do
  [ -n "$suite" ] && [ -x "$suite/$program" ] ||
    die "karmada: --suite=DIR must contain base.test, ginkgo, karmadactl and webhook (tests/karmada/README.md); there is no ${suite:+$suite/}$program"
done
# The programs of shiplog: those built here, or, with SHIPLOG_PROGRAMS=DIR, the ones in DIR; then nothing is built.
if [ -z "${SHIPLOG_PROGRAMS:-}" ]; then tools/build.sh shiplogd shiplogctl; fi
tools/install.sh kubectl python3-yaml openssl
programs=$(realpath "${SHIPLOG_PROGRAMS:-build/bin}")
example=$(realpath "$example") suite=$(realpath "$suite")

fleet=$(mktemp -d "${TMPDIR:-/tmp}/shiplog-karmada-XXXXXX")
mkdir "$fleet/run" "$fleet/log" "$fleet/kube" "$fleet/webhook" "$fleet/bin"
# Specs write kubeconfigs into $HOME/.kube. kubectl keeps a cache there, too.
mkdir -p "$fleet/home/.kube"
export HOME=$fleet/home SHIPLOG_FLEET=$fleet SHIPLOG_PROGRAMS=$programs SHIPLOG_KARMADA_MEMBER=$here/member.sh
keep=no
pids=()
ginkgo=""

# Members that specs have started are not children of this script; their pids are in run/. A pid that now belongs to another
# process is left alone: the command line of each of these contains the folder of the fleet.
stop_fleet() {
  trap - EXIT INT TERM
  if [ -n "$ginkgo" ]; then
    kill -KILL -- "-$ginkgo" 2>/dev/null || true # a group of its own: ginkgo, its workers and what they run
    wait "$ginkgo" 2>/dev/null || true
  fi
  local pid file
  for file in "$fleet"/run/*.pid; do
    pid=$(cat "$file" 2>/dev/null) || continue
    if grep -qsF "$fleet" "/proc/$pid/cmdline"; then
      kill "$pid" 2>/dev/null || true
      pids+=("$pid")
    fi
  done
  for _ in $(seq 100); do
    file=ended
    for pid in "${pids[@]}"; do if grep -qsF "$fleet" "/proc/$pid/cmdline"; then file=""; fi; done
    [ -z "$file" ] || break
    sleep 0.1
  done
  for pid in "${pids[@]}"; do if grep -qsF "$fleet" "/proc/$pid/cmdline"; then kill -KILL "$pid" 2>/dev/null || true; fi; done
  if [ $keep = yes ]; then say "the report, the logs and the data of the control plane are in $fleet"; else rm -rf "$fleet"; fi
}

# launch NAME COMMAND...: a process in a session of its own, so that Ctrl-C reaches this script alone.
launch() {
  local name=$1; shift
  setsid "$@" >"$fleet/log/$name.log" 2>&1 </dev/null &
  echo "$!" >"$fleet/run/$name.pid"
}

# await NAME FILE: until the process NAME has written FILE.
await() {
  local pid waited=0
  pid=$(cat "$fleet/run/$1.pid")
  until [ -s "$2" ]; do
    if ! kill -0 "$pid" 2>/dev/null; then
      tail -n 5 "$fleet/log/$1.log" >&2
      die "$1 did not start: the end of its log is above"
    fi
    sleep 0.05; waited=$((waited + 1))
    [ $waited -lt 1200 ] || die "$1 did not answer within a minute"
  done
}

# on NAME ARGUMENTS...: kubectl on the control plane or a member.
on() { local name=$1; shift; kubectl --kubeconfig "$fleet/kube/$name" "$@"; }

trap stop_fleet EXIT
trap 'exit 130' INT TERM
members=(member1 member2 member3)

say "starting a fleet in $fleet"
# karmada-host is the cluster in which Karmada itself would run.
for name in "${members[@]}" karmada-host; do "$here/member.sh" start "$name"; done
gates=Failover=true,FederatedQuotaEnforcement=true,MultiClusterService=true,MultiplePodTemplatesScheduling=true
gates+=,PropagationPolicyPreemption=true,ResourceQuotaEstimate=true,SchedulingOvercommitProtection=true
gates+=,StatefulFailoverInjection=true,WorkloadAffinity=true
launch plane "$programs/shiplogd" serve --data-dir="$fleet/plane" --listen=127.0.0.1:0 --kubeconfig-out="$fleet/kube/plane" \
  --feature-gates="$gates" --enable-no-execute-taint-eviction --allow-no-execute-taint-policy --enable-scheduler-estimator \
  "--controllers=*,hpaScaleTargetMarker,deploymentReplicasSyncer"
await plane "$fleet/kube/plane"
for name in "${members[@]}" karmada-host; do "$here/member.sh" prepare "$name"; done
"$here/contexts.py" "$fleet/kube/control" karmada-apiserver="$fleet/kube/plane" karmada-host="$fleet/kube/karmada-host"
"$here/contexts.py" "$fleet/kube/members" member1="$fleet/kube/member1" member2="$fleet/kube/member2" member3="$fleet/kube/member3"
export KUBECONFIG=$fleet/kube/control

# Two members are called by the control plane; member3 is behind an agent.
for name in member1 member2; do
  "$programs/shiplogctl" --kubeconfig "$fleet/kube/plane" join "$name" --cluster-kubeconfig "$fleet/kube/$name" >>"$fleet/log/setup.log"
done
read -ra register < <("$programs/shiplogctl" --kubeconfig "$fleet/kube/plane" token create --print-register-command)
(cd "$fleet/kube" && PATH=$programs:$PATH "${register[@]}" --kubeconfig="$fleet/kube/member3" --cluster-name=member3 >>"$fleet/log/setup.log")
launch agent "$programs/shiplogd" agent --karmada-kubeconfig="$fleet/kube/member3.agent.kubeconfig" \
  --kubeconfig="$fleet/kube/member3" --cluster-name=member3
for name in "${members[@]}"; do
  launch "estimator-$name" "$programs/shiplogd" estimator --cluster-name="$name" --kubeconfig="$fleet/kube/$name" \
    --listen=127.0.0.1:0 --address-out="$fleet/run/$name.address" --feature-gates=ResourceQuotaEstimate=true
  await "estimator-$name" "$fleet/run/$name.address"
done
on plane wait --for=condition=Ready --timeout=60s cluster "${members[@]}" >>"$fleet/log/setup.log"
for name in "${members[@]}"; do
  on plane annotate cluster "$name" "estimator.shiplog.io/address=$(cat "$fleet/run/$name.address")" >>"$fleet/log/setup.log"
done

# The interpreter webhook of upstream's examples, with a certificate of its own.
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
  -keyout "$fleet/webhook/tls.key" -out "$fleet/webhook/tls.crt" 2>/dev/null
launch webhook "$suite/webhook" --kubeconfig="$fleet/kube/control" --bind-address=127.0.0.1 --secure-port="$port" \
  --cert-dir="$fleet/webhook"
sed -e "s#{{[^{}]*address}}:[0-9]*#127.0.0.1:$port#; s#{{caBundle}}#$(base64 -w0 "$fleet/webhook/tls.crt")#" \
  "$example/webhook-configuration.yaml" >"$fleet/webhook/configuration.yaml"
on plane apply -f "$fleet/webhook/configuration.yaml" >>"$fleet/log/setup.log"
for name in plane "${members[@]}"; do
  on "$name" apply --server-side -f "$example/apis/workload.example.io_workloads.yaml" >>"$fleet/log/setup.log"
done
waited=0
until (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
  sleep 0.1; waited=$((waited + 1))
  [ $waited -lt 300 ] || { tail -n 5 "$fleet/log/webhook.log" >&2; die "the webhook does not listen: the end of its log is above"; }
done

# The suite asks `go env GOPATH` where karmadactl is.
ln -s "$suite/karmadactl" "$fleet/bin/karmadactl"
printf '#!/bin/sh\necho %q\n' "$fleet" >"$fleet/bin/go"
chmod +x "$fleet/bin/go"
say "running the suite in $procs processes, about ten minutes; its log is $fleet/log/suite.log"
keep=yes
selected=()
[ -z "$focus" ] || selected=(--focus="$focus")
PATH=$fleet/bin:$PATH PULL_BASED_CLUSTERS=member3:$fleet/kube/members \
  setsid "$suite/ginkgo" -v --no-color --procs="$procs" --keep-going --timeout=60m --json-report=report.json --output-dir="$fleet" \
  "${selected[@]}" "$suite/base.test" -- --poll-interval=300ms --poll-timeout=60s >"$fleet/log/suite.log" 2>&1 </dev/null &
ginkgo=$!
wait "$ginkgo" || true
ginkgo=""
[ -s "$fleet/report.json" ] || { tail -n 20 "$fleet/log/suite.log" >&2; die "the suite has written no report: the end of its log is above"; }
status=0
"$here/compare.py" "$fleet/report.json" "$here/expected.txt" ${focus:+--focused} || status=$?
if [ $stay = yes ]; then
  say "the fleet stays until Ctrl-C: export KUBECONFIG=$fleet/kube/control:$fleet/kube/members"
  while :; do sleep 1; done
fi
[ $status != 0 ] || keep=no
exit $status
