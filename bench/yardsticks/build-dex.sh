#!/bin/sh
# Builds dex from Go's modules, with its pages beside it: bench/yardsticks/build-dex.sh <folder>; then DEX=<folder>/dex npm run bench.
# Needs Go and a C compiler, for its SQLite. dex's releases are no modules that Go would fetch by their number, so this names a commit,
# of September 2021, after 2.30. Its go.mod points to a folder that the module does not have; what it should find there is a module too.
set -eu
version=v0.0.0-20210917061239-f0186ff2651e
mkdir -p "$1"
folder=$(cd "$1" && pwd)
source=$(cd "$folder" && go mod download -json "github.com/dexidp/dex@$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
rm -rf "$folder/source" "$folder/web"
cp -r "$source" "$folder/source"
chmod -R u+w "$folder/source"
cd "$folder/source"
go mod edit -dropreplace github.com/dexidp/dex/api/v2
CGO_ENABLED=1 go build -mod=mod -o "$folder/dex" ./cmd/dex
cp -r web "$folder/web"
echo "DEX=$folder/dex"
