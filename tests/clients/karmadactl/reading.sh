# What reads from the control plane. Sourced by session.sh.

local_commands() {
  step "commands without a server"
  prints "Cluster Registration" --help
  succeeds
  prints "karmadactl version: version.Info{" version
  prints "--add-dir-header" options
  for shell in bash zsh fish; do prints karmadactl completion $shell; done
  refuses 'Unsupported shell type "tcsh"' completion tcsh
  refuses "error: unknown flag: --nosuch" get --nosuch
  refuses 'unknown command "nosuch"' nosuch
}

reading() {
  step "get: columns, forms of output, errors"
  columns "NAME CLUSTER VERSION MODE READY AGE ADOPTION" get clusters
  columns "NAME CLUSTER VERSION MODE READY AGE ZONES REGION PROVIDER API-ENDPOINT PROXY-URL ADOPTION" get clusters -o wide
  columns "NAME CLUSTER VERSION MODE READY AGE ADOPTION ZONE LABELS" get clusters -L zone --show-labels
  is "cluster.cluster.karmada.io/$MEMBER" get cluster "$MEMBER" -o name
  is "$MEMBER" get clusters "$MEMBER" -o 'jsonpath={.metadata.name}'
  prints '"kind": "Cluster"' get clusters "$MEMBER" -o json
  prints 'kind: "Cluster"' get clusters "$MEMBER" -o kyaml
  is $'N\n'"$MEMBER" get clusters "$MEMBER" -o custom-columns=N:.metadata.name
  is "$MEMBER $OTHER " get clusters --sort-by=.metadata.name -o 'go-template={{range .items}}{{.metadata.name}} {{end}}'
  prints "managedFields" get clusters "$MEMBER" -o yaml --show-managed-fields
  is "deployment.apps/web created" create deployment web --image=nginx:1.27 --replicas=2
  columns "NAME CLUSTER READY UP-TO-DATE AVAILABLE AGE ADOPTION" get deployments
  columns "NAME CLUSTER READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR ADOPTION" get deployment web -o wide
  columns "NAMESPACE NAME CLUSTER READY UP-TO-DATE AVAILABLE AGE ADOPTION" get deployments -A
  succeeds get deployments --no-headers
  [[ $out =~ ^web\ +Karmada\ +0/2 ]] || fail "get --no-headers prints: $out"
  prints "deployment.apps/web" get deployments,configmaps --show-kind
  prints "deployment.apps/web" get all
  refuses 'cluster(Karmada): deployments.apps "none" not found' get deployments none
  refuses 'cluster(Karmada): namespaces "none" not found' get deployments web -n none
  refuses "the server doesn't have a resource type \"sofas\"" get sofas
  is "No resources found in default namespace." get configmaps
  is "No resources found in default namespace." get deployments -l a=b
  is "No resources found" get clusterpropagationpolicies
  is "" get configmap none --ignore-not-found
  refuses "not support OperationScope: bogus" get pods -s bogus
  refuses "clusters don't exist: none" get pods -s members -C none

  step "get: watch"
  "$program" get configmaps --watch --output-watch-events >"$scratch/watched" 2>&1 &
  local watcher=$!
  is "configmap/seen created" create configmap seen --from-literal=a=b
  until_seen '^ADDED .*seen .*Karmada' "$scratch/watched"
  is 'configmap "seen" deleted from default namespace' delete configmap seen
  until_seen '^DELETED .*seen' "$scratch/watched"
  kill $watcher

  step "describe, explain, api-resources, api-versions"
  prints "RollingUpdateStrategy:" describe deployment web
  prints "Name:                   web" describe deployment we
  prints "Sync Mode:" describe cluster "$MEMBER"
  prints "TaintClusterSucceed" describe cluster "$MEMBER"
  succeeds describe cluster "$MEMBER" --show-events=false
  [[ $out != *TaintClusterSucceed* ]] || fail "describe --show-events=false shows events"
  refuses 'Error from server (NotFound): deployments.apps "none" not found' describe deployment none
  refuses "must specify a member cluster" describe deployment web -s members
  prints "clusterAffinity" explain propagationpolicy.spec.placement
  prints "FIELD: replicas <integer>" explain deployment.spec.replicas
  prints "maxSurge" explain deployment --recursive -o plaintext-openapiv2
  prints "A member cluster" explain cluster --api-version=cluster.karmada.io/v1alpha1
  columns "NAME SHORTNAMES APIVERSION NAMESPACED KIND" api-resources
  columns "NAME SHORTNAMES APIVERSION NAMESPACED KIND VERBS CATEGORIES" api-resources --api-group=policy.karmada.io -o wide
  prints "clusters.cluster.karmada.io" api-resources --namespaced=false --verbs=list,watch -o name
  prints "ResourceBinding" api-resources --categories=karmada-io --sort-by=kind --no-headers
  prints '"kind": "APIResourceList"' api-resources -o json
  for version in apps/v1 cluster.karmada.io/v1alpha1 work.karmada.io/v1alpha2 v1; do prints "$version" api-versions; done
}
