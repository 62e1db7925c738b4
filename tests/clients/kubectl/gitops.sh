# How delivery tools use kubectl and its server. Sourced by session.sh.

delivered() {
  step "several documents, one of them bad: the others are created, and the bad one's fields are named"
  file several.yaml <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: first}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: second}
spec:
  selector: {matchLabels: {app: second}}
  template:
    metadata: {labels: {app: other}}
    spec: {containers: [{name: c, image: nginx, ports: [{containerPort: 99999}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: third}
spec: {selector: {app: second}, ports: [{port: 80}]}
Y
  must_refuse "configmap/first created" create -f "$scratch/several.yaml"
  for text in "service/third created" 'The Deployment "second" is invalid' spec.template.metadata.labels \
    "spec.template.spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive"; do
    expect_output "$text" create several.yaml
  done
  must_refuse "containerPort" apply --server-side -f "$scratch/several.yaml"
  expect_output "service/third serverside-applied" apply several.yaml
  must_be $'configmap/first\nservice/third' get configmaps,services -o name
  must_refuse 'Deployment "second" is invalid' apply -f "$scratch/several.yaml" --dry-run=server
  must_print deleted delete -f "$scratch/several.yaml" --ignore-not-found
}

too_large() {
  step "an object that is too large is refused with a message"
  head -c 1100000 /dev/zero | tr '\0' a >"$scratch/large"
  must_refuse "may not be more than 1048576 bytes" create configmap large --from-file="$scratch/large"
  head -c 4000000 /dev/zero | tr '\0' a >"$scratch/huge"
  must_refuse 3145728 create configmap huge --from-file="$scratch/huge"
  head -c 1000000 /dev/zero | tr '\0' a >"$scratch/fits"
  must_be "configmap/fits created" create configmap fits --from-file="$scratch/fits"
  must get configmap fits -o 'jsonpath={.data.fits}'
  [ ${#out} = 1000000 ] || fail "of 1000000 bytes ${#out} come back"
  must_refuse "metadata.annotations: Too long" apply -f <(k get configmap fits -o yaml)
  must delete configmap fits
}

a_set() {
  file set.yaml <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: kept, labels: {set: all}}
data: {colour: red}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: pruned, labels: {set: all}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: pruned, labels: {set: all}}
spec:
  selector: {matchLabels: {app: pruned}}
  template:
    metadata: {labels: {app: pruned}}
    spec: {containers: [{name: c, image: nginx}]}
Y
  sed -n '1,4p' "$scratch/set.yaml" >"$scratch/smaller-set.yaml"
}

pruned_by_label() {
  step "a set that is pruned by its label"
  a_set
  if ! able token create; then
    # It prunes kinds in removed versions: it must report this instead of skipping some.
    must_refuse batch/v1beta1 apply -f "$scratch/set.yaml" --prune -l set=all
    step "  (it prunes in removed versions)"
    must delete -f "$scratch/set.yaml"
    return
  fi
  must apply -f "$scratch/set.yaml" --prune -l set=all
  must_print "deployment.apps/pruned pruned" apply -f "$scratch/smaller-set.yaml" --prune -l set=all
  expect_output "configmap/pruned pruned" apply --prune
  must_be $'configmap/kept' get configmaps,deployments -l set=all -o name
}

pruned_by_set() {
  if ! able applyset apply; then step "(it does not support apply sets)"; return; fi
  local parent
  for parent in secret/mine configmaps/mine; do
    step "an apply set kept in $parent: removed objects are pruned"
    KUBECTL_APPLYSET=true must apply -f "$scratch/set.yaml" --prune --applyset="$parent"
    KUBECTL_APPLYSET=true must_print "deployment.apps/pruned pruned" \
      apply --server-side --force-conflicts -f "$scratch/smaller-set.yaml" --prune --applyset="$parent"
    expect_output "configmap/pruned pruned" apply --prune
    expect_output "configmap/kept serverside-applied" apply --prune
    must_print "applyset.kubernetes.io/contains-group-" get "$parent" -o yaml
    must_refuse NotFound get deployment pruned
    must delete "$parent" configmap/kept
  done
}

waited() {
  step "waiting for a path, for a condition that does not become true, for a creation and a deletion"
  must create configmap waited --from-literal=phase=done
  if able --for=jsonpath wait; then
    must_be "configmap/waited condition met" wait '--for=jsonpath={.data.phase}=done' configmap/waited --timeout="$patience"
    must_refuse "timed out waiting" wait '--for=jsonpath={.data.phase}=never' configmap/waited --timeout=1s
  else step "  (it cannot wait for a JSON path)"; fi
  if able --for=create wait; then must_be "configmap/waited condition met" wait --for=create configmap/waited --timeout="$patience"
  else step "  (it cannot wait for a creation)"; fi
  in_background wait --for=delete configmap/waited --timeout="$patience" >"$scratch/waited" 2>&1 &
  watcher=$!
  must delete configmap waited
  wait "$watcher" || grep -q -e NotFound -e "no matching resources" "$scratch/waited" || fail "a wait for a deletion fails with: $(cat "$scratch/waited")"
  watcher=""
}

compared() {
  step "differences: by patches and by server-side apply, and none"
  must apply -f "$scratch/set.yaml"
  must_be "" diff -f "$scratch/set.yaml"
  sed 's/red/blue/' "$scratch/set.yaml" >"$scratch/blue.yaml"
  must_refuse "+  colour: blue" diff -f "$scratch/blue.yaml"
  must_refuse "+  colour: blue" diff --server-side --force-conflicts -f "$scratch/blue.yaml"
  must_refuse 'conflict with "kubectl-client-side-apply"' apply --server-side --field-manager=tool -f "$scratch/blue.yaml"
  must apply --server-side --force-conflicts --field-manager=tool -f "$scratch/blue.yaml"
  must_be blue get configmap kept -o 'jsonpath={.data.colour}'
  must_be "" diff --server-side --field-manager=tool -f "$scratch/blue.yaml"
  must_print deleted delete -f "$scratch/set.yaml" --wait=true
}

# Requests that are served by nodes: this server has none and reports it.
refused() {
  step "requests that only a node can serve are refused with a message: logs, exec, attach, top, drain"
  must run lonely --image=nginx
  local what
  for what in "logs lonely" "exec lonely -- ls" "attach lonely" "cp lonely:/x $scratch/x"; do
    # shellcheck disable=SC2086
    must_refuse "member cluster" $what
  done
  must_refuse "Metrics API not available" top pods
  must_refuse "Metrics API not available" top nodes
  must_refuse 'nodes "nowhere" not found' drain nowhere
  if able --profile debug; then
    must debug lonely --image=busybox --container=shell
    must_be shell get pod lonely -o 'jsonpath={.spec.ephemeralContainers[*].name}'
  fi
  must delete pod lonely --now
}

events_seen() {
  step "events: events about an object are shown with it"
  must create configmap subject
  must get configmap subject -o 'jsonpath={.metadata.uid}'
  file event.yaml <<Y
apiVersion: v1
kind: Event
metadata: {name: subject.1}
involvedObject: {apiVersion: v1, kind: ConfigMap, name: subject, namespace: $namespace, uid: $out}
reason: Painted
message: It is red now.
type: Normal
firstTimestamp: "2024-05-01T10:00:00Z"
lastTimestamp: "2024-05-01T10:00:00Z"
count: 3
source: {component: painter}
Y
  must create -f "$scratch/event.yaml"
  must get events --sort-by=.lastTimestamp
  [[ $out == *Painted*configmap/subject*"It is red now."* ]] || fail "the table of events is: $out"
  if able "--for" events; then
    must_print Painted events --for=configmap/subject
    must_print "No events found" events --for=configmap/subject --types=Warning
  else step "  (it has no 'events')"; fi
}

proxied() {
  step "requests through kubectl proxy: an object, a large document, a watch"
  in_background proxy --port=0 >"$scratch/proxy" 2>&1 &
  watcher=$!
  until_seen "Starting to serve on" "$scratch/proxy"
  local address
  address=$(sed -n 's/.*Starting to serve on //p' "$scratch/proxy")
  out=$(curl -sS "http://$address/api/v1/namespaces/$namespace") || fail "curl through the proxy fails with: $out"
  grep -q '"kind": *"Namespace"' <<<"$out" || fail "through the proxy comes: $out"
  # A server may compress large responses; the client gets the document in either case.
  curl -sS --compressed -o "$scratch/document" "http://$address/openapi/v2" || fail "the OpenAPI document does not come through"
  grep -q '"swagger":' "$scratch/document" || fail "the OpenAPI document through the proxy is: $(head -c 500 "$scratch/document")"
  out=$(curl -sS -N --max-time 20 "http://$address/api/v1/namespaces?watch=true&timeoutSeconds=1&fieldSelector=metadata.name=$namespace")
  [[ $out == *ADDED*"$namespace"* ]] || fail "a watch through the proxy returns: $out"
  kill "$watcher"; wait "$watcher" 2>/dev/null || true; watcher=""
}
