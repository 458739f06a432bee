// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * libFuzzer target: the input is a queue's rules and the slots that a process
 * wrote into its rings. Whatever they hold, what comes out of the decoder refers to
 * no more than its slot had room for, keeps to the rules, and makes packets that
 * stay within the message.
 *
 *   byte 0	transport (2 bits), process, sig_all
 *   byte 1	SGEs that a slot holds
 *   byte 2	inline bytes / 4
 *   slots:	1 byte: bytes / 4 behind the header, bit 7: a receive; header; those bytes
 */
#include "wqe.h"

#define SLOTS		8
#define MTU		1024
#define PACKETS		40		/* of one WQE that are looked at */
#define QKEY		0x80000123U
#define MUST(c)		do { if (!(c)) abort(); } while (0)

struct input {
	const u8 *p;
	size_t left;
};

struct queue {
	struct sroce_sq_rules rules;
	struct sroce_req req;
	u32 room;			/* bytes behind the header of a slot */
};

static u8 get8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

static void get(struct input *in, void *to, size_t bytes)
{
	size_t n = min(bytes, in->left);

	if (n)
		memcpy(to, in->p, n);
	in->p += n;
	in->left -= n;
}

static void start(struct queue *q)
{
	sroce_req_reset(&q->req);
	sroce_req_start(&q->req, 0xfffff0);
}

static void queue_init(struct queue *q, struct input *in)
{
	static const u8 transports[] = { SROCE_RC, SROCE_XRC, SROCE_UC, SROCE_UD };
	u8 kind = get8(in), transport = transports[kind & 3];

	memset(q, 0, sizeof(*q));
	q->rules = (struct sroce_sq_rules){
		.ops = sroce_sq_ops(transport, kind & 4),
		.max_sge = get8(in) % (SROCE_MAX_SGE + 1),
		.max_inline = get8(in) * 4U % (SROCE_MAX_INLINE + 1),
		.max_bytes = transport == SROCE_UD ? MTU : SROCE_MAX_MSG_BYTES,
		.qkey = QKEY,
		.datagram = transport == SROCE_UD,
		.sig_all = kind & 8,
	};
	q->room = max((u32)(q->rules.max_sge * sizeof(struct sroce_sge)), q->rules.max_inline);
	q->room = (q->room + 7) & ~7U;
	q->req = (struct sroce_req){
		.transport = transport,
		.reliable = transport == SROCE_RC || transport == SROCE_XRC,
		.retry_cnt = 1, .rnr_retry = 1, .max_rd_atomic = 1,
		.mtu = MTU, .window = PACKETS, .ackreq_every = 4, .ack_timeout_ns = 1000,
		.stride = sizeof(struct sroce_swqe) + q->room, .mask = SLOTS - 1,
	};
	q->req.wqes = calloc(SLOTS, q->req.stride);
	start(q);
}

/* A slot of just its size, so that whoever reads beyond it is caught. */
static u8 *get_slot(struct input *in, size_t header, u32 room, u8 n)
{
	u8 *slot = malloc(header + room);

	memset(slot, 0xee, header + room);
	get(in, slot, header);
	get(in, slot + header, min(n * 4U, room));
	return slot;
}

static u64 sum(const void *sge, u32 n)
{
	const struct sroce_sge *s = sge;
	u64 bytes = 0;

	while (n--)
		bytes += s++->length;
	return bytes;
}

/* ---- send queues ---- */

static void check_data(const struct sroce_sq_rules *rules, const struct sroce_send_wqe *wqe,
		       const struct sroce_swqe *to)
{
	if (to->flags & SROCE_WF_INLINE) {
		MUST(!to->num_sge && wqe->length <= rules->max_inline);
		MUST(!memcmp(to->data, wqe + 1, wqe->length));
		MUST(to->op == SROCE_WR_FLUSH || to->length == wqe->length);
	} else {
		MUST(to->num_sge == wqe->num_sge && to->num_sge <= rules->max_sge);
		MUST(!memcmp(to->data, wqe + 1, to->num_sge * sizeof(struct sroce_sge)));
		MUST(to->op == SROCE_WR_FLUSH || to->length == sum(to->data, to->num_sge));
	}
	MUST(to->op == SROCE_WR_FLUSH || to->length <= rules->max_bytes);
}

