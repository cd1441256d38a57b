#!/usr/bin/env bash
# Make the folder in which VS Code's own server and workbench lie, once for a lock file, and print its path. Nothing native is built.
#
#   vscode/e2e/setup.sh     MSVM_VSCODE_E2E=folder puts it elsewhere than in the user's cache
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
hash=$(cat "$here/package.json" "$here/package-lock.json" | sha256sum | cut -c 1-16)
folder=${MSVM_VSCODE_E2E:-${XDG_CACHE_HOME:-$HOME/.cache}/msvm/vscode-e2e}/$hash
if [ ! -e "$folder/.ready" ]; then
  mkdir -p "$folder"
  exec {lock}>"$folder.lock"
  flock "$lock"
  if [ ! -e "$folder/.ready" ]; then  # another call did it while this one waited
    echo "installing VS Code's server (310 MB) into $folder" >&2
    cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$folder/"
    cd "$folder"
    npm ci --ignore-scripts --no-progress >&2
    code=node_modules/code-server/lib/vscode
    (cd $code && npm install --omit=dev --ignore-scripts --no-progress >&2)  # pinned by its npm-shrinkwrap.json, which `npm ci` refuses
    mkdir -p $code/node_modules/@vscode/ripgrep/bin
    ln -sf "$folder/node_modules/@vscode/ripgrep-linux-x64/bin/rg" $code/node_modules/@vscode/ripgrep/bin/rg
    touch .ready
  fi
fi
echo "$folder"
