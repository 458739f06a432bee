// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Traffic for measurements, made in the kernel: connections between devices of
 * this machine, each with a number of messages always under way. It waits for
 * completions and never polls, so that a virtual clock can go on.
 *
 *	insmod sroce_load.ko flows=sroce_1:sroce_9,sroce_2:sroce_9 ms=500
 *	cat /sys/kernel/debug/sroce_load
 *
 * The load runs while the module is inserted; afterwards the file has what each
 * flow had transferred at each time, and the module waits to be removed.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define MAX_FLOWS	64
#define MAX_DEPTH	256
#define PATIENCE	(60 * HZ)

static char *flows[MAX_FLOWS];
static int num_flows;
module_param_array(flows, charp, &num_flows, 0444);
MODULE_PARM_DESC(flows, "FROM:TO,... names of devices; FROM posts the work requests");
static bool read;
module_param(read, bool, 0444);
MODULE_PARM_DESC(read, "READ instead of WRITE: the data comes from TO");
static uint bytes = 65536;
module_param(bytes, uint, 0444);
MODULE_PARM_DESC(bytes, "of a message");
static uint depth = 16;
module_param(depth, uint, 0444);
MODULE_PARM_DESC(depth, "messages of a flow under way");
static uint mtu = 1024;
module_param(mtu, uint, 0444);
MODULE_PARM_DESC(mtu, "path MTU");
static uint ms = 1000;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "duration");
static uint gap_us;
module_param(gap_us, uint, 0444);
MODULE_PARM_DESC(gap_us, "each flow begins so much later than the one before");
static uint sample_us = 1000;
module_param(sample_us, uint, 0444);
MODULE_PARM_DESC(sample_us, "between two samples");
static uint timeout = 14;
module_param(timeout, uint, 0444);
MODULE_PARM_DESC(timeout, "local ACK timeout, 4.096 us * 2^n");

/**
 * struct flow - a connection
 * @from: end that posts
 * @to: the other end
 * @pd: protection domains of @from and @to
 * @cq: of @from; @to gets no completions, but has to have one
 * @qp: queue pairs of @from and @to
 * @buf: memory of both ends, in one piece
 * @dma: addresses of it for @from and @to
 * @cqe: completion of each message
 * @running: goes on posting
 * @under_way: messages
 * @idle: the last one has completed
 * @status: of the first message that failed
 * @done: bytes transferred
 */
struct flow {
	struct ib_device *from, *to;
	struct ib_pd *pd[2];
	struct ib_cq *cq[2];
	struct ib_qp *qp[2];
	void *buf;
	u64 dma[2];
	struct ib_cqe cqe;
	bool running;
	atomic_t under_way;
	struct completion idle;
	int status;
	u64 done;
};

static struct flow flow[MAX_FLOWS];
static struct ib_device *devices[MAX_FLOWS + 1];
static int num_devices;
static u64 *samples;
static u32 num_samples, max_samples;

/* ---- devices ---- */

static int add_device(struct ib_device *ibdev)
{
	if (num_devices == ARRAY_SIZE(devices) || strncmp(dev_name(&ibdev->dev), "sroce", 5))
		return -EOPNOTSUPP;
	devices[num_devices++] = ibdev;
	return 0;
}

/* All flows are over when the module has been inserted. */
static void remove_device(struct ib_device *ibdev, void *data)
{
}

static struct ib_client client = {
	.name = "sroce_load",
	.add = add_device,
	.remove = remove_device,
};

static struct ib_device *find_device(const char *name, size_t len)
{
	int i;

	for (i = 0; i < num_devices; i++)
		if (!strncmp(dev_name(&devices[i]->dev), name, len) &&
		    !dev_name(&devices[i]->dev)[len])
			return devices[i];
	return NULL;
}

static int find_gid(struct ib_device *ibdev, union ib_gid *gid)
{
	int i;

	for (i = 0; i < 64; i++)
		if (!rdma_query_gid(ibdev, 1, i, gid) &&
		    ipv6_addr_v4mapped((struct in6_addr *)gid->raw))
			return i;
	return -ENOENT;
}

/* ---- messages ---- */

