#!/bin/sh
# Makes sure that Debian's chromium and its driver are there.
set -eu

missing=
for program in chromium chromedriver; do
    command -v "$program" > /dev/null || missing="$missing $program"
done
[ -n "$missing" ] || exit 0

if command -v apt-get > /dev/null && [ "$(id -u)" -eq 0 ]; then
    echo "installing chromium and chromium-driver"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium chromium-driver > /dev/null
else
    echo "the browser test needs, and does not find:$missing" >&2
    echo "install them, on Debian as root with: apt-get install chromium chromium-driver" >&2
    exit 1
fi
