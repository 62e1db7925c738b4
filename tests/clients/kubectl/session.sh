#!/usr/bin/env bash
# A session with a kubectl of any release: session.sh KUBECTL. Prints its checks, and ends with a message at the first one
# that fails. Its help output determines which commands a release supports; others are reported.
# $KUBECONFIG names the control plane, $MEMBER a ready member, $TMPDIR a folder for files.
set -euo pipefail
program=$1
namespace=kubectl-day
patience=60s
scratch=$(mktemp -d)
watcher=""
out=""

end() {
  local code=$?
  if [ -n "$watcher" ]; then kill "$watcher" 2>/dev/null || true; fi
  rm -rf "$scratch"
  exit $code
}
trap end EXIT

step() { echo "kubectl: $*"; }
fail() { printf 'kubectl: NOT AS EXPECTED: %s\n' "$*"; exit 1; }

k() { "$program" --cache-dir="$scratch/cache" --namespace="$namespace" "$@"; }
# The same for background commands: $! is then kubectl itself, not a shell around it.
in_background() { exec "$program" --cache-dir="$scratch/cache" --namespace="$namespace" "$@"; }
# Runs kubectl, which must succeed; its output is in $out.
must() { out=$(k "$@" 2>&1) || fail "'kubectl $*' fails with: $out"; }
# must_print TEXT KUBECTL_ARGUMENTS...: it must succeed, and its output must contain the text.
must_print() { local text=$1; shift; must "$@"; expect_output "$text" "$@"; }
# must_be TEXT KUBECTL_ARGUMENTS...: it must succeed, and print exactly this.
must_be() { local text=$1; shift; must "$@"; [ "$out" = "$text" ] || fail "'kubectl $*' prints '$out' instead of '$text'"; }
# must_refuse TEXT KUBECTL_ARGUMENTS...: it must fail, and its output must contain the text.
must_refuse() {
  local text=$1; shift
  if out=$(k "$@" 2>&1); then fail "'kubectl $*' is not refused; it prints: $out"; fi
  expect_output "$text" "$@"
}
expect_output() { local text=$1; shift; [[ $out == *"$text"* ]] || fail "'kubectl $*' does not print '$text' but: $out"; }
able() { local text=$1; shift; KUBECTL_APPLYSET=true "$program" "$@" --help 2>&1 | grep -q -e "$text"; }
# until_seen TEXT FILE: waits until a background command has printed the text.
until_seen() {
  local tries=0
  until grep -q -e "$1" "$2"; do
    tries=$((tries + 1))
    [ $tries -lt 1200 ] || fail "'$1' is not in what the watch has printed: $(cat "$2")"
    sleep 0.05
  done
}
file() { cat >"$scratch/$1"; }

folder=$(dirname "$0")
# shellcheck source=tests/clients/kubectl/generators.sh
. "$folder/generators.sh"
# shellcheck source=tests/clients/kubectl/gitops.sh
. "$folder/gitops.sh"

discovery() {
  step "version, resources, explanations"
  must_print "Server Version" version
  must api-resources
  for text in "deployments .*apps/v1 .*true .*Deployment" "propagationpolicies .*policy.karmada.io/v1alpha1"; do
    grep -q "$text" <<<"$out" || fail "api-resources does not have '$text' but: $out"
  done
  must_print "apps/v1" api-versions
  must_print "replicas" explain deployment.spec
  must_print "KIND:" explain deployment.spec.template.spec.containers
  must_print "clusterAffinity" explain propagationpolicy.spec.placement
  must_refuse "sofa" explain sofa
  must_refuse "the server doesn't have a resource type \"sofas\"" get sofas
  must_be yes auth can-i create deployments
  if ! able whoami auth; then step "  (it has no 'auth whoami')"
  elif out=$(k auth whoami 2>&1); then expect_output Username auth whoami
  elif able --for=create wait; then fail "'kubectl auth whoami' fails with: $out"
  else
    expect_output "APISelfSubjectReview" auth whoami
    step "  (its 'auth whoami' requests a removed version)"
  fi
}

