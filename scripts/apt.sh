# shellcheck shell=bash
# Functions that install packages with apt, for other scripts to source.

has() { command -v "$1" >/dev/null 2>&1; }

# as_root COMMAND...: runs it as root; fails instead of asking for a password.
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

# apt WORD...: runs apt-get without questions. Waits two minutes for another apt, but not for an unreachable mirror. Shows errors
# and warnings if it fails.
apt() {
  local output
  output=$(as_root apt-get -y -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 -o Acquire::http::Timeout=20 \
    -o Acquire::Retries=1 "$@" </dev/null 2>&1) && return
  printf '%s\n' "$output" | grep -E '^(E|W):' | tail -n 5 >&2
  return 1
}
