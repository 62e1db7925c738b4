#!/usr/bin/env bash
# tools/package.sh: the Debian packages, in build/.
. "$(dirname "$0")/environment.sh"
tools/install.sh dpkg-dev fakeroot
tools/build.sh shiplogd shiplogctl shiplog_completions shiplog_client
log=$(mktemp)
(cd build && cpack -G DEB) >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; die "cpack failed: see above"; }
rm -f "$log"
say "$(echo build/shiplog_*.deb build/libshiplog-client-dev_*.deb)"
