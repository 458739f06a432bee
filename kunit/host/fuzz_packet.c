// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * libFuzzer target: the input is a little program of posts, packets (as bytes or
 * as fields near what is expected), timers and pulls for one QP. No packet,
 * however malformed, may lead outside its memory, its WQEs or its PSN window.
 */
#include "req.h"
#include "resp.h"

#define MTU		256
#define SLOTS		16
#define MR_VA		0x1000ULL
#define MR_BYTES	2048
#define RKEY		1
#define RECV_BYTES	1024
#define MAX_LENGTH	2048
#define MUST(c)		do { if (!(c)) abort(); } while (0)

struct input {
	const u8 *p;
	size_t left;
};

struct qp {
	struct sroce_req req;
	struct sroce_resp resp;
	struct sroce_swqe slots[SLOTS];
	u8 *data[SLOTS];
	u8 *mr;
	u8 *recv;
	u32 receives;
	u8 result;
	bool in_recv;
	u64 now;
};

static u8 get8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

static u32 get32(struct input *in)
{
	u32 v = get8(in);

	v = v << 8 | get8(in);
	v = v << 8 | get8(in);
	return v << 8 | get8(in);
}

static void qp_init(struct qp *qp, u8 kind, u32 psn)
{
	static const u8 transports[] = { SROCE_RC, SROCE_RC, SROCE_XRC, SROCE_UC };
	u8 transport = transports[kind & 3];

	memset(qp, 0, sizeof(*qp));
	qp->req = (struct sroce_req) {
		.transport = transport, .reliable = transport != SROCE_UC,
		.retry_cnt = kind >> 2 & 7, .rnr_retry = kind >> 5, .max_rd_atomic = 4,
		.mtu = MTU, .window = 16, .cwnd = U32_MAX, .ackreq_every = 4, .ack_timeout_ns = 1000,
		.wqes = qp->slots, .stride = sizeof(qp->slots[0]), .mask = SLOTS - 1,
	};
	qp->resp.transport = transport;
	qp->resp.reliable = transport != SROCE_UC;
	qp->resp.max_res = 4;
	qp->resp.mtu = MTU;
	sroce_req_reset(&qp->req);
	sroce_req_start(&qp->req, psn);
	sroce_resp_reset(&qp->resp);
	sroce_resp_start(&qp->resp, psn);
	qp->mr = calloc(1, MR_BYTES);
	qp->recv = calloc(1, RECV_BYTES);
}

static void qp_fini(struct qp *qp)
{
	u32 i;

	for (i = 0; i < SLOTS; i++)
		free(qp->data[i]);
	free(qp->mr);
	free(qp->recv);
}

static void check(const struct qp *qp)
{
	const struct sroce_req *req = &qp->req;
	u32 out = (req->max_psn - req->una_psn) & SROCE_PSN_MASK;

	MUST(req->cur - req->head <= req->tail - req->head);
	MUST(out <= SROCE_PSN_WINDOW);
	MUST(((req->next_psn - req->una_psn) & SROCE_PSN_MASK) <= out);
	MUST(req->rd_out <= req->max_rd_atomic);
	MUST(qp->resp.res_pending <= qp->resp.max_res);
}

/* ---- requester ---- */

static void post(struct qp *qp, struct input *in)
{
	static const u8 ops[] = {
		SROCE_WR_WRITE, SROCE_WR_WRITE_IMM, SROCE_WR_SEND, SROCE_WR_SEND_INV,
		SROCE_WR_READ, SROCE_WR_FETCH_ADD, SROCE_WR_FLUSH, SROCE_WR_ATOMIC_WRITE,
		SROCE_WR_LOCAL_INV, SROCE_WR_CMP_SWP, SROCE_WR_SEND_IMM, SROCE_WR_READ,
	};
	struct sroce_swqe *wqe = sroce_req_wqe(&qp->req, qp->req.tail);
	u8 **data = &qp->data[qp->req.tail & qp->req.mask];
	bool unreliable = !qp->req.reliable;

	if (qp->req.tail - qp->req.head > qp->req.mask)
		return;
	memset(wqe, 0, sizeof(*wqe));
	wqe->op = ops[get8(in) % (unreliable ? 3 : ARRAY_SIZE(ops))];
	wqe->flags = get8(in);
	wqe->length = get32(in) % (MAX_LENGTH + 1);
	if (sroce_wr_is_atomic(wqe->op) || wqe->op == SROCE_WR_ATOMIC_WRITE)
		wqe->length = 8;
	free(*data);
	*data = malloc(wqe->length);
	qp->req.tail++;
}

