# How clusters become members and leave: join and unjoin (push), token, register and unregister (pull). Sourced by session.sh.

# NAME: a push member.
joins() {
  local one=$1 config waiting=""
  config=$(kubeconfig "$one")
  if own; then waiting=--wait=2m; fi
  step "join $one (Push)"
  shiplogctl  prints  "cluster($one) would be joined (dry run)"  join "$one" --cluster-kubeconfig "$config" --dry-run
  both        refuses 'clusters.cluster.karmada.io "'"$one"'" not found'  get cluster "$one"
  both        refuses "invalid cluster name(A_b)"                join A_b --cluster-kubeconfig "$config"
  both        prints  "cluster($one) is joined successfully"     join "$one" --cluster-kubeconfig "$config" \
    --cluster-context "$one" --cluster-namespace karmada-cluster --cluster-provider=cloud --cluster-region=north --cluster-zones=a,b \
    --karmada-context "$context" --karmada-as=system:admin --karmada-as-group=system:masters --karmada-as-uid=1 ${waiting:+"$waiting"}
  both        is      'Push cloud north ["a","b"]'               get cluster "$one" -o 'jsonpath={.spec.syncMode} {.spec.provider} {.spec.region} {.spec.zones}'
  karmadactl  refuses "or the cluster name third has been registered"  join third --cluster-kubeconfig "$config"
  shiplogctl  refuses "the cluster name third has been registered"  join third --cluster-kubeconfig "$config"
  both        until_prints True                                  get cluster "$one" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
}

# NAME: a push member leaves, and comes back to leave with --force.
unjoins() {
  local one=$1 config
  config=$(kubeconfig "$one")
  step "unjoin $one"
  karmadactl  is      ""                                          unjoin "$one" --cluster-kubeconfig "$config" --dry-run
  shiplogctl  prints  "cluster($one) would be unjoined (dry run)" unjoin "$one" --cluster-kubeconfig "$config" --dry-run
  both        is      "cluster.cluster.karmada.io/$one"           get cluster "$one" -o name
  both        refuses "is a Push mode member cluster"             unregister "$one" --cluster-kubeconfig "$config" --karmada-config "$KUBECONFIG" --karmada-context "$context"
  karmadactl  is      ""                                          unjoin "$one" --cluster-kubeconfig "$config" --cluster-context "$one" \
    --cluster-namespace karmada-cluster --wait=60s --karmada-context "$context"
  shiplogctl  prints  "cluster($one) is unjoined successfully"    unjoin "$one" --cluster-kubeconfig "$config" --cluster-context "$one" \
    --cluster-namespace karmada-cluster --wait=60s --karmada-context "$context"
  both        refuses 'clusters.cluster.karmada.io "'"$one"'" not found'  get cluster "$one"
  both        refuses "no cluster object $one found in karmada control Plane"  unjoin "$one" --cluster-kubeconfig "$config"
  # karmadactl does not wait for the end of the namespace of its accounts.
  member "$one" wait --for=delete namespace/karmada-cluster --timeout=60s >/dev/null
  both        prints  "cluster($one) is joined successfully"      join "$one" --cluster-kubeconfig "$config"
  both        prints  ""                                          unjoin "$one" --force --wait=30s
  # In a cluster without the accounts of an earlier join, karmadactl's dry run waits for them, and fails.
  karmadactl  is      ""                                          join "$one" --cluster-kubeconfig "$config" --dry-run
  both        refuses 'clusters.cluster.karmada.io "'"$one"'" not found'  get cluster "$one"
}

