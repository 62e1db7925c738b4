# Which options of the commands have a row. Sourced by session.sh.

# Commands of the program, and those that no row is for: the installer works on the Kubernetes cluster that hosts Karmada, and
# shiplogctl's own commands have tests of their own.
table_commands=(get describe explain api-resources api-versions create delete edit patch label annotate apply logs exec attach
  "top pod" "top node" promote interpret cordon uncordon taint "token create" "token list" "token delete")
# Those of create: kubectl's, which shiplogctl runs.
created=(clusterrole clusterrolebinding configmap cronjob deployment ingress job namespace poddisruptionbudget priorityclass
  quota role rolebinding "secret docker-registry" "secret generic" "secret tls" "service clusterip" "service externalname"
  "service loadbalancer" "service nodeport" serviceaccount token)
# COMMAND: prints the options that its help lists, as "SHORT --long".
listed() {
  # shellcheck disable=SC2086
  "$program" $1 --help | grep -oE '^ +(-[a-zA-Z],? ?)?--[a-z0-9-]+(,--[a-z0-9-]+)*' | sed -E 's/^ +//; s/^(-[a-zA-Z]),? ?/\1 /; s/^--/- --/; s/(--[a-z0-9-]+),--.*/\1/'
}
# Options of every command, each of which is in the rows of some, and those that only change how -o prints in the client.
everywhere=" --help --kubeconfig --karmada-context --context --namespace --as --as-group --as-uid --version"
of_create=" --dry-run --field-manager --save-config --validate"
formats=" --allow-missing-template-keys --show-managed-fields --template --output"
# shiplogctl's own additions to a command: tests/e2e has them.
additions=" --at --all-kinds --cluster-timeout --field-selector --no-wait --agent-kubeconfig-out --renew"

coverage() {
  local command short long
  step "options without a row"
  declare -A used=()
  remember
  [ ${#push[@]} = 0 ] || table_commands+=(join unjoin)
  [ ${#pull[@]} = 0 ] || table_commands+=(register unregister)
  own || table_commands+=("${created[@]/#/create }")
  for command in "${table_commands[@]}"; do
    while read -r short long; do
      [[ $everywhere =~ \ $long(\ |$) ]] && continue
      [[ $command != get && $formats =~ \ $long(\ |$) ]] && continue
      [[ $command == "create "* && $of_create =~ \ $long(\ |$) ]] && continue
      own && [[ $additions =~ \ $long(\ |$) ]] && continue
      [ -n "${used["$command $long"]:-}" ] || { [ "$short" != - ] && [ -n "${used["$command $short"]:-}" ]; } ||
        wrong "no row has '$command $long'"
    done < <(listed "$command")
    [ -n "${used["$command"]:-}" ] || wrong "no row has '$command'"
  done
}

# Fills `used` with "COMMAND", "COMMAND --long" and "COMMAND -s" of all commands that have been run.
remember() {
  local line word command
  while read -ra words; do
    command=${words[0]:-}
    [ -n "$command" ] || continue
    case $command in top | token) command+=" ${words[1]:-}" ;; esac
    if [ "$command" = create ] && [[ ${words[1]:-} != -* ]]; then command+=" ${words[1]}"; fi
    case $command in "create secret" | "create service") command+=" ${words[2]}" ;; "create pdb") command="create poddisruptionbudget" ;; esac
    case $command in "top pods") command="top pod" ;; "top nodes") command="top node" ;; esac
    used["$command"]=1
    for word in "${words[@]}"; do
      [ "$word" != -- ] || break
      case $word in
        --*) used["$command ${word%%=*}"]=1 ;;
        -?*) used["$command ${word:0:2}"]=1 ;;
      esac
    done
  done <"$scratch/commands"
}
