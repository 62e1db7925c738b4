#!/usr/bin/env bash
# Builds kubectls of other releases from their modules: build.sh FOLDER RELEASE..., as FOLDER/RELEASE/kubectl. Goes on
# when one cannot be built, and ends with 1 then.
# A release of Kubernetes 1.X.Y is the version v0.X.Y of its modules.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
export CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-mod=mod

build() {
  local release=$1 made=$folder/$1
  [ -x "$made/kubectl" ] && return
  rm -rf "$made"
  mkdir -p "$made/source"
  cp "$here/program/main.go" "$made/source"
  printf 'module shiplog.io/tests/clients/kubectl\n\ngo 1.21\n' >"$made/source/go.mod"
  # Under its name only once it is whole, so that what was cut off is done again.
  (cd "$made/source" &&
    go get "k8s.io/kubectl@v0.${release#1.}" "k8s.io/component-base@v0.${release#1.}" &&
    nice -n 10 go build -buildvcs=false -trimpath -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$release" -o ../built . &&
    mv ../built ../kubectl)
}

missing=()
for release in "$@"; do build "$release" || missing+=("$release"); done
[ ${#missing[@]} -eq 0 ] && exit
echo "tests/clients: could not build kubectl ${missing[*]}: see above" >&2
exit 1
