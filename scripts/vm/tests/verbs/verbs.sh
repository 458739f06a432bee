# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# verbs.sh -- run the programs of this directory; source it after vm-lib.sh.

# verbs NAME PROGRAM [ARG...]: each test of a program is a test here, NAME before its name. VERBS_A, VERBS_B
# and VERBS_FAMILY choose devices and addresses (verbs/lib.c); VERBS_WIRE is set if there is a switch. With VERBS_NS
# the program runs on that host: for what is bound to a namespace, such as rdma_cm.
verbs() {
	local name=$1 program=$2 line ended='' start=$SECONDS
	shift 2
	while IFS= read -r line; do
		case $line in
		"ok "*"# SKIP")
			T_SKIPPED=$((T_SKIPPED + 1))
			echo "ok $(t_number) - $name: ${line#* - }" ;;
		"ok "*)
			T_PASSED=$((T_PASSED + 1))
			echo "ok $(t_number) - $name: ${line#* - }" ;;
		"not ok "*)
			T_FAILED=$((T_FAILED + 1))
			echo "not ok $(t_number) - $name: ${line#* - }" ;;
		*" passed, "*" failed")
			ended=y ;;
		*)	printf '%s\n' "$line" ;;
		esac
		case $line in
		"ok "* | "not ok "*)
			t_long "$start"
			start=$SECONDS ;;
		esac
	done < <(in_ns "${VERBS_NS:-init}" timeout -k 5 "${T_TIMEOUT:-900}" "$VM_PROGRAMS/$program" "$@" 2>&1)
	[ -n "$ended" ] && return
	T_FAILED=$((T_FAILED + 1))
	echo "not ok $(t_number) - $name: the program did not come to its end"
}

# verbs_knob NAME VALUE: of all sroce devices, for QPs that are connected from then on
verbs_knob() {
	local knob
	for knob in /sys/class/infiniband/sroce_*/"$1"; do
		echo "$2" >"$knob" || return
	done
}

# verbs_batches on|off: what is lost and looked at in the switch are single packets. Off, batches are split where
# they leave.
verbs_batches() {
	local ns
	for ns in "${!NS_DEV[@]}"; do
		in_ns "$ns" ethtool -K eth0 tx-udp-segmentation "$1" gso "$1" || return
	done
}
