# What writes to the control plane. Sourced by session.sh.

writing() {
  step "create: files, dry runs, validation, generators"
  file policy.yaml <<Y
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p1, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [$MEMBER]}}
Y
  sed 's/placement:/plcement:/' "$scratch/policy.yaml" >"$scratch/wrong.yaml"
  local policy="propagationpolicy.policy.karmada.io/p1"
  is "$policy created (dry run)" create -f "$scratch/policy.yaml" --dry-run=client
  is "$policy created (server dry run)" create -f "$scratch/policy.yaml" --dry-run=server
  refuses 'strict decoding error: unknown field "spec.plcement"' create -f "$scratch/wrong.yaml"
  prints "$policy created (server dry run)" create -f "$scratch/wrong.yaml" --validate=warn --dry-run=server
  has 'unknown field' create --validate=warn
  is "$policy created (server dry run)" create -f "$scratch/wrong.yaml" --validate=ignore --dry-run=server
  is "$policy created" create -f "$scratch/policy.yaml" --save-config
  refuses "Error from server (AlreadyExists)" create -f "$scratch/policy.yaml"
  until_prints "True" get resourcebindings
  columns "NAME CLUSTER CONFLICT-RESOLUTION PRIORITY AGE ADOPTION" get propagationpolicies
  columns "NAME CLUSTER SCHEDULED FULLYAPPLIED AGE ADOPTION" get resourcebindings
  columns "NAME CLUSTER WORKLOAD-KIND APPLIED AGE ADOPTION" get works -n "karmada-es-$MEMBER"
  prints "resourcebinding.work.karmada.io/web-deployment" get karmada-io
  generators

  step "label, annotate, patch, edit"
  is "deployment.apps/web labeled" label deployment web tier=front
  refuses "'tier' already has a value (front), and --overwrite is false" label deployment web tier=back
  is "deployment.apps/web labeled" label deployment web tier=back --overwrite
  prints "tier=back" label deployment web --list
  is "deployment.apps/web labeled (server dry run)" label deployments --all x=y --dry-run=server
  is "deployment.apps/web unlabeled" label deployment web tier-
  is "deployment.apps/web annotated" annotate deployment web note=x
  is "deployment.apps/web annotated" annotate deployment web note-
  is "deployment.apps/web patched" patch deployment web -p '{"spec":{"replicas":3}}'
  is "deployment.apps/web patched" patch deployment web --type=json -p '[{"op":"replace","path":"/spec/replicas","value":2}]'
  is "deployment.apps/web patched" patch deployment web --type=merge -p '{"spec":{"minReadySeconds":1}}'
  is "scale.autoscaling/web patched" patch deployment web --subresource=scale --type=merge -p '{"spec":{"replicas":1}}'
  is 1 get deployment web -o 'jsonpath={.spec.replicas}'
  refuses "strategic-merge-patch+json is not supported by policy.karmada.io" patch propagationpolicy p1 -p '{"spec":{"priority":1}}'
  is "$policy patched" patch propagationpolicy p1 --type=merge -p '{"spec":{"priority":1}}'
  EDITOR='sed -i s/priority:.1/priority:\ 2/' is "$policy edited" edit propagationpolicy p1
  is 2 get propagationpolicy p1 -o 'jsonpath={.spec.priority}'
  EDITOR=true is "Edit cancelled, no changes made." edit deployment web

  step "delete"
  is 'deployment.apps "web" deleted from default namespace (server dry run)' delete deployment web --dry-run=server
  is "$policy" delete -f "$scratch/policy.yaml" -o name
  is 'deployment.apps "web" deleted from default namespace' delete deployment web --cascade=foreground --timeout=60s
  refuses 'Error from server (NotFound): deployments.apps "web" not found' delete deployment web
  is "" delete deployment web --ignore-not-found
  is 'configmap "c" deleted from default namespace' delete configmaps --field-selector metadata.name=c --now
  prints '"kind":"Namespace"' create --raw /api/v1/namespaces -f - <<<'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"raw"}}'
  prints '"kind"' delete --raw /api/v1/namespaces/raw
}

generators() {
  is "namespace/promo created" create namespace promo
  is "configmap/c created" create configmap c --from-literal=a=b
  is "secret/s created" create secret generic s --from-literal=a=b
  is "secret/pull created" create secret docker-registry pull --docker-username=u --docker-password=p
  is "service/inside created" create service clusterip inside --tcp=80
  is "service/outside created" create service nodeport outside --tcp=80
  is "service/balanced created" create service loadbalancer balanced --tcp=80
  is "service/elsewhere created" create service externalname elsewhere --external-name=example.org
  is "job.batch/once created" create job once --image=busybox
  is "cronjob.batch/often created" create cronjob often --image=busybox '--schedule=* * * * *'
  is "ingress.networking.k8s.io/door created" create ingress door --rule=example.org/path=inside:80
  is "resourcequota/limits created" create quota limits --hard=pods=100
  is "role.rbac.authorization.k8s.io/reader created" create role reader --verb=get --resource=pods
  is "rolebinding.rbac.authorization.k8s.io/reads created" create rolebinding reads --role=reader --user=ada
  is "clusterrole.rbac.authorization.k8s.io/seer created" create clusterrole seer --verb=get --resource=pods
  is "clusterrolebinding.rbac.authorization.k8s.io/sees created" create clusterrolebinding sees --clusterrole=seer --user=ada
  is "poddisruptionbudget.policy/steady created" create poddisruptionbudget steady --selector=a=b --min-available=1
  is "priorityclass.scheduling.k8s.io/high created" create priorityclass high --value=1
  is "serviceaccount/robot created" create serviceaccount robot
  prints "." create token robot
}
