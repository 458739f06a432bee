// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * icount -- a plugin of QEMU's TCG: counts the instructions that the guest executes.
 *
 *	-plugin icount.so,out=PATH
 *
 * PATH is a file of 64-bit words that the guest can read: four for each of 16
 * processors, namely user, kernel, those of the kernel within the range, and 0;
 * then the range, begin and end, which the guest writes (the text of a module),
 * and a word that is not 0 while it wants a profile. A block of code is counted when
 * it is entered. At the end PATH.blocks gets a line `ADDRESS INSTRUCTIONS` for each
 * block of the kernel that ran while a profile was wanted.
 *
 * QEMU's header for plugins comes with no Debian package; what is used of it
 * (version 4 of the interface, QEMU 9.2 and later) is declared here.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define API_VERSION	4
#define MAX_CPUS	16
#define CB_NO_REGS	0

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*cb)(unsigned int, void *), int flags, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, void *),
				    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);

#define EXPORT	__attribute__((visibility("default")))

EXPORT int qemu_plugin_version = API_VERSION;

struct counts {
	struct {
		uint64_t user, kernel, module, unused;
	} cpu[MAX_CPUS];
	uint64_t begin, end;
	uint64_t profile;
};

struct block {
	uint64_t address;
	uint64_t instructions;
	uint64_t executed;
	struct block *next;
};

static volatile struct counts *counts;
static struct block *blocks;
static char blocks_path[4096];

static void on_enter(unsigned int cpu, void *data)
{
	struct block *b = data;

	if (cpu >= MAX_CPUS)
		return;
	if (!(b->address >> 63)) {
		counts->cpu[cpu].user += b->instructions;
		return;
	}
	counts->cpu[cpu].kernel += b->instructions;
	if (counts->profile)
		__atomic_fetch_add(&b->executed, b->instructions, __ATOMIC_RELAXED);
	if (b->address >= counts->begin && b->address < counts->end)
		counts->cpu[cpu].module += b->instructions;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct block *b = calloc(1, sizeof(*b));

	(void)id;
	if (!b)
		return;
	b->address = qemu_plugin_tb_vaddr(tb);
	b->instructions = qemu_plugin_tb_n_insns(tb);
	b->next = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&blocks, &b->next, b, 1, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_enter, CB_NO_REGS, b);
}

static void on_exit_write(qemu_plugin_id_t id, void *data)
{
	FILE *f = fopen(blocks_path, "w");
	const struct block *b;

	(void)id;
	(void)data;
	if (!f)
		return;
	for (b = blocks; b; b = b->next)
		if (b->executed)
			fprintf(f, "%llx %llu\n", (unsigned long long)b->address,
				(unsigned long long)b->executed);
	fclose(f);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	const char *path = NULL;
	int i, fd;

	(void)info;
	for (i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			path = argv[i] + 4;
	fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0666) : -1;
	if (fd < 0 || ftruncate(fd, sizeof(*counts)))
		return -1;
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (counts == MAP_FAILED)
		return -1;
	snprintf(blocks_path, sizeof(blocks_path), "%s.blocks", path);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_write, NULL);
	return 0;
}
