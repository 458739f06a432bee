# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# kernel.sh -- what vm-kernel and uml-kernel share; source it after common.sh and suite.sh.
#
# Needs JOBS and, before a build, the array MAKEVARS (kernel_make_vars sets it).

KCONF=$TOP/scripts/vm/kernel

# kernel_version SUITE SERIES: the version of the suite's linux-source, settled once per cache.
kernel_version() {
	local suite=$1 series=$2 f=$CACHE/linux-$2.version show
	if [ ! -s "$f" ]; then
		show=$(suite_show "$suite" "linux-source-$series") || {
			suite_refresh "$suite" deb
			show=$(suite_show "$suite" "linux-source-$series")
		} || die "no linux-source-$series in the archive ($suite)"
		control_field Version <<<"$show" >"$f.tmp"
		mv "$f.tmp" "$f"
	fi
	cat "$f"
}

# get_source SUITE SERIES VERSION DIR PATCH...: unpacked, without the parts no build of ours reads.
get_source() {
	local suite=$1 series=$2 version=$3 dir=$4 tmp=$4.tmp p
	shift 4
	[ -d "$dir" ] && return 0
	rm -rf "$tmp"
	mkdir -p "$tmp/src"
	say "linux-source-$series $version: download"
	suite_debs "$suite" "$tmp" "linux-source-$series=$version"
	say "linux-source-$series: unpack"
	dpkg-deb --fsys-tarfile "$tmp"/*.deb | tar -xO "./usr/src/linux-source-$series.tar.xz" |
		tar -xJ -C "$tmp/src" --strip-components=1 --wildcards-match-slash \
		--exclude='*/Documentation/*.rst' --exclude='*/Documentation/devicetree/*' \
		--exclude='*/arch/[!ux]*/*.[chS]' --exclude='*/arch/xtensa/*.[chS]' --exclude='*.dts' --exclude='*.dtsi' \
		--exclude='*/drivers/gpu/*.[ch]' --exclude='*/drivers/media/*.[ch]' \
		--exclude='*/drivers/staging/*.[ch]' --exclude='*/drivers/net/wireless/*.[ch]' \
		--exclude='*/drivers/net/ethernet/*.[ch]' --exclude='*/sound/*.[ch]' \
		--exclude='*/tools/testing/selftests/*' --exclude='*/tools/perf/*'
	for p; do
		patch -d "$tmp/src" -s -p1 <"$p" || die "$p does not apply to $version"
	done
	mv "$tmp/src" "$dir"
	rm -rf "$tmp"
}

# What happens to be installed must not change the configuration, nor the date the kernel.
kernel_make_vars() {
	need_packages ccache flex bison bc perl libelf-dev libssl-dev lz4 cpio rsync
	export CCACHE_DIR=$CACHE/ccache CCACHE_MAXSIZE=2G CCACHE_DEPEND=1
	export CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime
	MAKEVARS=(CC="ccache gcc" HOSTCC="ccache gcc" PAHOLE=none RUSTC=none BINDGEN=none
		KBUILD_BUILD_TIMESTAMP=2026-01-01 KBUILD_BUILD_USER=sroce KBUILD_BUILD_HOST=sroce KBUILD_BUILD_VERSION=1 "$@")
}

# kconfig SOURCE BUILD FRAGMENT...: .config, and `unmet` beside BUILD
kconfig() {
	local source=$1 build=$2 line symbol
	shift 2
	mkdir -p "$build"
	# the last word on each symbol wins
	cat "$@" | grep '^CONFIG_' | tac | awk -F= '!seen[$1]++' | tac >"$build/wanted.config"
	KCONFIG_ALLCONFIG=$build/wanted.config make -s -C "$source" O="$build" "${MAKEVARS[@]}" allnoconfig >&2
	while read -r line; do
		symbol=${line%%=*}
		case $line in
		*=n)	! grep -q "^$symbol=" "$build/.config" ;;
		*)	grep -qxF -- "$line" "$build/.config" ;;
		esac || printf 'wanted %s, got %s\n' "$line" "$(grep -E "^(# )?${symbol}[= ]" "$build/.config" || echo nothing)"
	done <"$build/wanted.config" >"$build/../unmet"
	[ ! -s "$build/../unmet" ] || { say "options that did not stick:"; cat "$build/../unmet" >&2; }
}

# kernel_build NAME SOURCE BUILD LOG TARGET...: make, with a message each minute
kernel_build() {
	local name=$1 source=$2 build=$3 log=$4 start=$SECONDS pid
	shift 4
	say "$name: building with $JOBS jobs, log in $log"
	# a process group of its own, so that all of it can be stopped
	setsid make -C "$source" O="$build" "${MAKEVARS[@]}" -j"$JOBS" "$@" >"$log" 2>&1 &
	pid=$!
	# shellcheck disable=SC2064
	trap "kill -- -$pid 2>/dev/null" EXIT
	trap 'exit 143' TERM
	trap 'exit 130' INT
	while kill -0 $pid 2>/dev/null; do
		sleep 5
		[ $(((SECONDS - start) % 60)) -ge 5 ] ||
			say "$name: $(grep -cE '^  (CC|AS|LD|AR) ' "$log") objects after $((SECONDS - start)) s"
	done
	wait $pid || { grep -n -B2 -A8 -iE 'error' "$log" | tail -n 40 >&2; die "$name: the build failed, see $log"; }
	trap - EXIT TERM INT
	say "$name: built in $((SECONDS - start)) s"
}
