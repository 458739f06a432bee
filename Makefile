# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# For people; what the kernel's build system reads is Kbuild. `make help` lists the targets.
#
#	make && sudo make install && sudo modprobe sroce
#	sudo rdma link add sroce0 type sroce netdev eth0
#
# KDIR     kernel to build for, as the directory of its headers (default: the running one)
# PABI     private ABI of libibverbs (default: host, that of the one installed here)
# DESTDIR  install below this directory, and touch nothing else
# W=1, C=1, V=1 and the like are passed on to the kernel's build system.

KDIR    ?= /lib/modules/$(shell uname -r)/build
PABI    ?= host
DESTDIR ?=

RELEASE  = $(or $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null),$(shell uname -r))
KMAKE    = $(MAKE) -C $(KDIR) M=$(CURDIR) $(if $(shell grep -s '^CONFIG_CC_IS_CLANG=y' $(KDIR)/include/config/auto.conf),LLVM=1)

MODULE      := drivers/infiniband/sw/sroce/sroce.ko
PROVIDER    := build/provider
MODULE_DIR   = $(DESTDIR)/lib/modules/$(RELEASE)/updates
VERBS_CONF   = $(DESTDIR)/etc/libibverbs.d
# /lib is /usr/lib everywhere that libibverbs looks for its plugins.
VERBS_LIB   := $(patsubst /lib/%,/usr/lib/%,$(shell ldconfig -p 2>/dev/null | sed -n 's|.*libibverbs\.so\.1 .*=> \(.*\)/libibverbs\.so\.1$$|\1|p' | head -n 1))
VERBS_DIR   ?= $(or $(VERBS_LIB),/usr/lib/$(shell $(CC) -print-multiarch))/libibverbs

.PHONY: all modules provider install uninstall check-config demo check conformance kunit host-test fuzz coverage matrix lint vm-shell cc-report bench-loss clean help

all: modules provider ## the kernel module and the libibverbs plugin (the default)

modules: check-config ## the kernel module, for KDIR
	+$(KMAKE) modules

provider: $(PROVIDER)/sroce.driver ## the libibverbs plugin, for PABI; fetches rdma-core's headers once

$(PROVIDER)/sroce.driver: $(wildcard userspace-provider/*.[ch] include/sroce/*.h include/uapi/rdma/*.h) scripts/provider-build
	dir=$$(scripts/provider-build -a $(PABI)) && rm -rf $(PROVIDER) && mkdir -p $(PROVIDER) && cp "$$dir"/* $(PROVIDER)/

install: modules provider ## both, and depmod; below DESTDIR if given
	install -D -m 644 $(MODULE) $(MODULE_DIR)/sroce.ko
	strip --strip-debug $(MODULE_DIR)/sroce.ko
	install -D -m 644 -t $(DESTDIR)$(VERBS_DIR) $(PROVIDER)/libsroce-rdmav*.so
	install -D -m 644 -t $(VERBS_CONF) $(PROVIDER)/sroce.driver
ifeq ($(DESTDIR),)
	depmod $(RELEASE)
	@echo "Load it now:      modprobe sroce"
	@echo "and at each boot: echo sroce > /etc/modules-load.d/sroce.conf"
	@echo "Make a device:    rdma link add sroce0 type sroce netdev eth0"
	@if od -An -t u1 -j 4 /sys/firmware/efi/efivars/SecureBoot-* 2>/dev/null | grep -qw 1; then \
		echo "Secure Boot is on: the module must be signed to load, which DKMS does (dkms install .)"; fi
endif

uninstall: ## remove what install made
	rm -f $(MODULE_DIR)/sroce.ko $(DESTDIR)$(VERBS_DIR)/libsroce-rdmav*.so $(VERBS_CONF)/sroce.driver
ifeq ($(DESTDIR),)
	depmod $(RELEASE)
endif

check-config: ## whether the kernel of KDIR has what the module needs
	@scripts/check-config $(KDIR)

demo: ## a tour of the module in a virtual machine
	scripts/demo

check: ## everything that has a verdict
	@scripts/check

conformance: ## the standard RDMA tools over every transport and option, also with rdma_rxe, and a table
	@scripts/conformance

kunit: ## the KUnit suites, in a virtual machine
	scripts/kunit

host-test: ## the protocol core as a program, on a simulated network
	$(MAKE) -C kunit/host test

fuzz: ## the protocol core fed with damaged packets and work requests, for SECONDS (300) each
	$(MAKE) -C kunit/host fuzz SECONDS=$(or $(SECONDS),300)

coverage: ## lines and branches of proto/ that the host tests reach
	$(MAKE) -C kunit/host coverage

matrix: ## compile the module for every supported kernel
	scripts/build-matrix

lint: ## style of all sources and scripts
	scripts/lint

vm-shell: ## a shell in the virtual machine
	scripts/vm-shell

.PHONY: stress
stress: ## lifetimes for hours: removals under traffic, load and unload, connections
	scripts/stress

ifneq ($(wildcard scripts/bench),)
.PHONY: bench
bench: ## bandwidth, latency and CPU cost beside rdma_rxe, siw and TCP; QUICK=1
	scripts/bench $(if $(QUICK),-q)
endif

cc-report: ## measure congestion control beside the theory: simulator, User-mode Linux, virtual machine
	scripts/cc-report

bench-loss: ## goodput while packets are lost, reordered or repeated, beside rdma_rxe
	scripts/bench-loss

clean: ## remove what was built here (not the cache)
	rm -rf build
	[ ! -e $(KDIR)/Makefile ] || $(KMAKE) clean
	[ ! -e kunit/host/Makefile ] || $(MAKE) -C kunit/host clean

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) $(if $(wildcard scripts/bench),,| grep -v '^bench') | while IFS='|' read -r t h; do printf '  %-14s %s\n' "$$t" "$$h"; done
