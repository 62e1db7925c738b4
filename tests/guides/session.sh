#!/usr/bin/env bash
# The shell in which guides_test.cc runs the blocks of one guide: it sources this and then the blocks in order. The current
# folder looks like a clone (dev, docs, build/bin, ...). All processes that a guide starts are in this shell's session (setsid),
# and are killed with it.
set -eEmo pipefail
root=$PWD
mkdir -p home tmp
export HOME=$root/home TMPDIR=$root/tmp PATH=$root/build/bin:$PATH SHIPLOG_PROGRAMS=$root/build/bin SHIPLOG_PATIENT=1
unset KUBECONFIG

# The processes of this session except the given ones.
others() {
  local file line keep=" $* " fields
  for file in /proc/[0-9]*/stat; do
    { read -r line <"$file"; } 2>/dev/null || continue
    read -r -a fields <<<"${line##*) }"
    [ "${fields[3]}" = "$$" ] || continue
    case $keep in *" ${line%% *} "*) ;; *) echo "${line%% *}" ;; esac
  done
}
end_all() {
  local status=$?
  trap - EXIT ERR
  set +e
  exec 2>/dev/null
  for _ in 1 2 3; do kill -KILL $(others $$ $BASHPID) 2>/dev/null || break; done
  exit $status
}
trap end_all EXIT
trap 'echo "FAILED: line $((at + LINENO - 1)): $BASH_COMMAND" >&2' ERR
at=0

# If the test is killed, the processes that it has started are killed too.
(
  trap - EXIT ERR
  set +e
  parent=$PPID me=$BASHPID
  while kill -0 "$parent" && kill -0 $$; do sleep 1; done 2>/dev/null
  kill -KILL $(others "$me")
) >/dev/null 2>&1 &

# background TEXT FILE: runs the block beside the next ones, once it has printed TEXT.
background() {
  : >"$2.out"
  (. "$2") >"$2.out" 2>&1 </dev/null &
  background_pid=$!
  local waited=0
  until grep -qF -- "$1" "$2.out"; do
    if ! kill -0 "$background_pid" 2>/dev/null || [ $waited -ge 1200 ]; then
      tail -n 40 "$2.out" >&2
      echo "it did not print: $1" >&2
      return 1
    fi
    sleep 0.1; waited=$((waited + 1))
  done
}
# stopped TEXT FILE: the same, and terminates it.
stopped() {
  background "$@"
  kill -TERM -- "-$background_pid"
  wait "$background_pid" || [ $? = 143 ]
  # The processes that it has started may end later, and keep their files locked until then.
  local waited=0
  while kill -0 -- "-$background_pid" 2>/dev/null; do
    [ $waited -lt 300 ] || { echo "its processes have not ended after 30 s" >&2; return 1; }
    sleep 0.1; waited=$((waited + 1))
  done
}
# fails TEXT FILE
fails() {
  local status=0
  (. "$2") >"$2.out" 2>&1 </dev/null & # not within `if`, where commands may fail
  wait $! || status=$?
  cat "$2.out"
  [ $status != 0 ] || { echo "it succeeded" >&2; return 1; }
  grep -qF -- "$1" "$2.out" || { echo "it did not print: $1" >&2; return 1; }
}
# The usual start of a guide: a control plane, three members, the nginx example.
start_fleet() {
  echo './dev up' >"$root/tmp/up"
  background "running;" "$root/tmp/up"
  export KUBECONFIG=$root/.fleet/shiplog.kubeconfig
}
