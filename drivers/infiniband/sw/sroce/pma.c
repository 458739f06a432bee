// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Performance management MADs (IBA 16.1): what fills ports/1/counters, and what
 * monitoring programs read there.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "counters.h"
#include "device.h"

static u64 sum(struct sroce_dev *dev, enum sroce_counter id)
{
	return sroce_counters_total(dev, id);
}

/* Packets that were not a valid request or response of anybody. */
static u64 rcv_errors(struct sroce_dev *dev)
{
	return sum(dev, SROCE_CNT_RX_DROP_MALFORMED) + sum(dev, SROCE_CNT_RX_ICRC_ENCAPSULATED);
}

static u64 xmit_discards(struct sroce_dev *dev)
{
	return sum(dev, SROCE_CNT_TX_DROP_LOCAL) + sum(dev, SROCE_CNT_TX_NO_MEMORY) +
	       sum(dev, SROCE_CNT_TX_NO_ROUTE);
}

/* Bytes are counted in units of four (IBA 16.1.3.5). */
static void fill_ext(struct sroce_dev *dev, struct ib_pma_portcounters_ext *to)
{
	u64 tx = sum(dev, SROCE_CNT_TX_PKTS), rx = sum(dev, SROCE_CNT_RX_PKTS);

	to->port_xmit_data = cpu_to_be64(sum(dev, SROCE_CNT_TX_BYTES) / 4);
	to->port_rcv_data = cpu_to_be64(sum(dev, SROCE_CNT_RX_BYTES) / 4);
	to->port_xmit_packets = cpu_to_be64(tx);
	to->port_rcv_packets = cpu_to_be64(rx);
	to->port_unicast_xmit_packets = cpu_to_be64(tx);
	to->port_unicast_rcv_packets = cpu_to_be64(rx);
}

static void fill_classic(struct sroce_dev *dev, struct ib_pma_portcounters *to)
{
	to->port_rcv_errors = cpu_to_be16(min_t(u64, rcv_errors(dev), U16_MAX));
	to->port_xmit_discards = cpu_to_be16(min_t(u64, xmit_discards(dev), U16_MAX));
	to->port_xmit_data = cpu_to_be32(min_t(u64, sum(dev, SROCE_CNT_TX_BYTES) / 4, U32_MAX));
	to->port_rcv_data = cpu_to_be32(min_t(u64, sum(dev, SROCE_CNT_RX_BYTES) / 4, U32_MAX));
	to->port_xmit_packets = cpu_to_be32(min_t(u64, sum(dev, SROCE_CNT_TX_PKTS), U32_MAX));
	to->port_rcv_packets = cpu_to_be32(min_t(u64, sum(dev, SROCE_CNT_RX_PKTS), U32_MAX));
}

int sroce_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *in_wc,
		      const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_bytes, u16 *out_pkey_index)
{
	struct ib_pma_mad *reply = (struct ib_pma_mad *)out;
	struct ib_class_port_info info = {};

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;

	memset(reply->data, 0, sizeof(reply->data));
	reply->mad_hdr.status = 0;
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		info.capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
		memcpy(reply->data, &info, sizeof(info));
		break;
	case IB_PMA_PORT_COUNTERS_EXT:
		fill_ext(to_sdev(ibdev), (struct ib_pma_portcounters_ext *)reply->data);
		break;
	case IB_PMA_PORT_COUNTERS:
		fill_classic(to_sdev(ibdev), (struct ib_pma_portcounters *)reply->data);
		break;
	default:
		return IB_MAD_RESULT_SUCCESS;
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
