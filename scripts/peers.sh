#!/usr/bin/env bash
# Installs programs of other projects for end-to-end tests into target/peers: Go modules (grpcurl, examples of grpc-go, a Connect
# service, a server with TLS), etcd and containerd (unpacked Debian packages), grpc-java (Maven), and virtual environments with
# Apache's Thrift library, grpcio with Google's schemas, and pandas, DuckDB and Polars. curl, nginx and a container engine must be
# installed already.
# Prints the names of tests that can run here, and on standard error what is missing. In CI a missing program is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

grpcurl_version=v1.9.4
folder=$(realpath -m "${CARGO_TARGET_DIR:-target}")/peers
PATH=$PATH:/usr/sbin:build/debian/usr/sbin # where nginx is, installed or unpacked by setup.sh

foreign=crates/cli/tests/it/foreign

. scripts/apt.sh

# peer NAME REMEDY PROGRAM...: prints the name of the tests with NAME if its programs are installed, otherwise the remedy.
peer() {
  local name=$1 remedy=$2 program
  shift 2
  for program; do
    has "$program" && continue
    echo "peers: $program is missing, so tests with $name are skipped: $remedy" >&2
    [ "${CI:-}" != true ] || exit 1
    return 1
  done
  echo "foreign::$name"
}

# installed_grpcurl: prints its version, or nothing.
installed_grpcurl() {
  [ -x "$folder/grpcurl" ] || return 0
  go version -m "$folder/grpcurl" 2>/dev/null | awk '$1 == "mod" { print $3 }'
}

grpcurl() {
  [ "$(installed_grpcurl)" != "$grpcurl_version" ] || return 0
  echo "peers: building grpcurl $grpcurl_version"
  GOBIN=$folder go install "github.com/fullstorydev/grpcurl/cmd/grpcurl@$grpcurl_version"
}

# go_program NAME MODULE PACKAGE: builds a program at the version that the module locks.
go_program() { (cd "$foreign/$2" && go build -mod=readonly -o "$folder/$1" "$3"); }

# grpc_go: builds example servers of grpc-go, and copies certificates and a schema for those with TLS.
grpc_go() {
  local examples=google.golang.org/grpc/examples
  go_program grpc-go-reflection grpc_go $examples/features/reflection/server
  go_program grpc-go-health grpc_go $examples/features/health/server
  go_program grpc-go-route-guide grpc_go $examples/route_guide/server
  go_program grpc-go-tls grpc_go $examples/features/encryption/TLS/server
  go_program grpc-go-mtls grpc_go $examples/features/encryption/mTLS/server
  local files
  files=$(cd "$foreign/grpc_go" && go list -m -f '{{.Dir}}' $examples)
  rm -rf "$folder/grpc-go-files"
  mkdir "$folder/grpc-go-files"
  install -m 644 "$files"/data/x509/*.pem "$files"/features/proto/echo/echo.proto "$folder/grpc-go-files"
}

grpc_java() {
  local pom=$foreign/grpc_java/pom.xml
  cmp -s "$pom" "$folder/grpc-java/pom.xml" && return
  rm -rf "$folder/grpc-java"
  mvn --batch-mode --color never --no-transfer-progress --quiet --strict-checksums --file "$pom" dependency:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$folder/grpc-java" >&2
  cp "$pom" "$folder/grpc-java"
}

# unpack PACKAGE PROGRAM: unpacks a Debian package; installing it could start a service.
unpack() {
  [ ! -x "$folder/debian/$2" ] || return 0
  has apt-get && has dpkg-deb || return 1
  local archives
  archives=$(mktemp -d)
  (cd "$archives" && { apt-get download -qq "$1" || { apt update && apt-get download -qq "$1"; }; }) >/dev/null 2>&1 &&
    dpkg-deb --extract "$archives/$1"_*.deb "$folder/debian"
  rm -rf "$archives"
  [ -x "$folder/debian/$2" ]
}

# virtualenv NAME REQUIREMENTS: creates a virtual environment with the locked packages, again if they changed.
virtualenv() {
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

# containers: prints the name of the tests with containers if an engine answers. Its lack is not an error, not even in CI.
containers() {
  if docker version >/dev/null 2>&1; then
    echo "foreign::docker"
  elif podman info >/dev/null 2>&1; then
    echo "foreign::docker::podman"
  else
    echo "peers: neither \`docker version\` nor \`podman info\` answers, so tests with containers are skipped" >&2
  fi
}

# debian NAME PACKAGE PROGRAM: prints the name of the tests that need a program of a Debian package.
debian() {
  if unpack "$2" "$3"; then
    echo "foreign::$1"
    return
  fi
  echo "peers: Debian's package $2 could not be downloaded, so tests with $1 are skipped: apt-get download $2" >&2
  [ "${CI:-}" != true ] || exit 1
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
  echo foreign::stopwatch # It uses one of these servers.
fi
if peer connect_go "install Go from https://go.dev/dl/" go; then
  go_program connect-go connect_go . >&2
fi
if peer handshakes "apt-get install openssl, and Go from https://go.dev/dl/" openssl go; then
  go_program tls-go tls_go . >&2
fi
debian etcd etcd-server usr/bin/etcd
debian containerd containerd usr/bin/containerd
if peer grpc_java "apt-get install maven default-jdk-headless" java mvn; then
  grpc_java
fi
if peer grpc_python "apt-get install python3-venv" python3; then
  virtualenv grpcio "$foreign/grpc_python/requirements.txt" >&2
  echo foreign::googleapis # A test of rpcbench-schema with the same packages.
fi
if peer thrift "apt-get install python3-venv thrift-compiler" python3 thrift; then
  virtualenv venv servers/python/thrift/requirements.txt >&2
  thrift_code >&2
fi
if peer tables "apt-get install python3-venv" python3; then
  virtualenv tables "$foreign/tables/requirements.txt" >&2
fi
