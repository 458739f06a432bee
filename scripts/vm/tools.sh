# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# tools.sh -- how each standard tool is run between two hosts; source it after vm-lib.sh.
#
# SERVER and CLIENT are hosts of vm-lib.sh, FAMILY is 4 or 6. What a function prints is for whoever looks into
# a failure; it is true if both ends were content. The tools compare the data themselves where they can.

SERVER=b CLIENT=a FAMILY=4
TOOL_TIMEOUT=${TOOL_TIMEOUT:-120}

# server_ip: its address of this family
server_ip() {
	[ "$FAMILY" = 4 ] && echo "${NS_IP4[$SERVER]}" || echo "${NS_IP6[$SERVER]}"
}

# pair READY SERVER-COMMAND -- CLIENT-COMMAND: the client is begun when READY is true; both must succeed. Their
# outputs are /tmp/server and /tmp/client. With SERVER_STAYS=y the server ends only when it is told to.
pair() {
	local ready=$1 server=() pid rc=0
	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	in_ns "$SERVER" timeout -k 5 "$TOOL_TIMEOUT" stdbuf -oL "${server[@]}" >/tmp/server 2>&1 &
	pid=$!
	wait_for 60 eval "$ready || ! kill -0 $pid 2>/dev/null"
	in_ns "$CLIENT" timeout -k 5 "$TOOL_TIMEOUT" "$@" >/tmp/client 2>&1 || rc=$?
	[ -z "${SERVER_STAYS:-}" ] || kill_tree $pid 2>/dev/null || true
	wait $pid || [ -n "${SERVER_STAYS:-}" ] || rc="server $?, client $rc"
	[ "$rc" = 0 ] && return 0
	echo "status: $rc"
	sed 's/^/server: /' /tmp/server | tail -n 30
	sed 's/^/client: /' /tmp/client | tail -n 30
	return 1
}

cm_listens() {
	rdma resource show cm_id | grep -q 'state LISTEN'
}

# pingpong TOOL [ARG...]: the tool talks to its peer over IPv4, whatever the GID
pingpong() {
	local tool=$1 sgid cgid
	shift
	sgid=$(gid_index "${NS_DEV[$SERVER]}" "$FAMILY") && cgid=$(gid_index "${NS_DEV[$CLIENT]}" "$FAMILY") || return
	pair "listens $SERVER 18515" "$tool" -d "${NS_DEV[$SERVER]}" -g "$sgid" "$@" -- \
		"$tool" -d "${NS_DEV[$CLIENT]}" -g "$cgid" "$@" "${NS_IP4[$SERVER]}"
}

# perf TOOL [ARG...]: it has said how fast it was
perf() {
	PERF_FAMILY=$FAMILY perftest_pair "$SERVER" "$CLIENT" "$@" -F && [ -n "$(perf_result)" ]
}

# rping_pair: it verifies what it reads and writes
rping_pair() {
	pair cm_listens rping -s -a "$(server_ip)" -V "$@" -- rping -c -a "$(server_ip)" -V -v "$@"
}

# cm_tool TOOL [ARG...]: those that bind with -b and connect with -s
cm_tool() {
	local tool=$1
	shift
	pair cm_listens "$tool" -b "$(server_ip)" "$@" -- "$tool" -s "$(server_ip)" "$@"
}

rdma_client_server() {
	pair cm_listens rdma_server -s "$(server_ip)" -- rdma_client -s "$(server_ip)"
	grep -q 'rdma_client: end 0' /tmp/client
}

# rdma_xclient_xserver r|x: over RC, over XRC
rdma_xclient_xserver() {
	pair cm_listens rdma_xserver -c "$1" -- rdma_xclient -s "$(server_ip)" -c "$1"
	grep -q 'rdma_xclient: end 0' /tmp/client
}

cm_time() {
	SERVER_STAYS=y pair cm_listens cmtime -b "$(server_ip)" "$@" -- cmtime -s "$(server_ip)" "$@"
}

# rcopy_file KIB
rcopy_file() {
	dd if=/dev/urandom of=/tmp/from bs=1K count="$1" 2>/dev/null
	rm -f /tmp/to
	SERVER_STAYS=y pair cm_listens rcopy -- rcopy /tmp/from "$(server_ip):/tmp/to"
	cmp /tmp/from /tmp/to
}

# mckey_pair GROUP: the receiver says when it is in the group, and leaves it at the end
mckey_pair() {
	local client=${NS_IP4[$CLIENT]}
	[ "$FAMILY" = 4 ] || client=${NS_IP6[$CLIENT]}
	pair "grep -q 'joined dgid' /tmp/server" mckey -m "$1" -b "$(server_ip)" -C 5 -- \
		mckey -m "$1" -b "$client" -s -C 5
	! in_ns "$SERVER" ip maddr show dev eth0 | grep -qw "$1"
}

qperf_server() {
	in_ns "$SERVER" qperf >/tmp/qperf 2>&1 &
	wait_for 60 listens "$SERVER" 19765
}

qperf_test() {
	in_ns "$CLIENT" timeout -k 5 "$TOOL_TIMEOUT" qperf -cm1 -t 1 -m 1024 "${NS_IP4[$SERVER]}" "$1" | tee /tmp/client
	grep -q ' = ' /tmp/client
}
