// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "pace.h"

u64 sroce_pace_book(struct sroce_pace *pace, u64 rate_bps, u32 bytes, u64 now_ns)
{
	u64 start = pace->next_ns, num, ns;

	if (start + SROCE_PACE_LATE_NS < now_ns) {
		start = now_ns - SROCE_PACE_LATE_NS;
		pace->rem = 0;
	}
	/* After a change of the rate the remainder is one of another rate, and less than 1 ns. */
	num = (u64)bytes * 8 * 1000000000 + min(pace->rem, rate_bps - 1);
	ns = div64_u64(num, rate_bps);
	pace->rem = num - ns * rate_bps;
	pace->next_ns = start + ns;
	return start;
}

bool sroce_turn_is_wanted(struct sroce_turn *turn, u64 now_ns)
{
	if (turn->bytes > 0 && turn->at_ns + SROCE_PACE_LATE_NS < now_ns)
		turn->bytes = 0;
	return turn->bytes <= 0;
}
