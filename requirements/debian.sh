#!/usr/bin/env bash
# Install what the suite checks besides Python: a browser, ns-2, strace, Redis. Without them, or without
# the right to install them, those tests are skipped, and say so.
set -u
missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v ns >/dev/null || missing+=(ns2)
command -v strace >/dev/null || missing+=(strace)
command -v redis-server >/dev/null || missing+=(redis-server)
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && apt-get install -y -qq "${missing[@]}"; } >/dev/null 2>&1 && exit 0
fi
echo "not installed: ${missing[*]}; their tests are skipped (as root: apt-get install ${missing[*]})"
