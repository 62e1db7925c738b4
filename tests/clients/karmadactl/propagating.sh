# apply with its policies, and promote with a member's own kubeconfig. Sourced by session.sh.

propagating() {
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
  is "$(applied created)" apply -f "$what" --all-clusters
  is "$(applied unchanged)" apply -f "$what" --all-clusters
  is "$(applied unchanged configured)" apply -f "$what" -C "$MEMBER"
  is "$MEMBER" get propagationpolicy a1-75f5f4f477 -o 'jsonpath={.spec.placement.clusterAffinity.clusterNames[*]}'
  refuses "cluster none does not exist" apply -f "$what" -C "$MEMBER,none"
  refuses "--all-clusters and --cluster cannot be used together" apply -f "$what" -C "$MEMBER" --all-clusters
  is "$(applied unchanged none)" apply -f "$what"
  prints "configmap/a1 unchanged (server dry run)" apply -f "$what" --dry-run=server
  prints "configmap/a1 serverside-applied" apply -f "$what" --server-side
  prints "propagationpolicy.policy.karmada.io/a1-75f5f4f477" apply -f "$what" -o name -C "$MEMBER"
  until_prints "True" get resourcebinding -n shop front-deployment

  step "promote, over a direct connection to the member"
  member create configmap promoted --from-literal=a=b
  member create clusterrole promoted --verb=get --resource=pods
  local direct=(-C "$MEMBER" --cluster-kubeconfig "$MEMBER_KUBECONFIG")
  prints "work.karmada.io/conflict-resolution: overwrite" promote configmap promoted "${direct[@]}" -o yaml
  has "preserveResourcesOnDeletion: true" promote -o yaml
  is "" promote configmap promoted "${direct[@]}" --dry-run
  is "ResourceTemplate (default/promoted) is created successfully
PropagationPolicy (default/promoted-75f5f4f477) is created successfully
Resource \"/v1, Resource=configmaps\"(default/promoted) is promoted successfully" promote configmap promoted "${direct[@]}"
  prints "already exist in karmada control plane" promote configmap promoted "${direct[@]}"
  prints "ClusterPropagationPolicy promoted-54499c54c is created successfully" promote clusterrole promoted "${direct[@]}"
  refuses "the cluster cannot be empty" promote configmap promoted
  refuses 'clusters.cluster.karmada.io "none" not found' promote configmap promoted -C none
  refuses "don't exist in cluster($MEMBER)" promote configmap none "${direct[@]}"
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
