#!/usr/bin/env bash
# Install torch into an environment of its own, build/torch: 6 GB, as its package brings what it needs for GPUs.
set -euo pipefail
# shellcheck source=tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/lib.sh"

"$root/tools/setup.sh"
environment torch bench/requirements_torch.txt "environment with torch" "are 6 GB of disk free?"