static int post(struct flow *f)
{
	struct ib_sge sge = {
		.addr = f->dma[0], .length = bytes, .lkey = f->pd[0]->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &f->cqe, .sg_list = &sge, .num_sge = 1,
			.opcode = read ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_addr = f->dma[1] + bytes,
		.rkey = f->pd[1]->unsafe_global_rkey,
	};
	int err;

	atomic_inc(&f->under_way);
	err = ib_post_send(f->qp[0], &wr.wr, NULL);
	if (err && atomic_dec_and_test(&f->under_way))
		complete(&f->idle);
	return err;
}

static void message_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct flow *f = container_of(wc->wr_cqe, struct flow, cqe);

	if (wc->status) {
		if (!f->status)
			f->status = wc->status;
		WRITE_ONCE(f->running, false);
	} else {
		WRITE_ONCE(f->done, f->done + bytes);
	}
	if (READ_ONCE(f->running))
		post(f);
	if (atomic_dec_and_test(&f->under_way))
		complete(&f->idle);
}

static int start_flow(struct flow *f)
{
	int i, err = 0;

	f->running = true;
	for (i = 0; i < depth && !err; i++)
		err = post(f);
	return err;
}

/* ---- connections ---- */

static int connect_qp(struct flow *f, int end)
{
	struct ib_device *own = end ? f->to : f->from, *peer = end ? f->from : f->to;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = 1, .path_mtu = ib_mtu_int_to_enum(mtu),
		.max_dest_rd_atomic = 16, .max_rd_atomic = 16, .timeout = timeout, .retry_cnt = 7,
		.rnr_retry = 7, .min_rnr_timer = 1, .dest_qp_num = f->qp[!end]->qp_num,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};
	union ib_gid gid;
	int index, err;

	index = find_gid(own, &gid);
	if (index < 0 || find_gid(peer, &gid) < 0)
		return -ENOENT;
	attr.ah_attr.type = rdma_ah_find_type(own, 1);
	rdma_ah_set_grh(&attr.ah_attr, &gid, 0, index, 64, 0);
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	err = ib_modify_qp(f->qp[end], &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			   IB_QP_ACCESS_FLAGS);
	attr.qp_state = IB_QPS_RTR;
	if (!err)
		err = ib_modify_qp(f->qp[end], &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
				   IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
				   IB_QP_MIN_RNR_TIMER);
	attr.qp_state = IB_QPS_RTS;
	if (!err)
		err = ib_modify_qp(f->qp[end], &attr, IB_QP_STATE | IB_QP_TIMEOUT |
				   IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
				   IB_QP_MAX_QP_RD_ATOMIC);
	return err;
}

static int create_end(struct flow *f, int end)
{
	struct ib_device *ibdev = end ? f->to : f->from;
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = depth + 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	f->pd[end] = ib_alloc_pd(ibdev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(f->pd[end]))
		return PTR_ERR(f->pd[end]);
	f->cq[end] = ib_alloc_cq(ibdev, NULL, depth + 2, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(f->cq[end]))
		return PTR_ERR(f->cq[end]);
	init.send_cq = f->cq[end];
	init.recv_cq = f->cq[end];
	f->qp[end] = ib_create_qp(f->pd[end], &init);
	if (IS_ERR(f->qp[end]))
		return PTR_ERR(f->qp[end]);
	f->dma[end] = ib_dma_map_single(ibdev, f->buf, 2 * bytes, DMA_BIDIRECTIONAL);
	return 0;
}

static void destroy_end(struct flow *f, int end)
{
	struct ib_device *ibdev = end ? f->to : f->from;

	if (f->dma[end])
		ib_dma_unmap_single(ibdev, f->dma[end], 2 * bytes, DMA_BIDIRECTIONAL);
	if (!IS_ERR_OR_NULL(f->qp[end]))
		ib_destroy_qp(f->qp[end]);
	if (!IS_ERR_OR_NULL(f->cq[end]))
		ib_free_cq(f->cq[end]);
	if (!IS_ERR_OR_NULL(f->pd[end]))
		ib_dealloc_pd(f->pd[end]);
}

