# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# traffic.sh -- traffic without end between sroce_a and sroce_b of topo_two_hosts, for tests of what happens
# meanwhile; source it after vm-lib.sh.
#
# The programs run in the initial namespace and speak TCP there, so that no process keeps the namespaces a
# and b alive; only those of rdma_cm (traffic_cm) must be in a and b. Those that use sroce_a are in VICTIMS,
# the others in PEERS (process ids); NAME_OF says which is which, and their output is in $TRAFFIC/NAME.

TRAFFIC=/tmp/traffic
# Seconds until something that has to happen is taken for not happening: an emulated machine on a busy host is
# slow, and all programs here spin.
[ "${VM_KERNEL:-}" != debug ] || PATIENCE=${PATIENCE:-300}
PATIENCE=${PATIENCE:-100}
# BOUND: seconds that a removal or a change may take, if that is to be judged: the machine may be busy with other
# things, or emulated. The times are in /host/out/times.
BOUND=${BOUND:-}
T_TIMEOUT=${T_TIMEOUT:-1200}
# perftest's timeout of a QP: 9 s and 8 attempts. A connection that is to live on gives up later than this machine
# makes its changes.
QP_TIMEOUT=21

VICTIMS=() PEERS=() SURVIVOR=''
declare -A NAME_OF
TRAFFIC_QPS=0 TRAFFIC_PORT=18600

# timed COMMAND...: it must succeed, within BOUND if there is one
timed() {
	local start=${EPOCHREALTIME/./} took rc=0
	"$@" || rc=$?
	took=$((${EPOCHREALTIME/./} - start))
	echo "$*: $((took / 1000)) ms" | tee -a /host/out/times
	[ $rc = 0 ] || { echo "$* failed"; return $rc; }
	[ -z "$BOUND" ] || [ $took -le $((BOUND * 1000000)) ] || { echo "longer than $BOUND s"; return 1; }
}

# started DEV NAME: the program just started in the background is of this device
started() {
	NAME_OF[$!]=$2
	case $1 in
	sroce_a) VICTIMS+=($!) ;;
	*)	PEERS+=($!) ;;
	esac
}

