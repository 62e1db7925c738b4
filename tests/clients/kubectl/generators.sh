# Objects that kubectl generates, and its output formats. Sourced by session.sh.

# Like must_be; but objects that a kubectl before 1.21 creates in a removed version are refused.
made() {
  local text=$1; shift
  if out=$(k "$@" 2>&1); then
    [ "$out" = "$text" ] || fail "'kubectl $*' prints '$out' instead of '$text'"
    return 0
  fi
  if able token create || [[ $out != *"could not find the requested resource"* && $out != *v1beta1* ]]; then
    fail "'kubectl $*' fails with: $out"
  fi
  step "  (its 'create $2' requests a removed version)"
  return 1
}

generators() {
  step "objects that 'create' and 'run' generate: each kind, and the stored object"
  must_be "serviceaccount/robot created" create serviceaccount robot
  must_be "deployment.apps/made created" create deployment made --image=nginx:1.27 --replicas=2 --port=80
  must_be "job.batch/once created" create job once --image=busybox -- echo hi
  if made "cronjob.batch/often created" create cronjob often --image=busybox '--schedule=*/5 * * * *' -- echo hi; then
    must_be "job.batch/now created" create job now --from=cronjob/often
    must_be "often CronJob" get job now -o 'jsonpath={.metadata.ownerReferences[0].name} {.metadata.ownerReferences[0].kind}'
  fi
  must_be "secret/pull created" create secret docker-registry pull --docker-server=s --docker-username=u --docker-password=p
  must_be kubernetes.io/dockerconfigjson get secret pull -o 'jsonpath={.type}'
  must_be "role.rbac.authorization.k8s.io/reader created" create role reader --verb=get,list --resource=pods,deployments.apps
  must_be "rolebinding.rbac.authorization.k8s.io/reads created" \
    create rolebinding reads --role=reader --serviceaccount="$namespace:robot"
  must_be "rolebinding.rbac.authorization.k8s.io/reads subjects updated" set subject rolebinding reads --user=ada
  must_be "resourcequota/limits created" create quota limits --hard=pods=100,requests.cpu=64
  made "poddisruptionbudget.policy/steady created" \
    create poddisruptionbudget steady --selector=app=made --min-available=1 || true
  must_be "priorityclass.scheduling.k8s.io/kubectl-day created (server dry run)" \
    create priorityclass kubectl-day --value=1000 --dry-run=server
  must_be "ingress.networking.k8s.io/door created" create ingress door '--rule=example.com/path=made:80,tls=cert'
  must_be "service/inside created" create service clusterip inside --tcp=80:8080
  must_be "service/outside created" create service nodeport outside --tcp=80:8080
  must_be "service/balanced created" create service loadbalancer balanced --tcp=80:8080
  must_be "service/elsewhere created" create service externalname elsewhere --external-name=example.org
  must_print "service/made exposed" expose deployment made --port=80 --target-port=8080
  must_be "pod/bare created" run bare --image=nginx --labels=app=bare --port=80
  must_be "deployment.apps/made env updated" set env deployment/made COLOUR=red
  must_be "deployment.apps/made resource requirements updated" set resources deployment/made --limits=cpu=100m,memory=1Gi
  must_be "deployment.apps/made serviceaccount updated" set serviceaccount deployment made robot
  must_be "service/inside selector updated" set selector service inside app=made
  must_be "red 100m robot" get deployment made \
    -o 'jsonpath={.spec.template.spec.containers[0].env[0].value} {..limits.cpu} {.spec.template.spec.serviceAccountName}'
  must_be "deployment.apps/made paused" rollout pause deployment/made
  must_be "deployment.apps/made resumed" rollout resume deployment/made
  must rollout history deployment/made
}

