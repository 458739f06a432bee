// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: poll, extended poll, arming, resizing.
 */
#include <semaphore.h>

#include "fake.h"

static const struct sroce_cqe full_cqe = {
	.wr_id = 0x1122334455667788,
	.timestamp_ns = 1700000000123456789,
	.byte_len = 4096,
	.ex = 0x0a0b0c0d,
	.qpn = 0x11,
	.src_qpn = 0x22,
	.vendor_err = 0x33,
	.status = IBV_WC_RNR_RETRY_EXC_ERR,
	.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
	.wc_flags = SROCE_WC_GRH | SROCE_WC_WITH_IMM,
	.sl = 5,
	.pkey_index = 6,
};

TEST(poll__fields)
{
	struct ibv_cq *cq = fake_cq();
	struct ibv_wc wc;

	memset(&wc, 0xff, sizeof(wc));
	fake_complete(&fake.cq, &full_cqe);
	CHECK_EQ(fake.ops.poll_cq(cq, 1, &wc), 1);
	CHECK_EQ(wc.wr_id, 0x1122334455667788);
	CHECK_EQ(wc.status, IBV_WC_RNR_RETRY_EXC_ERR);
	CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(wc.vendor_err, 0x33);
	CHECK_EQ(wc.byte_len, 4096);
	CHECK_EQ(wc.imm_data, 0x0a0b0c0d);
	CHECK_EQ(wc.qp_num, 0x11);
	CHECK_EQ(wc.src_qp, 0x22);
	CHECK_EQ(wc.wc_flags, IBV_WC_GRH | IBV_WC_WITH_IMM);
	CHECK_EQ(wc.pkey_index, 6);
	CHECK_EQ(wc.slid, 0);
	CHECK_EQ(wc.sl, 5);
	CHECK_EQ(wc.dlid_path_bits, 0);
}

TEST(poll__batches_and_wrap)
{
	struct ibv_wc wc[16];
	struct ibv_cq *cq;
	uint64_t i, seen = 0;
	int n, k;

	fake.first_index = UINT32_MAX - 9;
	cq = fake_cq();
	CHECK_EQ(fake.ops.poll_cq(cq, 16, wc), 0);
	for (i = 0; i < 16; i++)
		fake_complete_simple(&fake.cq, i, 0x11);
	CHECK_EQ(sroce_ring_space(&fake.cq), 0);
	CHECK_EQ(fake.ops.poll_cq(cq, 0, wc), 0);
	CHECK_EQ(fake.ops.poll_cq(cq, -1, wc), 0);
	while ((n = fake.ops.poll_cq(cq, 3, wc)) > 0) {
		CHECK(n <= 3);
		for (k = 0; k < n; k++)
			CHECK_EQ(wc[k].wr_id, seen++);
		CHECK_EQ(sroce_ring_space(&fake.cq), seen);
	}
	CHECK_EQ(seen, 16);
	CHECK_EQ(fake.cq.ctrl->cons, 6);
	CHECK(!fake_is_locked(&to_scq(cq)->q.lock));
}

TEST(poll__device_gone)
{
	struct ibv_cq_ex *ex = fake_cq_ex(0, 0);
	struct ibv_poll_cq_attr attr = {};
	struct ibv_cq *cq = ibv_cq_ex_to_cq(ex);
	struct ibv_wc wc;

	fake_complete_simple(&fake.cq, 1, 0x11);
	fake.cq.ctrl->flags = SROCE_RING_DEAD;
	CHECK_EQ(fake.ops.poll_cq(cq, 1, &wc), 1);	/* what was there is good */
	CHECK_EQ(fake.ops.poll_cq(cq, 1, &wc), -EIO);
	CHECK_EQ(ibv_start_poll(ex, &attr), EIO);
	CHECK_EQ(fake.ops.req_notify_cq(cq, 0), EIO);
	CHECK(!fake_is_locked(&to_scq(cq)->q.lock));
}

TEST(cq__bad_ring_leaves_nothing)
{
	fake.cq_entries = 12;
	CHECK(!fake_cq());
	fake.cq_entries = 0;
	CHECK(!fake_cq());
	fake.cq_entries = 16;
	fake.cq_stride = 56;
	CHECK(!fake_cq());
	CHECK_EQ(errno, EPROTO);
	CHECK_EQ(fake.destroyed_cqs, 3);
	CHECK_EQ(fake.mapped, 0);
}