# calm_down: the programs spin; what is done meanwhile comes first
calm_down() {
	local pids=("${VICTIMS[@]}" "${PEERS[@]}")
	[ ${#pids[@]} = 0 ] || renice -n 19 -p "${pids[@]}" >/dev/null 2>&1 || true
}

# perf_forever TOOL SERVER CLIENT QPS [ARG...]: SERVER and CLIENT are a and b
perf_forever() {
	local tool=$1 server=sroce_$2 client=sroce_$3 qps=$4 port=$((TRAFFIC_PORT++)) name=$1-$3-to-$2 end
	shift 4
	calm_down
	# READs cannot be run infinitely
	end=(--run_infinitely)
	[ "$tool" != ib_read_bw ] || end=(-D 3600)
	"$tool" -d "$server" -x "$(gid_index "$server" 4)" -p $port -q "$qps" -u $QP_TIMEOUT -F "${end[@]}" "$@" \
		>"$TRAFFIC/$name-server" 2>&1 &
	started "$server" "$name-server"
	wait_for "$PATIENCE" listens init $port || { echo "$name: no server"; return 1; }
	"$tool" -d "$client" -x "$(gid_index "$client" 4)" -p $port -q "$qps" -u $QP_TIMEOUT -F "${end[@]}" "$@" \
		127.0.0.1 >"$TRAFFIC/$name-client" 2>&1 &
	started "$client" "$name-client"
	TRAFFIC_QPS=$((TRAFFIC_QPS + qps))
}

# traffic_start few|some|all: RC of every kind in both directions, half of it, or WRITEs alone
traffic_start() {
	mkdir -p "$TRAFFIC"
	rm -f "$TRAFFIC"/*
	VICTIMS=() PEERS=() SURVIVOR='' TRAFFIC_QPS=0
	RESOURCES=$(rdma resource show sroce_b)
	perf_forever ib_write_bw b a 3 -s 20000
	if [ "$1" != few ]; then
		perf_forever ib_read_bw a b 2 -s 20000
		perf_forever ib_send_bw a b 2 -s 3000
	fi
	if [ "$1" = all ]; then
		perf_forever ib_write_bw a b 3 -s 20000
		perf_forever ib_read_bw b a 2 -s 3000
		perf_forever ib_send_bw b a 2 -s 20000
	fi
	survivor_start sroce_a
	traffic_flows
}

# traffic_cm: connections of rdma_cm in both directions
traffic_cm() {
	local server client
	for server in a b; do
		client=$([ "$server" = a ] && echo b || echo a)
		ip netns exec "$server" rping -s -a "${NS_IP4[$server]}" -S 1000 >"$TRAFFIC/rping-$server-server" 2>&1 &
		started "sroce_$server" "rping-$server-server"
		wait_for "$PATIENCE" cm_listens "${NS_IP4[$server]}" || { echo "rping: no server"; return 1; }
		ip netns exec "$client" rping -c -a "${NS_IP4[$server]}" -S 1000 >"$TRAFFIC/rping-$client-client" 2>&1 &
		started "sroce_$client" "rping-$client-client"
		TRAFFIC_QPS=$((TRAFFIC_QPS + 1))
	done
	traffic_flows
}

cm_listens() {
	rdma resource show cm_id | grep 'state LISTEN' | grep -q "src-addr $1"
}

# survivor_start DEV: see survivor.c; its process id is SURVIVOR, its output $TRAFFIC/survivor
survivor_start() {
	mkdir -p "$TRAFFIC"
	# nothing of an earlier one, before we look
	: >"$TRAFFIC/survivor"
	"$VM_PROGRAMS/survivor" "$1" "$(gid_index "$1" 4)" >"$TRAFFIC/survivor" 2>&1 &
	SURVIVOR=$!
	wait_for "$PATIENCE" survivor_says ready || { cat "$TRAFFIC/survivor"; return 1; }
}

survivor_says() {
	grep -qx -- "$1" "$TRAFFIC/survivor" 2>/dev/null
}

# survivor_ends: it has seen the end of its device as it should
survivor_ends() {
	local rc=0
	wait_for "$PATIENCE" survivor_ended || { echo "the survivor hangs:"; cat "$TRAFFIC/survivor"; return 1; }
	wait "$SURVIVOR" || rc=$?
	if [ $rc != 0 ] || ! survivor_says gone || ! survivor_says 'event DEVICE_FATAL'; then
		echo "the survivor, exit status $rc:"
		cat "$TRAFFIC/survivor"
		return 1
	fi
}

survivor_ended() {
	! kill -0 "$SURVIVOR" 2>/dev/null
}

connected() {
	[ "$(rdma resource show qp link sroce_a/1 | grep -c 'type RC state RT[RS]')" -ge "$TRAFFIC_QPS" ]
}

# progress DEV SINCE: it has sent and received
progress() {
	[ "$(hw "$1" rx_pkts)" -gt $(($2 + 1000)) ]
}

# traffic_flows: all QPs are connected, and there are packets
traffic_flows() {
	wait_for "$PATIENCE" connected || { echo "not connected:"; rdma resource show qp; traffic_says; return 1; }
	wait_for "$PATIENCE" progress sroce_a "$(hw sroce_a rx_pkts)" || { echo "no packets"; traffic_says; return 1; }
	wait_for "$PATIENCE" progress sroce_b "$(hw sroce_b rx_pkts)" || { echo "no packets"; traffic_says; return 1; }
	calm_down
}

traffic_says() {
	tail -n 5 "$TRAFFIC"/*
}

runs() {
	kill -0 "$1" 2>/dev/null
}

# traffic_alive: no program has ended
traffic_alive() {
	local pid
	for pid in "${VICTIMS[@]}" "${PEERS[@]}"; do
		runs "$pid" || { echo "${NAME_OF[$pid]} has ended:"; traffic_says; return 1; }
	done
}

ended() {
	! runs "$1"
}

# victims_fail: every program whose device went has ended by itself, with an error
victims_fail() {
	local pid
	for pid in "${VICTIMS[@]}"; do
		wait_for "$PATIENCE" ended "$pid" || { echo "${NAME_OF[$pid]} goes on"; traffic_says; return 1; }
		# rping takes a peer that hangs up for a good end
		! wait "$pid" || [[ ${NAME_OF[$pid]} = rping* ]] || { echo "${NAME_OF[$pid]} noticed nothing"; traffic_says; return 1; }
	done
	VICTIMS=()
}

# traffic_stop: kill what is left; nothing of it stays in the kernel
traffic_stop() {
	local pid
	for pid in "${VICTIMS[@]}" "${PEERS[@]}" $SURVIVOR; do
		kill -9 "$pid" || true
		wait "$pid" || true
	done 2>/dev/null
	VICTIMS=() PEERS=() SURVIVOR=''
	[ ! -e /sys/class/infiniband/sroce_b ] || wait_for "$PATIENCE" resources_back || {
		echo "left behind:"
		rdma resource show
		rdma resource show qp
		return 1
	}
}

# traffic_kill: all programs there may be, from whatever shell
traffic_kill() {
	pkill -9 -x 'ib_(write|read|send)_bw|rping|survivor' || true
	wait_for "$PATIENCE" traffic_gone
}

traffic_gone() {
	! pgrep -x 'ib_(write|read|send)_bw|rping|survivor' >/dev/null
}

resources_back() {
	[ "$(rdma resource show sroce_b)" = "$RESOURCES" ]
}
