#!/usr/bin/env bash
# Installs programs of other projects that end-to-end tests use into target/peers: grpcurl and an example of grpc-go with
# reflection, Go modules; Apache's Thrift library for Python in a virtual environment, with generated code; and pandas, DuckDB and
# Polars in another. curl and nginx come from the distribution, and a container engine from the user.
# Prints the tests that can run here and names what is missing. In CI a missing program is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

grpcurl_version=v1.9.4
folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")/peers
PATH=$PATH:/usr/sbin:build/debian/usr/sbin # where nginx is, installed or unpacked by setup.sh

. scripts/apt.sh

# peer NAME INSTALL PROGRAM...: prints the name of the tests with NAME if its programs are installed.
peer() {
  local name=$1 install=$2 program
  shift 2
  for program; do
    has "$program" && continue
    echo "peers: $program is missing, so tests with $name are skipped: $install" >&2
    [ "${CI:-}" != true ] || exit 1
    return 1
  done
  echo "foreign::$name"
}

# installed_grpcurl: its version, or nothing.
installed_grpcurl() {
  [ -x "$folder/grpcurl" ] || return 0
  go version -m "$folder/grpcurl" 2>/dev/null | awk '$1 == "mod" { print $3 }'
}

grpcurl() {
  [ "$(installed_grpcurl)" != "$grpcurl_version" ] || return 0
  echo "peers: building grpcurl $grpcurl_version"
  GOBIN=$folder go install "github.com/fullstorydev/grpcurl/cmd/grpcurl@$grpcurl_version"
}

# grpc_go: a server of grpc-go's examples, at the locked version.
grpc_go() {
  (cd crates/cli/tests/it/foreign/grpc_go &&
    go build -mod=readonly -o "$folder/grpc-go-reflection" google.golang.org/grpc/examples/features/reflection/server)
}

# packages NAME REQUIREMENTS: a virtual environment with the locked packages, rebuilt if they changed.
packages() {
  cmp -s "$2" "$folder/$1/requirements.txt" && return
  python3 -m venv --clear "$folder/$1"
  "$folder/$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --require-hashes --requirement "$2"
  cp "$2" "$folder/$1/requirements.txt"
}

thrift_code() {
  rm -rf "$folder/thrift"
  mkdir "$folder/thrift"
  thrift -gen py -out "$folder/thrift" contract/echo.thrift
}

# containers: prints the name of the tests with containers if an engine answers. A machine without one is no error in CI either.
containers() {
  if docker version >/dev/null 2>&1; then
    echo "foreign::docker"
  else
    echo "peers: no container engine answers \`docker version\`, so tests with containers are skipped" >&2
  fi
}

mkdir -p "$folder"
containers
peer curl "apt-get install curl" curl || true
peer tls "apt-get install curl openssl nginx-light" curl openssl nginx || true
peer nginx "apt-get install nginx-light" nginx || true
if peer grpcurl "install Go from https://go.dev/dl/" go; then
  grpcurl >&2
fi
if peer grpc_go "install Go from https://go.dev/dl/" go; then
  grpc_go >&2
fi
if peer thrift "apt-get install python3-venv thrift-compiler" python3 thrift; then
  packages venv servers/python/thrift/requirements.txt >&2
  thrift_code >&2
fi
if peer tables "apt-get install python3-venv" python3; then
  packages tables crates/cli/tests/it/foreign/tables/requirements.txt >&2
fi
