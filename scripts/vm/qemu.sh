# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# qemu.sh -- which QEMU to use, and with which accelerator; source it after common.sh and suite.sh.

# Raise when what unpack_qemu makes changes.
QEMU_FORMAT=1

# find_qemu: print the path of a QEMU for x86-64. Debian 12's own version 7.2 has corrupted guests under
# TCG, so an installed one must be newer; else that of bookworm-backports is unpacked into the cache.
find_qemu() {
	local installed dir=$CACHE/qemu-$QEMU_FORMAT
	if installed=$(command -v qemu-system-x86_64); then
		case $("$installed" --version | sed -n 's/.*version \([0-9]*\).*/\1/p') in
		[1-7])	;;
		*)	printf '%s\n' "$installed"; return ;;
		esac
	fi
	if [ ! -d "$dir" ] && ! (with_lock qemu unpack_qemu "$dir"); then
		say "no QEMU from bookworm-backports; Debian 12's own must do"
		need_packages qemu-system-x86
		printf '%s\n' /usr/bin/qemu-system-x86_64
		return
	fi
	printf '%s\n' "$dir/qemu"
}

# The packages QEMU needs beside those installed, unpacked side by side, and a program `qemu` that starts it there.
unpack_qemu() {
	local dir=$1 tmp=$1.tmp apt=() packages deb
	[ -d "$dir" ] && return 0
	say "QEMU: unpacking the one of bookworm-backports"
	rm -rf "$tmp"
	# this machine's own sources and backports together, to find out what else is needed
	mkdir -p "$tmp/apt/parts" "$tmp/apt/lists/partial" "$tmp/apt/cache/archives/partial"
	cp /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list "$tmp/apt/parts/" 2>/dev/null
	cp /etc/apt/sources.list "$tmp/apt/parts/main.list" 2>/dev/null
	printf 'deb %s bookworm-backports main\n' "$(debian_mirror)" >"$tmp/apt/sources.list"
	apt=(-qq -o APT::Sandbox::User=root -o Dir::Etc::sourcelist="$tmp/apt/sources.list"
		-o Dir::Etc::sourceparts="$tmp/apt/parts" -o Dir::State::lists="$tmp/apt/lists"
		-o Dir::Cache="$tmp/apt/cache" -o Acquire::Languages=none)
	apt-get "${apt[@]}" update >"$tmp/apt/log" 2>&1 || say "apt: $(tail -n 1 "$tmp/apt/log")"
	packages=$(apt-get "${apt[@]}" --simulate --no-install-recommends -t bookworm-backports \
		install qemu-system-x86 | sed -nE 's/^Inst ([^ ]+) (\[[^]]*\] )?\(([^ ]+) .*/\1=\3/p')
	[ -n "$packages" ] || return 1
	mkdir "$tmp/debs"
	# shellcheck disable=SC2086
	(cd "$tmp/debs" && apt-get "${apt[@]}" download $packages >&2) || return 1
	for deb in "$tmp"/debs/*.deb; do
		dpkg -x "$deb" "$tmp" || return 1
	done
	cat >"$tmp/qemu" <<-EOF
		#!/bin/sh
		LD_LIBRARY_PATH=$dir/usr/lib/x86_64-linux-gnu:$dir/lib/x86_64-linux-gnu
		export LD_LIBRARY_PATH
		exec $dir/usr/bin/qemu-system-x86_64 -L $dir/usr/share/qemu -L $dir/usr/share/seabios "\$@"
	EOF
	chmod +x "$tmp/qemu"
	rm -rf "${tmp:?}"/{apt,debs} "$tmp/usr/share/doc"
	mv "$tmp" "$dir"
	"$dir/qemu" --version >&2 || { rm -rf "$dir"; return 1; }
}

# host_tsc_khz: the rate of this machine's time stamp counter, which TCG shows to the guest
host_tsc_khz() {
	local khz
	khz=$(dmesg 2>/dev/null | sed -nE 's/.*tsc: (Refined TSC|Detected).* ([0-9]+)\.([0-9]{3}) MHz.*/\2\3/p' | tail -n 1)
	[ -n "$khz" ] || khz=$(awk -F': ' '/^cpu MHz/ { printf "%d", $2 * 1000; exit }' /proc/cpuinfo)
	printf '%s\n' "$khz"
}

# machine_for KERNELDIR ACCEL (kvm, tcg, or icount: tcg on a virtual clock): set MACHINE (arguments of QEMU), BUS (ending of the virtio devices' names) and
# APPEND (arguments of the kernel). A kernel without ACPI is one of ours, made for the small machine.
# shellcheck disable=SC2034
machine_for() {
	local kernel=$1 accel=$2 small=''
	grep -q '^CONFIG_ACPI=y' "$kernel/config" || small=y
	MACHINE=(-no-reboot -nodefaults -no-user-config -display none -monitor none)
	APPEND="console=ttyS0 loglevel=5 log_buf_len=8M panic=-1 reboot=t nokaslr mitigations=off audit=0"
	APPEND+=" net.ifnames=0 random.trust_cpu=on printk.devkmsg=on dummy.numdummies=0"
	if [ -n "$small" ]; then
		BUS=device
		MACHINE+=(-machine "microvm,acpi=off,rtc=on,pit=on,pic=on")
	else
		BUS=pci
		MACHINE+=(-machine pc)
	fi
	if [ "$accel" = kvm ]; then
		MACHINE+=(-accel kvm -cpu host)
	elif [ "$accel" = icount ]; then
		MACHINE+=(-accel "tcg,thread=single" -icount "shift=0,sleep=off" -cpu max)
		APPEND+=" tsc=reliable"
		[ -z "$small" ] || APPEND+=" tsc_early_khz=1000000 lapic_timer_hz=1000000000"
	else
		MACHINE+=(-accel "tcg,thread=multi" -cpu "max,-erms,-fsrm")
		APPEND+=" tsc=reliable"
		# nothing there to measure the clocks with
		[ -z "$small" ] || APPEND+=" tsc_early_khz=$(host_tsc_khz) lapic_timer_hz=1000000000"
	fi
}

# find_accel QEMU KERNELDIR INITRD: "kvm" if KVM boots this kernel and works a little, else "tcg". The answer
# is kept until this machine boots again. SROCE_ACCEL overrides.
find_accel() {
	local qemu=$1 kernel=$2 initrd=$3 answer
	if [ -n "${SROCE_ACCEL:-}" ]; then
		printf '%s\n' "$SROCE_ACCEL"
		return
	fi
	answer=$CACHE/accel-$(hash_of "$(cat /proc/sys/kernel/random/boot_id)" "$qemu" "$kernel")
	if [ ! -s "$answer" ]; then
		if [ -w /dev/kvm ] && probe kvm "$qemu" "$kernel" "$initrd"; then
			echo kvm >"$answer"
		else
			echo tcg >"$answer"
		fi
		say "accelerator for $(basename "$kernel"): $(cat "$answer")"
	fi
	cat "$answer"
}

# probe ACCEL QEMU KERNELDIR INITRD: does a machine come up and work a little?
probe() {
	local accel=$1 qemu=$2 kernel=$3 initrd=$4 log rc=0
	log=$(mktemp)
	machine_for "$kernel" "$accel"
	timeout -k 2 30 "$qemu" "${MACHINE[@]}" -smp 2 -m 512 -serial "file:$log" \
		-kernel "$kernel/bzImage" -initrd "$initrd" -append "$APPEND sroce_probe" </dev/null >/dev/null 2>&1 || rc=1
	grep -q SROCE-PROBE-OK "$log" || rc=1
	rm -f "$log"
	return $rc
}
