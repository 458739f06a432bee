// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The provider's front: which devices are ours, contexts, and the objects that
 * live in the kernel alone (domains, memory, address handles).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sroce.h"
#include "sroce_abi.h"

static int sroce_query_device_ex(struct ibv_context *context,
				 const struct ibv_query_device_ex_input *input,
				 struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp = {};
	size_t resp_size = sizeof(resp);
	uint64_t version;
	int err;

	err = ibv_cmd_query_device_any(context, input, attr, attr_size, &resp, &resp_size);
	if (err)
		return err;

	version = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%u",
		 (unsigned int)(version >> 32 & 0xffff), (unsigned int)(version >> 16 & 0xffff),
		 (unsigned int)(version & 0xffff));
	return 0;
}

static int sroce_query_port(struct ibv_context *context, uint8_t port,
			    struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd = {};

	return ibv_cmd_query_port(context, port, attr, &cmd, sizeof(cmd));
}

static struct ibv_pd *sroce_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp = {};
	struct ibv_alloc_pd cmd = {};
	struct sroce_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	if (ibv_cmd_alloc_pd(context, &pd->pd, &cmd, sizeof(cmd), &resp, sizeof(resp))) {
		free(pd);
		return NULL;
	}
	return &pd->pd;
}

static int dealloc_parent_domain(struct sroce_pd *pd)
{
	atomic_fetch_sub(&pd->of->users, 1);
	if (pd->td)
		atomic_fetch_sub(&pd->td->users, 1);
	free(pd);
	return 0;
}

static int sroce_dealloc_pd(struct ibv_pd *ibpd)
{
	struct sroce_pd *pd = to_spd(ibpd);
	int err;

	if (atomic_load(&pd->users))
		return EBUSY;
	if (pd->of)
		return dealloc_parent_domain(pd);
	err = ibv_cmd_dealloc_pd(ibpd);
	if (!err)
		free(pd);
	return err;
}

/* A thread domain is a promise of the application; the kernel knows nothing of it. */
static struct ibv_td *sroce_alloc_td(struct ibv_context *context,
				     struct ibv_td_init_attr *attr)
{
	struct sroce_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = context;
	return &td->td;
}

static int sroce_dealloc_td(struct ibv_td *ibtd)
{
	struct sroce_td *td = to_std(ibtd);

	if (atomic_load(&td->users))
		return EBUSY;
	free(td);
	return 0;
}

/*
 * An application may bring allocators for the memory of queues. Here that is the
 * kernel's, which maps it, so that there is nothing to call them for.
 */
#define PARENT_DOMAIN_ATTRS						\
	(IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)

static struct ibv_pd *sroce_alloc_parent_domain(struct ibv_context *context,
						struct ibv_parent_domain_init_attr *attr)
{
	struct sroce_pd *pd;

	if (ibv_check_alloc_parent_domain(attr))
		return NULL;
	if (!check_comp_mask(attr->comp_mask, PARENT_DOMAIN_ATTRS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	pd->of = to_spd(attr->pd);
	atomic_fetch_add(&pd->of->users, 1);
	if (attr->td) {
		pd->td = to_std(attr->td);
		atomic_fetch_add(&pd->td->users, 1);
	}
	ibv_initialize_parent_domain(&pd->pd, attr->pd);
	return &pd->pd;
}

static struct ibv_mr *sroce_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
				   uint64_t hca_va, int access)
{
	struct ib_uverbs_reg_mr_resp resp = {};
	struct ibv_reg_mr cmd = {};
	struct verbs_mr *mr;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	if (ibv_cmd_reg_mr(pd, addr, length, hca_va, access, mr, &cmd, sizeof(cmd),
			   &resp, sizeof(resp))) {
		free(mr);
		return NULL;
	}
	return &mr->ibv_mr;
}

/*
 * One number of the private ABI (34) covers two prototypes of this function: the
 * last argument came with rdma-core 56. Older ones do not look at it.
 */
typedef int reg_dmabuf_mr_fn(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			     int fd, int access, struct verbs_mr *mr, void *driver);

static struct ibv_mr *sroce_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					  uint64_t iova, int fd, int access)
{
	reg_dmabuf_mr_fn *reg = (reg_dmabuf_mr_fn *)(void *)ibv_cmd_reg_dmabuf_mr;
	struct verbs_mr *mr;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	if (reg(pd, offset, length, iova, fd, access, mr, NULL)) {
		free(mr);
		return NULL;
	}
	return &mr->ibv_mr;
}