shown() {
  step "output formats"
  must get deployment made -o wide
  [[ $out == *CONTAINERS*IMAGES*SELECTOR*nginx:1.27*app=made* ]] || fail "the wide table is: $out"
  must_print "kind: Deployment" get deployment made -o yaml
  must_print '"kind": "Deployment"' get deployment made -o json
  must_be $'NAME   IMAGE\nmade   nginx:1.27' \
    get deployments -o 'custom-columns=NAME:.metadata.name,IMAGE:.spec.template.spec.containers[0].image'
  must_be made get deployments -o 'go-template={{range .items}}{{.metadata.name}}{{end}}'
  must_be $'service/balanced\nservice/elsewhere\nservice/inside\nservice/made\nservice/outside' \
    get services --sort-by=.metadata.name -o name
  must get pods --show-labels -L app
  [[ $out == *APP*LABELS*bare*app=bare* ]] || fail "the table with labels is: $out"
  must_print "deployment.apps/made" get all
  must_print "service/made" get all --all-namespaces
  must cluster-info dump --namespaces="$namespace" --output-directory="$scratch/dump"
  must cluster-info
  [[ $out == *"is running at"* ]] || fail "the cluster's address is not in: $out"
  must_be ok get --raw /readyz
  must_print '"kind":"ConfigMapList"' get --raw "/api/v1/namespaces/$namespace/configmaps?limit=1"
  for text in deployments.apps propagationpolicies.policy.karmada.io; do
    must_print "$text" api-resources --namespaced=true --verbs=list,watch -o name
  done
  must_print "clusters.cluster.karmada.io" api-resources --api-group=cluster.karmada.io -o name
  must_print "maxSurge" explain deployment.spec.strategy --recursive
  must_print "batch" explain cronjob.spec --api-version=batch/v1
  if able plaintext-openapiv2 explain; then must_print "maxSurge" explain deployment.spec --recursive --output plaintext-openapiv2
  else step "  (it has one form of explanation only)"; fi
}

access() {
  step "authorization: the list of permissions, impersonation, auth reconcile, a token"
  must auth can-i --list
  [[ $out == *Resources*"*.*"* ]] || fail "what one may do is: $out"
  must_be yes auth can-i get pods --as=ada
  must_refuse no auth can-i delete pods --as=ada
  must_print "deployments.apps" auth can-i --list --as=ada
  must_refuse "cannot list resource \"secrets\"" get secrets --as=ada
  file role.yaml <<Y
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: $namespace}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
Y
  must_print "reader reconciled" auth reconcile -f "$scratch/role.yaml"
  must_be yes auth can-i get configmaps --as=ada
  must_be yes auth can-i get pods --as=ada
  if able token create; then
    must create token robot --duration=1h
    [[ $out == *.*.* ]] || fail "this is no token: $out"
    printf '%s' "$out" >"$scratch/token"
    must create rolebinding robots --role=reader --serviceaccount="$namespace:robot"
    local token
    token=$(cat "$scratch/token")
    # Without the certificate of the kubeconfig, which would take precedence.
    "$program" config view --raw --minify >"$scratch/robot.kubeconfig"
    KUBECONFIG=$scratch/robot.kubeconfig "$program" config set-credentials robot --token="$token" >/dev/null
    KUBECONFIG=$scratch/robot.kubeconfig "$program" config set-context --current --user=robot >/dev/null
    must_be yes --kubeconfig="$scratch/robot.kubeconfig" auth can-i get configmaps
    must_refuse "system:serviceaccount:$namespace:robot" --kubeconfig="$scratch/robot.kubeconfig" get secrets
  else step "  (it cannot create tokens)"; fi
}

swept() {
  step "everything of a kind, and all that is in 'all'"
  must_print "configmap/forced created" create configmap forced --from-literal=a=1
  must get configmap forced -o yaml
  printf '%s\n' "$out" >"$scratch/forced.yaml"
  must get configmap forced -o 'jsonpath={.metadata.uid}'
  local uid=$out
  must_print "configmap/forced replaced" replace --force -f "$scratch/forced.yaml"
  must get configmap forced -o 'jsonpath={.metadata.uid}'
  [ "$out" != "$uid" ] || fail "a replacement by force keeps the uid $uid"
  must_print "deleted" delete all --all --timeout="$patience"
  must_print "No resources found" get all
  must_print "deleted" delete configmaps,secrets,roles,rolebindings,quota,poddisruptionbudgets,ingresses --all
  must_be "" get secrets,roles,ingresses -o name
}