objects() {
  step "a namespace, and objects in it: create, get, label, annotate, edit, delete"
  must_be "namespace/$namespace created" create namespace "$namespace"
  must_be "configmap/one created" create configmap one --from-literal=colour=red
  must_be "configmap/two created" create configmap two --from-literal=colour=blue
  must_refuse "already exists" create configmap one
  must_refuse NotFound get configmap none
  must_be "configmap/one labeled" label configmap one tier=front
  must_print "configmap/one annotate" annotate configmap one note=x
  must_refuse "already has a value" label configmap one tier=back
  must_be "configmap/one" get configmaps -l 'tier in (front)' -o name
  must_be "configmap/two" get configmaps --field-selector metadata.name=two -o name
  must_be $'two\none' get configmaps one two --sort-by=.data.colour -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}'
  must get configmaps one two --chunk-size=1
  [[ $out == *NAME*DATA*AGE*one*1*two*1* ]] || fail "the table of configmaps is: $out"
  must_print "colour:" describe configmap one
  out=$(EDITOR="sed -i s/red/pink/" k edit configmap one 2>&1) || fail "'kubectl edit' fails with: $out"
  must_be pink get configmap one -o 'jsonpath={.data.colour}'
  must_be "secret/key created" create secret generic key --from-literal=password=hunter2
  must_be aHVudGVyMg== get secret key -o 'jsonpath={.data.password}'
  must_be "configmap/dry created (server dry run)" create configmap dry --dry-run=server
  must_refuse NotFound get configmap dry
  must_print "configmap \"two\" deleted" delete configmap two
  must_refuse NotFound get configmap two
  must_print "deleted" delete configmaps -l tier=front
  must_be "" get configmaps -l tier=front -o name
}

applies() {
  step "apply: unchanged, changed, diff, view-last-applied, a conflict, replace"
  file map.yaml <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: one}}
data: {colour: red, size: "3"}
Y
  sed 's/, size: "3"//' "$scratch/map.yaml" >"$scratch/smaller.yaml"
  must_be "configmap/settings created" apply -f "$scratch/map.yaml"
  must_be "configmap/settings unchanged" apply -f "$scratch/map.yaml"
  must_refuse '-  size: "3"' diff -f "$scratch/smaller.yaml"
  must_be "configmap/settings configured" apply -f "$scratch/smaller.yaml"
  must_be red get configmap settings -o 'jsonpath={.data.*}'
  must_print "colour: red" apply view-last-applied configmap settings
  # An outdated version cannot replace a newer one.
  must get configmap settings -o yaml
  printf '%s\n' "$out" >"$scratch/stale.yaml"
  must_be "configmap/settings labeled" label configmap settings touched=yes
  must_refuse "the object has been modified" replace -f "$scratch/stale.yaml"
  must_be "configmap/settings replaced" replace -f "$scratch/map.yaml"
  printf 'sise: 3\n' >>"$scratch/map.yaml"
  must_refuse 'sise' apply -f "$scratch/map.yaml"
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Bad_Name}\n' >"$scratch/bad.yaml"
  must_refuse "metadata.name" apply -f "$scratch/bad.yaml"
}

server_side() {
  step "server-side apply by two managers: a conflict, force, removed fields"
  file ours.yaml <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: shared}
data: {colour: red, size: "3"}
Y
  sed 's/colour: red, size: "3"/colour: blue/' "$scratch/ours.yaml" >"$scratch/theirs.yaml"
  sed 's/{colour: red, size: "3"}/{}/' "$scratch/ours.yaml" >"$scratch/nothing.yaml"
  must_be "configmap/shared serverside-applied" apply --server-side --field-manager=painter -f "$scratch/ours.yaml"
  must get configmap shared -o 'jsonpath={.metadata.resourceVersion}'
  local version=$out
  must_be "configmap/shared serverside-applied" apply --server-side --field-manager=painter -f "$scratch/ours.yaml"
  must_be "$version" get configmap shared -o 'jsonpath={.metadata.resourceVersion}'
  must_refuse 'conflict with "painter"' apply --server-side --field-manager=sculptor -f "$scratch/theirs.yaml"
  must_be red get configmap shared -o 'jsonpath={.data.colour}'
  must apply --server-side --field-manager=sculptor --force-conflicts -f "$scratch/theirs.yaml"
  must_be "blue 3" get configmap shared -o 'jsonpath={.data.colour} {.data.size}'
  must apply --server-side --field-manager=painter -f "$scratch/nothing.yaml"
  must_be '{"colour":"blue"}' get configmap shared -o 'jsonpath={.data}'
}

