# interpret. Sourced by session.sh.

interpreting() {
  step "interpret: check"
  mkdir -p "$scratch/scripts/below"
  file scripts/below/scripts.yaml <<'Y'
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: day}
spec:
  target: {apiVersion: apps/v1, kind: Deployment}
  customizations:
    retention:
      luaScript: |
        function Retain(desiredObj, observedObj)
          desiredObj.spec.paused = observedObj.spec.paused
          return desiredObj
        end
    replicaResource:
      luaScript: |
        local kube = require("kube")
        function GetReplicas(obj)
          return obj.spec.replicas, kube.accuratePodRequirements(obj.spec.template)
        end
    componentResource:
      luaScript: |
        function GetComponents(obj)
          return {{name = "main", replicas = obj.spec.replicas}}
        end
    replicaRevision:
      luaScript: |
        function ReviseReplica(obj, desiredReplica)
          obj.spec.replicas = desiredReplica
          return obj
        end
    statusReflection:
      luaScript: |
        function ReflectStatus(observedObj)
          return {ready = observedObj.status.readyReplicas}
        end
    statusAggregation:
      luaScript: |
        function AggregateStatus(desiredObj, statusItems)
          desiredObj.status = {readyReplicas = 0}
          for i = 1, #statusItems do
            desiredObj.status.readyReplicas = desiredObj.status.readyReplicas + statusItems[i].status.readyReplicas
          end
          return desiredObj
        end
    healthInterpretation:
      luaScript: |
        function InterpretHealth(observedObj)
          return observedObj.status.readyReplicas == observedObj.spec.replicas
        end
    dependencyInterpretation:
      luaScript: |
        function GetDependencies(desiredObj)
          return {{apiVersion = "v1", kind = "ConfigMap", namespace = "default", name = "needed"}}
        end
Y
  file desired.yaml <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec: {replicas: 3, paused: true, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}}}
status: {readyReplicas: 3}
Y
  file items.yaml <<'Y'
applied: true
clusterName: a
status: {readyReplicas: 1}
---
applied: true
clusterName: b
status: {readyReplicas: 2}
Y
  local from="$scratch/scripts/below/scripts.yaml" object="$scratch/desired.yaml"
  both        prints  "InterpretReplica:        PASS"              interpret -f "$from" --check
  both        prints  "Retain:                  PASS"              interpret --filename "$scratch/scripts" --recursive --check

  step "interpret: each operation"
  both        matches "^---"$'\n'"# \[1/1\] retained:(.*"$'\n'")+  paused: true" \
    interpret -f "$from" --operation Retain --desired-file "$object" --observed-file "$object"
  both        is      $'---\n# [1/2] replica:\n3\n---\n# [2/2] requires:\nresourceRequest:\n  cpu: 100m' \
    interpret -f "$from" --operation InterpretReplica --desired-file "$object"
  both        matches "^---"$'\n'"# \[1/1\] components:"$'\n'"- name: main"$'\n'"  replicas: 3" \
    interpret -f "$from" --operation InterpretComponent --desired-file "$object"
  both        matches "^---"$'\n'"# \[1/1\] revised:(.*"$'\n'")+  replicas: 7" \
    interpret -f "$from" --operation ReviseReplica --desired-file "$object" --desired-replica 7
  both        is      $'---\n# [1/1] status:\nready: 3' \
    interpret -f "$from" --operation InterpretStatus --observed-file "$object"
  both        matches "^---"$'\n'"# \[1/1\] aggregatedStatus:(.*"$'\n'")+  readyReplicas: 3" \
    interpret -f "$from" --operation AggregateStatus --desired-file "$object" --status-file "$scratch/items.yaml"
  both        is      $'---\n# [1/1] healthy:\ntrue' \
    interpret -f "$from" --operation InterpretHealth --observed-file "$object"
  both        matches "^---"$'\n'"# \[1/1\] dependencies:(.*"$'\n'")+ +name: needed" \
    interpret -f "$from" --operation InterpretDependency --desired-file "$object"
  both        refuses "operation is not set for executing"         interpret -f "$from"
  both        refuses "operation X is not supported. Use one of: Retain" interpret -f "$from" --operation X

  step "interpret: a stored customization"
  both        is      "resourceinterpretercustomization.config.karmada.io/day created" create -f "$from"
  both        prints  "InterpretHealth:         PASS"              interpret day --check --karmada-context "$context"
  EDITOR='sed -i s/return.obj.spec.replicas,/return\ 0+obj.spec.replicas,/' \
    both      is      "resourceinterpretercustomization.config.karmada.io/day edited" interpret day --edit
  both        prints  "return 0+obj.spec.replicas"                 get resourceinterpretercustomization day -o yaml
  EDITOR=true \
    both      is      "Edit cancelled, no changes made."           interpret day --edit --show-doc=true
  both        columns "NAME CLUSTER TARGET-API-VERSION TARGET-KIND AGE ADOPTION" get resourceinterpretercustomizations
  both        prints  '"day" deleted'                              delete resourceinterpretercustomization day
}
