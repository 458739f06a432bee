#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# dropper.sh -- in the test machine: lose chosen RoCE packets in the switch (topologies of vm-lib.sh).
#
#	dropper.sh add HOST OPCODE FIRST COUNT [PSN]
#		of the packets that HOST (a or b) sends with this BTH opcode (-1: any) and PSN, lose
#		number FIRST (counted from 0) and the COUNT - 1 after it
#	dropper.sh dropped	how many were lost by all rules
#	dropper.sh clear	lose no more
set -euo pipefail

nft_sw() {
	ip netns exec sw nft "$@"
}

add() {
	local host=$1 opcode=$2 first=$3 count=$4 match=''
	# BTH begins 8 bytes after the UDP header does: opcode is its byte 0, PSN its bytes 9 to 11
	[ "$opcode" = -1 ] || match="@th,64,8 $opcode"
	[ -z "${5:-}" ] || match="$match @th,136,24 $5"
	[ "$first" = 0 ] || match="$match numgen inc mod 2147483647 >= $first"
	nft_sw -f - <<-END
		table netdev dropper {
			chain $host {
				type filter hook ingress device "p$host" priority 0
				udp dport 4791 $match numgen inc mod 2147483647 < $count counter drop
			}
		}
	END
}

dropped() {
	nft_sw list table netdev dropper 2>/dev/null | grep -oE 'counter packets [0-9]+' |
		awk '{ n += $3 } END { print n + 0 }'
}

clear() {
	nft_sw delete table netdev dropper 2>/dev/null || true
}

"$@"
