#!/usr/bin/env bash
# Write what the VS Code extension knows of instructions and operators: vscode/language/tables.json, and the grammar that is made from it.
#
#   tools/gen_editor_tables.sh [MSVM]     default: build/release/msvm
#
# A test of tests/cli and one of vscode/tests/unit fail when one of these files is out of date.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"${1:-$root/build/release/msvm}" info --instructions --json >"$root/vscode/language/tables.json"
cd "$root/vscode"
MSVM_UPDATE_GOLDEN=1 npx vitest run --project unit tests/unit/grammar.test.ts
git -C "$root" status --short vscode/language
