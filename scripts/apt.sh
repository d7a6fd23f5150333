# shellcheck shell=bash
# Installing with apt, for the scripts that source this.

has() { command -v "$1" >/dev/null 2>&1; }

# as_root COMMAND...: nothing asks for a password.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

may_install() {
  has apt-get && { [ "$(id -u)" = 0 ] || { has sudo && sudo -n true 2>/dev/null; }; }
}

# apt WORD...: asks nothing, waits for another apt, does not wait long for a mirror that is not there, and shows what it
# said only where it failed.
apt() {
  local said
  said=$(as_root apt-get -y -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 -o Acquire::http::Timeout=20 \
    -o Acquire::Retries=1 "$@" </dev/null 2>&1) && return
  printf '%s\n' "$said" | grep -E '^(E|W):' | tail -n 5 >&2
  return 1
}
