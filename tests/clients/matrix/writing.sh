# What writes to the control plane. Sourced by session.sh.

writing() {
  local one=${members[0]}
  file policy.yaml <<Y
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p1, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [$one]}}
Y
  sed 's/placement:/plcement:/' "$scratch/policy.yaml" >"$scratch/wrong.yaml"
  local policy="propagationpolicy.policy.karmada.io/p1" from="$scratch/policy.yaml" wrong="$scratch/wrong.yaml"
  step "create: files, dry runs, validation"
  both        is      "$policy created (dry run)"                  create -f "$from" --dry-run=client
  both        is      "$policy created (server dry run)"           create -f "$from" --dry-run=server
  both        refuses 'strict decoding error: unknown field "spec.plcement"' create -f "$wrong" --validate=strict
  both        prints  "$policy created (server dry run)"           create -f "$wrong" --validate=warn --dry-run=server
  both        prints  'unknown field'                              create -f "$wrong" --validate=warn --dry-run=server
  both        is      "$policy created (server dry run)"           create -f "$wrong" --validate=ignore --dry-run=server
  both        is      "$policy created"                            create -f "$from" --save-config --field-manager=matrix
  both        is      "matrix"                                     get propagationpolicy p1 -o 'jsonpath={.metadata.managedFields[0].manager}' --show-managed-fields
  both        prints  "last-applied-configuration"                 get propagationpolicy p1 -o yaml
  both        refuses "Error from server (AlreadyExists)"          create -f "$from"
  both        until_prints "True"                                  get resourcebindings
  rm "$wrong"
  mkdir -p "$scratch/base"
  file base/kustomization.yaml <<<'{resources: [map.yaml], namePrefix: k-}'
  file base/map.yaml <<<'{apiVersion: v1, kind: ConfigMap, metadata: {name: built, labels: {from: base}}, data: {a: b}}'
  both        is      "configmap/built"                            create --filename "$scratch/base/map.yaml" --recursive --selector from=base --dry-run=client -o name
  both        is      "configmap/k-built created"                  create --kustomize "$scratch/base"
  EDITOR='sed -i s/plain/edited/' \
    both      is      "configmap/edited created"                   create -f - --edit --windows-line-endings=false \
    <<<'{apiVersion: v1, kind: ConfigMap, metadata: {name: plain}}'
  both        prints  '"kind":"Namespace"'                         create --raw /api/v1/namespaces -f - <<<'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"raw"}}'
  both        prints  '"kind"'                                     delete --raw /api/v1/namespaces/raw
  generators
  both        columns "NAME CLUSTER CONFLICT-RESOLUTION PRIORITY AGE ADOPTION" get propagationpolicies
  both        columns "NAME CLUSTER SCHEDULED FULLYAPPLIED AGE ADOPTION" get resourcebindings
  both        columns "NAME CLUSTER WORKLOAD-KIND APPLIED AGE ADOPTION" get works -n "karmada-es-$one"
  both        prints  "resourcebinding.work.karmada.io/web-deployment" get karmada-io
  changes
  removals
}