static void pump(struct qp *qp, u32 n)
{
	struct sroce_req_out out;
	u8 hdr[SROCE_MAX_HDR_BYTES];

	while (n--) {
		enum sroce_req_what what = sroce_req_next(&qp->req, qp->now, &out);
		const struct sroce_swqe *wqe;

		if (what == SROCE_REQ_NOTHING)
			return;
		MUST(out.index - qp->req.head < qp->req.tail - qp->req.head);
		wqe = sroce_req_wqe(&qp->req, out.index);
		if (what == SROCE_REQ_LOCAL) {
			sroce_req_local_done(&qp->req, SROCE_ST_SUCCESS);
			continue;
		}
		MUST(sroce_pkt_build(&out.pkt, hdr) <= SROCE_MAX_HDR_BYTES);
		if (!sroce_wr_takes_rd(wqe->op))
			MUST(out.offset + out.pkt.payload_bytes <= wqe->length);
	}
}

static void pop(struct qp *qp)
{
	enum sroce_status status;
	u32 index, head = qp->req.head;

	while (sroce_req_pop(&qp->req, &index, &status))
		MUST(index == head++);
}

static void answer(struct qp *qp, const struct sroce_pkt *pkt, const u8 *payload)
{
	struct sroce_req_in in;
	const struct sroce_swqe *wqe;
	u8 *data;

	if (sroce_req_on_packet(&qp->req, pkt, qp->now, &in) != SROCE_REQ_TAKE_PLACE)
		return;
	MUST(in.index - qp->req.head < qp->req.tail - qp->req.head);
	wqe = sroce_req_wqe(&qp->req, in.index);
	data = qp->data[in.index & qp->req.mask];
	MUST((u64)in.offset + in.bytes <= wqe->length);
	if (pkt->flags & SROCE_F_ATOMIC_ACK)
		memcpy(data + in.offset, &pkt->atomic_orig, in.bytes);
	else if (in.bytes)
		memcpy(data + in.offset, payload, in.bytes);
	sroce_req_placed(&qp->req, &in, qp->result & 0x80 ? SROCE_ST_LOC_PROT_ERR :
			 SROCE_ST_SUCCESS, qp->now);
}

/* ---- responder ---- */

static bool in_mr(u64 va, u64 bytes, u32 rkey)
{
	return !bytes || (rkey == RKEY && va >= MR_VA && bytes <= MR_BYTES &&
			  va - MR_VA <= MR_BYTES - bytes);
}

static enum sroce_resp_result do_send(struct qp *qp, const struct sroce_pkt *pkt,
				      const struct sroce_resp_do *todo, const u8 *payload)
{
	if (todo->recv && !qp->receives)
		return SROCE_RESULT_RNR;
	MUST(todo->recv == todo->start);
	MUST(todo->start || qp->in_recv);
	qp->in_recv = !todo->end;
	if (todo->offset > RECV_BYTES || pkt->payload_bytes > RECV_BYTES - todo->offset)
		return SROCE_RESULT_INV_REQ;
	if (pkt->payload_bytes)
		memcpy(qp->recv + todo->offset, payload, pkt->payload_bytes);
	if (todo->end)
		qp->receives--;
	return SROCE_RESULT_OK;
}

static enum sroce_resp_result execute(struct qp *qp, const struct sroce_pkt *pkt,
				      struct sroce_resp_do *todo, const u8 *payload)
{
	u32 bytes = pkt->payload_bytes;

	if (qp->result & 0x70) {
		/* an execution that is not looked at; a message goes on all the same */
		enum sroce_resp_result result = qp->result & 7 ? SROCE_RESULT_OK : qp->result % 5;

		if (todo->act == SROCE_ACT_SEND && result == SROCE_RESULT_OK)
			qp->in_recv = !todo->end;
		return result;
	}
	if (todo->act == SROCE_ACT_SEND)
		return do_send(qp, pkt, todo, payload);
	if (todo->act == SROCE_ACT_ATOMIC || todo->act == SROCE_ACT_ATOMIC_WRITE)
		bytes = 8;
	else if (todo->act != SROCE_ACT_WRITE)
		bytes = todo->bytes;
	if (!in_mr(todo->va, bytes, todo->rkey))
		return SROCE_RESULT_REM_ACC;
	if (todo->act == SROCE_ACT_ATOMIC)
		todo->orig = qp->mr[todo->va - MR_VA];
	else if (todo->act != SROCE_ACT_READ && todo->act != SROCE_ACT_FLUSH && bytes)
		memcpy(qp->mr + (todo->va - MR_VA), payload, bytes);
	return SROCE_RESULT_OK;
}