static int create_flow(struct flow *f, const char *name)
{
	const char *colon = strchr(name, ':');
	int err;

	if (!colon)
		return -EINVAL;
	f->from = find_device(name, colon - name);
	f->to = find_device(colon + 1, strlen(colon + 1));
	if (!f->from || !f->to)
		return -ENODEV;
	f->cqe.done = message_done;
	init_completion(&f->idle);
	f->buf = kzalloc(2 * bytes, GFP_KERNEL);
	if (!f->buf)
		return -ENOMEM;
	err = create_end(f, 0);
	if (!err)
		err = create_end(f, 1);
	if (!err)
		err = connect_qp(f, 0);
	if (!err)
		err = connect_qp(f, 1);
	return err;
}

static void destroy_flows(void)
{
	int i;

	for (i = 0; i < num_flows; i++) {
		destroy_end(&flow[i], 0);
		destroy_end(&flow[i], 1);
		kfree(flow[i].buf);
	}
}

/* ---- the run ---- */

static void take_sample(u64 now)
{
	u64 *at = samples + (size_t)num_samples * (num_flows + 1);
	int i;

	if (num_samples == max_samples)
		return;
	*at++ = now;
	for (i = 0; i < num_flows; i++)
		*at++ = READ_ONCE(flow[i].done);
	num_samples++;
}

static int run(void)
{
	u64 start = ktime_get_ns(), now = start, end = start + ms * (u64)NSEC_PER_MSEC;
	int started = 0, err = 0;

	while (now < end && !err) {
		while (started < num_flows && !err &&
		       now >= start + started * (u64)gap_us * NSEC_PER_USEC)
			err = start_flow(&flow[started++]);
		take_sample(now);
		usleep_range(sample_us, sample_us + 1);
		now = ktime_get_ns();
	}
	take_sample(now);
	return err;
}

static int stop(void)
{
	int i, err = 0;

	for (i = 0; i < num_flows; i++)
		WRITE_ONCE(flow[i].running, false);
	for (i = 0; i < num_flows; i++) {
		if (atomic_read(&flow[i].under_way) &&
		    !wait_for_completion_timeout(&flow[i].idle, PATIENCE))
			err = -ETIMEDOUT;
		if (flow[i].status) {
			pr_err("sroce_load: flow %d failed: %s\n", i,
			       ib_wc_status_msg(flow[i].status));
			err = -EIO;
		}
	}
	return err;
}

static int samples_show(struct seq_file *file, void *unused)
{
	const u64 *at = samples;
	u32 i, k;

	seq_puts(file, "us");
	for (k = 0; k < num_flows; k++)
		seq_printf(file, ",%s", flows[k]);
	seq_putc(file, '\n');
	for (i = 0; i < num_samples; i++) {
		seq_printf(file, "%llu", div_u64(*at++, NSEC_PER_USEC));
		for (k = 0; k < num_flows; k++)
			seq_printf(file, ",%llu", *at++);
		seq_putc(file, '\n');
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(samples);

static struct dentry *file;

static int check_parameters(void)
{
	if (!num_flows || !bytes || bytes > 1 << 20 || !depth || depth > MAX_DEPTH || !ms ||
	    !sample_us)
		return -EINVAL;
	max_samples = div_u64((u64)ms * 1000, sample_us) + 2;
	samples = vzalloc(array3_size(max_samples, num_flows + 1, sizeof(u64)));
	return samples ? 0 : -ENOMEM;
}

static int __init load_init(void)
{
	int i, err, stopped;

	err = check_parameters();
	if (err)
		return err;
	err = ib_register_client(&client);
	if (err)
		goto free;
	for (i = 0; i < num_flows && !err; i++)
		err = create_flow(&flow[i], flows[i]);
	if (!err)
		err = run();
	stopped = stop();
	destroy_flows();
	ib_unregister_client(&client);
	if (!err)
		err = stopped;
	if (err)
		goto free;
	file = debugfs_create_file("sroce_load", 0400, NULL, NULL, &samples_fops);
	return 0;
free:
	vfree(samples);
	return err;
}
module_init(load_init);

static void __exit load_exit(void)
{
	debugfs_remove(file);
	vfree(samples);
}
module_exit(load_exit);

MODULE_DESCRIPTION("Traffic between RDMA devices, for measurements");
MODULE_LICENSE("Dual BSD/GPL");
