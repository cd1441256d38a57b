#!/usr/bin/env bash
# Install torch into an environment of its own, build/torch: 6 GB, as its package brings what it needs for GPUs.
set -euo pipefail
# shellcheck source=tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

torch="$root/build/torch"
"$root/tools/setup.sh"
wanted="$(sha256sum <"$root/bench/requirements_torch.txt") $torch"
[ "$(cat "$torch/.installed" 2>/dev/null)" != "$wanted" ] || exit 0
step "environment with torch: build/torch"
[ -x "$torch/bin/python" ] || "$(readlink -f "$venv/bin/python")" -m venv "$torch"
"$torch/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off -r "$root/bench/requirements_torch.txt" ||
  die "pip could not install bench/requirements_torch.txt (see above)" "are 6 GB of disk free?" "is PyPI reachable (directly, or through pip's own configuration)?"
echo "$wanted" >"$torch/.installed"
