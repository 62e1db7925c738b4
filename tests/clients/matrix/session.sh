#!/usr/bin/env bash
# The table of commands of Karmada's command line: session.sh PROGRAM, where PROGRAM is karmadactl, unmodified, or shiplogctl.
# It makes a fleet with the program itself (join, register), runs every row of the table on it, and takes the fleet apart.
# The table is in the *.sh files of this folder; a row is
#
#   WHO  CHECK  EXPECTED  COMMAND...
#
# WHO is both, karmadactl or shiplogctl: whose output is expected. CHECK is below. Each row that fails is reported with its
# place; in the end so is each option of a command, as --help lists them, that no row has (coverage.sh).
# $KUBECONFIG names the control plane, $PUSH and $PULL the members, $FLEET/NAME.kubeconfig is the kubeconfig of each,
# $SHIPLOGD the agent of pull members, or $AGENT is karmada-agent; $TMPDIR is a folder for files.
set -euo pipefail
program=$1
name=$(basename "$program")
[ "$name" = shiplogctl ] || name=karmadactl
read -ra push <<<"${PUSH:-}"
read -ra pull <<<"${PULL:-}"
members=("${push[@]}" "${pull[@]}")
context=$(kubectl config current-context)
scratch=$(mktemp -d)
out="" code=0 rows=0 failures=0
declare -A agents=()
declare -A beside=()
trap end EXIT

end() {
  local code=$?
  for pid in "${beside[@]}" "${agents[@]}"; do kill "$pid" 2>/dev/null || true; done
  rm -rf "$scratch"
  exit $code
}

step() { echo "$name: $*"; }
# Where the row is: the innermost caller that is not in this file.
place() {
  local i
  for ((i = 1; i < ${#BASH_SOURCE[@]}; i++)); do
    [ "${BASH_SOURCE[i]}" = "${BASH_SOURCE[0]}" ] && continue
    echo "$(basename "${BASH_SOURCE[i]}"):${BASH_LINENO[i - 1]}"
    return
  done
}
# The row has failed; the session ends after twenty.
wrong() {
  local what="$*"
  printf '%s: NOT AS EXPECTED: %s: %s\n' "$name" "$(place)" "${what:0:3000}"
  failures=$((failures + 1))
  [ $failures -lt 20 ] || { echo "$name: the rest is not run"; exit 1; }
}
# What the rest of the session needs is missing.
fail() { printf '%s: NOT AS EXPECTED: %s: %s\n' "$name" "$(place)" "$*"; exit 1; }

both() { rows=$((rows + 1)); "$@"; }
karmadactl() { [ "$name" != karmadactl ] || both "$@"; }
shiplogctl() { [ "$name" != shiplogctl ] || both "$@"; }
own() { [ "$name" = shiplogctl ]; }

k() {
  printf '%s\n' "${*//$'\n'/ }" >>"$scratch/commands"
  code=0
  out=$("$program" "$@" 2>&1) || code=$?
}
repeat() {
  code=0
  out=$("$program" "$@" 2>&1) || code=$?
}

# --- the checks

# TEXT COMMAND...: success, and the output contains the text.
prints() {
  local text=$1; shift
  k "$@"
  [ $code = 0 ] || { wrong "'$*' ends with $code and prints: $out"; return 0; }
  [[ $out == *"$text"* ]] || wrong "'$*' does not print '$text' but: $out"
}
# TEXT COMMAND...: success, and the output does not contain the text.
lacks() {
  local text=$1; shift
  k "$@"
  [ $code = 0 ] || { wrong "'$*' ends with $code and prints: $out"; return 0; }
  [[ $out != *"$text"* ]] || wrong "'$*' prints '$text': $out"
}
# TEXT COMMAND...: success, and the output is the text.
is() {
  local text=$1; shift
  k "$@"
  [ $code = 0 ] || { wrong "'$*' ends with $code and prints: $out"; return 0; }
  [ "$out" = "$text" ] || wrong "'$*' prints '$out' instead of '$text'"
}
# REGEX COMMAND...: success, and the output matches the extended regular expression.
matches() {
  local regex=$1; shift
  k "$@"
  [ $code = 0 ] || { wrong "'$*' ends with $code and prints: $out"; return 0; }
  [[ $out =~ $regex ]] || wrong "'$*' does not match '$regex': $out"
}
# TEXT COMMAND...: it fails (shiplogctl: with 2 if the command line is wrong), and the output contains the text.
refuses() {
  local text=$1; shift
  k "$@"
  [ $code = 1 ] || { own && [ $code = 2 ]; } || { wrong "'$*' ends with $code and prints: $out"; return 0; }
  [[ $out == *"$text"* ]] || wrong "'$*' does not print '$text' but: $out"
}
# CODE COMMAND...: the exit code.
ends() {
  local expected=$1; shift
  k "$@"
  [ "$code" = "$expected" ] || wrong "'$*' ends with $code instead of $expected and prints: $out"
}
# WORDS COMMAND...: success, and these are the words of the first line.
columns() {
  local text=$1; shift
  k "$@"
  [ $code = 0 ] || { wrong "'$*' ends with $code and prints: $out"; return 0; }
  [ "$(head -n 1 <<<"$out" | tr -s ' ' | sed 's/ $//')" = "$text" ] || wrong "'$*' has other columns than '$text': $out"
}
# TEXT COMMAND...: repeated until the output contains the text.
until_prints() {
  local text=$1 tries=0; shift
  k "$@"
  until [[ $code = 0 && $out == *"$text"* ]]; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || { wrong "'$*' never prints '$text' but: $out"; return 0; }
    sleep 0.1
    repeat "$@"
  done
}
# FILE COMMAND...: starts the command beside the session, with its output in $scratch/FILE; `seen` and `stop` follow.
starts() {
  local file=$1; shift
  printf '%s\n' "${*//$'\n'/ }" >>"$scratch/commands"
  : >"$scratch/$file"
  "$program" "$@" >>"$scratch/$file" 2>&1 </dev/null &
  beside[$file]=$!
}
# REGEX FILE [COMMAND...]: waits until the command that was started has printed this; repeats COMMAND meanwhile.
seen() {
  local regex=$1 file=$2 tries=0; shift 2
  until grep -q -E -e "$regex" "$scratch/$file"; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || { wrong "'$regex' is not in what the command beside has printed: $(tail -c 1000 "$scratch/$file")"; return 0; }
    [ $# = 0 ] || "$@" $tries
    sleep 0.1
  done
}
# FILE: ends the command that was started, if it runs.
stop() {
  kill "${beside[$1]}" 2>/dev/null || true
  wait "${beside[$1]}" 2>/dev/null || true
  unset "beside[$1]"
}

file() { cat >"$scratch/$1"; }
kubeconfig() { echo "$FLEET/$1.kubeconfig"; }
# NAME WORDS...: kubectl on the member itself.
member() { local of=$1; shift; kubectl --kubeconfig "$(kubeconfig "$of")" "$@"; }

folder=$(dirname "$0")
for part in local membership reading writing clusters propagating interpreting members pods coverage; do
  # shellcheck source=/dev/null
  . "$folder/$part.sh"
done

local_commands
for one in "${push[@]}"; do joins "$one"; done
for one in "${pull[@]}"; do registers "$one"; done
reading
writing
clusters
propagating
interpreting
fleet_wide
for one in "${members[@]}"; do one_member "$one"; done
for one in "${members[@]}"; do pods_of "$one"; done
for one in "${push[@]}"; do unjoins "$one"; done
for one in "${pull[@]}"; do unregisters "$one"; done
coverage
step "$rows rows"
[ $failures = 0 ] || exit 1
step done
