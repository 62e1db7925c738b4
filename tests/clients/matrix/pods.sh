# logs, exec, attach and top of the pods of one member. Sourced by session.sh.

# NAME: a member, in which the Deployment "far" runs (members.sh).
pods_of() {
  local one=$1 pod at=(-s members --cluster "$1")
  pod=$(member "$one" get pods -l app=far -o 'jsonpath={.items[0].metadata.name}')
  step "$one: logs"
  both        matches "."                                          logs "$pod" -C "$one" -c web
  both        matches "^[^"$'\n'"]+$"                              logs "$pod" --cluster "$one" --container web --tail=1
  both        matches "^\[pod/$pod/web\] [0-9]{4}-[0-9-]+T"        logs "$pod" -C "$one" -c web --tail=1 --timestamps --prefix
  both        prints  "[pod/$pod/shell]"                           logs "$pod" -C "$one" --all-containers --prefix
  both        prints  "[pod/$pod/web]"                             logs "$pod" -C "$one" --all-containers --prefix
  both        matches "."                                          logs deployment/far -C "$one" -c web --since=1h --namespace default
  both        is      ""                                           logs "$pod" -C "$one" -c web --since-time=2999-01-01T00:00:00Z
  both        matches "^.{10}$"                                    logs "$pod" -C "$one" -c web --limit-bytes=10
  both        matches "."                                          logs -l app=far -C "$one" -c web --tail=1 --max-log-requests=5 --ignore-errors
  both        matches "\[pod/far-.*\[pod/far-"                     logs deployment/far -C "$one" -c web --all-pods --tail=1
  both        matches "."                                          logs "$pod" -C "$one" -c web --insecure-skip-tls-verify-backend --pod-running-timeout=5s
  both        refuses "previous terminated container \"web\" in pod \"$pod\" not found" logs "$pod" -C "$one" -c web --previous
  both        refuses "container none is not valid for pod $pod"   logs "$pod" -C "$one" -c none
  both        refuses "only a selector (-l) or a POD name is allowed" logs "$pod" -C "$one" -l a=b
  both        refuses "must specify a cluster"                     logs "$pod"
  both        refuses "pods \"none\" not found"                    logs none -C "$one"
  starts "followed-$one" logs --follow "$pod" -C "$one" -c web --tail=1
  seen "." "followed-$one"

  step "$one: exec"
  both        is      "hello"                                      exec "$pod" "${at[@]}" -c web -- echo hello
  both        is      "from standard input"                        exec -i "$pod" "${at[@]}" --container shell -- cat <<<"from standard input"
  both        is      "$pod"                                       exec deployment/far -n default "${at[@]}" -c web --pod-running-timeout=5s -- hostname
  both        prints  "hello"                                      exec --stdin --tty "$pod" "${at[@]}" --quiet -c web -- echo hello
  member "$one" get pod "$pod" -o yaml >"$scratch/far-pod.yaml"
  both        is      "$pod"                                       exec --filename "$scratch/far-pod.yaml" "${at[@]}" -c web -- hostname
  both        ends    3                                            exec "$pod" "${at[@]}" -c web -- sh -c 'exit 3'
  both        refuses "must specify a member cluster"              exec "$pod" -s members -- ls
  both        refuses "pods \"none\" not found"                    exec none "${at[@]}" -- ls
  karmadactl  refuses "not support operation scope: all"           exec "$pod" -s all -- ls

  step "$one: attach"
  both        prints  "$pod"                                       attach --stdin "$pod" "${at[@]}" --container shell --quiet <<<hostname
  starts "attached-$one" attach "$pod" "${at[@]}" -c web --namespace default --pod-running-timeout=5s
  seen "." "attached-$one"
  stop "attached-$one"
  both        refuses "pods \"none\" not found"                    attach none "${at[@]}" --tty
  both        refuses "container none is not valid for pod $pod"   attach "$pod" "${at[@]}" -c none

  step "$one: top"
  both        columns "NAME CLUSTER CPU(cores) MEMORY(bytes)"      top pod --clusters "$one"
  both        columns "NAMESPACE NAME CLUSTER CPU(cores) MEMORY(bytes)" top pod --all-namespaces -C "$one"
  both        columns "POD NAME CLUSTER CPU(cores) MEMORY(bytes)"  top pod --containers -C "$one" --use-protocol-buffers=true
  both        matches "^$pod +$one +[0-9]+m +[0-9]+Mi"             top pod "$pod" -C "$one" --no-headers
  both        matches "$pod +$one +[0-9]+m"                        top pod --field-selector "metadata.name=$pod" -C "$one"
  both        matches "^$one-node-1 +$one +[0-9]+m +[0-9]+% +[0-9]+Mi +[0-9]+%" top node "$one-node-1" --clusters "$one" --no-headers
  both        matches "$one-node-1 +$one"                          top node --clusters "$one" --selector kubernetes.io/hostname="$one-node-1" --sort-by=memory --show-capacity
  both        refuses '"none" not found'                           top pod none -C "$one"

  step "$one: a followed log ends with its pod"
  member "$one" delete pod "$pod" --wait=false >/dev/null
  tries=0
  while kill -0 "${beside["followed-$one"]}" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || { wrong "logs --follow has not ended with the pod"; break; }
    sleep 0.1
  done
  stop "followed-$one"
}
