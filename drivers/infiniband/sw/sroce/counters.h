/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Event counters of a device: per CPU, free-running, never reset. Names are
 * mlx5's where mlx5 has the counter, so that dashboards work unchanged. Shown by
 * `rdma statistic show link` and in ports/1/hw_counters.
 */
#ifndef SROCE_COUNTERS_H
#define SROCE_COUNTERS_H

#include <linux/percpu.h>
#include <linux/u64_stats_sync.h>

/* X(enum suffix, "name", what it counts) */
#define SROCE_PLAIN_COUNTERS(X)								\
	X(RX_WRITE_REQUESTS, "rx_write_requests", "WRITE requests executed")		\
	X(RX_READ_REQUESTS, "rx_read_requests", "READ requests accepted")		\
	X(RX_ATOMIC_REQUESTS, "rx_atomic_requests", "atomic requests executed")		\
	X(OUT_OF_BUFFER, "out_of_buffer", "requests that found no receive WQE")		\
	X(OUT_OF_SEQUENCE, "out_of_sequence", "requests ahead of the expected PSN")	\
	X(DUPLICATE_REQUEST, "duplicate_request", "requests executed before")		\
	X(RNR_NAK_RETRY_ERR, "rnr_nak_retry_err", "RNR NAKs received")			\
	X(PACKET_SEQ_ERR, "packet_seq_err", "sequence error NAKs received")		\
	X(IMPLIED_NAK_SEQ_ERR, "implied_nak_seq_err", "responses beyond a missing one") \
	X(LOCAL_ACK_TIMEOUT_ERR, "local_ack_timeout_err", "ACK timeouts")		\
	X(ROCE_ADP_RETRANS, "roce_adp_retrans", "probes for late answers") \
	X(ROCE_SLOW_RESTART, "roce_slow_restart", "all sent again, a few packets first") \
	X(RX_HELD, "rx_held", "requests held until the gap before them was filled")	\
	X(RX_RESP_AHEAD, "rx_resp_ahead", "READ responses and the like taken ahead of their turn") \
	X(RX_SACK, "rx_sack", "SACKs that named something missing")			\
	X(RESP_LOCAL_LENGTH_ERROR, "resp_local_length_error", "receives too small") \
	X(RESP_CQE_ERROR, "resp_cqe_error", "receives completed with an error")		\
	X(REQ_CQE_ERROR, "req_cqe_error", "sends completed with an error")		\
	X(REQ_REMOTE_INVALID_REQUEST, "req_remote_invalid_request", "invalid request NAKs") \
	X(REQ_REMOTE_ACCESS_ERRORS, "req_remote_access_errors", "access error NAKs received") \
	X(RESP_REMOTE_ACCESS_ERRORS, "resp_remote_access_errors", "access error NAKs sent") \
	X(RESP_CQE_FLUSH_ERROR, "resp_cqe_flush_error", "receives flushed")		\
	X(REQ_CQE_FLUSH_ERROR, "req_cqe_flush_error", "sends flushed")			\
	X(REQ_TRANSPORT_RETRIES_EXCEEDED, "req_transport_retries_exceeded", "retry_cnt used up") \
	X(REQ_RNR_RETRIES_EXCEEDED, "req_rnr_retries_exceeded", "rnr_retry used up")	\
	X(RX_ICRC_ENCAPSULATED, "rx_icrc_encapsulated", "packets with a wrong ICRC")	\
	X(RX_PKTS, "rx_pkts", "packets received for this device")			\
	X(RX_BYTES, "rx_bytes", "bytes of them, BTH to ICRC")				\
	X(RX_MERGED, "rx_merged", "batches of them that GRO had merged")		\
	X(TX_PKTS, "tx_pkts", "packets sent")						\
	X(TX_BYTES, "tx_bytes", "bytes of them, BTH to ICRC")				\
	X(TX_DIRECT, "tx_direct_pkts", "of them, to a peer on this host without the IP stack") \
	X(TX_RETRANSMIT, "tx_retransmits", "request packets sent again")		\
	X(TX_DROP_LOCAL, "tx_local_drops", "packets the local stack refused: lost, not an error") \
	X(TX_NO_MEMORY, "tx_no_memory", "packets not built for want of memory: lost")	\
	X(TX_NO_ROUTE, "tx_no_route", "packets without a route: lost")			\
	X(RX_DROP_MALFORMED, "rx_drop_malformed", "header, length or opcode wrong")	\
	X(RX_DROP_NO_QP, "rx_drop_no_qp", "no such QP")					\
	X(RX_DROP_QP_TYPE, "rx_drop_qp_type", "opcode of another transport than the QP's") \
	X(RX_DROP_STATE, "rx_drop_qp_state", "QP in a state that takes no such packet")	\
	X(RX_DROP_PKEY, "rx_drop_pkey", "P_Key mismatch")				\
	X(RX_DROP_QKEY, "rx_drop_qkey", "Q_Key mismatch")				\
	X(RX_DROP_ADDR, "rx_drop_address", "not from or to the addresses of the connection") \
	X(RX_DROP_LENGTH, "rx_drop_length", "datagram longer than its receive buffer")	\
	X(RX_GHOST_ACK, "rx_ghost_acks", "responses outside the outstanding PSNs")	\
	X(RX_DROP_REQUEST, "rx_drop_request", "requests dropped as the standard says")	\
	X(NP_ECN_MARKED, "np_ecn_marked_roce_packets", "packets with a CE mark")	\
	X(NP_CNP_SENT, "np_cnp_sent", "CNPs sent")					\
	X(RP_CNP_HANDLED, "rp_cnp_handled", "CNPs that slowed a QP down")		\
	X(RP_CNP_IGNORED, "rp_cnp_ignored", "CNPs without effect")

