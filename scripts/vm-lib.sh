# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# vm-lib.sh -- what scripts in the test machine share; source it there: . /sroce/scripts/vm-lib.sh
#
# Two hosts (topo_two_hosts), each a namespace, and a switch between them:
#
#	ns a                          ns sw                          ns b
#	sroce_a                      bridge br0                    sroce_b
#	eth0 10.1.0.1/24 ------- pa             pb ------- 10.1.0.2/24 eth0
#	     fd01::1/64                                    fd01::2/64
#
# A qdisc on pa works on what goes to a, one on pb on what goes to b. With topo_rxe_peer the right host is
# the initial namespace, called init here, and its device is rxe0 (6.12's rxe works nowhere else).
#
# Functions say what is wrong on stderr and return non-zero; none of them ends the script.

declare -A NS_DEV NS_IP4 NS_IP6

# the test programs in C (scripts/vm/programs makes them)
# shellcheck disable=SC2034
VM_PROGRAMS=/opt/programs

# --- running things somewhere

# in_ns NS COMMAND...: NS is a, b, sw or init
in_ns() {
	local ns=$1
	shift
	if [ "$ns" = init ]; then
		"$@"
	else
		ip netns exec "$ns" "$@"
	fi
}
on_a() { in_ns a "$@"; }
on_b() { in_ns b "$@"; }
on_sw() { in_ns sw "$@"; }

# wait_for SECONDS COMMAND...: until the command is true
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# --- topologies

# net_host NS PORT N MTU: eth0 in NS with the addresses .N, joined to the switch's PORT
net_host() {
	local ns=$1 port=$2 n=$3 mtu=$4 pid=$1
	[ "$ns" != init ] || pid=1
	ip -n sw link add name "$port" mtu "$mtu" type veth peer name eth0 netns "$pid" || return
	ip -n sw link set "$port" master br0 up || return
	net_addresses "$ns" "$n" "$mtu"
}

# net_addresses NS N MTU: eth0 comes up
net_addresses() {
	local ns=$1 n=$2 mtu=$3
	in_ns "$ns" sysctl -qw net.ipv6.conf.eth0.accept_dad=0 net.ipv6.conf.eth0.addr_gen_mode=0 \
		net.ipv6.conf.eth0.router_solicitations=0 || return
	in_ns "$ns" ip link set lo up
	in_ns "$ns" ip addr add "10.1.0.$n/24" dev eth0 || return
	in_ns "$ns" ip addr add "fd01::$n/64" dev eth0 nodad || return
	in_ns "$ns" ip link set eth0 mtu "$mtu" up || return
	NS_IP4[$ns]=10.1.0.$n
	NS_IP6[$ns]=fd01::$n
}

# topo_net LEFT RIGHT MTU: the picture above without the RDMA devices
topo_net() {
	local left=$1 right=$2 mtu=$3 ns
	for ns in sw "$left" "$right"; do
		[ "$ns" = init ] || ip netns add "$ns" || return
	done
	ip -n sw link add name br0 mtu "$mtu" type bridge forward_delay 0 mcast_snooping 0 || return
	on_sw sysctl -qw net.ipv6.conf.br0.disable_ipv6=1
	ip -n sw link set br0 up || return
	net_host "$left" pa 1 "$mtu" || return
	net_host "$right" pb 2 "$mtu" || return
	net_works "$left" "$right"
}

# net_works LEFT RIGHT
net_works() {
	local left=$1 right=$2
	wait_for 60 in_ns "$left" ping -q -c 1 -W 1 10.1.0.2 >/dev/null || {
		echo "topo: no way from $left to $right" >&2
		return 1
	}
	wait_for 60 in_ns "$left" ping -q -c 1 -W 1 fd01::2 >/dev/null || {
		echo "topo: no IPv6 way from $left to $right" >&2
		return 1
	}
}

# topo_link NS TYPE DEV: an RDMA device on eth0 there
topo_link() {
	local ns=$1 type=$2 dev=$3
	case $type in
	rxe)	modprobe rdma_rxe ;;
	*)	modprobe "$type" ;;
	esac || return
	in_ns "$ns" rdma link add "$dev" type "$type" netdev eth0 || return
	NS_DEV[$ns]=$dev
	# GIDs come from a work queue
	wait_for 60 has_gids "$dev" || {
		echo "topo: $dev has no GIDs" >&2
		return 1
	}
}