generators() {
  step "create: generators"
  both        is      "namespace/promo created"                              create namespace promo
  both        is      "configmap/c created"                                  create configmap c --from-literal=a=b
  file a.env <<<'A=b'
  both        is      "b"                                                    create configmap d "--from-env-file=$scratch/a.env" --append-hash -o 'jsonpath={.data.A}'
  both        matches '^configmap/e-[a-z0-9]{10}$'                           create configmap e "--from-file=$scratch/a.env" --append-hash --dry-run=client -o name
  both        is      "secret/s created"                                     create secret generic s --from-literal=a=b --type=example.org/kind
  both        is      "example.org/kind"                                     get secret s -o 'jsonpath={.type}'
  both        is      "secret/pull created"                                  create secret docker-registry pull --docker-username=u --docker-password=p --docker-email=a@example.org --docker-server=registry.example.org
  openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=matrix -keyout "$scratch/tls.key" -out "$scratch/tls.crt" 2>/dev/null
  both        is      "secret/pair created"                                  create secret tls pair "--cert=$scratch/tls.crt" "--key=$scratch/tls.key"
  both        matches '^secret/t-[a-z0-9]{10}$'                              create secret generic t "--from-file=key=$scratch/tls.key" --append-hash -o name
  both        is      "Yg=="                                                 create secret generic u "--from-env-file=$scratch/a.env" -o 'jsonpath={.data.A}'
  both        matches '^secret/t-[a-z0-9]{10}$'                              create secret tls t "--cert=$scratch/tls.crt" "--key=$scratch/tls.key" --append-hash -o name
  file config.json <<<'{"auths":{}}'
  both        matches '^secret/t-[a-z0-9]{10}$'                              create secret docker-registry t "--from-file=$scratch/config.json" --append-hash -o name
  both        is      "service/inside created"                               create service clusterip inside --tcp=80
  both        is      "None"                                                 create service clusterip headless --clusterip=None -o 'jsonpath={.spec.clusterIP}'
  both        is      "service/outside created"                              create service nodeport outside --tcp=80 --node-port=30123
  both        is      "30123"                                                get service outside -o 'jsonpath={.spec.ports[0].nodePort}'
  both        is      "service/balanced created"                             create service loadbalancer balanced --tcp=80:8080
  both        is      "service/elsewhere created"                            create service externalname elsewhere --external-name=example.org --tcp=80
  both        is      "job.batch/once created"                               create job once --image=busybox -- date
  both        is      "cronjob.batch/often created"                          create cronjob often --image=busybox '--schedule=* * * * *' --restart=Never
  both        is      "job.batch/now created"                                create job now --from=cronjob/often
  both        is      "ingress.networking.k8s.io/door created"               create ingress door --rule=example.org/path=inside:80 --class=any --default-backend=inside:80 --annotation=a=b
  both        is      "resourcequota/limits created"                         create quota limits --hard=pods=100 --scopes=BestEffort
  both        is      "role.rbac.authorization.k8s.io/reader created"        create role reader --verb=get --resource=pods --resource-name=a
  both        is      "rolebinding.rbac.authorization.k8s.io/reads created"  create rolebinding reads --role=reader --user=ada
  both        is      "rolebinding.rbac.authorization.k8s.io/sees created"   create rolebinding sees --clusterrole=view --group=readers --serviceaccount=default:robot
  both        is      "clusterrole.rbac.authorization.k8s.io/seer created"   create clusterrole seer --verb=get --resource=pods --resource-name=a
  both        is      "clusterrole.rbac.authorization.k8s.io/url created"    create clusterrole url --verb=get --non-resource-url=/healthz
  both        is      "clusterrole.rbac.authorization.k8s.io/sum created"    create clusterrole sum --aggregation-rule=a=b
  both        is      "clusterrolebinding.rbac.authorization.k8s.io/sees created" create clusterrolebinding sees --clusterrole=seer --user=ada --group=readers --serviceaccount=default:robot
  both        is      "poddisruptionbudget.policy/steady created"            create poddisruptionbudget steady --selector=a=b --min-available=1
  both        is      "poddisruptionbudget.policy/lively created"            create pdb lively --selector=a=b --max-unavailable=50%
  both        is      "priorityclass.scheduling.k8s.io/high created"         create priorityclass high --value=1 --global-default=false --preemption-policy=Never --description=high
  both        is      "serviceaccount/robot created"                         create serviceaccount robot
  both        matches '^[^.]+\.[^.]+\.[^.]+$'                                create token robot --audience=a --duration=1h
  both        is      "a"                                                    create token robot --audience=a -o 'jsonpath={.spec.audiences[0]}' \
    --bound-object-kind=Secret --bound-object-name=s --bound-object-uid="$(kubectl get secret s -o 'jsonpath={.metadata.uid}')"
}

