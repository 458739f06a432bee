// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fake kernel and library; see fake.h.
 */
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"
#include "sroce_abi.h"

struct fake fake;

static const struct verbs_device_ops *driver;
static struct verbs_device *device;
static struct test *tests;
static const char *running;
static int failures;
static off_t file_end;

/* Objects to destroy at the end of a test, in reverse order of creation. */
static struct { enum { PD, CQ, QP } kind; void *object; } made[64];
static int num_made;

/* The kernel's own mappings, so that leaks of the provider's stand out. */
static struct { void *base; size_t bytes; } kernel_maps[64];
static int num_kernel_maps;

/* -- libc, wrapped -- */

void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int __real_munmap(void *addr, size_t len);
int __wrap_munmap(void *addr, size_t len);
ssize_t __real_write(int fd, const void *buf, size_t n);
ssize_t __wrap_write(int fd, const void *buf, size_t n);

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p;

	if (fd != fake.fd)
		return __real_mmap(addr, len, prot, flags, fd, off);
	if (fake.mmaps_until_fail && --fake.mmaps_until_fail == 0) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	p = __real_mmap(addr, len, prot, flags, fd, off);
	fake.mapped += p != MAP_FAILED;
	return p;
}

int __wrap_munmap(void *addr, size_t len)
{
	fake.mapped--;
	return __real_munmap(addr, len);
}

ssize_t __wrap_write(int fd, const void *buf, size_t n)
{
	if (fd != fake.fd)
		return __real_write(fd, buf, n);
	if (fake.write_interrupts > 0) {
		fake.write_interrupts--;
		errno = EINTR;
		return -1;
	}
	__atomic_fetch_add(&fake.doorbells, 1, __ATOMIC_RELAXED);
	memcpy(&fake.doorbell, buf, n < sizeof(fake.doorbell) ? n : sizeof(fake.doorbell));
	if (fake.write_error) {
		errno = fake.write_error;
		return -1;
	}
	if (fake.on_doorbell)
		fake.on_doorbell();
	return n;
}

/* -- the kernel: rings -- */

static struct sroce_ring_info make_ring(struct sroce_ring *kernel, uint32_t entries,
					uint32_t stride)
{
	struct sroce_ring_info info = { .entries = entries, .stride = stride };
	size_t bytes = SROCE_RING_ENTRIES_OFFSET + (size_t)entries * stride;
	void *base;

	bytes = (bytes + 4095) & ~4095UL;
	info.mmap_offset = file_end;
	info.mmap_bytes = SROCE_RING_ENTRIES_OFFSET + (size_t)entries * stride - fake.short_bytes;
	memset(kernel, 0, sizeof(*kernel));
	if (!entries)
		return info;

	file_end += bytes;
	if (ftruncate(fake.fd, file_end))
		abort();
	base = __real_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fake.fd,
			   info.mmap_offset);
	if (base == MAP_FAILED)
		abort();
	kernel_maps[num_kernel_maps].base = base;
	kernel_maps[num_kernel_maps++].bytes = bytes;
	sroce_ring_attach(kernel, base, entries, stride);
	kernel->ctrl->prod = kernel->prod = fake.first_index;
	kernel->ctrl->cons = kernel->cons = fake.first_index;
	return info;
}

const void *fake_take(struct sroce_ring *ring)
{
	const void *entry;

	if (!sroce_ring_used(ring))
		return NULL;
	entry = sroce_ring_slot(ring, ring->cons);
	sroce_ring_release(ring, 1);
	return entry;
}

void fake_complete(struct sroce_ring *ring, const struct sroce_cqe *cqe)
{
	if (!sroce_ring_space(ring))
		abort();
	memcpy(sroce_ring_slot(ring, ring->prod), cqe, sizeof(*cqe));
	sroce_ring_publish(ring, 1);
}

void fake_complete_simple(struct sroce_ring *ring, uint64_t wr_id, uint32_t qpn)
{
	struct sroce_cqe cqe = { .wr_id = wr_id, .qpn = qpn };

	fake_complete(ring, &cqe);
}

/* -- the library: commands with driver data -- */

int ibv_cmd_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
		      int comp_vector, struct ibv_cq *cq, struct ibv_create_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_create_cq_resp *resp, size_t resp_size)
{
	struct sroce_create_cq_resp *r = (void *)resp;

	r->ring = make_ring(&fake.cq, fake.cq_entries, fake.cq_stride);
	cq->context = context;
	cq->handle = 7;
	cq->cqe = fake.cq_entries;
	return 0;
}

int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd, size_t cmd_size,
		      struct ib_uverbs_resize_cq_resp *resp, size_t resp_size)
{
	struct sroce_resize_cq_resp *r = (void *)resp;
	struct sroce_ring old = fake.cq;
	const void *entry;

