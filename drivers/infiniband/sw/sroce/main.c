// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The module: init and exit.
 */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "compat/crc32.h"
#include "context.h"
#include "cq.h"
#include "device.h"
#include "direct.h"
#include "knobs.h"
#include "qp.h"
#include "sock.h"
#include "tx.h"

static struct rdma_link_ops link_ops = {
	.type = "sroce",
	.newlink = sroce_newlink,
};

static int __init sroce_init(void)
{
	int err;

	sroce_crc32_init();
	err = sroce_knobs_init();
	if (err)
		goto err_crc32;
	err = sroce_cq_init();
	if (err)
		goto err_knobs;
	err = sroce_qp_table_init();
	if (err)
		goto err_cq;
	err = sroce_direct_init();
	if (err)
		goto err_qp_table;
	err = sroce_sock_init();
	if (err)
		goto err_direct;
	err = sroce_context_init();
	if (err)
		goto err_sock;
	err = sroce_link_init();
	if (err)
		goto err_context;
	rdma_link_register(&link_ops);
	return 0;

err_context:
	sroce_context_exit();
err_sock:
	sroce_sock_exit();
err_direct:
	sroce_direct_exit();
err_qp_table:
	sroce_qp_table_exit();
err_cq:
	sroce_cq_exit();
err_knobs:
	sroce_knobs_exit();
err_crc32:
	sroce_crc32_exit();
	return err;
}

static void __exit sroce_exit(void)
{
	rdma_link_unregister(&link_ops);
	sroce_link_exit();
	sroce_context_exit();
	sroce_sock_exit();
	sroce_direct_exit();
	sroce_qp_table_exit();
	rcu_barrier();			/* callbacks are our code */
	sroce_tx_exit();
	sroce_cq_exit();
	sroce_knobs_exit();
	sroce_crc32_exit();
}

module_init(sroce_init);
module_exit(sroce_exit);

MODULE_DESCRIPTION("Software RoCEv2 RDMA driver");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_ALIAS_RDMA_LINK("sroce");
