# cordon, uncordon, taint, token. Sourced by session.sh.

clusters() {
  local one token
  for one in "${members[@]}"; do
    step "cordon and uncordon $one"
    both      is      "$one cluster cordoned"                      cordon "$one" --dry-run
    both      is      "$one cluster cordoned"                      cordon "$one"
    both      is      "$one cluster already cordoned"              cordon "$one" --karmada-context "$context"
    both      is      "cluster.karmada.io/unschedulable:NoSchedule" get cluster "$one" -o 'jsonpath={.spec.taints[0].key}:{.spec.taints[0].effect}'
    both      is      "$one cluster uncordoned"                    uncordon "$one" --dry-run
    both      is      "$one cluster uncordoned"                    uncordon "$one"
    both      is      "$one cluster already uncordoned"            uncordon "$one"
    both      is      ""                                           get cluster "$one" -o 'jsonpath={.spec.taints}'

    step "taint $one"
    both      is      "cluster/$one tainted"                       taint clusters "$one" a=b:NoSchedule --dry-run
    both      is      "cluster/$one tainted"                       taint clusters "$one" a=b:NoSchedule
    both      refuses "cluster $one already has a taint(s) with same effect(s) and --overwrite is false" taint clusters "$one" a=b:NoSchedule
    both      is      "cluster/$one modified"                      taint clusters "$one" a=c:NoSchedule --overwrite
    both      is      "cluster/$one modified"                      taint clusters "$one" a:NoSchedule- x:NoExecute
    both      is      "x:NoExecute"                                get cluster "$one" -o 'jsonpath={.spec.taints[*].key}:{.spec.taints[*].effect}'
    both      is      "cluster/$one untainted"                     taint clusters "$one" x-
    both      refuses 'taint "x" not found'                        taint clusters "$one" x-
    both      refuses "at least one taint update is required"      taint clusters "$one"
    both      refuses "unsupported taint effect"                   taint clusters "$one" a=b:Bad
    both      refuses "invalid taint spec"                         taint clusters "$one" a=b
    both      refuses "can not both modify and remove"             taint clusters "$one" a=b:NoSchedule a:NoSchedule-
  done
  both        refuses 'clusters.cluster.karmada.io "none" not found' cordon none
  both        refuses "cluster name is required"                   cordon
  both        refuses "more than one cluster name is not supported" cordon a b
  both        refuses 'clusters.cluster.karmada.io "none" not found' taint clusters none a=b:NoSchedule

  step "token"
  both        matches '^[a-z0-9]{6}\.[a-z0-9]{16}$'                token create --description=day --ttl=1h --usages=signing,authentication \
    --groups=system:bootstrappers:karmada:default-cluster-token --kubeconfig "$KUBECONFIG"
  token=$out
  both        prints  "$token"                                     token list --karmada-context "$context"
  both        columns "TOKEN TTL EXPIRES USAGES DESCRIPTION EXTRA GROUPS" token list
  both        matches "day +system:bootstrappers:karmada:default-cluster-token" token list
  both        prints  "--discovery-token-ca-cert-hash sha256:"     token create --print-register-command --ttl=0 --kubeconfig "$KUBECONFIG"
  both        matches "<forever> +<never>"                         token list
  both        prints  "bootstrap token \"${token%.*}\" deleted"    token delete "${token%.*}" --karmada-context "$context"
  both        lacks   "$token"                                     token list
  both        refuses 'secrets "bootstrap-token-aaaaaa" not found' token delete aaaaaa
}
