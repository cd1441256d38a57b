#!/usr/bin/env bash
# Install the engines that ours is compared with into an environment of their own, build/peers.
set -euo pipefail
# shellcheck source=tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

peers="$root/build/peers"
"$root/tools/setup.sh"
wanted="$(sha256sum <"$root/bench/requirements.txt") $peers"
[ "$(cat "$peers/.installed" 2>/dev/null)" != "$wanted" ] || exit 0
step "environment of the peers: build/peers"
[ -x "$peers/bin/python" ] || "$(readlink -f "$venv/bin/python")" -m venv "$peers"
"$peers/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off -r "$root/bench/requirements.txt" ||
  die "pip could not install bench/requirements.txt (see above)" "is PyPI reachable (directly, or through pip's own configuration)?"
echo "$wanted" >"$peers/.installed"
