#!/usr/bin/env bash
# Check and build the monitor's page (web/): types, lint, unit tests, the page itself, and the page in a browser.
#
#   tools/web.sh            all of it
#   MSVM_MONITOR_URL=http://127.0.0.1:9464/ tools/web.sh    the browser asks a program that runs, instead of a scripted one
set -euo pipefail
# shellcheck source=tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

node_env
cd "$root/web"
[ -d node_modules ] || die "web/node_modules is missing" "run tools/setup.sh"
export NO_COLOR=1
for part in lint test build e2e; do npm run --silent "$part"; done
