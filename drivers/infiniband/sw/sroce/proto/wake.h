/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Does the kernel look at a send queue that has run dry again by itself, or does
 * it ask for a doorbell? A process that streams posts on without waiting for what
 * it has posted before: a look a little later finds much, and no post is a system
 * call. One that waits for each answer should have its next post leave at once,
 * not when a timer comes.
 *
 * Trust goes up with each post that cannot have waited for the one before, and
 * down with each that may have. When there is enough, the queue stays awake: it is
 * looked at again after a while. Looks that find one post or none end that, and
 * a stay that was in vain makes the next one harder to come by.
 *
 * Pure. Under the lock of the requester.
 */
#ifndef SROCE_PROTO_WAKE_H
#define SROCE_PROTO_WAKE_H

#include "base.h"
#include "req.h"

#define SROCE_WAKE_TRUST	4	/* wanted at first */
#define SROCE_WAKE_MAX_TRUST	16
#define SROCE_WAKE_WAITED	4	/* what one post that has waited costs */
#define SROCE_WAKE_EMPTY	2	/* looks in vain, one after the other, until it asks */

/**
 * struct sroce_wake - of one send queue
 * @trust: that the process streams
 * @need: trust that is wanted to stay awake
 * @empty: looks in vain since something was found
 * @awake: the next look is by itself, at @look_ns
 * @fresh: something was posted since it last ran dry
 * @found: something was found in this stay
 * @look_ns: time of the next look
 */
struct sroce_wake {
	u8 trust;
	u8 need;
	u8 empty;
	bool awake;
	bool fresh;
	bool found;
	u64 look_ns;
};

/* sroce_wake_reset - nothing is known of the process */
static inline void sroce_wake_reset(struct sroce_wake *wake)
{
	*wake = (struct sroce_wake){ .need = SROCE_WAKE_TRUST };
}

/**
 * sroce_wake_on_post - something was posted to a queue that was dry
 * @wake: of the queue
 * @n: work requests, at least one
 * @waited: the process may have waited for all that it had posted before
 */
void sroce_wake_on_post(struct sroce_wake *wake, u32 n, bool waited);

/**
 * sroce_wake_on_dry - all is complete: what now?
 * @wake: of the queue
 * @now_ns: current time
 * @wait_ns: how long to wait before a look; 0: never wait
 *
 * Returns when to look again, or SROCE_NEVER: ask for a doorbell. May be called
 * again before that time, and says the same.
 */
u64 sroce_wake_on_dry(struct sroce_wake *wake, u64 now_ns, u64 wait_ns);

#endif /* SROCE_PROTO_WAKE_H */
