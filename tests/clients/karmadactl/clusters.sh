# cordon, uncordon, taint, token, join, unjoin. Sourced by session.sh.

clusters() {
  step "cordon and uncordon"
  is "$MEMBER cluster cordoned" cordon "$MEMBER" --dry-run
  is "$MEMBER cluster cordoned" cordon "$MEMBER"
  is "$MEMBER cluster already cordoned" cordon "$MEMBER"
  is "cluster.karmada.io/unschedulable:NoSchedule" get cluster "$MEMBER" -o 'jsonpath={.spec.taints[0].key}:{.spec.taints[0].effect}'
  is "$MEMBER cluster uncordoned" uncordon "$MEMBER"
  is "$MEMBER cluster already uncordoned" uncordon "$MEMBER"
  refuses 'clusters.cluster.karmada.io "none" not found' cordon none
  refuses "cluster name is required" cordon
  refuses "more than one cluster name is not supported" uncordon a b

  step "taint"
  is "cluster/$MEMBER tainted" taint clusters "$MEMBER" a=b:NoSchedule --dry-run
  is "cluster/$MEMBER tainted" taint clusters "$MEMBER" a=b:NoSchedule
  refuses "cluster $MEMBER already has a taint(s) with same effect(s) and --overwrite is false" taint clusters "$MEMBER" a=b:NoSchedule
  is "cluster/$MEMBER modified" taint clusters "$MEMBER" a=c:NoSchedule --overwrite
  is "cluster/$MEMBER modified" taint clusters "$MEMBER" a:NoSchedule- x:NoExecute
  is "cluster/$MEMBER untainted" taint clusters "$MEMBER" x-
  refuses 'taint "x" not found' taint clusters "$MEMBER" x-
  refuses "at least one taint update is required" taint clusters "$MEMBER"
  refuses "unsupported taint effect" taint clusters "$MEMBER" a=b:Bad
  refuses "invalid taint spec" taint clusters "$MEMBER" a=b
  refuses 'clusters.cluster.karmada.io "none" not found' taint clusters none a=b:NoSchedule
  refuses "can not both modify and remove" taint clusters "$MEMBER" a=b:NoSchedule a:NoSchedule-

  step "token"
  local token
  succeeds token create --description=day --ttl=1h --kubeconfig "$KUBECONFIG"
  token=$out
  [[ $token =~ ^[a-z0-9]{6}\.[a-z0-9]{16}$ ]] || fail "this is no token: $token"
  prints "$token" token list
  columns "TOKEN TTL EXPIRES USAGES DESCRIPTION EXTRA GROUPS" token list
  prints "--discovery-token-ca-cert-hash sha256:" token create --print-register-command --ttl=0 --kubeconfig "$KUBECONFIG"
  prints "<forever>" token list
  prints 'deleted' token delete "${token%.*}"
  refuses 'secrets "bootstrap-token-aaaaaa" not found' token delete aaaaaa

  step "join and unjoin: $OTHER leaves and returns"
  succeeds unjoin "$OTHER" --cluster-kubeconfig "$OTHER_KUBECONFIG" --dry-run
  prints "$OTHER" get cluster "$OTHER"
  succeeds unjoin "$OTHER" --cluster-kubeconfig "$OTHER_KUBECONFIG" --cluster-context "$OTHER" --wait=60s
  refuses "not found" get cluster "$OTHER"
  refuses "no cluster object $OTHER found in karmada control Plane" unjoin "$OTHER" --cluster-kubeconfig "$OTHER_KUBECONFIG"
  # The program does not wait for the end of the namespace of its accounts.
  kubectl --kubeconfig "$OTHER_KUBECONFIG" wait --for=delete namespace/karmada-cluster --timeout=60s >/dev/null
  is "cluster($OTHER) is joined successfully" join "$OTHER" --cluster-kubeconfig "$OTHER_KUBECONFIG" \
    --cluster-provider=cloud --cluster-region=north --cluster-zones=a,b
  prints '["a","b"]' get cluster "$OTHER" -o 'jsonpath={.spec.zones}'
  refuses "the cluster name third has been registered" join third --cluster-kubeconfig "$OTHER_KUBECONFIG"
  refuses "invalid cluster name(A_b)" join A_b --cluster-kubeconfig "$OTHER_KUBECONFIG"
  until_prints True get cluster "$OTHER"
}
