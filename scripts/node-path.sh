# Sourced by the scripts of package.json, from the root of the repository: puts the Node of the npm packages first on
# the PATH, where this platform has one. npm links it as node_modules/.bin/node, but most versions (10.8 to 11.6 at
# least) remove that link at the end of an install, together with the package of the other architecture.
for arch in x64 arm64; do
  if [ -x "node_modules/node-linux-$arch/bin/node" ]; then
    PATH="$PWD/node_modules/node-linux-$arch/bin:$PATH"
  fi
done
export PATH
