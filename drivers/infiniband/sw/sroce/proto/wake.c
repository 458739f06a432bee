// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "wake.h"

void sroce_wake_on_post(struct sroce_wake *wake, u32 n, bool waited)
{
	wake->fresh = true;
	if (!wake->awake) {
		if (waited)
			wake->trust -= min_t(u8, wake->trust, SROCE_WAKE_WAITED);
		else if (wake->trust < SROCE_WAKE_MAX_TRUST)
			wake->trust++;
		return;
	}
	/* One post alone would have left sooner by a doorbell, and gains nothing. */
	if (n < 2 || waited) {
		wake->trust -= min_t(u8, wake->trust, SROCE_WAKE_WAITED / 2);
		return;
	}
	wake->found = true;
	wake->trust = min(wake->trust + 2, SROCE_WAKE_MAX_TRUST);
}

static u64 fall_asleep(struct sroce_wake *wake)
{
	wake->awake = false;
	wake->trust = 0;
	if (wake->found)
		wake->need = SROCE_WAKE_TRUST;
	else
		wake->need = min(wake->need * 2, SROCE_WAKE_MAX_TRUST);
	return SROCE_NEVER;
}

static u64 look_in(struct sroce_wake *wake, u64 now_ns, u64 wait_ns)
{
	wake->look_ns = now_ns + wait_ns;
	return wake->look_ns;
}

u64 sroce_wake_on_dry(struct sroce_wake *wake, u64 now_ns, u64 wait_ns)
{
	bool fresh = wake->fresh;

	wake->fresh = false;
	if (!wake->awake) {
		if (!wait_ns || wake->trust < wake->need)
			return SROCE_NEVER;
		wake->awake = true;
		wake->found = false;
		wake->empty = 0;
		return look_in(wake, now_ns, wait_ns);
	}
	if (!wait_ns)
		return fall_asleep(wake);
	if (fresh) {
		wake->empty = 0;
		return wake->trust ? look_in(wake, now_ns, wait_ns) : fall_asleep(wake);
	}
	if (now_ns < wake->look_ns)
		return wake->look_ns;
	if (++wake->empty >= SROCE_WAKE_EMPTY)
		return fall_asleep(wake);
	return look_in(wake, now_ns, 2 * wait_ns);
}