changes() {
  local map="$scratch/base/map.yaml"
  step "label and annotate"
  both        is      "deployment.apps/web labeled"                          label deployment web tier=front
  both        refuses "'tier' already has a value (front), and --overwrite is false" label deployment web tier=back
  both        is      "deployment.apps/web labeled"                          label deployment web tier=back --overwrite --field-manager=matrix
  both        prints  "tier=back"                                            label deployment web --list
  both        is      "deployment.apps/web labeled (server dry run)"         label deployments --all x=y --dry-run=server
  both        is      "deployment.apps/web labeled"                          label deployments -l app=web --field-selector metadata.name=web -A x=y
  both        is      "z"                                                    label deployment web x=z --overwrite --dry-run=client -o 'jsonpath={.metadata.labels.x}' --resource-version=
  both        is      "z"                                                    label -f "$map" x=z --local -o 'jsonpath={.metadata.labels.x}'
  both        refuses "the object has been modified"                         label deployment web x=z --overwrite --resource-version=1
  both        prints  "Labels:       from=base"                              describe -k "$scratch/base"
  both        prints  "policy.karmada.io/v1alpha1"                                 describe -f "$scratch/policy.yaml" --recursive
  both        is      "configmap/k-built labeled"                            label -k "$scratch/base" x=y
  both        is      "configmap/built labeled"                              label --filename "$scratch/base/map.yaml" --recursive x=y --local
  both        is      "deployment.apps/web unlabeled"                        label deployment web tier- x-
  both        is      "deployment.apps/web annotated"                        annotate deployment web note=x
  both        is      "deployment.apps/web annotated"                        annotate deployment web note=y --overwrite --field-manager=matrix
  both        prints  "note=y"                                               annotate deployment web --list
  both        is      "deployment.apps/web annotated (server dry run)"       annotate deployments --all a=b --dry-run=server
  both        is      "deployment.apps/web annotated"                        annotate deployments -l app=web --field-selector metadata.name=web -A a=b
  both        is      "z"                                                    annotate -f "$map" a=z --local -o 'jsonpath={.metadata.annotations.a}'
  both        refuses "the object has been modified"                         annotate deployment web a=z --overwrite --resource-version=1
  both        is      "configmap/built annotated"                            annotate -f "$scratch/base/map.yaml" -R a=b --local
  # kubectl 1.37, which shiplogctl runs here, refuses it.
  karmadactl  is      "configmap/k-built annotated"                          annotate --kustomize "$scratch/base" a=b
  both        is      "deployment.apps/web annotated"                        annotate deployment web note- a-

  step "patch"
  both        is      "deployment.apps/web patched"                          patch deployment web -p '{"spec":{"replicas":3}}'
  both        is      "deployment.apps/web patched"                          patch deployment web --type=json -p '[{"op":"replace","path":"/spec/replicas","value":2}]'
  both        is      "deployment.apps/web patched"                          patch deployment web --type=merge --patch '{"spec":{"minReadySeconds":1}}' --field-manager=matrix
  both        is      "scale.autoscaling/web patched"                        patch deployment web --subresource=scale --type=merge -p '{"spec":{"replicas":1}}'
  both        is      1                                                      get deployment web -o 'jsonpath={.spec.replicas}'
  file patch.yaml <<<$'spec:\n  replicas: 2'
  both        is      "deployment.apps/web patched"                          patch deployment web --type=strategic "--patch-file=$scratch/patch.yaml"
  both        is      "deployment.apps/web patched"                          patch deployment web --dry-run=server -p '{"spec":{"replicas":7}}'
  both        is      2                                                      get deployment web -o 'jsonpath={.spec.replicas}'
  both        is      "c"                                                    patch -f "$map" -R --local --type=merge -p '{"data":{"a":"c"}}' -o 'jsonpath={.data.a}'
  both        is      "configmap/k-built patched"                            patch -k "$scratch/base" --type=merge -p '{"data":{"a":"c"}}'
  both        refuses "strategic-merge-patch+json is not supported by policy.karmada.io" patch propagationpolicy p1 -p '{"spec":{"priority":1}}'
  both        is      "propagationpolicy.policy.karmada.io/p1 patched"       patch propagationpolicy p1 --type=merge -p '{"spec":{"priority":1}}'

  step "edit"
  EDITOR='sed -i s/priority:.1/priority:\ 2/' \
    both      is      "propagationpolicy.policy.karmada.io/p1 edited"        edit propagationpolicy p1
  both        is      2                                                      get propagationpolicy p1 -o 'jsonpath={.spec.priority}'
  EDITOR=true \
    both      is      "Edit cancelled, no changes made."                     edit deployment web
  EDITOR='sed -i s/replicas:.2/replicas:\ 4/' \
    both      prints  '"replicas":4'                                         edit deployment web --output-patch --field-manager=matrix --windows-line-endings=false --validate=strict
  EDITOR='sed -i s/loadBalancer:.{}/loadBalancer:\ {ingress:\ [{hostname:\ door.example.org}]}/' \
    both      prints  "hostname: door.example.org"                           edit service balanced --subresource=status -o yaml
  both        is      "door.example.org"                                     get service balanced -o 'jsonpath={.status.loadBalancer.ingress[0].hostname}'
  EDITOR='sed -i s/a:.c/a:\ d/' \
    both      is      "configmap/k-built edited"                             edit -k "$scratch/base" --save-config
  EDITOR='sed -i s/a:.b/a:\ d/' \
    both      is      "configmap/c edited"                                   edit configmap/c --save-config
  file c.yaml <<<'{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}'
  EDITOR='sed -i s/a:.d/a:\ e/' \
    both      is      "configmap/c edited"                                   edit -f "$scratch/c.yaml" --recursive
  both        prints  "last-applied-configuration"                           get configmap c -o yaml
}

removals() {
  step "delete"
  both        prints  'deployment.apps "web" deleted'                        delete deployment web --dry-run=server
  both        is      "propagationpolicy.policy.karmada.io/p1"               delete -f "$scratch/policy.yaml" -o name
  both        prints  'deployment.apps "web" deleted'                        delete deployment web --cascade=foreground --timeout=60s --wait=true
  both        refuses 'Error from server (NotFound): deployments.apps "web" not found' delete deployment web
  both        is      ""                                                     delete deployment web --ignore-not-found
  both        prints  'configmap "c" deleted'                                delete configmaps --field-selector metadata.name=c --now
  both        prints  'configmap "k-built" deleted'                          delete -k "$scratch/base" --grace-period=1
  both        prints  'job.batch "now" force deleted'                        delete job now --force --grace-period=0 --cascade=background
  both        prints  'cronjob.batch "often" deleted'                        delete cronjob often --cascade=orphan --wait=false
  both        prints  'configmap "edited" deleted'                           delete configmap edited --interactive <<<y
  both        prints  "poddisruptionbudget.policy"                           delete poddisruptionbudgets --all
  both        is      "No resources found"                                   delete poddisruptionbudgets --all -A
  both        is      "No resources found"                                   delete configmaps -l nothing=here --recursive
}
