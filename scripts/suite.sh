# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# suite.sh -- packages of any Debian suite without touching this machine's apt; source it
# after common.sh.
#
#   suite_show    SUITE PKG          the package's control fields, of the version on offer
#   suite_debs    SUITE DIR PKG...   download the .deb files into DIR
#   suite_tarball SUITE DIR SRC      download the source package's upstream tarball into DIR
#
# SUITE "bookworm" means what this machine is configured for (security updates
# included). Any other suite gets its own sources and lists in $CACHE/apt-SUITE,
# taken from the same archive; an out-of-date Release file is accepted.

# suite_setup SUITE KIND: lists of the suite (KIND deb or deb-src); sets APT_OPT.
suite_setup() {
	local suite=$1 kind=$2 dir
	APT_OPT=(-q -o APT::Sandbox::User=root)
	[ "$suite" = bookworm ] && return 0
	dir=$CACHE/apt-$suite-$kind
	APT_OPT+=(-o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=-
		-o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir/cache"
		-o Dir::State::status=/dev/null -o Acquire::Languages=none
		-o Acquire::Check-Valid-Until=false)
	[ -e "$dir/complete" ] || with_lock "apt-$suite-$kind" suite_lists "$suite" "$kind" "$dir"
}

suite_lists() {
	local suite=$1 kind=$2 dir=$3
	[ -e "$dir/complete" ] && return 0
	say "fetching the package lists of $suite ($kind)"
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	printf '%s %s %s main\n' "$kind" "$(debian_mirror)" "$suite" >"$dir/sources.list"
	apt-get "${APT_OPT[@]}" update >"$dir/log" 2>&1 ||
		{ tail -n 20 "$dir/log" >&2; die "no package lists of $suite"; }
	: >"$dir/complete"
}

# suite_refresh SUITE KIND: fetch the lists again (they are kept until a download fails).
suite_refresh() {
	if [ "$1" = bookworm ]; then
		[ "$(id -u)" = 0 ] || return 0
		say "updating the package lists"
		with_lock apt apt-get -q update >/dev/null 2>&1 || die "apt-get update failed"
	else
		rm -f "$CACHE/apt-$1-$2/complete"
		suite_setup "$1" "$2"
	fi
}

suite_show() {
	suite_setup "$1" deb
	apt-cache "${APT_OPT[@]}" show --no-all-versions "$2" 2>/dev/null
}

# control_field FIELD: that field of the first package in the text on standard input.
control_field() {
	sed -n "s/^$1: //p;/^\$/q"
}

# depends_on REGEX: the name of the first dependency that matches, likewise.
depends_on() {
	control_field Depends | sed 's/[,|]/\n/g' | sed -E 's/^ *([^ ]*).*/\1/' | grep -E -m 1 -- "$1"
}

suite_debs() {
	local suite=$1 dir=$2 log
	shift 2
	suite_setup "$suite" deb
	mkdir -p "$dir"
	log=$dir/log
	if ! (cd "$dir" && apt-get "${APT_OPT[@]}" download "$@") >"$log" 2>&1; then
		suite_refresh "$suite" deb
		(cd "$dir" && apt-get "${APT_OPT[@]}" download "$@") >"$log" 2>&1 ||
			{ tail -n 20 "$log" >&2; die "cannot download $* ($suite)"; }
	fi
	rm -f "$log"
}

suite_tarball() {
	local suite=$1 dir=$2 log get
	suite_setup "$suite" deb-src
	mkdir -p "$dir"
	log=$dir/log
	get=(apt-get "${APT_OPT[@]}" source --tar-only --download-only "$3")
	if ! (cd "$dir" && "${get[@]}") >"$log" 2>&1; then
		suite_refresh "$suite" deb-src
		(cd "$dir" && "${get[@]}") >"$log" 2>&1 ||
			{ tail -n 20 "$log" >&2; die "cannot download the source of $3 ($suite)"; }
	fi
	rm -f "$log"
}
