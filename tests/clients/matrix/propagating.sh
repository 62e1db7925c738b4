# apply with its policies, and promote with a member's own kubeconfig. Sourced by session.sh.

propagating() {
  local one=${members[0]}
  step "apply: policies for all clusters and for some"
  file things.yaml <<Y
{apiVersion: v1, kind: ConfigMap, metadata: {name: a1, namespace: default}, data: {k: v}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: "sys:Reader"}, rules: []}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: front, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: nginx}]}}
Y
  local what="$scratch/things.yaml"
  both        is      "$(applied created)"                         apply -f "$what" --all-clusters
  both        is      "$(applied unchanged)"                       apply -f "$what" --all-clusters
  both        is      ""                                           get propagationpolicy a1-75f5f4f477 -o 'jsonpath={.spec.placement.clusterAffinity.clusterNames[*]}'
  both        is      "$(applied unchanged configured)"            apply -f "$what" -C "$one"
  both        is      "$one"                                       get propagationpolicy a1-75f5f4f477 -o 'jsonpath={.spec.placement.clusterAffinity.clusterNames[*]}'
  both        is      "$(applied unchanged configured)"            apply --filename "$what" --cluster "$(IFS=,; echo "${members[*]}")"
  for one in "${members[@]}"; do
    until_there "$one" deployment front -n shop
  done
  one=${members[0]}
  both        refuses "cluster none does not exist"                apply -f "$what" -C "$one,none"
  both        refuses "--all-clusters and --cluster cannot be used together" apply -f "$what" -C "$one" --all-clusters
  both        is      "$(applied unchanged none)"                  apply -f "$what"
  both        prints  "propagationpolicy.policy.karmada.io/a1-75f5f4f477" apply -f "$what" -o name -C "$one"
  both        until_prints "True"                                  get resourcebinding -n shop front-deployment

  step "apply: kubectl's options"
  both        prints  "configmap/a1 unchanged (server dry run)"    apply -f "$what" --dry-run=server --openapi-patch=true --overwrite=true --validate=strict
  both        prints  "configmap/a1 serverside-applied"            apply -f "$what" --server-side --field-manager=matrix --force-conflicts --karmada-context "$context"
  both        prints  "configmap/a1"                               apply -f "$what" --force --grace-period=0 --cascade=background --timeout=10s --wait=true
  mkdir -p "$scratch/pruned"
  file pruned/one.yaml <<<'{apiVersion: v1, kind: ConfigMap, metadata: {name: stays, labels: {set: pruned}}}'
  file pruned/two.yaml <<<'{apiVersion: v1, kind: ConfigMap, metadata: {name: goes, labels: {set: pruned}}}'
  both        prints  "configmap/goes created"                     apply -f "$scratch/pruned" --recursive
  rm "$scratch/pruned/two.yaml"
  both        prints  "configmap/goes pruned"                      apply -f "$scratch/pruned" --prune --selector set=pruned --prune-allowlist=core/v1/ConfigMap
  both        prints  "configmap/stays"                            apply -f "$scratch/pruned" --namespace default --prune --all --prune-allowlist=batch/v1/Job --dry-run=client
  both        is      "configmap/k-built created"                  apply -k "$scratch/base"
  file status.yaml <<<'{apiVersion: v1, kind: Namespace, metadata: {name: shop}}'
  both        is      "namespace/shop serverside-applied"          apply -f "$scratch/status.yaml" --subresource=status --server-side

  for one in "${members[@]}"; do promotes "$one"; done
  both        refuses "the cluster cannot be empty"                promote configmap promoted
  both        refuses 'clusters.cluster.karmada.io "none" not found' promote configmap promoted -C none
}

# NAME WORDS...: waits until kubectl get WORDS succeeds on the member.
until_there() {
  local of=$1 tries=0; shift
  until member "$of" get "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || { wrong "$* is never in $of"; return 0; }
    sleep 0.1
  done
}

# NAME: promote from the member over a direct connection, and through the control plane with what the object refers to.
promotes() {
  local one=$1
  step "promote from $one"
  member "$one" create configmap "map-$one" --from-literal=a=b >/dev/null
  member "$one" create clusterrole "role-$one" --verb=get --resource=pods >/dev/null
  local direct=(-C "$one" --cluster-kubeconfig "$(kubeconfig "$one")" --cluster-context "$one")
  both        prints  "work.karmada.io/conflict-resolution: overwrite" promote configmap "map-$one" "${direct[@]}" -o yaml
  both        prints  "preserveResourcesOnDeletion: true"          promote configmap "map-$one" "${direct[@]}" -o yaml
  both        prints  '"kind": "PropagationPolicy"'                promote configmap "map-$one" "${direct[@]}" --output json
  both        is      ""                                           promote configmap "map-$one" "${direct[@]}" --dry-run
  both        refuses 'configmaps "map-'"$one"'" not found'        get configmap "map-$one"
  both        is      "ResourceTemplate (default/map-$one) is created successfully
PropagationPolicy (default/own-$one) is created successfully
Resource \"/v1, Resource=configmaps\"(default/map-$one) is promoted successfully" \
    promote configmap "map-$one" "${direct[@]}" --policy-name "own-$one" --auto-create-policy=true -n default --karmada-context "$context"
  both        prints  "already exist in karmada control plane"     promote configmap "map-$one" "${direct[@]}"
  both        matches "ClusterPropagationPolicy role-$one-[a-z0-9]+ is created successfully" promote clusterrole "role-$one" "${direct[@]}"
  both        refuses "don't exist in cluster($one)"               promote configmap none "${direct[@]}"
  both        until_prints "True"                                  get resourcebinding "map-$one-configmap"
  local tries=0
  until [ "$(member "$one" get configmap "map-$one" -o 'jsonpath={.metadata.labels.karmada\.io/managed}')" = true ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || { wrong "map-$one is never claimed in $one"; break; }
    sleep 0.1
  done
  member "$one" create configmap "wanted-$one" --from-literal=a=b >/dev/null
  member "$one" create deployment "taken-$one" --image=nginx >/dev/null
  member "$one" patch deployment "taken-$one" --type=json \
    -p '[{"op":"add","path":"/spec/template/spec/volumes","value":[{"name":"v","configMap":{"name":"wanted-'"$one"'"}}]}]' >/dev/null
  both        matches "Dependency resource \"/v1, Resource=configmaps\"\(default/wanted-$one\) is promoted successfully(.*"$'\n'")+Resource \"apps/v1, Resource=deployments\"\(default/taken-$one\) is promoted successfully" \
    promote deployment "taken-$one" --cluster "$one" --dependencies
  both        until_prints "True"                                  get resourcebinding "taken-$one-deployment"
  member "$one" create configmap "bare-$one" >/dev/null
  both        lacks   "PropagationPolicy"                          promote configmap "bare-$one" -C "$one" --auto-create-policy=false
}

# applied WORD [WORD OF THE POLICIES|none]: what apply prints for things.yaml.
applied() {
  local word=$1 policies=${2:-$1}
  policy() { [ "$policies" = none ] || echo "$1.policy.karmada.io/$2 $policies"; }
  echo "configmap/a1 $word"
  policy propagationpolicy a1-75f5f4f477
  echo "namespace/shop $word"
  policy clusterpropagationpolicy shop-646d6c6947
  echo "clusterrole.rbac.authorization.k8s.io/sys:Reader $word"
  policy clusterpropagationpolicy sys.reader-54499c54c
  echo "deployment.apps/front $word"
  policy propagationpolicy front-7fd7ff5bf5
}