	if (fake.resize_error)
		return fake.resize_error;
	/* As the kernel does: the new ring begins with what was not consumed. */
	r->ring = make_ring(&fake.cq, cqe, fake.cq_stride);
	old.cons = old.ctrl->cons;
	while ((entry = fake_take(&old)))
		fake_complete(&fake.cq, entry);
	cq->cqe = cqe;
	return 0;
}

int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr, struct ibv_create_qp *cmd,
			 size_t cmd_size, struct ib_uverbs_create_qp_resp *resp, size_t resp_size)
{
	struct sroce_create_qp_resp *r = (void *)resp;
	bool has_rq = !attr->srq && attr->qp_type != IBV_QPT_XRC_SEND &&
		      attr->qp_type != IBV_QPT_XRC_RECV;

	r->sq = make_ring(&fake.sq, attr->qp_type == IBV_QPT_XRC_RECV ? 0 : fake.sq_entries,
			  fake.sq_stride);
	r->rq = make_ring(&fake.rq, has_rq ? fake.rq_entries : 0, fake.rq_stride);
	r->max_inline = fake.max_inline;
	r->max_send_sge = fake.max_send_sge;
	r->max_recv_sge = fake.max_recv_sge;
	qp->qp.context = context;
	qp->qp.qp_type = attr->qp_type;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.srq = attr->srq;
	qp->qp.qp_num = 0x11;
	qp->qp.handle = 5;
	qp->comp_mask = 0;
	return 0;
}

int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		      struct ibv_modify_qp *cmd, size_t cmd_size)
{
	struct sroce_modify_qp *c = (void *)cmd;
	struct sroce_ring *rings[] = { &fake.sq, &fake.rq };
	size_t i;

	if (fake.modify_error)
		return fake.modify_error;
	fake.modify_bytes = cmd_size;
	fake.modify_ece = cmd_size == sizeof(*c) ? c->ece_options : 0;
	for (i = 0; attr->qp_state == IBV_QPS_RESET && i < 2; i++) {
		if (!rings[i]->ctrl)
			continue;
		rings[i]->prod = rings[i]->ctrl->prod = 0;
		rings[i]->cons = rings[i]->ctrl->cons = 0;
	}
	return 0;
}

static int make_srq(struct ibv_srq *srq, struct ibv_context *context,
		    struct sroce_uresp_create_srq *resp)
{
	resp->ring = make_ring(&fake.srq, fake.srq_entries, fake.rq_stride);
	resp->srqn = 0x51;
	resp->max_sge = fake.max_recv_sge;
	srq->context = context;
	srq->handle = 9;
	return 0;
}

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp, size_t resp_size)
{
	return make_srq(srq, pd->context, &((struct sroce_create_srq_resp *)resp)->drv_payload);
}

int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *srq,
			  struct ibv_srq_init_attr_ex *attr, struct ibv_create_xsrq *cmd,
			  size_t cmd_size, struct ib_uverbs_create_srq_resp *resp,
			  size_t resp_size)
{
	return make_srq(&srq->srq, context, &((struct sroce_create_xsrq_resp *)resp)->drv_payload);
}

int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask,
		       struct ibv_modify_srq *cmd, size_t cmd_size)
{
	struct sroce_uresp_modify_srq *resp =
		(void *)(uintptr_t)((struct sroce_modify_srq *)cmd)->resp_addr;
	struct sroce_ring old = fake.srq;
	uint32_t i, n;

	if (!(mask & IBV_SRQ_MAX_WR))
		return 0;
	resp->ring = make_ring(&fake.srq, attr->max_wr, fake.rq_stride);
	n = sroce_ring_used(&old);
	for (i = 0; i < n; i++)
		memcpy(sroce_ring_slot(&fake.srq, fake.srq.cons + i),
		       sroce_ring_slot(&old, old.cons + i), fake.rq_stride);
	fake.srq.ctrl->prod += n;
	return 0;
}

int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah, struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size)
{
	((struct sroce_create_ah_resp *)resp)->ah_id = 0xa5;
	ah->context = pd->context;
	return 0;
}

#if IBVERBS_PABI_VERSION >= 57
#define FD_ARR_ARG	struct ibv_fd_arr *fd_arr,
#else
#define FD_ARR_ARG
#endif

int ibv_cmd_get_context(struct verbs_context *context, struct ibv_get_context *cmd,
			size_t cmd_size, FD_ARR_ARG struct ib_uverbs_get_context_resp *resp,
			size_t resp_size)
{
	struct sroce_get_context_resp *r = (void *)resp;

	r->features = fake.features;
	r->ece_options = fake.ece_options;
	return 0;
}

