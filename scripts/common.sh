# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# common.sh -- what every script here shares; source it first.
#
# Sets: TOP    the checkout
#       CACHE  where downloads, kernels and images are kept (SROCE_CACHE, default ~/.cache/sroce)
# Each cached thing lives in $CACHE/<kind>-<hash of its inputs>, made under a
# temporary name and renamed when complete, so an interrupted run leaves nothing
# half made behind.

TOP=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
CACHE=${SROCE_CACHE:-$HOME/.cache/sroce}
mkdir -p "$CACHE"

say()  { printf '%s %s\n' "$(date +%H:%M:%S)" "$*" >&2; }
die()  { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# need_packages PKG...: install what is missing (Debian, root).
need_packages() {
	local p missing=()
	for p; do
		dpkg-query -W -f='${db:Status-Abbrev}' "$p" 2>/dev/null | grep -q '^.i' || missing+=("$p")
	done
	[ ${#missing[@]} = 0 ] && return 0
	[ "$(id -u)" = 0 ] || die "please install: ${missing[*]}"
	say "installing ${missing[*]}"
	with_lock apt apt_install "${missing[@]}"
}

apt_install() {
	local log
	log=$(mktemp)
	if ! { apt-get -q update && DEBIAN_FRONTEND=noninteractive \
	       apt-get -qy install --no-install-recommends "$@"; } >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		rm -f "$log"
		die "apt-get could not install: $*"
	fi
	rm -f "$log"
}

# debian_mirror: the URI of this machine's own Debian archive.
debian_mirror() {
	local uri
	uri=$(grep -rhoE '(https?|file|ftp)://[^ ]+' /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/mirrors 2>/dev/null |
		grep -E '/debian/?$' | head -n 1)
	[ -n "$uri" ] || die "no Debian archive in this machine's apt sources"
	printf '%s\n' "$uri"
}

# debian_security_mirror: the same for the security archive.
debian_security_mirror() {
	local uri
	uri=$(grep -rhoE '(https?|file|ftp)://[^ ]+' /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/mirrors 2>/dev/null |
		grep -E '/debian-security/?$' | head -n 1)
	printf '%s\n' "${uri:-$(debian_mirror)-security}"
}

# hash_of FILE-OR-STRING...: 16 hex digits that change when a named file's text or a string does.
hash_of() {
	local a
	for a; do
		if [ -f "$a" ]; then sha256sum <"$a"; else printf '%s\n' "$a"; fi
	done | sha256sum | cut -c1-16
}

# with_lock NAME COMMAND...: one process at a time over the whole cache.
with_lock() {
	local name=$1 fd rc
	shift
	exec {fd}>"$CACHE/.lock-$name"
	flock "$fd"
	"$@"
	rc=$?
	exec {fd}>&-
	return $rc
}