# NAME: a pull member, and its agent.
registers() {
  local one=$1 config words token endpoint hash
  config=$(kubeconfig "$one")
  step "token and register $one (Pull)"
  both        matches "^$name register [^ ]+:[0-9]+ --token [a-z0-9]{6}\.[a-z0-9]{16} --discovery-token-ca-cert-hash sha256:[0-9a-f]{64}$" \
    token create --print-register-command --ttl=1h "--description=for $one" --karmada-context "$context" --kubeconfig "$KUBECONFIG"
  read -ra words <<<"$out"
  endpoint=${words[2]} token=${words[4]} hash=${words[6]}
  local target=("$endpoint" --kubeconfig "$config" --context "$one" --cluster-name "$one")
  both        refuses "token is required"                               register "${target[@]}"
  both        refuses "or set --discovery-token-unsafe-skip-ca-verification=true"  register "${target[@]}" --token "$token"
  karmadactl  refuses "cluster CA found in cluster-info ConfigMap is invalid"  register "${target[@]}" --token "$token" \
    --discovery-token-ca-cert-hash "sha256:$(printf '0%.0s' {1..64})" --discovery-timeout 5s
  shiplogctl  refuses "none of --discovery-token-ca-cert-hash"          register "${target[@]}" --token "$token" \
    --discovery-token-ca-cert-hash "sha256:$(printf '0%.0s' {1..64})" --discovery-timeout 5s
  both        prints  "[preflight] All pre-flight checks were passed"   register "${target[@]}" --token "$token" \
    --discovery-token-unsafe-skip-ca-verification --dry-run
  both        refuses 'clusters.cluster.karmada.io "'"$one"'" not found'  get cluster "$one"
  both        prints  "cluster($one) is joined successfully"            register "${target[@]}" --token "$token" \
    --discovery-token-ca-cert-hash "$hash" --discovery-timeout 1m --cert-expiration-seconds 86400 \
    --namespace karmada-system --cluster-namespace karmada-cluster --cluster-provider cloud --cluster-region north --cluster-zones a,b \
    --karmada-agent-image karmada-agent:latest --karmada-agent-replicas 2 --enable-cert-rotation --proxy-server-address ""
  karmadactl  prints  "karmada-system/karmada-kubeconfig Secret already exists"  register "${target[@]}" --token "$token" --discovery-token-ca-cert-hash "$hash"
  shiplogctl  refuses "karmada-system/karmada-kubeconfig Secret"        register "${target[@]}" --token "$token" --discovery-token-ca-cert-hash "$hash"
  [ "$(member "$one" get deployment karmada-agent -n karmada-system -o 'jsonpath={.status.readyReplicas}')" = 2 ] ||
    wrong "register has not made two replicas of the agent"
  # The pods of a trial member run no program: the agent runs beside it, with the access that register has stored there.
  member "$one" get secret karmada-kubeconfig -n karmada-system -o 'jsonpath={.data.karmada-kubeconfig}' | base64 -d >"$scratch/$one.access"
  agent "$one" "$config"
  both        until_prints True                                         get cluster "$one" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
  both        is      'Pull cloud north ["a","b"]'                      get cluster "$one" -o 'jsonpath={.spec.syncMode} {.spec.provider} {.spec.region} {.spec.zones}'
  both        prints  "bootstrap token \"${token%.*}\" deleted"         token delete "${token%.*}"
}

agent() {
  local of=$1 config=$2 command
  if [ -n "${AGENT:-}" ]; then
    command=("$AGENT" --metrics-bind-address=0 --health-probe-bind-address=127.0.0.1:0 --cluster-status-update-frequency=1s
      "--cluster-api-endpoint=$(kubectl --kubeconfig "$config" config view -o 'jsonpath={.clusters[0].cluster.server}')")
  else command=("$SHIPLOGD" agent); fi
  "${command[@]}" --karmada-kubeconfig="$scratch/$of.access" --kubeconfig="$config" --cluster-name="$of" \
    --cluster-provider=cloud --cluster-region=north --cluster-zones=a,b >"$TMPDIR/agent-$of.log" 2>&1 &
  agents[$of]=$!
}

# NAME: a pull member leaves.
unregisters() {
  local one=$1 config
  config=$(kubeconfig "$one")
  step "unregister $one"
  local plane=(--karmada-config "$KUBECONFIG" --karmada-context "$context")
  both        refuses "is a Pull mode member cluster, please use command"       unjoin "$one" --cluster-kubeconfig "$config"
  karmadactl  is      ""                                                        unregister "$one" --cluster-kubeconfig "$config" "${plane[@]}" --dry-run
  shiplogctl  prints  "cluster($one) would be unregistered (dry run)"           unregister "$one" --cluster-kubeconfig "$config" "${plane[@]}" --dry-run
  both        is      "cluster.cluster.karmada.io/$one"                         get cluster "$one" -o name
  both        refuses "cluster-kubeconfig"                                      unregister "$one"
  karmadactl  prints  ""                                                        unregister "$one" --cluster-kubeconfig "$config" --cluster-context "$one" \
    "${plane[@]}" --agent-name karmada-agent --namespace karmada-system --cluster-namespace karmada-cluster --wait 1m
  shiplogctl  prints  "cluster($one) is unregistered successfully"              unregister "$one" --cluster-kubeconfig "$config" --cluster-context "$one" \
    "${plane[@]}" --agent-name karmada-agent --namespace karmada-system --cluster-namespace karmada-cluster --wait 1m
  both        refuses 'clusters.cluster.karmada.io "'"$one"'" not found'         get cluster "$one"
  both        lacks   "$one:agent"                                              get clusterroles -o name
  [ -z "$(member "$one" get deployments,secrets -n karmada-system -o name)" ] || wrong "the agent is still in $one"
  kill "${agents[$one]}" 2>/dev/null || true
  wait "${agents[$one]}" 2>/dev/null || true
  unset "agents[$one]"
}
