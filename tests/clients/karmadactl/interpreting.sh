# interpret. Sourced by session.sh.

interpreting() {
  step "interpret: check, operations, edit"
  file scripts.yaml <<'Y'
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: day}
spec:
  target: {apiVersion: apps/v1, kind: Deployment}
  customizations:
    replicaResource:
      luaScript: |
        local kube = require("kube")
        function GetReplicas(obj)
          return obj.spec.replicas, kube.accuratePodRequirements(obj.spec.template)
        end
    healthInterpretation:
      luaScript: |
        function InterpretHealth(observedObj)
          return observedObj.status.readyReplicas == observedObj.spec.replicas
        end
Y
  file desired.yaml <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec: {replicas: 3, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}}}
status: {readyReplicas: 3}
Y
  prints "InterpretReplica:        PASS" interpret -f "$scratch/scripts.yaml" --check
  has "Retain:                  UNSET" interpret --check
  is $'---\n# [1/2] replica:\n3\n---\n# [2/2] requires:\nresourceRequest:\n  cpu: 100m' \
    interpret -f "$scratch/scripts.yaml" --operation InterpretReplica --desired-file "$scratch/desired.yaml"
  is $'---\n# [1/1] healthy:\ntrue' \
    interpret -f "$scratch/scripts.yaml" --operation InterpretHealth --observed-file "$scratch/desired.yaml"
  refuses "operation is not set for executing" interpret -f "$scratch/scripts.yaml"
  refuses "operation X is not supported. Use one of: Retain" interpret -f "$scratch/scripts.yaml" --operation X
  succeeds create -f "$scratch/scripts.yaml"
  prints "InterpretHealth:         PASS" interpret day --check
  EDITOR='sed -i s/return.obj.spec.replicas,/return\ 0+obj.spec.replicas,/' \
    is "resourceinterpretercustomization.config.karmada.io/day edited" interpret day --edit
  prints "return 0+obj.spec.replicas" get resourceinterpretercustomization day -o yaml
  EDITOR=true is "Edit cancelled, no changes made." interpret day --edit --show-doc
  columns "NAME CLUSTER TARGET-API-VERSION TARGET-KIND AGE ADOPTION" get resourceinterpretercustomizations
  succeeds delete resourceinterpretercustomization day
}
