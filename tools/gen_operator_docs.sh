#!/usr/bin/env bash
# Writes docs/operators.md from the operator table. Usage: tools/gen_operator_docs.sh [build directory, default build/dev]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/dev}
[ -f "$build/build.ninja" ] || cmake --preset dev -B "$build"
ninja -C "$build" ops_test
MSVM_UPDATE_DOCS=1 "$build/src/ops_test" --gtest_filter='OperatorDocs.*' --gtest_brief=1
echo "docs/operators.md written"
