// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Mapping of rings, and the doorbell.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sroce.h"

/*
 * What a queue looks at when its new ring could not be mapped: nothing to read,
 * no room to write, and every operation answers EIO.
 */
static struct sroce_ring_ctrl dead_ctrl = { .flags = SROCE_RING_DEAD };
static const struct sroce_ring dead_ring = { .ctrl = &dead_ctrl, .mask = UINT32_MAX };

/* A ring that does not hold what we put there would be memory corruption later. */
static bool info_is_sane(const struct sroce_ring_info *info, size_t entry_bytes)
{
	uint64_t bytes = SROCE_RING_ENTRIES_OFFSET + (uint64_t)info->entries * info->stride;

	return info->entries && !(info->entries & (info->entries - 1)) &&
	       info->stride >= entry_bytes && info->stride % sizeof(uint64_t) == 0 &&
	       info->mmap_bytes >= bytes && info->mmap_bytes <= SIZE_MAX;
}

/**
 * sroce_queue_map - map the ring of a create response
 * @q: the queue, unmapped so far
 * @context: whose command file the ring belongs to
 * @info: the kernel's description; no entries means no such queue
 * @entry_bytes: what we will write to, or read from, each slot
 *
 * A ring that follows another one (resize) goes on at the indices that the
 * kernel put there; those of a new ring are 0.
 *
 * Returns 0 or an errno value.
 */
int sroce_queue_map(struct sroce_queue *q, struct ibv_context *context,
		    const struct sroce_ring_info *info, size_t entry_bytes)
{
	void *base;

	if (!info->entries)
		return 0;
	if (!info_is_sane(info, entry_bytes))
		return EPROTO;

	base = mmap(NULL, info->mmap_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		    context->cmd_fd, info->mmap_offset);
	if (base == MAP_FAILED)
		return errno;

	sroce_ring_attach(&q->ring, base, info->entries, info->stride);
	q->ring.prod = sroce_load(&q->ring.ctrl->prod);
	q->ring.cons = sroce_load(&q->ring.ctrl->cons);
	q->bytes = info->mmap_bytes;
	q->room = 0;
	return 0;
}

/**
 * sroce_queue_replace - change over to another ring, after a resize
 *
 * The kernel has left the old ring already. If the new one cannot be mapped,
 * the queue is dead: it says EIO from now on, instead of waiting for entries
 * that go elsewhere. The caller holds the lock of @q.
 */
int sroce_queue_replace(struct sroce_queue *q, struct ibv_context *context,
			const struct sroce_ring_info *info, size_t entry_bytes)
{
	struct sroce_queue next = {};
	int err = info->entries ? sroce_queue_map(&next, context, info, entry_bytes) : EPROTO;

	if (err)
		next.ring = dead_ring;
	sroce_queue_unmap(q);
	q->ring = next.ring;
	q->bytes = next.bytes;
	q->room = 0;
	return err;
}

/* After the kernel set both indices of the ring to 0 (QP to RESET). */
void sroce_queue_restart(struct sroce_queue *q)
{
	q->ring.prod = 0;
	q->ring.cons = 0;
	q->room = 0;
}

void sroce_queue_unmap(struct sroce_queue *q)
{
	if (q->bytes)
		munmap(q->ring.ctrl, q->bytes);
	q->ring.ctrl = NULL;
	q->bytes = 0;
}

/* The three post commands differ in name only. */
static_assert(sizeof(struct ibv_post_recv) == sizeof(struct ibv_post_send), "layout");
static_assert(sizeof(struct ibv_post_srq_recv) == sizeof(struct ibv_post_send), "layout");
static_assert(offsetof(struct ibv_post_recv, qp_handle) ==
	      offsetof(struct ibv_post_send, qp_handle), "layout");
static_assert(offsetof(struct ibv_post_srq_recv, srq_handle) ==
	      offsetof(struct ibv_post_send, qp_handle), "layout");
static_assert(sizeof(struct ib_uverbs_recv_wr) <= sizeof(struct ib_uverbs_send_wr), "layout");

/**
 * sroce_doorbell - have the kernel look at a ring
 * @context: of the object
 * @command: IB_USER_VERBS_CMD_POST_SEND, _POST_RECV or _POST_SRQ_RECV
 * @handle: of the QP or SRQ
 *
 * The kernel's own post command, with no work request in it.
 *
 * Returns 0 or an errno value; EIO when the device is gone.
 */
int sroce_doorbell(struct ibv_context *context, uint32_t command, uint32_t handle)
{
	struct ib_uverbs_post_send_resp resp;
	struct ibv_post_send cmd = {
		.hdr.command = command,
		.hdr.in_words = sizeof(cmd) / 4,
		.hdr.out_words = sizeof(resp) / 4,
		.response = (uintptr_t)&resp,
		.qp_handle = handle,
		.wqe_size = sizeof(struct ib_uverbs_send_wr),
	};
	ssize_t n;

	do {
		n = write(context->cmd_fd, &cmd, sizeof(cmd));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno;
	return n == sizeof(cmd) ? 0 : EIO;
}