static int sroce_rereg_mr(struct verbs_mr *mr, int flags, struct ibv_pd *pd, void *addr,
			  size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp = {};
	struct ibv_rereg_mr cmd = {};

	return ibv_cmd_rereg_mr(mr, flags, addr, length, (uintptr_t)addr, access, pd,
				&cmd, sizeof(cmd), &resp, sizeof(resp));
}

static int sroce_dereg_mr(struct verbs_mr *mr)
{
	int err = ibv_cmd_dereg_mr(mr);

	if (!err)
		free(mr);
	return err;
}

static struct ibv_mw *sroce_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp = {};
	struct ibv_alloc_mw cmd = {};
	struct ibv_mw *mw;

	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;
	if (ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &resp, sizeof(resp))) {
		free(mw);
		return NULL;
	}
	return mw;
}

static int sroce_dealloc_mw(struct ibv_mw *mw)
{
	int err = ibv_cmd_dealloc_mw(mw);

	if (!err)
		free(mw);
	return err;
}

static struct ibv_ah *sroce_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct sroce_create_ah_resp resp = {};
	struct sroce_ah *ah;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	if (ibv_cmd_create_ah(pd, &ah->ah, attr, &resp.ibv_resp, sizeof(resp))) {
		free(ah);
		return NULL;
	}
	ah->ah_id = resp.ah_id;
	return &ah->ah;
}

static int sroce_destroy_ah(struct ibv_ah *ibah)
{
	int err = ibv_cmd_destroy_ah(ibah);

	if (!err)
		free(to_sah(ibah));
	return err;
}

/*
 * What another process has made, by its handle. Unimporting leaves it there; destroying
 * it would end it for both.
 */
static struct ibv_pd *sroce_import_pd(struct ibv_context *context, uint32_t handle)
{
	struct sroce_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->pd.context = context;
	pd->pd.handle = handle;
	return &pd->pd;
}

static void sroce_unimport_pd(struct ibv_pd *ibpd)
{
	free(to_spd(ibpd));
}

static struct ibv_mr *sroce_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct verbs_mr *mr;
	int err;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	err = ibv_cmd_query_mr(pd, mr, handle);
	if (err) {
		free(mr);
		errno = err;
		return NULL;
	}
	return &mr->ibv_mr;
}

static void sroce_unimport_mr(struct ibv_mr *mr)
{
	free(verbs_get_mr(mr));
}

static void sroce_free_context(struct ibv_context *ibctx)
{
	struct sroce_context *ctx = to_sctx(ibctx);

	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

/*
 * Not here on purpose: query_qp_data_in_order. Packets are placed in order, but
 * the bytes of one are copied by memcpy(), which may begin at the end; the
 * library's answer for a missing operation, "no order", is the true one.
 */
/* The clock of completion timestamps: CLOCK_REALTIME. */
static int sroce_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	uint32_t wanted = values->comp_mask;

	values->comp_mask = 0;
	if (!(wanted & IBV_VALUES_MASK_RAW_CLOCK))
		return 0;
	if (clock_gettime(CLOCK_REALTIME, &values->raw_clock))
		return errno;
	values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}

static const struct verbs_context_ops base_ops = {
	.advise_mr = ibv_cmd_advise_mr,
	.alloc_mw = sroce_alloc_mw,
	.alloc_parent_domain = sroce_alloc_parent_domain,
	.alloc_pd = sroce_alloc_pd,
	.alloc_td = sroce_alloc_td,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = sroce_bind_mw,
	.create_ah = sroce_create_ah,
	.create_cq = sroce_create_cq,
	.create_cq_ex = sroce_create_cq_ex,
	.create_qp = sroce_create_qp,
	.create_qp_ex = sroce_create_qp_ex,
	.dealloc_mw = sroce_dealloc_mw,
	.dealloc_pd = sroce_dealloc_pd,
	.dealloc_td = sroce_dealloc_td,
	.dereg_mr = sroce_dereg_mr,
	.destroy_ah = sroce_destroy_ah,
	.destroy_cq = sroce_destroy_cq,
	.destroy_qp = sroce_destroy_qp,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = sroce_free_context,
	.import_mr = sroce_import_mr,
	.import_pd = sroce_import_pd,
	.modify_cq = sroce_modify_cq,
	.modify_qp = sroce_modify_qp,
	.poll_cq = sroce_poll_cq,
	.post_recv = sroce_post_recv,
	.post_send = sroce_post_send,
	.query_device_ex = sroce_query_device_ex,
	.query_ece = sroce_query_ece,
	.query_port = sroce_query_port,
	.query_qp = sroce_query_qp,
	.query_rt_values = sroce_query_rt_values,
	.reg_dmabuf_mr = sroce_reg_dmabuf_mr,
	.reg_mr = sroce_reg_mr,
	.req_notify_cq = sroce_req_notify_cq,
	.rereg_mr = sroce_rereg_mr,
	.resize_cq = sroce_resize_cq,
	.set_ece = sroce_set_ece,
	.unimport_mr = sroce_unimport_mr,
	.unimport_pd = sroce_unimport_pd,
};