TEST(arm__bits)
{
	struct ibv_cq *cq = fake_cq();

	CHECK_EQ(fake.ops.req_notify_cq(cq, 1), 0);
	CHECK_EQ(fake.cq.ctrl->arm, SROCE_CQ_ARM_SOLICITED);
	CHECK_EQ(fake.ops.req_notify_cq(cq, 0), 0);
	CHECK_EQ(fake.cq.ctrl->arm, SROCE_CQ_ARM_SOLICITED | SROCE_CQ_ARM_NEXT);
	fake.cq.ctrl->arm = 0;
	CHECK_EQ(fake.ops.req_notify_cq(cq, 0), 0);
	CHECK_EQ(fake.cq.ctrl->arm, SROCE_CQ_ARM_NEXT);
	CHECK_EQ(fake.ops.req_notify_cq(cq, 1), 0);
	CHECK(fake.cq.ctrl->arm & SROCE_CQ_ARM_NEXT);
	CHECK_EQ(fake.doorbells, 0);
}

/*
 * Two threads, as in ring.h. Each publishes the next entry the moment that the
 * other has taken the last one and is about to sleep. A lost event or wake-up
 * stops the test (alarm), as it would stop an application.
 */
#define ROUNDS 50000

static sem_t event;

static void wait_until_taken(struct sroce_ring *producer)
{
	while (sroce_ring_space(producer) <= producer->mask)
		;
}

static void *completing_kernel(void *unused)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		fake_complete_simple(&fake.cq, i, 0x11);
		sroce_full_fence();
		if (sroce_exchange(&fake.cq.ctrl->arm, 0))
			sem_post(&event);
		wait_until_taken(&fake.cq);
	}
	return NULL;
}

/* Without the lock, which is a fence on some machines. */
TEST(arm__no_event_is_lost)
{
	struct ibv_cq *cq = ibv_cq_ex_to_cq(fake_cq_ex(0, IBV_CREATE_CQ_ATTR_SINGLE_THREADED));
	pthread_t kernel;
	struct ibv_wc wc;
	int seen = 0;

	sem_init(&event, 0, 0);
	pthread_create(&kernel, NULL, completing_kernel, NULL);
	while (seen < ROUNDS) {
		if (!fake.ops.poll_cq(cq, 1, &wc)) {
			fake.ops.req_notify_cq(cq, 0);
			if (!fake.ops.poll_cq(cq, 1, &wc)) {
				sem_wait(&event);
				continue;
			}
		}
		CHECK_EQ(wc.wr_id, seen);
		seen++;
	}
	pthread_join(kernel, NULL);
}

static void ring_bell(void)
{
	sem_post(&event);
}

static void *sending_kernel(void *unused)
{
	int taken = 0;

	while (taken < ROUNDS) {
		while (fake_take(&fake.sq))
			taken++;
		if (taken < ROUNDS && !sroce_ring_ask_wakeup(&fake.sq))
			sem_wait(&event);
		sroce_ring_awake(&fake.sq);
	}
	return NULL;
}

TEST(send__no_wakeup_is_lost)
{
	struct ibv_qp *qp = fake_qp(IBV_QPT_RC, fake_cq());
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	pthread_t kernel;
	int i;

	sem_init(&event, 0, 0);
	fake.on_doorbell = ring_bell;
	fake_modify(qp, IBV_QPS_RTS);
	pthread_create(&kernel, NULL, sending_kernel, NULL);
	for (i = 0; i < ROUNDS; i++) {
		CHECK_EQ(fake.ops.post_send(qp, &wr, &bad), 0);
		wait_until_taken(&to_sqp(qp)->sq.ring);
	}
	pthread_join(kernel, NULL);
	CHECK_EQ(fake.doorbell.qp_handle, fake.doorbells ? 5 : 0);
}

