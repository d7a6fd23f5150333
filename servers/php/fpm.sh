#!/bin/sh
# Runs php-fpm, of the same version as PHP, in this process: fpm.sh ARGUMENT...
#
# With the distribution's settings for production, and the extensions of the command-line program: php-fpm's list of extensions exists only
# if its package is installed, not if scripts/setup.sh unpacked it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
version=$(php -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')
export PHP_INI_SCAN_DIR="/etc/php/$version/cli/conf.d"
exec sh "$here/../debian.sh" "php-fpm$version" --php-ini "/usr/lib/php/$version/php.ini-production" "$@"
