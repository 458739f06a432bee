// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A link of a known rate for measurements of congestion control: the qdisc
 * "bottleneck", a FIFO that marks packets when they leave, by the length of the
 * queue then, as the switches do that DCQCN was designed for. (sch_red marks
 * arrivals by an average.) It writes down what happens, in bins of time.
 *
 *	insmod sroce_bottleneck.ko rate_mbps=10000 kmin=5000 kmax=200000 pmax=100000
 *	tc qdisc add dev pb root bottleneck
 *	cat /sys/kernel/debug/sroce_bottleneck
 *
 * One at a time. Batches of packets in one skb are one packet to it: turn off
 * segmentation offload of what sends here.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>
#include <net/inet_ecn.h>
#include <net/pkt_sched.h>

/* Bytes of an Ethernet frame that skb->len has not: FCS, preamble, gap. */
#define FRAME_EXTRA	24
/* A timer that is late is caught up with, not more. */
#define MAX_LATE_NS	(50 * NSEC_PER_MSEC)

static uint rate_mbps = 1000;
module_param(rate_mbps, uint, 0644);
MODULE_PARM_DESC(rate_mbps, "rate of the link");
static uint kmin = 5000;
module_param(kmin, uint, 0644);
MODULE_PARM_DESC(kmin, "bytes of queue at which marking begins");
static uint kmax = 200000;
module_param(kmax, uint, 0644);
MODULE_PARM_DESC(kmax, "bytes of queue above which everything is marked");
static uint pmax = 10000;
module_param(pmax, uint, 0644);
MODULE_PARM_DESC(pmax, "probability of a mark at kmax, 1/1000000");
static uint mark;
module_param(mark, uint, 0644);
MODULE_PARM_DESC(mark, "probability of a mark instead, whatever the queue, 1/1000000");
static uint limit = 4000000;
module_param(limit, uint, 0644);
MODULE_PARM_DESC(limit, "bytes the queue can hold");
static uint extra = FRAME_EXTRA;
module_param(extra, uint, 0644);
MODULE_PARM_DESC(extra, "bytes on the link that each packet has besides its own");
static uint bin_us = 1000;
module_param(bin_us, uint, 0444);
MODULE_PARM_DESC(bin_us, "width of a bin");
static uint bins = 20000;
module_param(bins, uint, 0444);
MODULE_PARM_DESC(bins, "how many; the last one has all that is later");

/**
 * struct bin - what happened in a span of time
 * @area: bytes of queue times ns
 * @max_bytes: longest queue
 * @sent: packets
 * @sent_bytes: on the link
 * @marked: packets
 * @dropped: packets
 * @not_ect: packets that could not be marked
 */
struct bin {
	u64 area;
	u32 max_bytes;
	u32 sent;
	u64 sent_bytes;
	u32 marked;
	u32 dropped;
	u32 not_ect;
};

/**
 * struct bottleneck - private part of the qdisc
 * @watchdog: wakes it up
 * @next_ns: the link is free then
 * @rem: the fraction of a nanosecond left over, in 1 / rate
 * @bytes: in the queue, with @extra
 * @last_ns: until when @area of the bins is complete
 */
struct bottleneck {
	struct qdisc_watchdog watchdog;
	u64 next_ns;
	u32 rem;
	u32 bytes;
	u64 last_ns;
};

static struct bin *bin;
static u64 start_ns;

static u32 bin_at(u64 ns)
{
	return min_t(u64, div_u64(ns - start_ns, bin_us * NSEC_PER_USEC), bins - 1);
}

/* The queue was as long as it is since last_ns. */
static struct bin *account(struct bottleneck *b, u64 now)
{
	u64 width = bin_us * NSEC_PER_USEC, end;
	struct bin *at;

	do {
		u32 i = bin_at(b->last_ns);

		at = &bin[i];
		end = i == bins - 1 ? now : min(now, start_ns + (i + 1) * width);
		at->area += b->bytes * (end - b->last_ns);
		at->max_bytes = max(at->max_bytes, b->bytes);
		b->last_ns = end;
	} while (end < now);
	return &bin[bin_at(now)];
}

static u32 link_bytes(const struct sk_buff *skb)
{
	return qdisc_pkt_len(skb) + extra;
}

