# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# ktap.awk -- judge the KTAP that KUnit keeps of each suite: print it, say what is wrong with it, and count.
#
# Input: the suites' results in debugfs, one after the other; each begins anew with the plan 1..1. Counted
# are the leaves, that is results without deeper ones before them. What is below a test (its parameters)
# has no plan in 6.12.
# -v announced=N: so many suites must be there.
# Exit status: 0 if all passed, 1 if not or if there were none.

function complain(text) {
	print "kunit: " text
	broken++
}

# the results of a level are over: all that was planned must have come
function close_level(l) {
	if (plan[l] != "" && plan[l] != count[l] + 0)
		complain(name[l] ": planned " plan[l] " results, got " count[l] + 0)
	else if (plan[l] == "" && count[l] && l < 2)
		complain(name[l] ": results without a plan")
	plan[l] = name[l] = ""
	count[l] = 0
}

function close_levels(from) {
	for (l = depth; l >= from; l--)
		close_level(l)
	depth = from
}

{
	print
	match($0, /^ */)
	level = int(RLENGTH / 4)
	line = substr($0, RLENGTH + 1)
}

line ~ /^KTAP version/ {
	close_levels(level)
}

line ~ /^# Subtest: / {
	name[level] = substr(line, 12)
	if (level == 1)
		began++
}

line ~ /^1\.\.[0-9]+/ {
	plan[level] = substr(line, 4) + 0
}

line ~ /^(not )?ok [0-9]+/ {
	leaf = level >= depth
	close_levels(level + 1)
	depth = level
	count[level]++
	number = line
	sub(/^(not )?ok /, "", number)
	if (number + 0 != count[level])
		complain("out of order: " line)
	if (line ~ /^not ok/) {
		if (leaf)
			failed++
		else
			failed_parents++
	} else if (leaf) {
		if (line ~ /# SKIP/)
			skipped++
		else
			passed++
	}
	if (level == 0)
		ended++
}

END {
	close_levels(0)
	if (began != ended)
		complain(began + 0 " suites began, " ended + 0 " ended")
	if (announced != "" && announced + 0 != began)
		complain("the kernel announced " announced " suites, " began + 0 " have results")
	if (failed_parents && !failed)
		complain("a test or suite failed as a whole")
	if (!passed && !failed)
		complain("no tests")
	failed += broken
	printf "kunit: %d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0 || !passed
}
