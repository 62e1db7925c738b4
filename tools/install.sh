#!/usr/bin/env bash
# Installs what is missing: tools/install.sh SET... with the sets below, or names of Debian packages.
. "$(dirname "$0")/environment.sh"

# kubernetes-client is not listed: kubectl may come from elsewhere.
build=(g++ cmake ninja-build ccache mold git ca-certificates curl
  libboost1.81-dev libre2-dev libprotobuf-dev protobuf-compiler libgrpc++-dev protobuf-compiler-grpc nlohmann-json3-dev libspdlog-dev
  libgtest-dev libgmock-dev libssl-dev libsqlite3-dev libyaml-cpp-dev libcli11-dev prometheus-cpp-dev
  librdkafka-dev zlib1g-dev libzstd-dev liblua5.1-0-dev libgoogle-perftools-dev libgraphviz-dev)
lint=(clang-format python3-venv)
fuzz=(clang-16 libclang-rt-16-dev)
# Those of docker/compose.yaml that run as plain processes (./dev stack), and what reads that file.
stack=(haproxy prometheus python3-yaml openssl)
# Guides use the first two, completion is tested in the shells, pyarrow lives in a virtual environment, and pull members in
# network namespaces.
test=(sqlite3 openssl zsh fish python3-venv iproute2 nftables valgrind tzdata)

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "installing packages needs root: run ./dev as root once, or install sudo"
  fi
}

install_packages() {
  command -v dpkg-query >/dev/null ||
    die "tools/install.sh installs Debian packages; on another system install those it lists and build with cmake --preset release"
  local missing=()
  mapfile -t missing < <(printf '%s\n' "$@" | grep -vxFf <(dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
    sed -n 's/^\([^: ]*\)[^ ]* installed$/\1/p'))
  [ ${#missing[@]} -eq 0 ] && return
  say "installing ${missing[*]}"
  as_root apt-get update -q >&2 || die "apt-get update failed: is there a network, and are Debian's package sources set up?"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >&2 ||
    die "apt-get could not install ${missing[*]}: see above; this tree is built on Debian 12"
}

# kubectl: the one on the PATH, else Debian's, unpacked aside where another package owns the file.
install_kubectl() {
  command -v kubectl >/dev/null && return
  say "installing kubectl (kubernetes-client)"
  as_root apt-get update -q >&2 || true
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends kubernetes-client >&2 && return
  mkdir -p .cache/kubectl
  (cd .cache/kubectl && apt-get download -q kubernetes-client >&2 && dpkg-deb -x kubernetes-client_*.deb .) ||
    die "kubectl is missing and could not be installed: put a kubectl on the PATH"
}

# What a Kafka broker runs on. Maven gets its jars into .cache/kafka.
install_kafka() {
  local missing=()
  type -P java >/dev/null || missing+=(default-jre-headless)
  type -P mvn >/dev/null || missing+=(maven)
  [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
  tests/kafka/broker.sh fetch >/dev/null
}

# Debian's clang-tidy also checks what it reads in system headers, and takes twice as long as one that does not (23).
install_clang_tidy() {
  [ -x "$clang_tidy" ] && return
  say "installing clang-tidy"
  rm -rf "$clang_tidy_folder"
  python3 -m venv "$clang_tidy_folder" >&2 &&
    "$clang_tidy_folder/bin/pip" install -q --no-deps --require-hashes -r tools/clang-tidy.lock >&2 ||
    die "pip could not install clang-tidy: is there a network?"
}

# The clients that users have: Debian's own, and what npm and go get into .cache/clients.
install_clients() {
  local wanted=(python3-kubernetes)
  type -P npm >/dev/null || wanted+=(npm)
  type -P node >/dev/null || wanted+=(nodejs)
  type -P go >/dev/null || wanted+=(golang-go)
  install_packages "${wanted[@]}"
  say "getting the clients that tests run"
  tests/clients/install.sh
}

# Debian starts the services of packages that it installs; here only the programs are needed.
install_stack() {
  local before=()
  mapfile -t before < <(type -P haproxy prometheus; ls /usr/sbin/haproxy 2>/dev/null)
  install_packages "${stack[@]}"
  [ ${#before[@]} -eq 0 ] || return 0
  if [ -d /run/systemd/system ]; then as_root systemctl disable -q --now haproxy prometheus >&2 || true; fi
}

wanted=()
for name in "$@"; do
  case $name in
    build) wanted+=("${build[@]}") ;;
    lint) wanted+=("${lint[@]}") ;;
    fuzz) wanted+=("${fuzz[@]}") ;;
    test) wanted+=("${test[@]}") ;;
    kubectl | kafka | clients | clang_tidy | stack) ;;
    *) wanted+=("$name") ;;
  esac
done
[ ${#wanted[@]} -eq 0 ] || install_packages "${wanted[@]}"
for name in "$@"; do
  case $name in kubectl | kafka | clients | clang_tidy | stack) "install_$name" ;; esac
done