/* Not counted until `rdma statistic set link DEV/1 optional-counters ...` says so. */
#define SROCE_OPTIONAL_COUNTERS(X)							\
	X(CC_RX_CE_PKTS, "cc_rx_ce_pkts", "packets with a CE mark")			\
	X(CC_RX_CNP_PKTS, "cc_rx_cnp_pkts", "CNPs received for a QP")			\
	X(CC_TX_CNP_PKTS, "cc_tx_cnp_pkts", "CNPs sent")

#define SROCE_COUNTERS(X)								\
	SROCE_PLAIN_COUNTERS(X)								\
	SROCE_OPTIONAL_COUNTERS(X)

enum sroce_counter {
#define X(id, name, what) SROCE_CNT_##id,
	SROCE_COUNTERS(X)
#undef X
	SROCE_CNT_COUNT,
};

struct sroce_counters {
	u64_stats_t value[SROCE_CNT_COUNT];
	struct u64_stats_sync sync;
};

struct sroce_dev;

/**
 * sroce_count_add - add to a counter; softirq or BH disabled
 * @counters: of the device
 * @id: which
 * @n: how many
 */
static inline void sroce_count_add(struct sroce_counters __percpu *counters,
				   enum sroce_counter id, u64 n)
{
	struct sroce_counters *c = this_cpu_ptr(counters);

	u64_stats_update_begin(&c->sync);
	u64_stats_add(&c->value[id], n);
	u64_stats_update_end(&c->sync);
}

static inline void sroce_count(struct sroce_counters __percpu *counters, enum sroce_counter id)
{
	sroce_count_add(counters, id, 1);
}

/* counters.c: memory, the sum of one counter, ops of ib_device */
struct sroce_counters __percpu *sroce_counters_create(void);
u64 sroce_counters_sum(struct sroce_counters __percpu *counters, enum sroce_counter id);

struct ib_device;
struct rdma_hw_stats;
struct rdma_hw_stats *sroce_alloc_hw_port_stats(struct ib_device *ibdev, u32 port);

/* qpstat.c: sum of a counter over the device and all bound counters; process context */
u64 sroce_counters_total(struct sroce_dev *dev, enum sroce_counter id);

/* qpstat.c: ops of ib_device, process context */
struct ib_qp;
struct rdma_counter;
int sroce_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp, u32 port);
int sroce_counter_unbind_qp(struct ib_qp *ibqp, u32 port);
int sroce_counter_dealloc(struct rdma_counter *counter);
struct rdma_hw_stats *sroce_counter_alloc_stats(struct rdma_counter *counter);
int sroce_counter_update_stats(struct rdma_counter *counter);

/* pma.c */
struct ib_wc;
struct ib_grh;
struct ib_mad;
int sroce_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *in_wc,
		      const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_bytes, u16 *out_pkey_index);

int sroce_modify_hw_stat(struct ib_device *ibdev, u32 port, unsigned int index, bool enable);
int sroce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);

#endif /* SROCE_COUNTERS_H */
