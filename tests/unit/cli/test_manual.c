/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_manual.c - the page of a command, as text and as roff: each kind of line, long words, words
 * that roff would take for its own; and what every command's page must have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/manual_priv.h"
#include "results/export.h"

static const struct wf_opt_row options[] = {
	{
		.is =
			&(const struct wf_opt){
				.name = "file",
				.letter = 'f',
				.arg = "FILE",
				.help = "Names a FILE, or `a.b`.",
			},
		.more = ":one\tthe first\n:second\tanother\n",
		.required = true,
		.many = true,
	},
	{ .is = &(const struct wf_opt){ .name = "gone", .help = "No more." }, .gone = true },
	{
		.is = &(const struct wf_opt){ .name = "loud", .help = "Says it." },
		.more = "Twice.",
		.old = "noisy",
		.old_letter = 'n',
	},
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Two words", ".begins with a stop, 'quoted' and C:\\x ~ ^; FILES and FILE_X are no FILE, "
	               "read-only is no -o.\n"
	               "  .literal --file\n" },
	{ NULL, NULL },
};

static const struct wf_cmd cmd = {
	.name = "test",
	.summary = "try it",
	.operands = "[THING]",
	.options = options,
	.text = "It does what --file says. Then it ends.\n"
		"- an item that is so long that it does not fit on one line and goes on below "
		"itself\n"
		"- aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,"
		"cccccccccccccccccccc,d\n",
	.sections = sections,
	.see = "weft(1)",
};

static const char text[] =
	"usage: weft test [THING] --file FILE... [--loud]\n"
	"\n"
	"It does what --file says. Then it ends.\n"
	"\n"
	"- an item that is so long that it does not fit on one line and goes on below\n"
	"  itself\n"
	"- aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,\n"
	"  cccccccccccccccccccc,d\n"
	"\n"
	"Options:\n"
	"  -f, --file FILE         Names a FILE, or a.b.\n"
	"                          one     the first\n"
	"                          second  another\n"
	"      --loud              Says it. Twice.\n"
	"  -h, --help              Shows this text.\n"
	"\n"
	"Two words:\n"
	"  .begins with a stop, 'quoted' and C:\\x ~ ^; FILES and FILE_X are no FILE,\n"
	"  read-only is no -o.\n"
	"\n"
	"    .literal --file\n"
	"\n"
	"See also:\n"
	"  weft(1)\n";

static const char roff[] = //
	".SH NAME\n"
	"weft\\-test \\- try it\n"
	".SH SYNOPSIS\n"
	"\\fBweft test\\fR [\\fITHING\\fR] \\fB\\-\\-file\\fR \\fIFILE\\fR... "
	"[\\fB\\-\\-loud\\fR]\n"
	".SH DESCRIPTION\n"
	"It does what \\fB\\-\\-file\\fR says.\n"
	"Then it ends.\n"
	".IP \\(bu 2\n"
	"an item that is so long that it does not fit on one line and goes on below itself\n"
	".IP \\(bu 2\n"
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,\\:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,"
	"\\:cccccccccccccccccccc,\\:d\n"
	".SH OPTIONS\n"
	".TP\n"
	"\\fB\\-f\\fR, \\fB\\-\\-file\\fR \\fIFILE\\fR\n"
	"Names a \\fIFILE\\fR, or \\fBa.b\\fR.\n"
	".RS\n"
	".TP\n"
	"\\fBone\\fR\n"
	"the first\n"
	".TP\n"
	"\\fBsecond\\fR\n"
	"another\n"
	".RE\n"
	".TP\n"
	"\\fB\\-\\-loud\\fR\n"
	"Says it.\n"
	"Twice.\n"
	".TP\n"
	"\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"
	"Shows this text.\n"
	".SH TWO WORDS\n"
	"\\&.begins with a stop, \\(aqquoted\\(aq and C:\\ex \\(ti \\(ha; FILES and FILE_X are no "
	"\\fIFILE\\fR, read\\-only is no \\fB\\-o\\fR.\n"
	".PP\n"
	".EX\n"
	"\\&.literal \\-\\-file\n"
	".EE\n"
	".SH SEE ALSO\n"
	"weft(1)\n";

/* What print writes, in the test's memory. */
static char *written(void (*print)(const struct wf_cmd *, FILE *), const struct wf_cmd *of)
{
	char *page = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&page, &size);

	assert_non_null(file);
	print(of, file);
	assert_int_equal(fclose(file), 0);
	return page;
}

static void test_text(void **state)
{
	char *page = written(wf_manual_text, &cmd);

	(void)state;
	assert_string_equal(page, text);
	free(page);
}

static void test_roff(void **state)
{
	char *page = written(wf_manual_roff, &cmd);
	const char *body = strstr(page, ".SH NAME\n");

	(void)state;
	assert_non_null(strstr(page, ".TH WEFT\\-TEST 1 "));
	assert_non_null(body);
	assert_string_equal(body, roff);
	free(page);
}

/* Every page that is referred to as a command's is one's. */
static void check_references(const struct wf_cmd *of)
{
	for (const char *at = of->see; at != NULL && (at = strstr(at, "weft-")) != NULL; at += 5) {
		char name[32];
		size_t n = strcspn(at + 5, "(");

		assert_true(n < sizeof(name));
		snprintf(name, sizeof(name), "%.*s", (int)n, at + 5);
		if (strncmp(at + 5 + n, "(1)", 3) == 0 && wf_cmd_find(name) == NULL)
			fail_msg("weft %s refers to weft-%s(1), and there is none", of->name, name);
		if (strcmp(name, of->name) == 0)
			fail_msg("weft %s refers to itself", of->name);
	}
}

static void check_options(const struct wf_cmd *of)
{
	for (const struct wf_opt_row *row = of->options; row != NULL && row->is != NULL; row++) {
		const struct wf_opt *is = row->is;

		if (row->gone == (row->take != NULL))
			fail_msg("weft %s: --%s is taken by nobody, or is gone", of->name,
			         is->name);
		if (is->arg == NULL && is->values != NULL)
			fail_msg("weft %s: --%s has values and no argument", of->name, is->name);
		if (row->take == wf_opt_take_param && row->param == NULL)
			fail_msg("weft %s: --%s is a number without a range", of->name, is->name);
		if (row->take == wf_opt_take_flag && is->arg != NULL)
			fail_msg("weft %s: --%s ignores its argument", of->name, is->name);
	}
}

static void test_every_command_is_whole(void **state)
{
	size_t n = 0;

	(void)state;
	for (; wf_cmd_all()[n] != NULL; n++) {
		const struct wf_cmd *of = wf_cmd_all()[n];

		if (of->summary == NULL || of->text == NULL || of->run == NULL)
			fail_msg("weft %s lacks a part of its page", of->name);
		assert_ptr_equal(wf_cmd_find(of->name), of);
		check_references(of);
		check_options(of);
	}
	assert_true(n >= 10);
	assert_null(wf_cmd_find("no"));
}

/* Every format of weft export has its word in the help of --to. */
static void test_formats_are_told_of(void **state)
{
	const struct wf_opt_row *row = wf_cmd_export.options;

	(void)state;
	while (strcmp(row->is->name, "to") != 0)
		row++;
	for (size_t i = 0; wf_export_all()[i] != NULL; i++) {
		char word[64];

		snprintf(word, sizeof(word), "\n:%s\t", wf_export_all()[i]->name);
		if (strstr(row->is->help, word) == NULL)
			fail_msg("--to says nothing of %s", wf_export_all()[i]->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_roff),
		cmocka_unit_test(test_every_command_is_whole),
		cmocka_unit_test(test_formats_are_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