static const struct verbs_context_ops srq_ops = {
	.create_srq = sroce_create_srq,
	.create_srq_ex = sroce_create_srq_ex,
	.destroy_srq = sroce_destroy_srq,
	.get_srq_num = sroce_get_srq_num,
	.modify_srq = sroce_modify_srq,
	.post_srq_recv = sroce_post_srq_recv,
	.query_srq = sroce_query_srq,
};

static const struct verbs_context_ops xrc_ops = {
	.close_xrcd = sroce_close_xrcd,
	.open_qp = sroce_open_qp,
	.open_xrcd = sroce_open_xrcd,
};

static int get_context(struct sroce_context *ctx, uint32_t *features)
{
	struct sroce_get_context_resp resp = {};
	struct sroce_get_context cmd = {};
	int err;

#if IBVERBS_PABI_VERSION >= 57
	err = ibv_cmd_get_context(&ctx->vctx, &cmd.ibv_cmd, sizeof(cmd), NULL,
				  &resp.ibv_resp, sizeof(resp));
#else
	err = ibv_cmd_get_context(&ctx->vctx, &cmd.ibv_cmd, sizeof(cmd),
				  &resp.ibv_resp, sizeof(resp));
#endif
	ctx->ece_options = resp.ece_options;
	*features = resp.features;
	return err;
}

static void set_ops(struct sroce_context *ctx, uint32_t features)
{
	verbs_set_ops(&ctx->vctx, &base_ops);
	if (features & SROCE_FEAT_SRQ)
		verbs_set_ops(&ctx->vctx, &srq_ops);
	if (features & SROCE_FEAT_XRC)
		verbs_set_ops(&ctx->vctx, &xrc_ops);
}

static struct verbs_context *sroce_alloc_context(struct ibv_device *device, int cmd_fd,
						 void *private_data)
{
	struct sroce_context *ctx;
	uint32_t features;

	ctx = verbs_init_and_alloc_context(device, cmd_fd, ctx, vctx, SROCE_DRIVER_ID);
	if (!ctx)
		return NULL;
	if (get_context(ctx, &features)) {
		verbs_uninit_context(&ctx->vctx);
		free(ctx);
		return NULL;
	}
	set_ops(ctx, features);
	return &ctx->vctx;
}

/*
 * A kernel that answers has all features. What options it offers to peers it does not
 * say: QPs of this context offer none.
 */
static struct verbs_context *sroce_import_context(struct ibv_device *device, int cmd_fd)
{
	struct sroce_context *ctx;
	int err;

	ctx = verbs_init_and_alloc_context(device, cmd_fd, ctx, vctx, SROCE_DRIVER_ID);
	if (!ctx)
		return NULL;
	err = ibv_cmd_query_context(&ctx->vctx.context, NULL);
	if (err) {
		verbs_uninit_context(&ctx->vctx);
		free(ctx);
		errno = err;
		return NULL;
	}
	set_ops(ctx, SROCE_FEAT_SRQ | SROCE_FEAT_XRC);
	return &ctx->vctx;
}

static struct verbs_device *sroce_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	return calloc(1, sizeof(struct verbs_device));
}

static void sroce_uninit_device(struct verbs_device *device)
{
	free(device);
}

static const struct verbs_match_ent match_table[] = {
	VERBS_DRIVER_ID(SROCE_DRIVER_ID),
	{ .kind = VERBS_MATCH_SENTINEL },
};

static const struct verbs_device_ops sroce_device_ops = {
	.name = "sroce",
	.match_min_abi_version = SROCE_ABI_VERSION,
	.match_max_abi_version = SROCE_ABI_VERSION,
	.match_table = match_table,
	.alloc_device = sroce_alloc_device,
	.uninit_device = sroce_uninit_device,
	.alloc_context = sroce_alloc_context,
	.import_context = sroce_import_context,
};

PROVIDER_DRIVER(sroce, sroce_device_ops);
