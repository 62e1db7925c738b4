# Sourced by the scripts of this folder: the root of the tree, the settings of ccache, messages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
# Cached objects serve every clone of the tree.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
# What ccache asks for before it caches what was compiled with a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
# A kubectl that tools/install.sh has unpacked precedes others.
export PATH="$root/.cache/kubectl/usr/bin:$PATH"

# tools/install.sh clang_tidy installs it; every clone of the tree shares it.
clang_tidy_folder=${XDG_CACHE_HOME:-$HOME/.cache}/shiplog/clang-tidy-$(sed -n 's/^clang-tidy==\([^ ]*\).*/\1/p' tools/clang-tidy.lock)
clang_tidy=$clang_tidy_folder/bin/clang-tidy

say() {
  if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then printf '\033[1m==> %s\033[0m\n' "$*" >&2; else printf '==> %s\n' "$*" >&2; fi
}
die() { printf 'dev: %s\n' "$*" >&2; exit 1; }

build_dir() { if [ "$1" = release ]; then echo build; else echo "build/$1"; fi; }
sources() { git ls-files '*.cc' '*.h'; }
