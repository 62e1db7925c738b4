# What reaches members through the control plane, and what is said of all of them. Sourced by session.sh.

fleet_wide() {
  step "get: a workload on all members"
  file far.yaml <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: far, labels: {app: far}}
spec:
  replicas: 2
  selector: {matchLabels: {app: far}}
  template:
    metadata: {labels: {app: far}}
    spec:
      containers:
      - {name: shell, image: busybox, command: [sh], stdin: true, resources: {requests: {cpu: 100m, memory: 32Mi}}}
      - {name: web, image: nginx, ports: [{containerPort: 80}]}
Y
  both        prints  "deployment.apps/far created"                apply -f "$scratch/far.yaml" --all-clusters
  local one two=${members[1]} all
  all=$(IFS=,; echo "${members[*]}")
  for one in "${members[@]}"; do
    both      until_prints "2/2"                                   get deployments far -s members -C "$one"
  done
  both        columns "NAMESPACE NAME CLUSTER READY UP-TO-DATE AVAILABLE AGE ADOPTION" get deployments -s all -A
  for one in "${members[@]}"; do
    both      matches "far +$one +2/2 .* Y"                        get deployments far -s members
    both      matches "$one-node-1 +$one .* N"                     get nodes -s members --clusters "$all" --sort-by=.metadata.name
  done
  both        matches "far +Karmada .* -"                          get deployments far -s all
  both        is      "No resources found in none namespace."      get configmaps -s members -n none
  both        is      "$(printf 'deployment.apps/far\n%.0s' Karmada "${members[@]}")" get deployments -s all -l app=far -o name
  both        prints  '"kind": "Deployment"'                       get deployments -l app=far -s all -o json
  both        prints  'kind: Deployment'                           get deployments -l app=far -s all -o yaml
  karmadactl  is      "$(printf 'far%.0s' "${members[@]}")"        get deployments -l app=far -s members -C "$all" -o 'jsonpath={.items[*].metadata.name}'
  shiplogctl  is      "$(printf 'far %.0s' "${members[@]}" | sed 's/ $//')" get deployments -l app=far -s members -C "$all" -o 'jsonpath={.items[*].metadata.name}'
  member "${members[0]}" create configmap alone >/dev/null
  both        refuses "cluster($two): configmaps \"alone\" not found" get configmap alone -s members
  both        prints  "alone"                                      get configmap alone -s members -C "${members[0]}"
  both        refuses "the server doesn't have a resource type \"sofas\"" get sofas -s members

  step "get: a watch of the control plane and all members"
  starts all get configmaps -s all --watch-only --output-watch-events
  for one in "${members[@]}"; do seen "^ADDED .*$one" all made_in "$one"; done
  seen '^ADDED .*Karmada' all touched_again
  stop all

  step "top: all members"
  both        columns "NAME CLUSTER CPU(cores) MEMORY(bytes)"      top pod
  both        matches "________"                                   top pod --sum
  for one in "${members[@]}"; do
    both      matches "far-[^ ]+ +$one +[0-9]+m +[0-9]+Mi"         top pods -l app=far --sort-by=memory
    both      matches "$one-node-1 +$one +[0-9]+m +[0-9]+% +[0-9]+Mi +[0-9]+%" top node --sort-by=cpu --use-protocol-buffers=true
  done
  both        columns "NAME CLUSTER CPU(cores) CPU% MEMORY(bytes) MEMORY%" top nodes --clusters "$all"
  shiplogctl  matches "________"                                   top node --sum
  both        refuses "--sort-by accepts only cpu or memory"       top pod --sort-by=age
  karmadactl  refuses "only one of NAME or selector can be provided" top pod a -l b=c
  karmadactl  refuses "only one of NAME or --selector can be provided" top node a -l b=c
}

made_in() { member "$1" create configmap "made-$2" >/dev/null; }
touched_again() { kubectl create configmap "again-$1" >/dev/null; }

# NAME: one member, whatever its mode.
one_member() {
  local one=$1
  step "$one: get, describe, explain, api-resources, api-versions"
  both        columns "NAME CLUSTER READY UP-TO-DATE AVAILABLE AGE ADOPTION" get deployments -s members -C "$one"
  both        columns "NAME CLUSTER READY STATUS RESTARTS AGE"     get pods -s members --clusters "$one"
  both        columns "NAME CLUSTER READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES ADOPTION" get pods -s members -C "$one" -o wide
  both        is      "2"                                          get deployment far -s members -C "$one" -o 'jsonpath={.status.readyReplicas}'
  both        prints  '"readyReplicas": 2'                         get deployment far -s members -C "$one" -o json
  both        prints  "readyReplicas: 2"                           get deployment far -s members -C "$one" -o yaml
  both        is      "deployment.apps/far"                        get deployment far -s members -C "$one" -o name
  both        matches "^far +Karmada .*"$'\n'"far +$one "          get deployment far -s all -C "$one" --no-headers
  both        matches "$one-node-1 +$one .*N"                      get nodes -s members -C "$one"
  both        refuses "the server doesn't have a resource type \"sofas\"" get sofas -s members -C "$one"
  both        prints  "karmada.io/managed=true"                    describe deployment far -s members -C "$one"
  both        matches "Containers:"                                describe pods -l app=far --operation-scope members --cluster "$one"
  both        prints  "KIND:       Deployment"                     explain deployment -s members --cluster "$one"
  both        columns "NAME SHORTNAMES APIVERSION NAMESPACED KIND" api-resources -s members --cluster "$one"
  both        prints  "NodeMetrics"                                api-resources --operation-scope members --cluster "$one" --api-group metrics.k8s.io
  both        prints  "apps/v1"                                    api-versions -s members --cluster "$one"
  both        prints  "metrics.k8s.io/v1beta1"                     api-versions --operation-scope members --cluster "$one"
  both        refuses 'clusters.cluster.karmada.io "none" not found' describe deployment far -s members -C none

  # karmadactl has these for the control plane only.
  step "$one: create, label, annotate, patch, edit, delete"
  file there.yaml <<<'{apiVersion: v1, kind: ConfigMap, metadata: {name: there}, data: {a: b}}'
  local at=(--operation-scope members --cluster "$one")
  shiplogctl  is      "configmap/there created"                    create -f "$scratch/there.yaml" "${at[@]}"
  shiplogctl  is      "configmap/there labeled"                    label configmap there x=y "${at[@]}"
  shiplogctl  is      "configmap/there annotated"                  annotate configmap there x=y "${at[@]}"
  shiplogctl  is      "configmap/there patched"                    patch configmap there -p '{"data":{"a":"c"}}' "${at[@]}"
  EDITOR='sed -i s/a:.c/a:\ d/' \
    shiplogctl is     "configmap/there edited"                     edit configmap there "${at[@]}"
  shiplogctl  is      "d y y"                                      get configmap there -C "$one" -o 'jsonpath={.data.a} {.metadata.labels.x} {.metadata.annotations.x}'
  shiplogctl  prints  'configmap "there" deleted'                  delete configmap there "${at[@]}"
  shiplogctl  refuses 'configmaps "there" not found'               get configmap there -C "$one"
}