void *_verbs_init_and_alloc_context(struct ibv_device *dev, int cmd_fd, size_t alloc_size,
				    struct verbs_context *offset, uint32_t driver_id)
{
	char *ctx = calloc(1, alloc_size);
	struct verbs_context *vctx = (void *)(ctx + (uintptr_t)offset);

	CHECK_EQ(driver_id, SROCE_DRIVER_ID);
	vctx->context.device = dev;
	vctx->context.cmd_fd = cmd_fd;
	return ctx;
}

/* The library copies what is not NULL, so later tables add to earlier ones. */
void verbs_set_ops(struct verbs_context *vctx, const struct verbs_context_ops *ops)
{
	void **to = (void **)&fake.ops, *const *from = (void *const *)ops;
	size_t i;

	for (i = 0; i < sizeof(*ops) / sizeof(void *); i++)
		if (from[i])
			to[i] = from[i];
}

void verbs_uninit_context(struct verbs_context *context) { }
void verbs_register_driver(const struct verbs_device_ops *ops) { driver = ops; }

/* -- the library: commands that just work -- */

int ibv_cmd_destroy_cq(struct ibv_cq *cq) { fake.destroyed_cqs++; return 0; }
int ibv_cmd_destroy_qp(struct ibv_qp *qp) { fake.destroyed_qps++; return 0; }
int ibv_cmd_destroy_srq(struct ibv_srq *srq) { return 0; }
int ibv_cmd_destroy_ah(struct ibv_ah *ah) { return 0; }
int ibv_cmd_dealloc_pd(struct ibv_pd *pd) { return 0; }
int ibv_cmd_dealloc_mw(struct ibv_mw *mw) { return 0; }
int ibv_cmd_dereg_mr(struct verbs_mr *mr) { return 0; }
int ibv_cmd_close_xrcd(struct verbs_xrcd *xrcd) { return 0; }

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd, struct ibv_alloc_pd *cmd,
		     size_t cmd_size, struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size)
{
	pd->context = context;
	pd->handle = 3;
	return 0;
}

/* -- the library: never called here -- */

#define UNUSED(name, ...) int name(__VA_ARGS__) { abort(); }
UNUSED(ibv_cmd_advise_mr, struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
       struct ibv_sge *sg_list, uint32_t num_sge)
UNUSED(ibv_cmd_attach_mcast, struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
UNUSED(ibv_cmd_detach_mcast, struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
UNUSED(ibv_cmd_alloc_mw, struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw,
       struct ibv_alloc_mw *cmd, size_t cmd_size, struct ib_uverbs_alloc_mw_resp *resp,
       size_t resp_size)
UNUSED(ibv_cmd_modify_cq, struct ibv_cq *cq, struct ibv_modify_cq_attr *attr,
       struct ibv_modify_cq *cmd, size_t cmd_size)
UNUSED(ibv_cmd_open_qp, struct ibv_context *context, struct verbs_qp *qp, int vqp_sz,
       struct ibv_qp_open_attr *attr, struct ibv_open_qp *cmd, size_t cmd_size,
       struct ib_uverbs_create_qp_resp *resp, size_t resp_size)
UNUSED(ibv_cmd_open_xrcd, struct ibv_context *context, struct verbs_xrcd *xrcd, int vxrcd_size,
       struct ibv_xrcd_init_attr *attr, struct ibv_open_xrcd *cmd, size_t cmd_size,
       struct ib_uverbs_open_xrcd_resp *resp, size_t resp_size)
UNUSED(ibv_cmd_query_context, struct ibv_context *context, struct ibv_command_buffer *driver)
UNUSED(ibv_cmd_query_mr, struct ibv_pd *pd, struct verbs_mr *mr, uint32_t handle)
UNUSED(ibv_cmd_query_device_any, struct ibv_context *context,
       const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attr,
       size_t attr_size, struct ib_uverbs_ex_query_device_resp *resp, size_t *resp_size)
UNUSED(ibv_cmd_query_port, struct ibv_context *context, uint8_t port,
       struct ibv_port_attr *attr, struct ibv_query_port *cmd, size_t cmd_size)
UNUSED(ibv_cmd_query_qp, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
       struct ibv_qp_init_attr *init, struct ibv_query_qp *cmd, size_t cmd_size)
UNUSED(ibv_cmd_query_srq, struct ibv_srq *srq, struct ibv_srq_attr *attr,
       struct ibv_query_srq *cmd, size_t cmd_size)
UNUSED(ibv_cmd_reg_mr, struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va, int access,
       struct verbs_mr *mr, struct ibv_reg_mr *cmd, size_t cmd_size,
       struct ib_uverbs_reg_mr_resp *resp, size_t resp_size)
UNUSED(ibv_cmd_reg_dmabuf_mr, struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
       int fd, int access, struct verbs_mr *mr, struct ibv_command_buffer *driver_data)
UNUSED(ibv_cmd_rereg_mr, struct verbs_mr *mr, uint32_t flags, void *addr, size_t length,
       uint64_t hca_va, int access, struct ibv_pd *pd, struct ibv_rereg_mr *cmd, size_t cmd_sz,
       struct ib_uverbs_rereg_mr_resp *resp, size_t resp_sz)

/* -- objects for tests -- */

static void *keep(int kind, void *object)
{
	if (!object || num_made == ARRAY_LEN(made))
		return object;
	made[num_made].kind = kind;
	made[num_made++].object = object;
	return object;
}

struct ibv_pd *fake_pd(void)
{
	return keep(PD, fake.ops.alloc_pd(fake.context));
}

struct ibv_cq *fake_cq(void)
{
	return keep(CQ, fake.ops.create_cq(fake.context, 1, NULL, 0));
}

struct ibv_cq_ex *fake_cq_ex(uint64_t wc_flags, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 1,
		.wc_flags = wc_flags,
		.comp_mask = flags ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0,
		.flags = flags,
	};

	return keep(CQ, fake.ops.create_cq_ex(fake.context, &attr));
}

struct ibv_qp *fake_qp(enum ibv_qp_type type, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = { .send_cq = cq, .recv_cq = cq, .qp_type = type };

	return keep(QP, fake.ops.create_qp(fake_pd(), &attr));
}

struct ibv_qp_ex *fake_qp_ex(enum ibv_qp_type type, struct ibv_cq *cq, uint64_t ops)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = fake_pd(),
		.send_ops_flags = ops,
	};

	return keep(QP, fake.ops.create_qp_ex(fake.context, &attr));
}

