#!/usr/bin/env bash
# chart_test.sh ROOT BUILD HELM: what the Helm chart makes of its values is what the API server accepts, with strict
# validation; values that cannot work are refused with their names.
set -euo pipefail
root=$1 build=$2 helm=$3
if [ ! -x "$helm" ]; then
  helm=$(type -P helm) || {
    printf 'helm is missing: tools/install.sh clients gets it\n' >&2
    [ "${CI:-}" = true ] && exit 1 || exit 77
  }
fi
scratch=$(mktemp -d)
server=""
finish() {
  [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT
export HOME=$scratch KUBECONFIG=$scratch/kubeconfig KUBECACHEDIR=$scratch/cache
fail() { printf 'chart: %s\n' "$*" >&2; exit 1; }
render() { "$helm" template fleet "$root/docker/chart" --kube-version=1.31.0 --namespace=default "$@"; }
kafka=(--set journal.kind=kafka --set 'journal.kafka.brokers={kafka-0:9093,kafka-1:9093}')

"$build/bin/shiplogd" serve --data-dir="$scratch/data" --listen=127.0.0.1:0 --kubeconfig-out="$KUBECONFIG" \
  >"$scratch/log" 2>&1 &
server=$!
for _ in $(seq 600); do
  [ -s "$KUBECONFIG" ] && break
  kill -0 "$server" 2>/dev/null || { cat "$scratch/log" >&2; fail "shiplogd did not start"; }
  sleep 0.1
done

# expect NAME WANTED [SETTING...]: renders, has the API server validate it, and compares what it is made of.
expect() {
  local name=$1 wanted=$2; shift 2
  render "$@" >"$scratch/$name.yaml" || fail "$name: helm failed"
  kubectl apply --dry-run=server --validate=strict -f "$scratch/$name.yaml" >"$scratch/$name.out" 2>&1 || {
    cat "$scratch/$name.out" >&2
    fail "$name: the API server refuses it"
  }
  diff <(printf '%s\n' $wanted | sort) <(cut -d ' ' -f 1 "$scratch/$name.out" | sort) >&2 || fail "$name: other objects"
}
expect embedded "serviceaccount/fleet service/fleet statefulset.apps/fleet"
expect kafka "serviceaccount/fleet service/fleet deployment.apps/fleet-api deployment.apps/fleet-roles
  poddisruptionbudget.policy/fleet-api poddisruptionbudget.policy/fleet-roles" "${kafka[@]}" --set keysSecret=keys \
  --set journal.kafka.optionsSecret=options --set 'options={--snapshot-every=5}' --set 'tolerations[0].operator=Exists'
grep -q -- '--journal=kafka:kafka-0:9093,kafka-1:9093/shiplog' "$scratch/kafka.yaml" || fail "the brokers are not in it"

# Every role runs somewhere, and every option is one that shiplogd has.
wanted=$("$build/bin/shiplogd" roles | sort | tr '\n' ' ')
found=$(sed -n 's/.*--roles=//p' "$scratch/kafka.yaml" | tr ',' '\n' | sort | tr '\n' ' ')
[ "$wanted" = "$found" ] || fail "roles are $wanted, the chart runs $found"
"$build/bin/shiplogd" serve --help >"$scratch/help"
sed -n 's/^ *- "\{0,1\}\(--[a-z-]*\)=.*/\1/p' "$scratch/embedded.yaml" "$scratch/kafka.yaml" | sort -u | while read -r option; do
  grep -q -- "$option " "$scratch/help" || fail "shiplogd has no option $option"
done

# refused TEXT SETTING...
refused() {
  local text=$1; shift
  if render "$@" >"$scratch/out" 2>"$scratch/err"; then fail "accepted: $*"; fi
  grep -q -- "$text" "$scratch/err" || { cat "$scratch/err" >&2; fail "the error does not name $text"; }
}
refused journal.kind --set journal.kind=etcd
refused journal.kafka.brokers --set journal.kind=kafka --set keysSecret=keys
refused keysSecret "${kafka[@]}"
