#!/usr/bin/env bash
# Run every libFuzzer target for so many seconds, starting from its kept corpus: tools/fuzz.sh SECONDS [TARGET...]
# What they grow is kept in build/fuzz/corpus/, what they find is left in build/fuzz/findings/.
set -euo pipefail
# shellcheck source=tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

seconds=${1:?usage: tools/fuzz.sh SECONDS [TARGET...]}
shift
cd "$root"
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in fuzz/fuzz_*.cpp; do targets+=("$(basename "$source" .cpp)"); done
fi
"$root/tools/setup.sh" fuzz
build fuzz "${targets[@]}"
findings=build/fuzz/findings
mkdir -p "$findings"
for target in "${targets[@]}"; do
  step "$target for $seconds s"
  name=${target#fuzz_}
  options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$findings/$target-")
  [ "$name" != assembler ] || options+=(-dict=fuzz/msasm.dict)
  [ "$name" != http ] || options+=(-dict=fuzz/http.dict)
  [ "$name" != dap ] || options+=(-dict=fuzz/dap.dict)
  folders=("build/fuzz/corpus/$name")
  mkdir -p "${folders[0]}"
  [ ! -d "fuzz/corpus/$name" ] || folders+=("fuzz/corpus/$name")
  [ "$name" != assembler ] || folders+=(tests/golden)
  [ "$name" != loops ] || folders+=(tests/loops)
  nice "build/fuzz/fuzz/$target" "${options[@]}" "${folders[@]}" 2>&1 | tail -n 20 ||
    die "$target found something" "the input is in $findings/; to repeat: build/fuzz/fuzz/$target FILE"
done
step "nothing found: ${#targets[@]} passed, 0 failed"