static int bottleneck_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct bottleneck *b = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct bin *at = account(b, now);

	if (b->bytes + link_bytes(skb) > limit) {
		at->dropped++;
		return qdisc_drop(skb, sch, to_free);
	}
	if (!b->bytes)
		b->next_ns = max(b->next_ns, now);
	b->bytes += link_bytes(skb);
	at->max_bytes = max(at->max_bytes, b->bytes);
	return qdisc_enqueue_tail(skb, sch);
}

static bool to_be_marked(const struct bottleneck *b)
{
	u32 p = mark;

	if (!p && b->bytes > kmax)
		return true;
	if (!p && b->bytes > kmin)
		p = div_u64((u64)pmax * (b->bytes - kmin), max(kmax - kmin, 1U));
	return get_random_u32_below(1000000) < p;
}

static struct sk_buff *bottleneck_dequeue(struct Qdisc *sch)
{
	struct bottleneck *b = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct sk_buff *skb;
	struct bin *at;

	if (!sch->q.qlen)
		return NULL;
	if (now < b->next_ns) {
		qdisc_watchdog_schedule_ns(&b->watchdog, b->next_ns);
		return NULL;
	}
	at = account(b, now);
	skb = qdisc_dequeue_head(sch);
	if (to_be_marked(b)) {
		if (INET_ECN_set_ce(skb))
			at->marked++;
		else
			at->not_ect++;
	}
	at->sent++;
	at->sent_bytes += link_bytes(skb);
	b->next_ns = max(b->next_ns, now - MAX_LATE_NS) +
		     div_u64_rem(link_bytes(skb) * 8000ULL + b->rem, max(rate_mbps, 1U), &b->rem);
	b->bytes -= link_bytes(skb);
	return skb;
}

static int bottleneck_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct bottleneck *b = qdisc_priv(sch);

	memset(bin, 0, array_size(bins, sizeof(*bin)));
	start_ns = ktime_get_ns();
	b->last_ns = start_ns;
	qdisc_watchdog_init(&b->watchdog, sch);
	return 0;
}

static void bottleneck_reset(struct Qdisc *sch)
{
	struct bottleneck *b = qdisc_priv(sch);

	qdisc_reset_queue(sch);
	b->bytes = 0;
	qdisc_watchdog_cancel(&b->watchdog);
}

static void bottleneck_destroy(struct Qdisc *sch)
{
	struct bottleneck *b = qdisc_priv(sch);

	qdisc_watchdog_cancel(&b->watchdog);
}

static struct Qdisc_ops bottleneck_ops __read_mostly = {
	.id = "bottleneck",
	.priv_size = sizeof(struct bottleneck),
	.enqueue = bottleneck_enqueue,
	.dequeue = bottleneck_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = bottleneck_init,
	.reset = bottleneck_reset,
	.destroy = bottleneck_destroy,
	.owner = THIS_MODULE,
};

/* Times are those of ktime_get_ns(), so that other records can be laid beside it. */
static int bins_show(struct seq_file *file, void *unused)
{
	u32 i, last = start_ns ? bin_at(ktime_get_ns()) : 0;

	seq_puts(file, "us,queue_mean,queue_max,packets,bytes,marked,dropped,not_ect\n");
	for (i = 0; i < last; i++)
		seq_printf(file, "%llu,%llu,%u,%u,%llu,%u,%u,%u\n",
			   div_u64(start_ns, NSEC_PER_USEC) + (u64)i * bin_us,
			   div_u64(bin[i].area, bin_us * NSEC_PER_USEC), bin[i].max_bytes,
			   bin[i].sent, bin[i].sent_bytes, bin[i].marked, bin[i].dropped,
			   bin[i].not_ect);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(bins);

static struct dentry *file;

static int __init bottleneck_module_init(void)
{
	int err;

	if (!bins || !bin_us || bin_us > USEC_PER_SEC)
		return -EINVAL;
	bin = vzalloc(array_size(bins, sizeof(*bin)));
	if (!bin)
		return -ENOMEM;
	err = register_qdisc(&bottleneck_ops);
	if (err) {
		vfree(bin);
		return err;
	}
	file = debugfs_create_file("sroce_bottleneck", 0400, NULL, NULL, &bins_fops);
	return 0;
}
module_init(bottleneck_module_init);

static void __exit bottleneck_module_exit(void)
{
	debugfs_remove(file);
	unregister_qdisc(&bottleneck_ops);
	vfree(bin);
}
module_exit(bottleneck_module_exit);

MODULE_DESCRIPTION("A link that marks packets when they leave, for measurements");
MODULE_LICENSE("Dual BSD/GPL");
