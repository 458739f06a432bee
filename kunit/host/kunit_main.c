// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * unit [NAME]: run the KUnit suites on the host, all or those whose suite.case
 * contains NAME. Prints what failed and, last, `N passed, N failed`; a case with
 * parameters counts once for each of them.
 */
#include <stdarg.h>

#include "kunit_shim.h"

static struct kunit_suite *suites;
static const char *filter;
static unsigned int passed, failed;

void kunit_register(struct kunit_suite *suite)
{
	struct kunit_suite **at = &suites;

	while (*at)
		at = &(*at)->next;
	*at = suite;
}

void *kunit_kzalloc(struct kunit *test, size_t bytes, int gfp)
{
	void *p = calloc(1, bytes);

	(void)gfp;
	assert(p && test->num_allocated < ARRAY_SIZE(test->allocated));
	test->allocated[test->num_allocated++] = p;
	return p;
}

void kunit_fail(struct kunit *test, const char *file, int line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "%s: %s:%d: ", test->name, file, line);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	test->failures++;
}

static void run(const struct kunit_suite *suite, const struct kunit_case *c, const void *param,
		const char *desc)
{
	struct kunit test = { .param_value = param };
	char name[256];

	snprintf(name, sizeof(name), "%s.%s%s%s", suite->name, c->name, *desc ? " " : "", desc);
	if (filter && !strstr(name, filter))
		return;
	test.name = name;
	if (!setjmp(test.abort)) {
		if (suite->init && suite->init(&test))
			KUNIT_FAIL(&test, "init");
		else
			c->run_case(&test);
	}
	if (suite->exit)
		suite->exit(&test);
	while (test.num_allocated)
		free(test.allocated[--test.num_allocated]);
	if (test.failures)
		failed++;
	else
		passed++;
}

static void run_case(const struct kunit_suite *suite, const struct kunit_case *c)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = NULL;

	if (!c->generate_params) {
		run(suite, c, NULL, desc);
		return;
	}
	while ((param = c->generate_params(NULL, param, desc)))
		run(suite, c, param, desc);
}

int main(int argc, char **argv)
{
	const struct kunit_suite *suite;
	const struct kunit_case *c;

	if (argc > 1)
		filter = argv[1];
	for (suite = suites; suite; suite = suite->next)
		for (c = suite->test_cases; c->run_case; c++)
			run_case(suite, c);
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
