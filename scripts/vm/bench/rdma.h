/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What rdma.c (measuring) and end.c (connecting, counting) share.
 */
#ifndef BENCH_RDMA_H
#define BENCH_RDMA_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS		1000000ULL
#define SEC		(1000 * MS)

#define MAX_QPS		512
#define MAX_LIST	16
#define MAX_DEPTH	128
#define MAX_SIZE	(1U << 20)
#define BYTES_IN_FLIGHT	(2U << 20)
#define LANDING		(2U << 20)	/* offset in the buffer where latency WRITEs go */
#define BUF_BYTES	(4U << 20)
#define RECEIVES	256		/* of a QP */

/**
 * struct point - what to measure
 * @text: as it was asked for
 * @kind: 'b'w, 's'ys, 'l'at
 * @op: 'w'rite, 'r'ead, 's'end
 * @size: bytes of a message
 * @qps: queue pairs
 * @list: work requests posted at a time
 */
struct point {
	char text[64];
	char kind;
	char op;
	uint32_t size;
	uint32_t qps;
	uint32_t list;
};

/**
 * struct sample - counters at a moment
 * @ns: CLOCK_MONOTONIC
 * @kernel_us: CPU time of the machine in the kernel, softirq included
 * @syscalls: of this process, or -1
 * @insn: guest instructions: user, kernel, the module's part of the latter
 * @done: messages complete
 * @posted: messages posted
 */
struct sample {
	uint64_t ns;
	double kernel_us;
	int64_t syscalls;
	uint64_t insn[3];
	uint64_t done;
	uint64_t posted;
};

/* One of the two processes. */
struct end {
	bool server;
	bool cm;
	int ctl;
	int mtu;
	int insn_fd;
	uint64_t run_ns;
	uint64_t warm_ns;
	const char *address;
	const char *peer_address;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *buf;
	uint64_t peer_addr;
	uint32_t peer_rkey;
	uint32_t max_inline;
	int gid_index;
	union ibv_gid gid;
	union ibv_gid peer_gid;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	uint32_t num_qps;
	struct ibv_qp *qp[MAX_QPS];
};

uint64_t now(void);
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* "DEV,GID,ADDRESS" of this end and of the other one; exchanges addresses and keys. */
void open_end(struct end *e, const char *mine, const char *others);
/* Have at least so many connected QPs; both ends call it. */
void need_qps(struct end *e, uint32_t n);
void post_receives(struct end *e, uint32_t qp, uint32_t n);

/* The other process. */
void tell(struct end *e, const void *what, size_t bytes);
void hear(struct end *e, void *what, size_t bytes);

void profile(const struct end *e, bool on);	/* what runs meanwhile is counted by blocks (icount.c) */
void take_sample(struct end *e, struct sample *s, bool syscalls);

#endif /* BENCH_RDMA_H */
