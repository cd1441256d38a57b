#!/usr/bin/env bash
# Check, build and package the extension of VS Code (vscode/), and test it in a real extension host and a real workbench.
#
#   tools/vscode.sh              all of it; the tests debug with the msvm and the Python module of build/release
#   tools/vscode.sh package      only make vscode/dist/msvm.vsix
#   tools/vscode.sh workbench-slow                   every kind of session and the three seeded faults through the workbench (minutes)
#   MSVM_BUILD=folder tools/vscode.sh                those of another build
#   MSVM_SCREENSHOTS=folder tools/vscode.sh          keep pictures of the workbench
set -euo pipefail
# shellcheck source=tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(lint test package host workbench)
node_env
cd "$root/vscode"
[ -d node_modules ] || die "vscode/node_modules is missing" "run tools/setup.sh"
export NO_COLOR=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

passed=0 failed=0 status=0
for part in "${parts[@]}"; do
  npm run --silent "$part" 2>&1 | tee "$log" || status=$?
  # Of the tests inside the extension host it is their own line that counts, of the others vitest's.
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1 || grep -E '^ +Tests ' "$log" | tail -n 1 || true)
  [[ ! $line =~ ([0-9]+)\ passed ]] || passed=$((passed + BASH_REMATCH[1]))
  [[ ! $line =~ ([0-9]+)\ failed ]] || failed=$((failed + BASH_REMATCH[1]))
  [ "$status" -eq 0 ] || break
done
echo "vscode: $passed passed, $failed failed"
[ "$status" -eq 0 ] || die "$part failed (see above)"
