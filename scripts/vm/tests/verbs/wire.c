// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <time.h>

#include "wire.h"

#define SWITCH_NETNS	"/run/netns/sw"
#define PORT_OF_A	"pa"
#define ROCE_PORT	4791

static int fd = -1;

/* ---- looking ---- */

static void open_socket(void)
{
	struct sockaddr_ll addr = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int room = 64 << 20, one = 1;

	fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
	CHECK(fd >= 0);
	CHECK_OK(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)));
	CHECK_OK(setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)));
	addr.sll_ifindex = if_nametoindex(PORT_OF_A);
	CHECK(addr.sll_ifindex);
	CHECK_OK(bind(fd, (struct sockaddr *)&addr, sizeof(addr)));
}

void wire_open(void)
{
	int home = open("/proc/self/ns/net", O_RDONLY);
	int there = open(SWITCH_NETNS, O_RDONLY);

	CHECK(home >= 0 && there >= 0);
	CHECK_OK(setns(there, CLONE_NEWNET));
	open_socket();
	CHECK_OK(setns(home, CLONE_NEWNET));
	close(home);
	close(there);
}

static uint32_t get24(const uint8_t *p)
{
	return p[0] << 16 | p[1] << 8 | p[2];
}

/* From Ethernet header to AETH; false for what is not ours. */
static bool decode(const uint8_t *p, size_t bytes, struct seen *seen)
{
	const uint8_t *udp = p + ETH_HLEN + ((p[ETH_HLEN] >> 4) == 4 ? 20 : 40);
	const uint8_t *bth = udp + 8;

	if (bytes < (size_t)(bth + 16 - p) || (udp[2] << 8 | udp[3]) != ROCE_PORT)
		return false;
	seen->opcode = bth[0];
	seen->solicited = bth[1] & 0x80;
	seen->qpn = get24(bth + 5);
	seen->ackreq = bth[8] & 0x80;
	seen->psn = get24(bth + 9);
	seen->syndrome = bth[12];
	seen->bytes = (udp[4] << 8 | udp[5]) - 8;
	return true;
}

static bool read_one(struct seen *seen, bool *ours)
{
	uint8_t data[128], control[256];
	struct iovec iov = { .iov_base = data, .iov_len = sizeof(data) };
	struct sockaddr_ll from;
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from),
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(fd, &msg, 0);
	struct cmsghdr *c;
	struct timespec ts;

	if (n < 0)
		return false;
	*ours = decode(data, n, seen);
	seen->from_a = from.sll_pkttype != PACKET_OUTGOING;
	seen->ns = 0;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		seen->ns = ts.tv_sec * SEC + ts.tv_nsec;
	}
	return true;
}

size_t wire_read(struct seen *seen, size_t max)
{
	struct tpacket_stats stats;
	socklen_t len = sizeof(stats);
	bool ours = false;
	size_t n = 0;

	CHECK(fd >= 0);
	sleep_ns(50 * MS);
	while (n < max && read_one(&seen[n], &ours))
		n += ours;
	CHECK_OK(getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len));
	CHECK_EQ(stats.tp_drops, 0);
	CHECK(n < max);
	return n;
}

void wire_dump(void)
{
	uint64_t first = 0;
	struct seen seen;
	bool ours;

	while (fd >= 0 && read_one(&seen, &ours)) {
		if (!ours)
			continue;
		first = first ? first : seen.ns;
		printf("#   %9.3f ms %s QP %06x opcode %02x PSN %06x%s%s syndrome %02x, %u bytes\n",
		       (seen.ns - first) / 1e6, seen.from_a ? "a ->" : "-> a", seen.qpn, seen.opcode,
		       seen.psn, seen.ackreq ? " A" : "", seen.solicited ? " SE" : "",
		       seen.syndrome, seen.bytes);
	}
}

size_t wire_select(struct seen *seen, size_t n, bool from_a, int opcode)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (seen[i].from_a == from_a && (opcode == OP_ANY || seen[i].opcode == opcode))
			seen[kept++] = seen[i];
	return kept;
}

/* ---- losing ---- */

static unsigned int dropper(const char *format, ...) __attribute__((format(printf, 1, 2)));

static unsigned int dropper(const char *format, ...)
{
	char args[128], command[512];
	unsigned int value = 0;
	va_list va;
	FILE *f;

	va_start(va, format);
	vsnprintf(args, sizeof(args), format, va);
	va_end(va);
	snprintf(command, sizeof(command), "%s/dropper.sh %s", getenv("VERBS_WIRE"), args);
	f = popen(command, "r");
	CHECK(f);
	if (fscanf(f, "%u", &value) != 1)
		value = 0;
	CHECK_OK(pclose(f));
	return value;
}

void drop(char host, int opcode, unsigned int first, unsigned int count)
{
	dropper("add %c %d %u %u", host, opcode, first, count);
}

void drop_psn(char host, int opcode, uint32_t psn, unsigned int count)
{
	dropper("add %c %d 0 %u %u", host, opcode, count, psn);
}

void drop_end(void)
{
	dropper("clear");
}

unsigned int dropped(void)
{
	return dropper("dropped");
}
