#!/usr/bin/env bash
# Rebuilds the template of the HTML page and compares it with the committed one. Skipped without npm.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v npm >/dev/null; then
  echo "crates/report/assets/report.html: not compared; install npm"
  exit 0
fi
(cd web && npm ci --silent --no-audit --no-fund && npm run --silent build >/dev/null)
cmp web/dist/report.html crates/report/assets/report.html || {
  echo "crates/report/assets/report.html differs from what web/ builds: run 'make page' and commit the result" >&2
  exit 1
}
echo "crates/report/assets/report.html: up to date"
