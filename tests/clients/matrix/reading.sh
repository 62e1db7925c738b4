# What reads from the control plane. Sourced by session.sh.

reading() {
  step "get: columns and forms of output"
  local one=${members[0]} two=${members[1]}
  karmadactl  columns "NAME CLUSTER VERSION MODE READY AGE ADOPTION" get clusters
  shiplogctl  columns "NAME VERSION MODE READY AGE"                get clusters
  both        columns "NAME CLUSTER VERSION MODE READY AGE ADOPTION" get clusters -s karmada
  both        columns "NAME CLUSTER VERSION MODE READY AGE ZONES REGION PROVIDER API-ENDPOINT PROXY-URL ADOPTION" get clusters -s karmada -o wide
  both        columns "NAME CLUSTER VERSION MODE READY AGE ADOPTION ZONE LABELS" get clusters -s karmada -L zone --show-labels
  both        columns "NAME CLUSTER VERSION MODE READY AGE ADOPTION ZONE" get clusters --operation-scope karmada --label-columns zone
  both        is      "cluster.cluster.karmada.io/$one"            get cluster "$one" -o name
  both        is      "$one"                                       get clusters "$one" -o 'jsonpath={.metadata.name}'
  both        prints  '"kind": "Cluster"'                          get clusters "$one" -o json
  both        prints  'kind: Cluster'                              get clusters "$one" --output yaml
  both        lacks   "managedFields"                              get clusters "$one" -o yaml
  both        prints  "managedFields"                              get clusters "$one" -o yaml --show-managed-fields
  both        is      $'N\n'"$one"                                 get clusters "$one" -o custom-columns=N:.metadata.name
  both        is      "$one"                                       get clusters "$one" -o custom-columns=N:.metadata.name --no-headers
  file columns <<<$'N\n.metadata.name'
  both        is      $'N\n'"$one"                                 get clusters "$one" -o "custom-columns-file=$scratch/columns"
  file path <<<'{.metadata.name}'
  both        is      "$one"                                       get clusters "$one" -o "jsonpath-file=$scratch/path"
  karmadactl  prints  'kind: "Cluster"'                            get clusters "$one" -o kyaml
  karmadactl  prints  "\"$one\""                                   get clusters "$one" -o 'jsonpath-as-json={.metadata.name}'
  karmadactl  is      "$one $two "                                 get clusters --sort-by=.metadata.name -o 'go-template={{range .items}}{{.metadata.name}} {{end}}'
  karmadactl  is      "$one"                                       get clusters "$one" -o template --template='{{.metadata.name}}' --allow-missing-template-keys=false
  shiplogctl  refuses "go-template"                                get clusters "$one" -o 'go-template={{.metadata.name}}'
  both        is      "$one $two"                                  get clusters --sort-by .metadata.name -o 'jsonpath={.items[*].metadata.name}'

  step "get: selection, kinds, errors"
  both        is      "deployment.apps/web created"                create deployment web --image=nginx:1.27 --replicas=2 --port=80
  both        columns "NAME CLUSTER READY UP-TO-DATE AVAILABLE AGE ADOPTION" get deployments
  both        columns "NAME CLUSTER READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR ADOPTION" get deployment web -o wide
  both        columns "NAMESPACE NAME CLUSTER READY UP-TO-DATE AVAILABLE AGE ADOPTION" get deployments --all-namespaces
  both        matches '^web +Karmada +0/2 '                        get deployments --no-headers
  both        prints  "deployment.apps/web"                        get deployments,configmaps --show-kind
  both        matches '^deployment.apps/web *$'                    get deploy/web -o name
  both        prints  "deployment.apps/web"                        get all
  both        matches 'web +Karmada'                               get deployments -l app=web
  both        matches 'web +Karmada'                               get deployments --namespace default --labels app=web --karmada-context "$context" --kubeconfig "$KUBECONFIG"
  both        refuses 'deployments.apps "none" not found'          get deployments none
  both        refuses 'namespaces "none" not found'                get deployments web -n none
  both        refuses "the server doesn't have a resource type \"sofas\"" get sofas
  both        is      "No resources found in default namespace."   get deployments -l a=b
  both        is      "No resources found"                         get clusterpropagationpolicies
  both        is      ""                                           get configmap none --ignore-not-found
  karmadactl  refuses "not support OperationScope: bogus"          get pods -s bogus
  shiplogctl  refuses "bogus not in {karmada,members,all}"         get pods -s bogus
  both        refuses "clusters don't exist: none"                 get pods -s members -C none

  step "get: watch"
  starts watched get configmaps --watch --output-watch-events
  starts changes get configmaps --watch-only
  both        is      "configmap/seen created"                     create configmap seen --from-literal=a=b
  seen '^ADDED .*seen .*Karmada' watched
  seen '(changed|seen).*Karmada' changes touched
  both        prints  'configmap "seen" deleted'                   delete configmap seen
  seen '^DELETED .*seen' watched
  stop watched
  stop changes

  step "describe, explain, api-resources, api-versions"
  both        prints  "RollingUpdateStrategy:"                     describe deployment web
  both        prints  "Name:                   web"                describe deployment we --namespace default --chunk-size=1
  both        prints  "RollingUpdateStrategy:"                     describe -s karmada deployments -l app=web
  both        prints  "RollingUpdateStrategy:"                     describe deployments -A --selector app=web
  both        prints  "Sync Mode:"                                 describe cluster "$one"
  both        prints  "Events:"                                    describe cluster "$one" --show-events=true
  both        lacks   "Events:"                                    describe cluster "$one" --show-events=false
  both        refuses 'Error from server (NotFound): deployments.apps "none" not found' describe deployment none
  both        refuses "must specify a member cluster"              describe deployment web -s members
  both        refuses "not support operation scope: all"           describe deployment web -s all
  both        prints  "clusterAffinity"                            explain propagationpolicy.spec.placement
  both        prints  "FIELD: replicas <integer>"                  explain deployment.spec.replicas
  both        prints  "maxSurge"                                   explain deployment --recursive -o plaintext-openapiv2
  both        prints  "A member cluster"                           explain cluster --api-version=cluster.karmada.io/v1alpha1 --output plaintext -s karmada
  both        columns "NAME SHORTNAMES APIVERSION NAMESPACED KIND" api-resources
  both        columns "NAME SHORTNAMES APIVERSION NAMESPACED KIND VERBS CATEGORIES" api-resources --api-group=policy.karmada.io -o wide
  both        prints  "clusters.cluster.karmada.io"                api-resources --namespaced=false --verbs=list,watch -o name
  both        prints  "ResourceBinding"                            api-resources --categories=karmada-io --sort-by=kind --no-headers --cached
  both        matches '^pods'                                      api-resources --api-group= --namespaced=true -s karmada --no-headers --sort-by name --verbs=deletecollection --categories=all
  for version in apps/v1 cluster.karmada.io/v1alpha1 work.karmada.io/v1alpha2 v1; do
    both      matches "(^|"$'\n'")$version("$'\n'"|$)"             api-versions -s karmada
  done
}

touched() { kubectl create configmap "changed-$1" >/dev/null; }
