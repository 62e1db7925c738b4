#!/usr/bin/env bash
# Installs pyarrow, with which tests read the Parquet files that are written, into .cache/pyarrow: the version and checksums
# of pyarrow.lock. Does nothing when it is there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
installed=$here/../../.cache/pyarrow
mkdir -p "$(dirname "$installed")"
# Tests run at the same time.
exec 9>"$installed.lock"
flock 9
[ -x "$installed/bin/python3" ] && cmp -s "$here/pyarrow.lock" "$installed/installed.lock" && exit
rm -rf "$installed"
python3 -m venv "$installed"
"$installed/bin/pip" install -q --disable-pip-version-check --no-deps --require-hashes -r "$here/pyarrow.lock" >&2
cp "$here/pyarrow.lock" "$installed/installed.lock"