static void pull(struct qp *qp, u32 n)
{
	struct sroce_resp_out out;
	u8 hdr[SROCE_MAX_HDR_BYTES];

	while (n--) {
		enum sroce_resp_what what = sroce_resp_next(&qp->resp, &out);

		if (what == SROCE_RESP_NOTHING) {
			MUST(!sroce_resp_pending(&qp->resp));
			return;
		}
		MUST(sroce_pkt_build(&out.pkt, hdr) <= SROCE_MAX_HDR_BYTES);
		MUST(out.pkt.payload_bytes <= MTU);
		if (what == SROCE_RESP_READ_DATA &&
		    !in_mr(out.va, out.pkt.payload_bytes, out.rkey))
			sroce_resp_read_failed(&qp->resp, &out);
	}
}

/* ---- packets ---- */

static void deliver(struct qp *qp, const struct sroce_pkt *pkt, const u8 *payload)
{
	struct sroce_resp_do todo;

	if ((pkt->opcode & SROCE_TRANSPORT_MASK) != qp->req.transport)
		return;
	if (!(pkt->flags & SROCE_F_REQUEST)) {
		answer(qp, pkt, payload);
		return;
	}
	sroce_resp_on_packet(&qp->resp, pkt, &todo);
	if (todo.act != SROCE_ACT_DROP)
		sroce_resp_commit(&qp->resp, pkt, &todo, execute(qp, pkt, &todo, payload));
}

/* Bytes as they come, in a buffer of just their length. */
static void packet_bytes(struct qp *qp, struct input *in)
{
	size_t n = min((size_t)get8(in) * 4, in->left);
	struct sroce_pkt pkt;
	u8 *copy = malloc(n);

	if (n)
		memcpy(copy, in->p, n);
	in->p += n;
	in->left -= n;
	if (sroce_pkt_parse(copy, n, n, &pkt) == SROCE_PARSE_OK)
		deliver(qp, &pkt, copy + pkt.hdr_bytes);
	free(copy);
}

/* Fields, with a PSN and lengths near those expected; over the wire and back. */
static void packet_fields(struct qp *qp, struct input *in)
{
	struct sroce_pkt pkt = { .opcode = qp->req.transport | (get8(in) & 31), .qpn = 7 };
	u32 flags = sroce_opcode_flags(pkt.opcode);
	u8 shape = get8(in);
	u8 *bytes;
	u32 n;

	if (!flags)
		return;
	pkt.psn = sroce_psn_add(flags & SROCE_F_REQUEST ? qp->resp.epsn : qp->req.una_psn,
				(u32)(s8)get8(in));
	pkt.syndrome = get8(in);
	pkt.msn = get8(in);
	pkt.va = MR_VA + (s32)get32(in) % (MR_BYTES + 64);
	pkt.rkey = shape & 1 ? RKEY : get32(in);
	pkt.dma_bytes = shape & 2 ? get32(in) : get8(in) * 8;
	pkt.ackreq = shape & 4;
	if (flags & SROCE_F_PAYLOAD)
		pkt.payload_bytes = shape & 8 ? MTU : shape & 16 ? get32(in) % 1024 : get8(in);
	if (shape & 32 && flags & SROCE_F_START)
		pkt.dma_bytes = pkt.payload_bytes;
	bytes = calloc(1, SROCE_MAX_HDR_BYTES + pkt.payload_bytes + 8);
	sroce_pkt_build(&pkt, bytes);
	n = sroce_pkt_udp_payload(&pkt);
	MUST(sroce_pkt_parse(bytes, n, n, &pkt) == SROCE_PARSE_OK);
	deliver(qp, &pkt, bytes + pkt.hdr_bytes);
	free(bytes);
}

static void command(struct qp *qp, struct input *in)
{
	switch (get8(in) % 9) {
	case 0:
		packet_bytes(qp, in);
		break;
	case 1:
	case 2:
		packet_fields(qp, in);
		break;
	case 3:
		post(qp, in);
		break;
	case 4:
		pump(qp, get8(in));
		break;
	case 5:
		qp->now += get8(in) * 64;
		sroce_req_on_timer(&qp->req, qp->now);
		break;
	case 6:
		pull(qp, get8(in));
		break;
	case 7:
		pop(qp);
		break;
	case 8:
		qp->result = get8(in);
		qp->receives += qp->result & 3;
		qp->req.draining = qp->result & 8;
		break;
	}
	check(qp);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	struct input in = { data, bytes };
	struct qp qp;

	qp_init(&qp, get8(&in), get32(&in));
	while (in.left)
		command(&qp, &in);
	qp_fini(&qp);
	return 0;
}