has_gids() {
	gid_index "$1" 4 >/dev/null && gid_index "$1" 6 >/dev/null
}

# topo_two_hosts [MTU]
topo_two_hosts() {
	topo_net a b "${1:-1500}" && topo_link a sroce sroce_a && topo_link b sroce sroce_b
}

# topo_no_switch [MTU]: the two ends of one veth
topo_no_switch() {
	local mtu=${1:-1500}
	ip netns add a && ip netns add b || return
	ip -n a link add name eth0 type veth peer name eth0 netns b || return
	net_addresses a 1 "$mtu" && net_addresses b 2 "$mtu" && net_works a b || return
	topo_link a sroce sroce_a && topo_link b sroce sroce_b
}

# topo_rxe_peer [MTU]
topo_rxe_peer() {
	topo_net a init "${1:-1500}" && topo_link init rxe rxe0 && topo_link a sroce sroce_a
}

# topo_down: remove all of it
topo_down() {
	local ns
	for ns in "${!NS_DEV[@]}"; do
		[ ! -e "/sys/class/infiniband/${NS_DEV[$ns]}" ] || rdma link delete "${NS_DEV[$ns]}"
	done
	for ns in a b sw; do
		[ ! -e /run/netns/$ns ] || ip netns del $ns
	done
	NS_DEV=() NS_IP4=() NS_IP6=()
	# 6.12's rxe holds port 4791 as long as it is loaded
	[ ! -e /sys/module/rdma_rxe ] || modprobe -r rdma_rxe
	# the veth of the initial namespace goes with its peer's namespace, a little later
	wait_for 60 topo_gone
}

topo_gone() {
	[ ! -e /sys/class/net/eth0 ]
}

# gid_index DEV 4|6: index of the first RoCE v2 GID with an IPv4 address or a global IPv6 address
gid_index() {
	local port=/sys/class/infiniband/$1/ports/1 family=$2 i=0 gid type
	while [ -e "$port/gids/$i" ]; do
		gid=$(<"$port/gids/$i")
		case $family:$gid in
		?:0000:0000:0000:0000:0000:0000:0000:0000)
			;;
		4:0000:0000:0000:0000:0000:ffff:* | 6:[23f][0-9a-d]*)
			type=$(cat "$port/gid_attrs/types/$i" 2>/dev/null)
			if [ "$type" = "RoCE v2" ]; then
				echo $i
				return 0
			fi ;;
		esac
		i=$((i + 1))
	done 2>/dev/null
	return 1
}

# has_gid DEV IPv4: the address is a GID of the device
has_gid() {
	ibv_devinfo -v -d "$1" | grep -qF "::ffff:$2,"
}

# hw DEV COUNTER: a hardware counter of its port
hw() {
	# the core answers from what it read less than 10 ms ago
	sleep 0.02
	cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"
}

# --- perftest

listens() {
	[ -n "$(in_ns "$1" ss -Hltn "sport = :$2")" ]
}

# perftest_pair SERVER-NS CLIENT-NS TOOL [ARG...]: run the server, wait until it listens, run the client.
# PERF_FAMILY=6 uses the IPv6 addresses, PERF_PORT another control port, PERF_TIMEOUT another limit than
# 120 s, PERF_QP_TIMEOUT another -u (which may be there once only). Afterwards PERF_SERVER and PERF_CLIENT are the exit statuses and PERF_OUT a directory with their
# outputs in server and client. The result is true if both are 0.
perftest_pair() {
	local server=$1 client=$2 tool=$3 family=${PERF_FAMILY:-4} port=${PERF_PORT:-18515} limit=${PERF_TIMEOUT:-120}
	local address pid sgid cgid
	shift 3
	PERF_OUT=$(mktemp -d /tmp/perf.XXXXXX)
	PERF_SERVER=255 PERF_CLIENT=255
	address=${NS_IP4[$server]}
	[ "$family" = 4 ] || address=${NS_IP6[$server]}
	sgid=$(gid_index "${NS_DEV[$server]}" "$family") || { echo "perftest_pair: no GID in $server"; return 1; }
	cgid=$(gid_index "${NS_DEV[$client]}" "$family") || { echo "perftest_pair: no GID in $client"; return 1; }
	[ "$family" = 4 ] || set -- --ipv6-addr "$@"
	# an ACK timeout of 2 s: however slow the machine is, nothing is retried that was not lost
	set -- -u "${PERF_QP_TIMEOUT:-19}" "$@"
	in_ns "$server" timeout -k 5 "$limit" "$tool" -d "${NS_DEV[$server]}" -x "$sgid" -p "$port" "$@" \
		>"$PERF_OUT/server" 2>&1 &
	pid=$!
	if wait_for 60 perf_ready $pid "$server" "$port" && kill -0 $pid 2>/dev/null; then
		PERF_CLIENT=0
		in_ns "$client" timeout -k 5 "$limit" "$tool" -d "${NS_DEV[$client]}" -x "$cgid" -p "$port" "$@" \
			"$address" >"$PERF_OUT/client" 2>&1 || PERF_CLIENT=$?
		# a client that failed may leave its server waiting
		[ $PERF_CLIENT = 0 ] || { sleep 1; kill $pid 2>/dev/null; }
	fi
	PERF_SERVER=0
	wait $pid || PERF_SERVER=$?
	[ $PERF_SERVER = 0 ] && [ $PERF_CLIENT = 0 ] && return 0
	echo "perftest_pair: $tool $*: server $PERF_SERVER, client $PERF_CLIENT"
	head -n 40 "$PERF_OUT/server" | sed 's/^/server: /'
	[ ! -e "$PERF_OUT/client" ] || head -n 40 "$PERF_OUT/client" | sed 's/^/client: /'
	return 1
}