static void check_send(const struct sroce_sq_rules *rules, const struct sroce_send_wqe *wqe,
		       const struct sroce_swqe *to)
{
	MUST(to->wr_id == wqe->wr_id && to->op == wqe->opcode);
	MUST(!(to->flags & ~0xf) && (!rules->sig_all || to->flags & SROCE_WF_SIGNALED));
	if (to->state == SROCE_SWQE_FAILED) {
		MUST(to->status == SROCE_ST_LOC_LEN_ERR || to->status == SROCE_ST_LOC_QP_OP_ERR);
		MUST(!to->num_sge && !to->length);
		return;
	}
	MUST(to->state == SROCE_SWQE_POSTED && sroce_sq_takes(rules->ops, to->op));
	check_data(rules, wqe, to);
	if (sroce_wr_is_atomic(to->op))
		MUST(to->length == 8 && !(to->flags & SROCE_WF_INLINE));
	if (to->op == SROCE_WR_ATOMIC_WRITE)
		MUST(to->length == 8);
	if (to->op == SROCE_WR_READ)
		MUST(!(to->flags & SROCE_WF_INLINE));
	if (to->op == SROCE_WR_FLUSH)
		MUST(!(to->feth & ~0x3f));
	MUST(to->srqn <= 0xffffff && to->remote_qpn <= 0xffffff);
	if (rules->datagram)
		MUST(to->remote_qkey < BIT(31) || to->remote_qkey == QKEY);
}

/* The requester is content with it: packets of the message and nothing else. */
static void send_some(struct queue *q)
{
	struct sroce_req_out out;
	u8 hdr[SROCE_MAX_HDR_BYTES];
	int n;

	for (n = 0; n < PACKETS; n++) {
		enum sroce_req_what what = sroce_req_next(&q->req, 0, &out);
		const struct sroce_swqe *wqe;

		if (what == SROCE_REQ_NOTHING)
			return;
		MUST(out.index - q->req.head < q->req.tail - q->req.head);
		wqe = sroce_req_wqe(&q->req, out.index);
		MUST(wqe->state != SROCE_SWQE_FAILED);
		MUST(sroce_wr_is_local(wqe->op) == (what == SROCE_REQ_LOCAL));
		if (what == SROCE_REQ_LOCAL) {
			sroce_req_local_done(&q->req, SROCE_ST_SUCCESS);
			continue;
		}
		MUST(sroce_pkt_build(&out.pkt, hdr) <= SROCE_MAX_HDR_BYTES);
		MUST(out.pkt.payload_bytes <= MTU);
		if (out.pkt.payload_bytes)
			MUST((u64)out.offset + out.pkt.payload_bytes <= wqe->length);
	}
}

static void complete(struct queue *q)
{
	enum sroce_status status;
	u32 index, head = q->req.head;

	while (sroce_req_pop(&q->req, &index, &status)) {
		const struct sroce_swqe *wqe = sroce_req_wqe(&q->req, index);

		MUST(index == head++);
		if (wqe->state == SROCE_SWQE_FAILED && status != SROCE_ST_WR_FLUSH_ERR)
			MUST(status == wqe->status);
	}
	/* Nobody answers: begin anew. */
	if (q->req.tail - q->req.head > q->req.mask || q->req.state == SROCE_REQ_STOPPED)
		start(q);
}

static void post(struct queue *q, struct input *in, u8 n)
{
	struct sroce_swqe *to = sroce_req_wqe(&q->req, q->req.tail);
	u8 *slot = get_slot(in, sizeof(struct sroce_send_wqe), q->room, n);

	memset(to, 0x5a, q->req.stride);
	sroce_swqe_decode(&q->rules, slot, to);
	check_send(&q->rules, (struct sroce_send_wqe *)slot, to);
	free(slot);
	q->req.tail++;
	send_some(q);
	complete(q);
}

/* ---- receive queues ---- */

static void post_recv(struct queue *q, struct input *in, u8 n)
{
	u32 room = q->rules.max_sge * sizeof(struct sroce_sge);
	u8 *slot = get_slot(in, sizeof(struct sroce_recv_wqe), room, n);
	const struct sroce_recv_wqe *wqe = (struct sroce_recv_wqe *)slot;
	struct sroce_rwqe *to = malloc(sizeof(*to));

	memset(to, 0x5a, sizeof(*to));
	sroce_rwqe_decode(slot, q->rules.max_sge, to);
	MUST(to->valid && to->wr_id == wqe->wr_id);
	MUST(to->bad == (wqe->num_sge > q->rules.max_sge));
	MUST(to->num_sge == (to->bad ? 0 : wqe->num_sge));
	MUST(to->length == sum(to->sge, to->num_sge));
	MUST(!memcmp(to->sge, wqe + 1, to->num_sge * sizeof(to->sge[0])));
	free(to);
	free(slot);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	struct input in = { data, bytes };
	struct queue q;

	queue_init(&q, &in);
	while (in.left) {
		u8 n = get8(&in);

		if (n & 0x80)
			post_recv(&q, &in, n & 0x7f);
		else
			post(&q, &in, n);
	}
	free(q.req.wqes);
	return 0;
}
