#!/usr/bin/env bash
# package_test.sh BUILD_FOLDER EXAMPLE: builds the Debian packages, compares what is in them with what should be, starts the
# control plane from the first, and compiles the program in the folder EXAMPLE with the second.
set -euo pipefail
build=$1 example=$2
scratch=$(mktemp -d)
server=""
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT
fail() { printf 'package: %s\n' "$*" >&2; exit 1; }

(cd "$build" && cpack -G DEB -B "$scratch/cpack") >"$scratch/cpack.log" 2>&1 || { cat "$scratch/cpack.log" >&2; fail "cpack failed"; }
package=$(echo "$scratch"/cpack/shiplog_*.deb)
[ -f "$package" ] || fail "cpack made no shiplog_*.deb"
client=$(echo "$scratch"/cpack/libshiplog-client-dev_*.deb)
[ -f "$client" ] || fail "cpack made no libshiplog-client-dev_*.deb"

# Every file and link, with its mode and owner.
cat >"$scratch/wanted" <<'END'
-rw-r--r-- root/root ./etc/shiplog/shiplogd.yaml
-rw-r--r-- root/root ./lib/systemd/system/shiplogd.service
-rw-r--r-- root/root ./lib/systemd/system/shiplogd@.service
-rwxr-xr-x root/root ./usr/bin/shiplogctl
-rwxr-xr-x root/root ./usr/bin/shiplogd
lrwxrwxrwx root/root ./usr/bin/kubectl-shiplog
lrwxrwxrwx root/root ./usr/bin/kubectl_complete-shiplog
-rw-r--r-- root/root ./usr/share/bash-completion/completions/shiplogctl
-rw-r--r-- root/root ./usr/share/doc/shiplog/README.md
-rw-r--r-- root/root ./usr/share/doc/shiplog/copyright
-rw-r--r-- root/root ./usr/share/fish/vendor_completions.d/shiplogctl.fish
-rw-r--r-- root/root ./usr/share/zsh/vendor-completions/_shiplogctl
END
cat >"$scratch/client_wanted" <<'END'
-rw-r--r-- root/root ./usr/include/shiplog/client.h
-rw-r--r-- root/root ./usr/lib/cmake/shiplog-client/shiplog-client-config-version.cmake
-rw-r--r-- root/root ./usr/lib/cmake/shiplog-client/shiplog-client-config.cmake
-rw-r--r-- root/root ./usr/lib/cmake/shiplog-client/shiplog-client-targets-release.cmake
-rw-r--r-- root/root ./usr/lib/cmake/shiplog-client/shiplog-client-targets.cmake
-rw-r--r-- root/root ./usr/lib/libshiplog-client.a
END
# compare PACKAGE WANTED
compare() {
  dpkg-deb -c "$1" | awk '{print $1, $2, $6}' | grep -v '^d' | grep -v ' ./usr/share/doc/shiplog/examples/' >"$scratch/found"
  diff <(sort "$2") <(sort "$scratch/found") >&2 || fail "the contents of $1 differ (< wanted, > found)"
}
compare "$package" "$scratch/wanted"
compare "$client" "$scratch/client_wanted"
dpkg-deb -c "$package" >"$scratch/all"
grep -q ' ./usr/share/doc/shiplog/examples/nginx/' "$scratch/all" || fail "the examples are missing"

field() { dpkg-deb -f "$package" "$1"; }
[ "$(field Package)" = shiplog ] || fail "Package is $(field Package)"
[ "$(field Architecture)" = "$(dpkg --print-architecture)" ] || fail "Architecture is $(field Architecture)"
case $(field Depends) in *passwd*libc6*libssl3* | *libc6*libssl3*passwd*) ;; *) fail "Depends is $(field Depends)" ;; esac

[ "$(dpkg-deb -f "$client" Package)" = libshiplog-client-dev ] || fail "Package is $(dpkg-deb -f "$client" Package)"
[ "$(dpkg-deb -f "$client" Depends)" = librdkafka-dev ] || fail "Depends is $(dpkg-deb -f "$client" Depends)"
dpkg-deb -x "$client" "$scratch/client"
{ cmake -S "$example" -B "$scratch/example" -DCMAKE_PREFIX_PATH="$scratch/client/usr" && cmake --build "$scratch/example"; } \
  >"$scratch/example.log" 2>&1 || { cat "$scratch/example.log" >&2; fail "the example does not build with the client library"; }

tree=$scratch/tree
dpkg-deb -x "$package" "$tree"
dpkg-deb -e "$package" "$tree/DEBIAN"
[ "$(cat "$tree/DEBIAN/conffiles")" = /etc/shiplog/shiplogd.yaml ] || fail "conffiles is $(cat "$tree/DEBIAN/conffiles")"
for script in postinst prerm postrm; do
  [ -x "$tree/DEBIAN/$script" ] || fail "$script is not executable"
  sh -n "$tree/DEBIAN/$script"
done

# Units, with the programs where they lie here. Messages about other units of this machine do not count.
if command -v systemd-analyze >/dev/null; then
  for unit in shiplogd.service shiplogd@fleet.service; do
    sed "s|/usr/bin/|$tree/usr/bin/|" "$tree/lib/systemd/system/${unit/fleet/}" >"$scratch/$unit"
    systemd-analyze verify --man=no "$scratch/$unit" 2>&1 | grep -F "$unit" >&2 && fail "$unit is not accepted"
  done
fi

# The configuration that is installed, with the folder here in place of the system's.
sed "s|/var/lib/shiplog|$scratch/data|; s|127.0.0.1:7443|127.0.0.1:0|" "$tree/etc/shiplog/shiplogd.yaml" >"$scratch/shiplogd.yaml"
"$tree/usr/bin/shiplogd" serve --config="$scratch/shiplogd.yaml" >"$scratch/log" 2>&1 &
server=$!
for _ in $(seq 600); do
  [ ! -s "$scratch/data/admin.kubeconfig" ] || break
  kill -0 "$server" 2>/dev/null || { cat "$scratch/log" >&2; fail "shiplogd ended"; }
  sleep 0.1
done
"$tree/usr/bin/kubectl-shiplog" --kubeconfig="$scratch/data/admin.kubeconfig" status >"$scratch/status" 2>&1 ||
  { cat "$scratch/status" "$scratch/log" >&2; fail "kubectl-shiplog status failed"; }
kill -TERM "$server"
status=0
wait "$server" || status=$?
server=""
[ $status = 0 ] || fail "shiplogd ended with $status at SIGTERM"
