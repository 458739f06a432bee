// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Contexts of processes, and how they end without a grace period for each object.
 *
 * When a process ends, or its device is taken away, ib_uverbs destroys its objects
 * one by one. We notice at the first of them, and put all QPs of the context to
 * rest at once. A context that is closed otherwise, with objects in it, takes as
 * long as if the process destroyed them.
 */
#include <linux/sched.h>
#include <rdma/sroce-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "compat/ops.h"
#include "context.h"
#include "device.h"
#include "qp.h"

int sroce_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	struct sroce_uresp_alloc_ucontext resp = {
		.features = SROCE_FEAT_SRQ | SROCE_FEAT_XRC,
		.ece_options = sroce_ece_offer(to_sdev(ibuc->device)),
	};

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	return ib_respond_udata(udata, resp);
}

/* Another process has got the file and imports the context: what it needs the core knows. */
int sroce_query_ucontext(struct ib_ucontext *ibuc, struct uverbs_attr_bundle *attrs)
{
	return 0;
}

void sroce_dealloc_ucontext(struct ib_ucontext *ibuc)
{
}

/*
 * That there is this function lets ib_core take a device away from under a
 * process. Destroying the objects, before, has marked their rings dead.
 */
void sroce_disassociate_ucontext(struct ib_ucontext *ibuc)
{
}

/*
 * A task that exits issues no more verbs: what it destroys belongs to a context
 * whose last user it was. When the device goes, others may still be at it: what they
 * make from now on is refused, see publish() in qp.c.
 */
static bool is_leaving(const struct sroce_dev *dev)
{
	return READ_ONCE(dev->leaving) || current->flags & PF_EXITING;
}

bool sroce_context_leaves(struct ib_udata *udata)
{
	struct sroce_ucontext *uctx = rdma_udata_to_drv_context(udata, struct sroce_ucontext, ibuc);

	if (!uctx)
		return false;
	/* Pairs with the release in sroce_qp_rest(). */
	if (!smp_load_acquire(&uctx->at_rest)) {
		if (!is_leaving(to_sdev(uctx->ibuc.device)))
			return false;
		sroce_qp_rest(uctx);
	}
	return !uctx->lends;
}

int sroce_context_lend(struct ib_ucontext *ibuc)
{
	struct sroce_ucontext *uctx = to_suctx(ibuc);
	struct sroce_dev *dev = to_sdev(ibuc->device);
	int err = 0;

	mutex_lock(&dev->qps_lock);
	if (uctx->at_rest)
		err = -EIO;
	else
		uctx->lends = true;
	mutex_unlock(&dev->qps_lock);
	return err;
}

/*
 * The RDMA core takes its clients off a device that goes, or moves to another RDMA
 * namespace, the latest first. We are later than ib_uverbs, which this module needs.
 */
static int client_add(struct ib_device *ibdev)
{
	return ibdev->ops.driver_id == (enum rdma_driver_id)SROCE_DRIVER_ID ? 0 : -EOPNOTSUPP;
}

static void client_remove(struct ib_device *ibdev, void *data)
{
	WRITE_ONCE(to_sdev(ibdev)->leaving, true);
}

static struct ib_client client = {
	.name = "sroce",
	.add = client_add,
	.remove = client_remove,
};

int sroce_context_init(void)
{
	return ib_register_client(&client);
}

void sroce_context_exit(void)
{
	ib_unregister_client(&client);
}