int fake_modify(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return fake.ops.modify_qp(qp, &attr, IBV_QP_STATE);
}

void fake_destroy_all(void)
{
	while (num_made--) {
		if (made[num_made].kind == QP)
			fake.ops.destroy_qp(made[num_made].object);
		else if (made[num_made].kind == CQ)
			fake.ops.destroy_cq(made[num_made].object);
		else
			fake.ops.dealloc_pd(made[num_made].object);
	}
	num_made = 0;
}

bool fake_is_locked(struct sroce_lock *lock)
{
	if (pthread_spin_trylock(&lock->spin))
		return true;
	pthread_spin_unlock(&lock->spin);
	return false;
}

/* -- running tests -- */

void test_register(struct test *t)
{
	struct test **p = &tests;

	while (*p && strcmp((*p)->name, t->name) < 0)
		p = &(*p)->next;
	t->next = *p;
	*p = t;
}

void test_fail(const char *file, int line, const char *what)
{
	printf("%s: %s:%d: %s\n", running, file, line, what);
	failures++;
}

static void setup(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.fd = memfd_create("rings", 0);
	file_end = 4096;	/* so that no ring is at offset 0 */
	fake.sq_entries = fake.rq_entries = fake.srq_entries = 8;
	fake.cq_entries = 16;
	fake.sq_stride = 64 + 64;
	fake.rq_stride = 16 + 48;
	fake.cq_stride = sizeof(struct sroce_cqe);
	fake.max_inline = 60;
	fake.max_send_sge = 4;
	fake.max_recv_sge = 3;
	fake.features = SROCE_FEAT_SRQ | SROCE_FEAT_XRC;
	fake.ece_options = 5;
	device = driver->alloc_device(NULL);
	fake.context = &driver->alloc_context(&device->device, fake.fd, NULL)->context;
}

static void teardown(void)
{
	fake_destroy_all();
	CHECK_EQ(fake.mapped, 0);
	fake.ops.free_context(fake.context);
	driver->uninit_device(device);
	while (num_kernel_maps--)
		__real_munmap(kernel_maps[num_kernel_maps].base, kernel_maps[num_kernel_maps].bytes);
	num_kernel_maps = 0;
	close(fake.fd);
}

int main(int argc, char **argv)
{
	int passed = 0, failed = 0;
	struct test *t;

	for (t = tests; t; t = t->next) {
		if (argc > 1 && !strstr(t->name, argv[1]))
			continue;
		running = t->name;
		failures = 0;
		alarm(60);	/* a lost wake-up or a lock left held */
		setup();
		t->run();
		teardown();
		printf("%s %s\n", failures ? "not ok" : "ok", t->name);
		fflush(stdout);
		failures ? failed++ : passed++;
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed || !passed;
}
