#!/usr/bin/env bash
# Installs the clients that the tests run into .cache/clients: Debian's kubectl, the newest one (with SHIPLOG_KUBECTLS=all one
# of each release, see README.md), the session of the Go libraries, helm, Argo CD's health checks, and
# @kubernetes/client-node. python3-kubernetes, node, npm and go must be installed (./dev test installs Debian's).
# Continues if a client cannot be installed, reports it, and ends with 1 then.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
installed=$here/../../.cache/clients
mkdir -p "$installed"
installed=$(cd "$installed" && pwd)
missing=()

kubectl() {
  [ -x "$installed/kubectl/usr/bin/kubectl" ] && return
  # Unpacked into a separate folder: another package may own the file, and both are needed.
  mkdir -p "$installed/kubectl"
  (cd "$installed/kubectl" && apt-get download -q kubernetes-client && dpkg-deb -x kubernetes-client_*.deb .)
}

# A Go that is new enough for the newest libraries: the one on the PATH, or (Debian's is from 2022) one that is downloaded
# as a toolchain module.
wanted_go=1.26.1
go_of_today() {
  command -v go >/dev/null || { echo "there is no go on the PATH" >&2; return 1; }
  local version
  version=$(GOTOOLCHAIN=local go env GOVERSION)
  if [ "$(printf '%s\n' "$wanted_go" "${version#go}" | sort -V | head -n 1)" = "$wanted_go" ]; then return; fi
  local made=$installed/go/toolchain-$wanted_go
  if [ ! -x "$made/bin/go" ]; then
    local work folder
    work=$(mktemp -d)
    printf 'module toolchain\n\ngo 1.19\n' >"$work/go.mod"
    folder=$(cd "$work" && GOTOOLCHAIN=local GOFLAGS=-mod=mod go mod download -json \
      "golang.org/toolchain@v0.0.1-go$wanted_go.$(go env GOOS)-$(go env GOARCH)" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    rm -rf "$work" "$made"
    [ -d "$folder" ] || { echo "$version is too old, and Go $wanted_go could not be had" >&2; return 1; }
    # Modules are stored without the permission to execute.
    mkdir -p "$installed/go"
    cp -r "$folder" "$made.part" && chmod -R u+w "$made.part" && chmod +x "$made.part"/bin/* "$made.part"/pkg/tool/*/* &&
      mv "$made.part" "$made" || return 1
    echo "tests/clients: $version is too old for client-go of today; Go $wanted_go is in $made" >&2
  fi
  unset GOROOT
  export PATH="$made/bin:$PATH"
}

# The same flags as kubectl's (kubectl/build.sh), so that Go compiles common packages once.
go_build() { CGO_ENABLED=0 GOTOOLCHAIN=local nice -n 10 go build -buildvcs=false -trimpath -ldflags "-s -w" "$@"; }
go_session() { (cd "$here/go" && go_build -o "$installed/go/session" .); }
go_session_earlier() {
  (cd "$here/go" && CGO_ENABLED=0 GOTOOLCHAIN=local go build -modfile=earlier.mod -tags=earlier -o "$installed/go/session-earlier" .)
}

helm() { (cd "$here/helm" && go_build -o "$installed/helm/helm" helm.sh/helm/v3/cmd/helm); }
health() { (cd "$here/health" && go_build -o "$installed/helm/health" .); }

# $SHIPLOG_KUBECTLS: "newest" (if it is not set), "all", or releases of kubectl/releases.txt.
kubectls() {
  local wanted=()
  case ${SHIPLOG_KUBECTLS:-newest} in
    newest) mapfile -t wanted < <(head -n 1 "$here/kubectl/releases.txt") ;;
    all) mapfile -t wanted <"$here/kubectl/releases.txt" ;;
    *) IFS=', ' read -r -a wanted <<<"$SHIPLOG_KUBECTLS" ;;
  esac
  "$here/kubectl/build.sh" "$installed/kubectls" "${wanted[@]}"
}

node_modules() {
  command -v npm >/dev/null || { echo "there is no npm on the PATH" >&2; return 1; }
  local folder=$installed/node
  mkdir -p "$folder"
  [ -d "$folder/node_modules" ] && cmp -s "$here/node/package-lock.json" "$folder/installed" && return
  rm -f "$folder/installed"
  cp "$here/node/package.json" "$here/node/package-lock.json" "$folder"
  # Installs the versions of the lock file and verifies its checksums. Recorded when complete, so that an interrupted
  # installation is repeated.
  (cd "$folder" && npm ci --no-audit --no-fund --loglevel=error && cp package-lock.json installed)
}

kubectl >&2 || missing+=("Debian's kubectl (kubernetes-client)")
if go_of_today >&2; then
  go_session >&2 || missing+=("the session of client-go and controller-runtime")
  if [ "${SHIPLOG_KUBECTLS:-}" = all ]; then go_session_earlier >&2 || missing+=("the session of client-go 0.26"); fi
  mkdir -p "$installed/helm"
  helm >&2 || missing+=("helm")
  health >&2 || missing+=("Argo CD's health checks")
  kubectls >&2 || missing+=("kubectls of other releases")
else missing+=("Go, for client-go, controller-runtime, helm and the newest kubectl")
fi
node_modules >&2 || missing+=("@kubernetes/client-node")
[ ${#missing[@]} -eq 0 ] && exit
for what in "${missing[@]}"; do echo "tests/clients: could not get $what: see above" >&2; done
exit 1
