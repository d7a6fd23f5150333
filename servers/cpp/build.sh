#!/bin/sh
# Builds the C++ server or client program in the current folder into RPCBENCH_BUILD_DIR.
set -eu
: "${RPCBENCH_BUILD_DIR:?must name the build folder}" "${RPCBENCH_CONTRACT:?must name the folder contract/}"
# The cache has paths and versions, which change if packages are upgraded or the checkout moves.
rm -f "$RPCBENCH_BUILD_DIR/CMakeCache.txt"
cmake -S . -B "$RPCBENCH_BUILD_DIR" -G "Unix Makefiles" \
  -DCMAKE_CXX_COMPILER=g++ -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" \
  -DRPCBENCH_CONTRACT="$RPCBENCH_CONTRACT"
cmake --build "$RPCBENCH_BUILD_DIR" --parallel
