#!/usr/bin/env bash
# Gets what the tests of clients run, into .cache/clients: Debian's kubectl, the session of the Go libraries, and
# @kubernetes/client-node. python3-kubernetes, node, npm and go are there before (./dev test installs Debian's).
# Goes on when one cannot be had, says which, and ends with 1 then.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
installed=$here/../../.cache/clients
mkdir -p "$installed"
installed=$(cd "$installed" && pwd)
missing=()

kubectl() {
  [ -x "$installed/kubectl/usr/bin/kubectl" ] && return
  # Unpacked aside: another package may own the file, and both are wanted.
  mkdir -p "$installed/kubectl"
  (cd "$installed/kubectl" && apt-get download -q kubernetes-client && dpkg-deb -x kubernetes-client_*.deb .)
}

go_session() {
  command -v go >/dev/null || { echo "there is no go on the PATH" >&2; return 1; }
  mkdir -p "$installed/go"
  (cd "$here/go" && CGO_ENABLED=0 go build -o "$installed/go/session" .)
}

node_modules() {
  command -v npm >/dev/null || { echo "there is no npm on the PATH" >&2; return 1; }
  local folder=$installed/node
  mkdir -p "$folder"
  [ -d "$folder/node_modules" ] && cmp -s "$here/node/package.json" "$folder/package.json" && return
  rm -rf "$folder/node_modules"
  cp "$here/node/package.json" "$folder/.wanted"
  # Under its name only once all is there, so that what was cut off is done again.
  (cd "$folder" && cp .wanted package.json && npm install --no-audit --no-fund --no-package-lock --loglevel=error) ||
    { rm -f "$folder/package.json"; return 1; }
}

kubectl >&2 || missing+=("Debian's kubectl (kubernetes-client)")
go_session >&2 || missing+=("the session of client-go and controller-runtime")
node_modules >&2 || missing+=("@kubernetes/client-node")
[ ${#missing[@]} -eq 0 ] && exit
for what in "${missing[@]}"; do echo "tests/clients: could not get $what: see above" >&2; done
exit 1
