#!/usr/bin/env bash
# Builds what is built and committed again, the template of the HTML page, and compares, where npm is.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v npm >/dev/null; then
  echo "crates/report/assets/report.html: not compared, which needs npm"
  exit 0
fi
(cd web && npm ci --silent --no-audit --no-fund && npm run --silent build >/dev/null)
cmp web/dist/report.html crates/report/assets/report.html || {
  echo "crates/report/assets/report.html is not what web/ gives: run 'make page' and commit the result" >&2
  exit 1
}
echo "crates/report/assets/report.html: as web/ gives it"
