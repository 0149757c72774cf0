/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_help.c - weft help: what there is, all about one command, and the same as manual pages.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/common.h"
#include "cli/manual.h"
#include "text/file.h"
#include "text/json.h"

/* What the command line asks for. */
struct request {
	bool roff, json;
	const char *pages;
};

/* A page as a text of its own, which the caller owns; NULL without memory. */
static char *page_of(const struct wf_cmd *cmd, void (*print)(const struct wf_cmd *, FILE *))
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	if (file == NULL)
		return NULL;
	print(cmd, file);
	if (fclose(file) == 0)
		return text;
	free(text);
	return NULL;
}

static void put_option(struct wf_json *json, const struct wf_opt_row *row)
{
	char letter[2] = { row->is->letter, '\0' }, old_letter[2] = { row->old_letter, '\0' };

	wf_json_open(json, NULL, '{');
	wf_json_text(json, "name", row->is->name);
	wf_json_text(json, "letter", letter);
	wf_json_text(json, "argument", row->is->arg != NULL ? row->is->arg : "");
	wf_json_text(json, "help", row->is->help);
	wf_json_text(json, "more", row->more != NULL ? row->more : "");
	wf_json_text(json, "old", row->old != NULL ? row->old : "");
	wf_json_text(json, "old_letter", old_letter);
	wf_json_bool(json, "required", row->required);
	wf_json_bool(json, "repeatable", row->many);
	wf_json_bool(json, "gone", row->gone);
	wf_json_close(json, '{');
}

/* Both forms of a page. Returns 0 or -ENOMEM. */
static int put_pages(struct wf_json *json, const struct wf_cmd *cmd)
{
	char *text = page_of(cmd, wf_manual_text), *roff = page_of(cmd, wf_manual_roff);
	int rc = text == NULL || roff == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		wf_json_text(json, "text", text);
		wf_json_text(json, "roff", roff);
	}
	free(text);
	free(roff);
	return rc;
}

/* Everything of one command. Returns 0 or -ENOMEM. */
static int put_command(struct wf_json *json, const struct wf_cmd *cmd)
{
	static const struct wf_opt_row help = { .is = &wf_opt_help };
	int rc;

	wf_json_open(json, NULL, '{');
	wf_json_text(json, "name", cmd->name);
	wf_json_text(json, "summary", cmd->summary);
	wf_json_text(json, "operands", cmd->operands != NULL ? cmd->operands : "");
	wf_json_open(json, "options", '[');
	for (const struct wf_opt_row *r = cmd->options; r != NULL && r->is != NULL; r++)
		put_option(json, r);
	put_option(json, &help);
	wf_json_close(json, '[');
	rc = put_pages(json, cmd);
	wf_json_close(json, '{');
	return rc;
}

/* One command, or with NULL all of them. */
static int print_json(const struct wf_cmd *only)
{
	const struct wf_err err = { "" };
	struct wf_json json;
	int rc = 0;

	wf_json_init(&json, stdout);
	wf_json_document(&json, "weft.help", 1);
	wf_json_open(&json, "commands", '[');
	for (size_t i = 0; rc == 0 && wf_cmd_all()[i] != NULL; i++) {
		if (only == NULL || wf_cmd_all()[i] == only)
			rc = put_command(&json, wf_cmd_all()[i]);
	}
	wf_json_close(&json, '[');
	if (rc == 0 && only == NULL) {
		wf_json_open(&json, "overview", '{');
		rc = put_pages(&json, NULL);
		wf_json_close(&json, '{');
	}
	wf_json_close(&json, '{');
	return rc == 0 ? wf_cli_finish() : wf_cli_fail(rc, &err);
}

/* One page of the manual, in the folder dir. Returns 0, or a negative error with err filled. */
static int write_page(const char *dir, const struct wf_cmd *cmd, struct wf_err *err)
{
	char path[WF_PATH_MAX];
	struct wf_out out;
	int rc;

	if (snprintf(path, sizeof(path), "%s/weft%s%s.1", dir, cmd != NULL ? "-" : "",
	             cmd != NULL ? cmd->name : "") >= (int)sizeof(path))
		return wf_err_say(err, "%s: the path is too long", dir);
	rc = wf_out_open(&out, path, err);
	if (rc != 0)
		return rc;
	wf_manual_roff(cmd, out.file);
	rc = wf_out_commit(&out, err);
	wf_out_abort(&out);
	return rc;
}

static int write_pages(const char *dir)
{
	struct wf_err err = { "" };
	int rc = 0;

	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		rc = wf_file_refused(dir, errno, &err);
	if (rc == 0)
		rc = write_page(dir, NULL, &err);
	for (size_t i = 0; rc == 0 && wf_cmd_all()[i] != NULL; i++)
		rc = write_page(dir, wf_cmd_all()[i], &err);
	return rc == 0 ? WF_EXIT_OK : wf_cli_fail(rc, &err);
}

static int run_help(int argc, char **argv)
{
	struct request req = { .roff = false };
	const struct wf_cmd *cmd = NULL;
	int rc = wf_opt_parse(&wf_cmd_help, argc, argv, &req);

	if (rc >= 0)
		return rc;
	if (optind + 1 < argc)
		return wf_cli_usage("help", "one command at a time");
	if (req.roff + req.json + (req.pages != NULL) > 1)
		return wf_cli_usage("help", "only one of --roff, --json and --pages");
	if (req.pages != NULL && optind < argc)
		return wf_cli_usage("help", "--pages is all commands, not %s alone", argv[optind]);
	if (req.pages != NULL)
		return write_pages(req.pages);
	if (optind < argc) {
		cmd = wf_cmd_find(argv[optind]);
		if (cmd == NULL)
			return wf_cmd_unknown("help", argv[optind]);
	}
	if (req.json)
		return print_json(cmd);
	if (req.roff)
		wf_manual_roff(cmd, stdout);
	else
		wf_manual_text(cmd, stdout);
	return wf_cli_finish();
}

static const struct wf_values *const operands[] = { &wf_values_commands, NULL };

static const struct wf_opt_row options[] = {
	{
		.is =
			&(const struct wf_opt){
				.name = "roff",
				.help = "Prints the page as one of the manual, in roff: `weft help "
					"--roff "
					"run | man -l -`.",
			},
		.take = wf_opt_take_flag,
		.at = offsetof(struct request, roff),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "pages",
				.arg = "DIR",
				.help = "Writes the pages of the manual of all commands to this "
					"folder, "
					"which is made if it is not there.",
				.values = &wf_values_folder,
			},
		.take = wf_opt_take_text,
		.at = offsetof(struct request, pages),
	},
	{ .is = &wf_opt_json,
	  .take = wf_opt_take_flag,
	  .at = offsetof(struct request, json),
	  .more = "They are the tables of options, and both forms of each page." },
	{ .is = NULL },
};

const struct wf_cmd wf_cmd_help = {
	.name = "help",
	.summary = "say what a command does",
	.operands = "[COMMAND]",
	.values = operands,
	.options = options,
	.text = "Says what commands there are, or all about one of them: the same as `weft "
		"COMMAND --help`, and as its page of the manual.\n",
	.see = "weft(1), weft-completion(1)",
	.run = run_help,
};
