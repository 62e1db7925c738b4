# What reaches members through the control plane. Sourced by session.sh.

members() {
  step "get: members and all, columns, errors of one cluster"
  is "deployment.apps/far created" create deployment far --image=nginx --replicas=2
  file far.yaml <<Y
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: far}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: far}]
  placement: {clusterAffinity: {clusterNames: [$MEMBER]}}
Y
  succeeds create -f "$scratch/far.yaml"
  until_prints "2/2" get deployments -s members -C "$MEMBER"
  columns "NAME CLUSTER READY UP-TO-DATE AVAILABLE AGE ADOPTION" get deployments -s members -C "$MEMBER"
  columns "NAMESPACE NAME CLUSTER READY UP-TO-DATE AVAILABLE AGE ADOPTION" get deployments -s all -A
  succeeds get deployments far -s all -C "$MEMBER"
  [[ $out =~ far\ +Karmada\ .*\ - && $out =~ far\ +$MEMBER\ .*\ Y ]] || fail "get -s all prints: $out"
  columns "NAME CLUSTER READY STATUS RESTARTS AGE" get pods -s members
  columns "NAME CLUSTER READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES ADOPTION" get pods -s members -o wide
  is $'deployment.apps/far\ndeployment.apps/far' get deployments -s all -C "$MEMBER" -l app=far -o name
  prints '"kind": "Deployment"' get deployment far -s members -C "$MEMBER" -o json
  succeeds get nodes -s members --sort-by=.metadata.name
  [[ $out =~ $MEMBER.*\ N && $out == *"$OTHER"* ]] || fail "get nodes prints: $out"
  refuses "cluster($OTHER): deployments.apps \"far\" not found" get deployment far -s members
  has "far" get deployment far -s members
  refuses "cluster($MEMBER): the server doesn't have a resource type \"sofas\"" get sofas -s members
  is "No resources found in none namespace." get configmaps -s members -n none

  step "get: watch of the control plane and members"
  "$program" get configmaps -s all --watch-only --output-watch-events >"$scratch/all" 2>&1 &
  local watcher=$!
  local tries=0
  until grep -q "$MEMBER" "$scratch/all"; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || fail "the watch prints: $(cat "$scratch/all")"
    member create configmap "seen-$tries" --from-literal=a=b
    sleep 0.2
  done
  kill $watcher

  step "describe, explain, api-resources, api-versions of a member"
  prints "karmada.io/managed=true" describe deployment far -s members -C "$MEMBER"
  prints "KIND:       Deployment" explain deployment -s members --cluster "$MEMBER"
  columns "NAME SHORTNAMES APIVERSION NAMESPACED KIND" api-resources -s members --cluster "$MEMBER"
  prints "apps/v1" api-versions -s members --cluster "$MEMBER"
  refuses 'clusters.cluster.karmada.io "none" not found' describe deployment far -s members -C none

  step "logs, exec, attach"
  local pod
  pod=$(kubectl --kubeconfig "$MEMBER_KUBECONFIG" get pods -l app=far -o 'jsonpath={.items[0].metadata.name}')
  succeeds logs "$pod" -C "$MEMBER"
  [ -n "$out" ] || fail "the log of $pod is empty"
  succeeds logs deployment/far -C "$MEMBER" --tail=1 --timestamps --all-containers --prefix
  succeeds logs -l app=far -C "$MEMBER" --tail=1
  refuses "container none is not valid for pod $pod" logs "$pod" -C "$MEMBER" -c none
  refuses "must specify a cluster" logs "$pod"
  refuses "pods \"none\" not found" logs none -C "$MEMBER"
  is "hello" exec "$pod" -s members --cluster "$MEMBER" -- echo hello
  is "from standard input" exec -i "$pod" -s members --cluster "$MEMBER" -- cat <<<"from standard input"
  k exec "$pod" -s members --cluster "$MEMBER" -- sh -c 'exit 3'
  [ $code = 3 ] || fail "exec ends with $code instead of the command's exit code: $out"
  refuses "must specify a member cluster" exec "$pod" -s members -- ls
  refuses "pods \"none\" not found" attach none -s members --cluster "$MEMBER"

  step "top"
  columns "NAME CLUSTER CPU(cores) MEMORY(bytes)" top pod
  columns "NAMESPACE NAME CLUSTER CPU(cores) MEMORY(bytes)" top pod -A -C "$MEMBER"
  columns "POD NAME CLUSTER CPU(cores) MEMORY(bytes)" top pod --containers
  prints "________" top pod --sum
  prints "$MEMBER" top pod -l app=far --sort-by=cpu --no-headers
  succeeds top node
  [[ $out == *"$MEMBER"*%* && $out == *"$OTHER"* ]] || fail "top node prints: $out"
  prints "%" top node --clusters "$MEMBER" --sort-by=memory --show-capacity
  refuses "--sort-by accepts only cpu or memory" top pod --sort-by=age
  refuses "only one of NAME or selector can be provided" top pod a -l b=c

  step "promote, through the control plane, with what the object refers to"
  member create configmap wanted --from-literal=a=b
  member create deployment taken --image=nginx
  member patch deployment taken --type=json -p '[{"op":"add","path":"/spec/template/spec/volumes","value":[{"name":"v","configMap":{"name":"wanted"}}]}]'
  prints 'Dependency resource "/v1, Resource=configmaps"(default/wanted) is promoted successfully' \
    promote deployment taken -C "$MEMBER" -d
  has 'Resource "apps/v1, Resource=deployments"(default/taken) is promoted successfully' promote -d
  until_prints "True" get resourcebinding taken-deployment
}