gone_over() {
  step "from client-side to server-side apply: what is left out then goes"
  if ! able whoami auth; then step "  (it leaves the fields of a client-side apply as they are)"; return; fi
  file gone-over.yaml <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: gone-over}
data: {key: v, legacy: v}
Y
  sed 's/, legacy: v//' "$scratch/gone-over.yaml" >"$scratch/without-legacy.yaml"
  must apply -f "$scratch/gone-over.yaml"
  must apply --server-side -f "$scratch/gone-over.yaml"
  must apply --server-side -f "$scratch/without-legacy.yaml"
  must_be '{"key":"v"}' get configmap gone-over -o 'jsonpath={.data}'
}

patches() {
  step "patches of each type"
  must_be "configmap/shared patched" patch configmap shared -p '{"data":{"a":"1","b":"2"}}'
  must_be "configmap/shared patched" patch configmap shared --type=merge -p '{"data":{"a":null}}'
  must_be "configmap/shared patched" patch configmap shared --type=json -p '[{"op":"replace","path":"/data/b","value":"3"}]'
  must_be "configmap/shared patched (no change)" patch configmap shared -p '{"data":{"b":"3"}}'
  must_be '{"b":"3","colour":"blue"}' get configmap shared -o 'jsonpath={.data}'
  must_refuse "" patch configmap shared --type=json -p '[{"op":"test","path":"/data/b","value":"9"}]'
}

rollout() {
  step "a Deployment that runs on a member: rollout status, scale, image, restart, wait, watch"
  must create deployment web --image=nginx:1.27
  must_be "deployment.apps/web scaled" scale deployment web --replicas=2
  file policy.yaml <<Y
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [$MEMBER]}}
Y
  must_be "propagationpolicy.policy.karmada.io/web created" apply -f "$scratch/policy.yaml"
  must_print "successfully rolled out" rollout status deployment/web --timeout="$patience"
  must_be 2 get deployment web -o 'jsonpath={.status.readyReplicas}'
  must wait --for=condition=Ready "cluster/$MEMBER" --timeout="$patience"
  must_print "$MEMBER" get clusters
  in_background get deployments --watch --output-watch-events >"$scratch/watched" 2>&1 &
  watcher=$!
  until_seen "ADDED .*web .*2/2" "$scratch/watched"
  must_refuse "Expected replicas to be 7" scale deployment web --current-replicas=7 --replicas=3
  must scale deployment web --replicas=3
  must_print "successfully rolled out" rollout status deployment/web --timeout="$patience"
  until_seen "MODIFIED .*web .*3/3" "$scratch/watched"
  must_be "deployment.apps/web image updated" set image deployment/web nginx=nginx:1.28
  must_print "successfully rolled out" rollout status deployment/web --timeout="$patience"
  must_be "nginx:1.28 3" get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image} {.status.updatedReplicas}'
  must_be "deployment.apps/web restarted" rollout restart deployment/web
  must_print "successfully rolled out" rollout status deployment/web --timeout="$patience"
  if able --for=jsonpath wait; then must wait '--for=jsonpath={.status.readyReplicas}=3' deployment/web --timeout="$patience"
  else step "  (it cannot wait for a JSON path)"; fi
  if able subresource get; then must_be 3 get deployment web --subresource=scale -o 'jsonpath={.spec.replicas}'
  else step "  (it does not support subresources)"; fi
  must_print "nginx:1.28" describe deployment web
  must autoscale deployment web --max=5 --min=2
  must_print "Deployment/web" get horizontalpodautoscaler web
  must delete deployment web --timeout="$patience"
  until_seen "DELETED .*web" "$scratch/watched"
  kill "$watcher"; wait "$watcher" 2>/dev/null || true; watcher=""
}