# With -R the server listens through the RDMA connection manager, not on a TCP port.
perf_ready() {
	local pid=$1 ns=$2 port=$3
	kill -0 "$pid" 2>/dev/null || return 0
	listens "$ns" "$port" || rdma resource show cm_id 2>/dev/null | grep -q 'state LISTEN'
}

# perf_result: the last line of numbers of the last perftest_pair's client
perf_result() {
	grep -E '^ *[0-9]+ +[0-9]' "$PERF_OUT/client" 2>/dev/null | tail -n 1
}

# --- the kernel's messages

# expect_dmesg REGEX: reports of the kernel with a line like this (awk) are no failure of this run
expect_dmesg() {
	printf '%s\n' "$1" >>/host/dmesg-allow
}

# --- tests

T_PASSED=0 T_FAILED=0 T_SKIPPED=0

t_number() {
	echo $((T_PASSED + T_FAILED + T_SKIPPED))
}

# t_long SINCE: tells how long a test took, in seconds of SECONDS, if that was long
t_long() {
	[ $((SECONDS - $1)) -lt 5 ] || echo "# $((SECONDS - $1)) s"
}

# t NAME COMMAND...: one test; the command runs in a subshell of its own (a function may use `set -e` style:
# its first failing command fails it) and at most T_TIMEOUT (300) seconds. True if it passed.
t() {
	local name=$1 out pid dog rc=0 start=$SECONDS
	shift
	out=$(mktemp /tmp/t.XXXXXX)
	# in the background, since a subshell in a condition would ignore set -e
	(set -eE; trap 'echo "failed: $BASH_COMMAND"' ERR; "$@") >"$out" 2>&1 &
	pid=$!
	(sleep "${T_TIMEOUT:-300}"; echo "not done after ${T_TIMEOUT:-300} s" >>"$out"; kill_tree $pid) >/dev/null 2>&1 &
	dog=$!
	wait $pid || rc=$?
	kill_tree $dog
	wait $dog 2>/dev/null || true
	if [ $rc = 0 ]; then
		T_PASSED=$((T_PASSED + 1))
		echo "ok $(t_number) - $name"
	else
		T_FAILED=$((T_FAILED + 1))
		echo "not ok $(t_number) - $name"
		sed 's/^/# /' "$out"
		echo "# exit status $rc"
	fi
	t_long $start
	rm -f "$out"
	return $rc
}

# kill_tree PID: a process and all that came from it
kill_tree() {
	local child children
	children=$(pgrep -P "$1")
	kill "$1" 2>/dev/null
	for child in $children; do
		kill_tree "$child"
	done
}

# t_skip NAME REASON: a test that cannot be run here
t_skip() {
	T_SKIPPED=$((T_SKIPPED + 1))
	echo "ok $(t_number) - $1 # SKIP $2"
}

# t_end: the sum; true if tests ran and none failed
t_end() {
	echo "1..$(t_number)"
	echo "$T_PASSED passed, $T_FAILED failed$([ $T_SKIPPED = 0 ] || echo ", $T_SKIPPED skipped")"
	[ $T_FAILED = 0 ] && [ $T_PASSED -gt 0 ]
}
