# Sourced by the project's scripts: how they speak, and where things are. No side effects but these.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv="$root/build/venv"
readonly root venv

if [ -t 1 ]; then bold=$'\e[1m' red=$'\e[31m' plain=$'\e[0m'; else bold='' red='' plain=''; fi
readonly bold red plain

step() { printf '%s== %s%s\n' "$bold" "$*" "$plain"; }      # a long step begins
note() { printf '   %s\n' "$*"; }                           # something about it
die() {                                                    # what went wrong, then one line per way to mend it
  printf '%serror:%s %s\n' "$red" "$plain" "$1" >&2
  shift
  for line in "$@"; do printf '  %s\n' "$line" >&2; done
  exit 1
}

# Node in reach: the system's, or that of build/node where setup.sh found none new enough.
node_env() {
  [ ! -x "$root/build/node/bin/node" ] || export PATH="$root/build/node/bin:$PATH"
}

# build [PRESET] [TARGET...]: configure once, then build with ninja's own progress on the screen.
build() {
  local preset=${1:-release}
  shift || true
  [ -f "$root/CMakePresets.json" ] || die "there is no CMakePresets.json in $root" "is this a complete clone?"
  cd "$root" || exit
  node_env
  if [ ! -f "build/$preset/build.ninja" ]; then
    step "configure ($preset); a first build takes some minutes"
    cmake --preset "$preset" "-DPython_EXECUTABLE=$venv/bin/python" ||
      die "cmake could not configure" "rm -rf build/$preset and try again" "see build/$preset/CMakeFiles/CMakeConfigureLog.yaml"
  fi
  # A clone in another folder finds in ccache what this one compiled.
  export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1
  step "build ($preset)"
  local targets=()
  [ $# -eq 0 ] || targets=(--target "$@")
  nice cmake --build "build/$preset" -j "${MSVM_JOBS:-2}" "${targets[@]}" ||
    die "the build failed (see above)" "after a change of compiler or options: rm -rf build/$preset"
}

# The project's own interpreter first, with our module and scripts in reach.
python_env() {
  compgen -G "$root/build/release/python/msvm/_core*.so" >/dev/null ||
    die "the Python module was not built" "rm -rf build/release and try again: cmake says why"
  export PYTHONPATH="$root/build/release/python:$root/tools${PYTHONPATH:+:$PYTHONPATH}"
  export PATH="$venv/bin:$PATH"
}

# environment FOLDER REQUIREMENTS WHAT [HINT...]: a Python environment of its own in build/FOLDER, made once for what the file asks for.
environment() {
  local folder="$root/build/$1" requirements="$root/$2" what=$3 wanted
  shift 3
  wanted="$(sha256sum <"$requirements") $folder"
  [ "$(cat "$folder/.installed" 2>/dev/null)" != "$wanted" ] || return 0
  step "$what: ${folder#"$root"/}"
  [ -x "$folder/bin/python" ] || "$(readlink -f "$venv/bin/python")" -m venv "$folder"
  "$folder/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off -r "$requirements" ||
    die "pip could not install ${requirements#"$root"/} (see above)" "$@" "is PyPI reachable (directly, or through pip's own configuration)?"
  echo "$wanted" >"$folder/.installed"
}