cascades() {
  local how
  for how in background foreground orphan; do
    step "delete --cascade=$how, and its effect on a dependent"
    must create configmap "owner-$how"
    must get configmap "owner-$how" -o 'jsonpath={.metadata.uid}'
    file child.yaml <<Y
apiVersion: v1
kind: ConfigMap
metadata:
  name: child-$how
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner-$how, uid: $out, blockOwnerDeletion: true}]
Y
    must create -f "$scratch/child.yaml"
    must_print deleted delete configmap "owner-$how" --cascade="$how" --timeout="$patience"
    must_refuse NotFound get configmap "owner-$how"
    case $how in
      background) k wait --for=delete "configmap/child-$how" --timeout="$patience" >/dev/null 2>&1 || true
        must_refuse NotFound get configmap "child-$how" ;;
      foreground) must_refuse NotFound get configmap "child-$how" ;;
      orphan) must_be "" get configmap "child-$how" -o 'jsonpath={.metadata.ownerReferences}' ;;
    esac
  done
  step "an object with a finalizer stays until it is taken off"
  must create configmap kept
  must patch configmap kept -p '{"metadata":{"finalizers":["example.com/keep"]}}'
  must delete configmap kept --wait=false
  must_print 20 get configmap kept -o 'jsonpath={.metadata.deletionTimestamp}'
  must patch configmap kept --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
  must_refuse NotFound get configmap kept
}

definitions() {
  step "a CustomResourceDefinition, used immediately: columns, explanation, validation, status, scale, short name"
  file kites.yaml <<'Y'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kites.kubectl.example.com}
spec:
  group: kubectl.example.com
  scope: Namespaced
  names: {plural: kites, singular: kite, kind: Kite, shortNames: [kt], categories: [toys]}
  versions:
    - name: v1
      served: true
      storage: true
      additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
      subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [size]
              properties:
                size: {type: integer, minimum: 1, description: How many feet it is wide.}
                colour: {type: string, default: red}
                replicas: {type: integer}
            status: {type: object, properties: {replicas: {type: integer}}}
Y
  file kite.yaml <<'Y'
apiVersion: kubectl.example.com/v1
kind: Kite
metadata: {name: k}
spec: {size: 3}
Y
  must_be "customresourcedefinition.apiextensions.k8s.io/kites.kubectl.example.com created" apply -f "$scratch/kites.yaml"
  must_be "kite.kubectl.example.com/k created" apply -f "$scratch/kite.yaml"
  must wait --for=condition=Established crd/kites.kubectl.example.com --timeout="$patience"
  must_be "kite.kubectl.example.com/k unchanged" apply -f "$scratch/kite.yaml"
  must_be "red" get kt k -o 'jsonpath={.spec.colour}'
  must get kites
  [[ $out == *NAME*SIZE*k*3* ]] || fail "the table of kites is: $out"
  must_be "kite.kubectl.example.com/k" get toys -o name
  must_print "How many feet" explain kite.spec.size
  sed -i 's/size: 3/size: 0/' "$scratch/kite.yaml"
  must_refuse "spec.size" apply -f "$scratch/kite.yaml"
  must_be "kite.kubectl.example.com/k scaled" scale kite k --replicas=4
  must_be 4 get kite k -o 'jsonpath={.spec.replicas}'
  must_be "kite.kubectl.example.com/k patched" patch kite k --type=merge -p '{"spec":{"colour":"blue"}}'
  must_print deleted delete crd kites.kubectl.example.com --timeout="$patience"
  must_refuse resource get kites
}

the_end() {
  step "the namespace is deleted with its content"
  must_print "namespace \"$namespace\" deleted" delete namespace "$namespace" --timeout="$patience"
  must_refuse NotFound get namespace "$namespace"
  must_be "" get configmaps -o name
  local tries=0
  while must get events -o name; [ -n "$out" ]; do  # they are kept apart, and go a moment later
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "events of the namespace are left: $out"
    sleep 0.05
  done
}

step "this is $("$program" version --client 2>/dev/null | head -n 1)"
discovery
objects
applies
server_side
gone_over
patches
generators
shown
access
swept
delivered
too_large
pruned_by_label
pruned_by_set
waited
compared
refused
events_seen
proxied
rollout
cascades
definitions
the_end
step "done"
