# Sourced by the scripts of package.json, from the root of the repository: puts the Node of the npm packages first on
# the PATH, where it runs on this platform. npm links it as node_modules/.bin/node, but most versions (10.5 to 11.6 at
# least) remove that link at the end of an install, together with the package of the other architecture.
for arch in x64 arm64; do
  packaged="node_modules/node-linux-$arch/bin"
  if "$packaged/node" --version >/dev/null 2>&1; then
    PATH="$PWD/$packaged:$PATH"
  fi
done
export PATH
