#!/bin/sh
# Builds the Ruby server or client program in the current folder into RPCBENCH_BUILD_DIR: its sources and the shared ones, for gRPC
# and Thrift the code generated from the contract, and packages.lock with the versions of the distribution's gems.
#
#   build.sh GEM...
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"
: "${RPCBENCH_CONTRACT:?not set: the folder of echo.proto and echo.thrift}"

here=$(cd "$(dirname "$0")" && pwd)
build=$RPCBENCH_BUILD_DIR

# Otherwise files of an older build could be loaded.
rm -f "$build"/*.rb "$build"/*.ru "$build"/*.conf
shared=$here
# Client programs.
[ ! -d ../driver ] || shared=../driver
cp "$shared"/*.rb "$build"
find . -maxdepth 1 -type f ! -name server.toml ! -name client.toml -exec cp {} "$build" \;
case " $* " in
    *" grpc "*)
        protoc --proto_path="$RPCBENCH_CONTRACT" --ruby_out="$build" --grpc_out="$build" \
            --plugin=protoc-gen-grpc="$(command -v grpc_ruby_plugin)" echo.proto
        ;;
    *" thrift "*) thrift --gen rb -out "$build" "$RPCBENCH_CONTRACT/echo.thrift" ;;
esac
ruby -e 'ARGV.each { |name| puts "#{name} #{Gem::Specification.find_by_name(name).version}" }' "$@" >"$build/packages.lock"
for file in "$build"/*.rb; do
    ruby -wc "$file" >/dev/null
done
