#!/usr/bin/env bash
# listens.sh HOST:PORT: whether something accepts connections there.
exec 3<>"/dev/tcp/${1%:*}/${1##*:}"
