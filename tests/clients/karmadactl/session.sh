#!/usr/bin/env bash
# The command line of Karmada, unmodified, against a control plane with two ready members: session.sh PROGRAM. It runs every
# command, with its expected output and exit code, and ends with a message at the first difference.
# $KUBECONFIG names the control plane, $MEMBER and $OTHER the members, $MEMBER_KUBECONFIG and $OTHER_KUBECONFIG their own
# kubeconfigs, $TMPDIR a folder for files.
set -euo pipefail
program=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
out="" code=0

step() { echo "karmadactl: $*"; }
fail() { printf 'karmadactl: NOT AS EXPECTED: %s\n' "$*"; exit 1; }
k() { code=0; out=$("$program" "$@" 2>&1) || code=$?; }
succeeds() { k "$@"; [ $code = 0 ] || fail "'$*' ends with $code and prints: $out"; }
has() { local text=$1; shift; [[ $out == *"$text"* ]] || fail "'$*' does not print '$text' but: $out"; }
# TEXT ARGUMENTS...: success, and the output contains the text.
prints() { local text=$1; shift; succeeds "$@"; has "$text" "$@"; }
# TEXT ARGUMENTS...: success, and the output is the text.
is() { local text=$1; shift; succeeds "$@"; [ "$out" = "$text" ] || fail "'$*' prints '$out' instead of '$text'"; }
# TEXT ARGUMENTS...: exit code 1, and the output contains the text.
refuses() { local text=$1; shift; k "$@"; [ $code = 1 ] || fail "'$*' ends with $code and prints: $out"; has "$text" "$@"; }
# TEXT ARGUMENTS...: success, and the words of the first line are the text.
columns() {
  local text=$1; shift
  succeeds "$@"
  [ "$(head -n 1 <<<"$out" | tr -s ' ' | sed 's/ $//')" = "$text" ] || fail "'$*' has other columns than '$text': $out"
}
# TEXT ARGUMENTS...: repeats the command until its output contains the text.
until_prints() {
  local text=$1 tries=0; shift
  until k "$@"; [[ $code = 0 && $out == *"$text"* ]]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || fail "'$*' never prints '$text' but: $out"
    sleep 0.1
  done
}
# until_seen TEXT FILE: waits until a background command has printed the text.
until_seen() {
  local tries=0
  until grep -q -e "$1" "$2"; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || fail "'$1' is not in what the command has printed: $(cat "$2")"
    sleep 0.05
  done
}
file() { cat >"$scratch/$1"; }
member() { kubectl --kubeconfig "$MEMBER_KUBECONFIG" "$@" >/dev/null; }

folder=$(dirname "$0")
for part in reading writing clusters propagating interpreting members; do
  # shellcheck source=/dev/null
  . "$folder/$part.sh"
done

local_commands
reading
writing
clusters
propagating
interpreting
members
step done