#define ALL_WC								\
	(IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM |	\
	 IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL |	\
	 IBV_WC_EX_WITH_DLID_PATH_BITS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |	\
	 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

TEST(poll_ex__fields)
{
	struct ibv_cq_ex *cq = fake_cq_ex(ALL_WC, 0);
	struct ibv_poll_cq_attr attr = {};

	fake_complete(&fake.cq, &full_cqe);
	CHECK_EQ(ibv_start_poll(cq, &attr), 0);
	CHECK_EQ(cq->wr_id, 0x1122334455667788);
	CHECK_EQ(cq->status, IBV_WC_RNR_RETRY_EXC_ERR);
	CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(ibv_wc_read_vendor_err(cq), 0x33);
	CHECK_EQ(ibv_wc_read_byte_len(cq), 4096);
	CHECK_EQ(ibv_wc_read_imm_data(cq), 0x0a0b0c0d);
	CHECK_EQ(ibv_wc_read_qp_num(cq), 0x11);
	CHECK_EQ(ibv_wc_read_src_qp(cq), 0x22);
	CHECK_EQ(ibv_wc_read_wc_flags(cq), IBV_WC_GRH | IBV_WC_WITH_IMM);
	CHECK_EQ(ibv_wc_read_slid(cq), 0);
	CHECK_EQ(ibv_wc_read_sl(cq), 5);
	CHECK_EQ(ibv_wc_read_dlid_path_bits(cq), 0);
	CHECK_EQ(ibv_wc_read_completion_ts(cq), 1700000000123456789);
	CHECK_EQ(ibv_wc_read_completion_wallclock_ns(cq), 1700000000123456789);
	ibv_end_poll(cq);
}

TEST(poll_ex__locks)
{
	struct ibv_cq_ex *cq = fake_cq_ex(0, 0);
	struct sroce_lock *lock = &to_scq_ex(cq)->q.lock;
	struct ibv_poll_cq_attr attr = {};

	CHECK_EQ(ibv_start_poll(cq, &attr), ENOENT);
	CHECK(!fake_is_locked(lock));
	attr.comp_mask = 1;
	CHECK_EQ(ibv_start_poll(cq, &attr), EINVAL);
	CHECK(!fake_is_locked(lock));
	attr.comp_mask = 0;

	fake_complete_simple(&fake.cq, 1, 0x11);
	fake_complete_simple(&fake.cq, 2, 0x11);
	CHECK_EQ(ibv_start_poll(cq, &attr), 0);
	CHECK(fake_is_locked(lock));
	CHECK_EQ(ibv_next_poll(cq), 0);
	CHECK_EQ(cq->wr_id, 2);
	CHECK_EQ(ibv_next_poll(cq), ENOENT);
	CHECK(fake_is_locked(lock));		/* end_poll is still to come */
	fake_complete_simple(&fake.cq, 3, 0x11);
	CHECK_EQ(ibv_next_poll(cq), 0);
	CHECK_EQ(cq->wr_id, 3);
	ibv_end_poll(cq);
	CHECK(!fake_is_locked(lock));
	CHECK_EQ(sroce_ring_space(&fake.cq), 16);
	CHECK_EQ(ibv_start_poll(cq, &attr), ENOENT);
}

TEST(poll_ex__gives_back_what_was_read_only)
{
	struct ibv_cq_ex *cq = fake_cq_ex(0, 0);
	struct ibv_poll_cq_attr attr = {};
	int i;

	for (i = 0; i < 5; i++)
		fake_complete_simple(&fake.cq, i, 0x11);
	ibv_start_poll(cq, &attr);
	CHECK_EQ(sroce_ring_space(&fake.cq), 11);	/* being read: not free */
	ibv_next_poll(cq);
	ibv_end_poll(cq);
	CHECK_EQ(sroce_ring_space(&fake.cq), 13);
	CHECK_EQ(ibv_start_poll(cq, &attr), 0);
	CHECK_EQ(cq->wr_id, 2);
	ibv_end_poll(cq);
}

/* One poll that goes on for long over a CQ that is refilled all the time. */
TEST(poll_ex__long_poll_makes_room)
{
	struct ibv_cq_ex *cq;
	struct ibv_poll_cq_attr attr = {};
	uint64_t i;

	fake.first_index = UINT32_MAX - 20;
	cq = fake_cq_ex(0, 0);
	fake_complete_simple(&fake.cq, 0, 0x11);
	CHECK_EQ(ibv_start_poll(cq, &attr), 0);
	for (i = 1; i < 100; i++) {
		if (!sroce_ring_space(&fake.cq))
			break;
		fake_complete_simple(&fake.cq, i, 0x11);
		CHECK_EQ(ibv_next_poll(cq), 0);
		CHECK_EQ(cq->wr_id, i);
	}
	CHECK_EQ(i, 100);
	ibv_end_poll(cq);
	CHECK_EQ(sroce_ring_space(&fake.cq), 16);
}

TEST(cq_ex__attributes)
{
	struct ibv_cq_ex *cq = fake_cq_ex(IBV_WC_EX_WITH_BYTE_LEN,
					  IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	struct ibv_poll_cq_attr attr = {};

	CHECK(cq->read_byte_len && !cq->read_imm_data && !cq->read_completion_ts);
	fake_complete_simple(&fake.cq, 1, 0x11);
	CHECK_EQ(ibv_start_poll(cq, &attr), 0);
	CHECK(!fake_is_locked(&to_scq_ex(cq)->q.lock));
	ibv_end_poll(cq);
	CHECK(!fake_is_locked(&to_scq_ex(cq)->q.lock));

	CHECK(!fake_cq_ex(IBV_WC_EX_WITH_CVLAN, 0));
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK_EQ(fake.destroyed_cqs, 1);
	CHECK(!fake_cq_ex(0, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN));
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK_EQ(fake.mapped, 1);
}

TEST(timestamps__raw_clock)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK | 1U << 31 };
	struct timespec before, after;

	clock_gettime(CLOCK_REALTIME, &before);
	CHECK_EQ(fake.ops.query_rt_values(NULL, &values), 0);
	clock_gettime(CLOCK_REALTIME, &after);
	CHECK_EQ(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	CHECK(before.tv_sec <= values.raw_clock.tv_sec && values.raw_clock.tv_sec <= after.tv_sec);
	values.comp_mask = 0;
	CHECK_EQ(fake.ops.query_rt_values(NULL, &values), 0);
	CHECK_EQ(values.comp_mask, 0);
}

TEST(resize__keeps_unread_entries)
{
	struct ibv_wc wc[32];
	struct ibv_cq *cq;
	uint64_t i;
	int n;

	fake.first_index = UINT32_MAX - 3;
	cq = fake_cq();
	for (i = 0; i < 12; i++)
		fake_complete_simple(&fake.cq, i, 0x11);
	CHECK_EQ(fake.ops.poll_cq(cq, 5, wc), 5);
	CHECK_EQ(fake.ops.resize_cq(cq, 32), 0);
	CHECK_EQ(fake.mapped, 1);
	CHECK(!fake_is_locked(&to_scq(cq)->q.lock));
	for (; i < 37; i++)
		fake_complete_simple(&fake.cq, i, 0x11);
	CHECK_EQ(sroce_ring_space(&fake.cq), 0);
	n = fake.ops.poll_cq(cq, 32, wc);
	CHECK_EQ(n, 32);
	for (i = 0; i < n; i++)
		CHECK_EQ(wc[i].wr_id, i + 5);
	CHECK_EQ(fake.ops.resize_cq(cq, 8), 0);
	fake_complete_simple(&fake.cq, 99, 0x11);
	CHECK_EQ(fake.ops.poll_cq(cq, 32, wc), 1);
	CHECK_EQ(wc[0].wr_id, 99);
}

TEST(resize__errors)
{
	struct ibv_cq *cq = fake_cq();
	struct ibv_wc wc;

	fake_complete_simple(&fake.cq, 1, 0x11);
	fake.resize_error = EINVAL;
	CHECK_EQ(fake.ops.resize_cq(cq, 32), EINVAL);
	CHECK_EQ(fake.ops.poll_cq(cq, 1, &wc), 1);	/* the old ring goes on */

	fake.resize_error = 0;
	fake.mmaps_until_fail = 1;
	CHECK_EQ(fake.ops.resize_cq(cq, 32), ENOMEM);
	CHECK_EQ(fake.mapped, 0);
	CHECK_EQ(fake.ops.poll_cq(cq, 1, &wc), -EIO);	/* and does not wait for ever */
	CHECK_EQ(fake.ops.req_notify_cq(cq, 0), EIO);
}
