#!/usr/bin/env bash
# Install the engines that ours is compared with into an environment of their own, build/peers.
set -euo pipefail
# shellcheck source=tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

"$root/tools/setup.sh"
environment peers bench/requirements.txt "environment of the peers"
