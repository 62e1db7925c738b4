#!/usr/bin/env bash
# Builds kubectls of other releases from their modules: build.sh FOLDER RELEASE..., as FOLDER/RELEASE/kubectl. Continues when
# one cannot be built, and ends with 1 then. locks/ has the versions and checksums of all modules;
# `build.sh lock RELEASE` writes those of one more release.
# A release of Kubernetes 1.X.Y is the version v0.X.Y of its modules.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export CGO_ENABLED=0 GOTOOLCHAIN=local

lock() {
  local release=$1 source
  source=$(mktemp -d)
  cp "$here/program/main.go" "$source"
  printf 'module shiplog.io/tests/clients/kubectl\n\ngo 1.21\n' >"$source/go.mod"
  (cd "$source" && export GOFLAGS=-mod=mod &&
    go get "k8s.io/kubectl@v0.${release#1.}" "k8s.io/component-base@v0.${release#1.}" && go mod tidy) &&
    cp "$source/go.mod" "$here/locks/$release.mod" && cp "$source/go.sum" "$here/locks/$release.sum"
}
if [ "${1:-}" = lock ]; then lock "$2"; exit; fi

mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift

build() {
  local release=$1 made=$folder/$1
  [ -x "$made/kubectl" ] && return
  rm -rf "$made"
  mkdir -p "$made/source"
  cp "$here/program/main.go" "$made/source"
  cp "$here/locks/$release.mod" "$made/source/go.mod" && cp "$here/locks/$release.sum" "$made/source/go.sum" ||
    { echo "no lock file of $release exists: create it with tests/clients/kubectl/build.sh lock $release" >&2; return 1; }
  # Renamed when it is complete, so that an interrupted build is repeated.
  (cd "$made/source" &&
    nice -n 10 go build -mod=readonly -buildvcs=false -trimpath -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$release" -o ../built . &&
    mv ../built ../kubectl)
}

missing=()
for release in "$@"; do build "$release" || missing+=("$release"); done
[ ${#missing[@]} -eq 0 ] && exit
echo "tests/clients: could not build kubectl ${missing[*]}: see above" >&2
exit 1
