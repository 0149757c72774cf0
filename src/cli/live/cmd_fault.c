/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_fault.c - weft fault: breaks something in a live fabric, and mends it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/param.h"
#include "cli/cli.h"
#include "cli/live/live.h"
#include "cli/live/options.h"
#include "cli/live/words.h"
#include "text/json.h"
#include "scenario/faults.h"
#include "text/suggest.h"

/* What the command line asks for. */
struct request {
	const char *name;
	bool json;
};

/* The faults in words that the daemon tells of. */
struct words_list {
	struct wf_live_words words[WF_SCENARIO_MAX_FAULTS];
	size_t n;
	int64_t now; /* virtual time, ps */
};

/* A word that says what is done to a link. */
struct verb {
	const char *name;
	enum wf_live_fault what;
	enum wf_param_kind kind; /* of its value; WF_PARAM_KINDS: it has none */
	uint64_t value;
	int64_t max;
};

static const struct verb verbs[] = {
	{ "down", WF_LIVE_FAULT_DOWN, WF_PARAM_KINDS, 1, 0 },
	{ "up", WF_LIVE_FAULT_DOWN, WF_PARAM_KINDS, 0, 0 },
	{ "loss", WF_LIVE_FAULT_LOSS, WF_PARAM_PROB, 0, (int64_t)WF_PROB_ONE },
	{ "corrupt", WF_LIVE_FAULT_CORRUPT, WF_PARAM_PROB, 0, (int64_t)WF_PROB_ONE },
	{ "delay", WF_LIVE_FAULT_DELAY, WF_PARAM_TIME, 0, WF_LIVE_DELAY_MAX },
};

static const char *const others[] = { "on", "link", "pause-storm", "kill-host", "clear", "list" };

/* Whether text names the link of a port, from either end, or begins with its name and a slash. */
static bool names_link(const struct wf_live_port *p, const char *text)
{
	char name[2 * WF_LIVE_NAME + 1];
	size_t len = (size_t)snprintf(name, sizeof(name), "%.31s-%.31s", p->node, p->peer);

	return strncmp(text, name, len) == 0 && (text[len] == '\0' || text[len] == '/');
}

/* Finds the link between switches that text means: s1-s2, or s1-s2/N for the N-th between them. */
static bool find_link(const struct wf_live_model *m, const char *text, uint32_t *link_p)
{
	const char *slash = strchr(text, '/');
	unsigned long left = slash != NULL ? strtoul(slash + 1, NULL, 10) : 1;

	for (uint32_t i = 0; m != NULL && i < m->n_ports; i++) {
		if (m->port[i].both != 0 && names_link(&m->port[i], text) && --left == 0) {
			*link_p = m->port[i].link;
			return true;
		}
	}
	return false;
}

/* Sets whom a request is about: a host, whose link is meant as well, or a link between switches. */
static int find_what(const struct wf_live_picture *p, const char *text, struct wf_live_req *req)
{
	if (!find_link(p->model, text, &req->fault.link))
		return wf_live_find_host("fault", p->table, text, &req->fault.host);
	req->fault.host = WF_LIVE_MODEL;
	return 0;
}

static int set_value(const struct verb *verb, const char *text, uint64_t *value_p)
{
	const struct wf_param row = {
		.name = verb->name, .kind = verb->kind, .size = sizeof(*value_p), .max = verb->max
	};
	struct wf_err why = { "" };

	if (verb->kind == WF_PARAM_KINDS) {
		*value_p = verb->value;
		return 0;
	}
	if (text == NULL)
		return wf_cli_usage("fault", "%s needs a value, e.g. %s", verb->name,
		                    verb->kind == WF_PARAM_TIME ? "10us" : "0.1%");
	if (wf_param_set(&row, value_p, text, &why) != 0)
		return wf_cli_usage("fault", "%s: %s", verb->name, why.text);
	return 0;
}

static int unknown_word(const char *word)
{
	struct wf_suggest suggest;

	wf_suggest_init(&suggest, word);
	for (size_t i = 0; i < WF_ARRAY_SIZE(verbs); i++)
		wf_suggest_offer(&suggest, verbs[i].name);
	for (size_t i = 0; i < WF_ARRAY_SIZE(others); i++)
		wf_suggest_offer(&suggest, others[i]);
	return wf_cli_usage("fault", "there is no fault '%.40s'%s", word,
	                    wf_suggest_text(&suggest, "there are"));
}

static int ask(const char *path, struct wf_live_req *req)
{
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	struct wf_err err = { "" };
	int rc;

	req->op = WF_LIVE_FAULT;
	rc = wf_live_ask(path, req, &reply, fds, &err);
	return rc != 0 ? wf_cli_fail(rc, &err) : WF_EXIT_OK;
}

/* A question with a text, whose answer says what is wrong with it. */
static int ask_words(const char *path, struct wf_live_req *req)
{
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	struct wf_err err = { "" };
	int rc = wf_live_ask(path, req, &reply, fds, &err);

	if (rc == 0)
		return WF_EXIT_OK;
	reply.text[WF_LIVE_TEXT - 1] = '\0';
	if (reply.error == -EINVAL && reply.text[0] != '\0')
		rc = wf_live_err(&err, -EINVAL, "weft fault: %s", reply.text);
	return wf_cli_fail(rc, &err);
}

/* on ...: what a scenario's faults: has, from now on. */
static int change_words(const char *path, char **word)
{
	struct wf_live_req req = { .op = WF_LIVE_WORDS };
	int rc = wf_live_words_entry(word, req.text);

	return rc != WF_EXIT_OK ? rc : ask_words(path, &req);
}

/* word... is what is done to links: "loss 0.1% corrupt 0.1%". */
static int change_link(const char *path, struct wf_live_req *req, char **word)
{
	int rc = WF_EXIT_OK;

	if (word[0] == NULL)
		return wf_cli_usage("fault", "what is to happen to the link is missing: down, up, "
		                             "loss, corrupt or delay");
	for (; word[0] != NULL && rc == WF_EXIT_OK; word++) {
		const struct verb *verb = NULL;

		for (size_t i = 0; i < WF_ARRAY_SIZE(verbs); i++) {
			if (strcmp(verbs[i].name, word[0]) == 0)
				verb = &verbs[i];
		}
		if (verb == NULL)
			return unknown_word(word[0]);
		if (set_value(verb, word[1], &req->fault.value) != 0)
			return WF_EXIT_USAGE;
		if (verb->kind != WF_PARAM_KINDS)
			word++;
		req->fault.what = verb->what;
		rc = ask(path, req);
	}
	return rc;
}

/* pause-storm, kill-host, clear: they have a host. */
static int change_host(const char *path, const struct wf_live_picture *p, struct wf_live_req *req,
                       char **word)
{
	bool clear = strcmp(word[0], "clear") == 0, pause = strcmp(word[0], "pause-storm") == 0;
	int n = 1;

	if (word[1] == NULL && !clear)
		return wf_cli_usage("fault", "%s: which host is missing", word[0]);
	if (word[1] != NULL &&
	    (clear ? find_what(p, word[n++], req)
	           : wf_live_find_host("fault", p->table, word[n++], &req->fault.host)) != 0)
		return WF_EXIT_USAGE;
	req->fault.what = clear   ? WF_LIVE_FAULT_CLEAR
	                  : pause ? WF_LIVE_FAULT_PAUSE
	                          : WF_LIVE_FAULT_KILL;
	req->fault.value = 1;
	if (pause && word[n] != NULL && strcmp(word[n], "off") == 0) {
		req->fault.value = 0;
		n++;
	}
	if (word[n] != NULL && word[n - 1] != NULL)
		return wf_cli_usage("fault", "'%.40s' is not expected", word[n]);
	return ask(path, req);
}

/* In a modelled fabric: clear, of all or of what a name means there; a dead host lives again. */
static int clear_words(const char *path, const struct wf_live_picture *p, char **word)
{
	struct wf_live_req req = { .op = WF_LIVE_WORDS_CLEAR };
	struct wf_live_req host = { .fault = { .host = WF_LIVE_ALL, .what = WF_LIVE_FAULT_CLEAR } };
	const char *on = word[0] != NULL ? word[0] : "";
	int rc;

	if (word[0] != NULL && word[1] != NULL)
		return wf_cli_usage("fault", "'%.40s' is not expected", word[1]);
	if (strlen(on) >= sizeof(req.text))
		return wf_cli_usage("fault", "'%.40s...' is no name", on);
	memcpy(req.text, on, strlen(on) + 1);
	rc = ask_words(path, &req);
	for (uint32_t i = 0; i < p->table->n_hosts && on[0] != '\0'; i++) {
		if (strcmp(p->table->host[i].name, on) == 0)
			host.fault.host = i;
	}
	if (rc != WF_EXIT_OK || (on[0] != '\0' && host.fault.host == WF_LIVE_ALL))
		return rc;
	return ask(path, &host);
}

static void print_value(const char *name, enum wf_param_kind kind, uint64_t value)
{
	const struct wf_param row = { .name = name, .kind = kind, .size = sizeof(value) };
	char text[32];

	if (value == 0)
		return;
	if (kind == WF_PARAM_PROB)
		snprintf(text, sizeof(text), "%.6g%%", 100 * (double)value / (double)WF_PROB_ONE);
	else
		wf_param_format(&row, &value, text, sizeof(text));
	printf(" %s %s", name, text);
}

static bool is_faulty(const struct wf_live_host *h)
{
	return h->down != 0 || h->paused != 0 || h->loss != 0 || h->corrupt != 0 || h->delay != 0;
}

/* A link between switches, where it is the port to tell of it: each link has two. */
static bool tells(const struct wf_live_model *m, uint32_t i)
{
	const struct wf_live_port *p = &m->port[i];
	bool first = true;

	for (uint32_t k = 0; k < i; k++)
		first = first && m->port[k].link != p->link;
	return first && p->both != 0 &&
	       (p->down != 0 || p->loss != 0 || p->corrupt != 0 || p->delay != 0);
}

/* A time from now, as exactly as somebody wants to know. */
static void print_time(const char *before, int64_t at)
{
	const int64_t step = at >= WF_S ? 10 * WF_MS : at >= WF_MS ? 10 * WF_US : 1;
	const struct wf_param row = { .kind = WF_PARAM_TIME, .size = sizeof(at) };
	char text[32];

	at = (at + step / 2) / step * step;
	wf_param_format(&row, &at, text, sizeof(text));
	printf(" %s %s", before, text);
}

/* A fault in words: since when, or when from now, and until when. */
static void print_words(const struct wf_live_words *w, int64_t now)
{
	printf("%s: %s%s%s", w->on, w->word, w->settings[0] != '\0' ? " " : "", w->settings);
	if (w->every > 0) {
		print_time("every", w->every);
		print_time("for", w->lasts);
	}
	if (w->at > now)
		print_time("in", w->at - now);
	if (w->until >= 0)
		print_time("for another", w->until - (w->at > now ? w->at : now));
	printf("\n");
}

static void list_text(const struct wf_live_picture *picture, const struct words_list *list)
{
	const struct wf_live_table *t = picture->table;
	const struct wf_live_model *m = picture->model;
	bool none = list->n == 0;

	for (uint32_t i = 0; m != NULL && i < m->n_ports; i++) {
		const struct wf_live_port *p = &m->port[i];

		if (!tells(m, i))
			continue;
		none = false;
		printf("link %s-%s:%s", p->node, p->peer, p->down != 0 ? " down" : "");
		print_value("loss", WF_PARAM_PROB, p->loss);
		print_value("corrupt", WF_PARAM_PROB, p->corrupt);
		print_value("delay", WF_PARAM_TIME, (uint64_t)p->delay);
		printf("\n");
	}

	for (uint32_t i = 0; i < t->n_hosts; i++) {
		const struct wf_live_host *h = &t->host[i];

		if (!is_faulty(h))
			continue;
		none = false;
		printf("link %s-%s:%s", h->name, h->peer,
		       (h->down & WF_LIVE_DOWN_LINK) != 0 ? " down" : "");
		print_value("loss", WF_PARAM_PROB, h->loss);
		print_value("corrupt", WF_PARAM_PROB, h->corrupt);
		print_value("delay", WF_PARAM_TIME, (uint64_t)h->delay);
		printf("%s%s\n", h->paused != 0 ? " pause-storm" : "",
		       (h->down & WF_LIVE_DOWN_DEAD) != 0 ? " host dead" : "");
	}
	for (size_t i = 0; i < list->n; i++)
		print_words(&list->words[i], list->now);
	if (none)
		printf("no faults\n");
}

static void put_words(struct wf_json *json, const struct wf_live_words *w)
{
	wf_json_open(json, NULL, '{');
	wf_json_text(json, "on", w->on);
	wf_json_text(json, "fault", w->word);
	if (w->settings[0] != '\0')
		wf_json_text(json, "set", w->settings);
	wf_json_u64(json, "at_ps", (uint64_t)w->at);
	if (w->until >= 0)
		wf_json_u64(json, "until_ps", (uint64_t)w->until);
	if (w->every > 0) {
		wf_json_u64(json, "every_ps", (uint64_t)w->every);
		wf_json_u64(json, "for_ps", (uint64_t)w->lasts);
	}
	wf_json_close(json, '{');
}

static void list_json(const struct wf_live_picture *picture, const struct words_list *list)
{
	const struct wf_live_table *t = picture->table;
	const struct wf_live_model *m = picture->model;
	struct wf_json json;

	wf_json_init(&json, stdout);
	wf_json_document(&json, "weft.fault", 1);
	wf_json_text(&json, "fabric", t->fabric);
	wf_json_open(&json, "faults", '[');
	for (uint32_t i = 0; m != NULL && i < m->n_ports; i++) {
		const struct wf_live_port *p = &m->port[i];

		if (!tells(m, i))
			continue;
		wf_json_open(&json, NULL, '{');
		wf_json_text(&json, "switch", p->node);
		wf_json_text(&json, "peer", p->peer);
		wf_json_bool(&json, "down", p->down != 0);
		wf_json_real(&json, "loss", (double)p->loss / (double)WF_PROB_ONE);
		wf_json_real(&json, "corrupt", (double)p->corrupt / (double)WF_PROB_ONE);
		wf_json_u64(&json, "delay_ps", (uint64_t)p->delay);
		wf_json_close(&json, '{');
	}
	for (uint32_t i = 0; i < t->n_hosts; i++) {
		const struct wf_live_host *h = &t->host[i];

		if (!is_faulty(h))
			continue;
		wf_json_open(&json, NULL, '{');
		wf_json_text(&json, "host", h->name);
		wf_json_text(&json, "switch", h->peer);
		wf_json_bool(&json, "down", (h->down & WF_LIVE_DOWN_LINK) != 0);
		wf_json_bool(&json, "dead", (h->down & WF_LIVE_DOWN_DEAD) != 0);
		wf_json_bool(&json, "pause_storm", h->paused != 0);
		wf_json_real(&json, "loss", (double)h->loss / (double)WF_PROB_ONE);
		wf_json_real(&json, "corrupt", (double)h->corrupt / (double)WF_PROB_ONE);
		wf_json_u64(&json, "delay_ps", (uint64_t)h->delay);
		wf_json_close(&json, '{');
	}
	wf_json_close(&json, '[');
	wf_json_open(&json, "words", '[');
	for (size_t i = 0; i < list->n; i++)
		put_words(&json, &list->words[i]);
	wf_json_close(&json, '[');
	if (m != NULL)
		wf_json_u64(&json, "now_ps", (uint64_t)list->now);
	wf_json_close(&json, '{');
}

/* Asks for the faults in words, and lists all. */
static int list(const char *path, const struct wf_live_picture *picture, bool json)
{
	struct wf_live_req req = { .op = WF_LIVE_WORDS_LIST };
	struct words_list words = { .n = 0 };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	struct wf_err err = { "" };
	ssize_t n;
	int rc = wf_live_ask(path, &req, &reply, fds, &err);

	if (rc != 0)
		return wf_cli_fail(rc, &err);
	n = pread(fds[0], words.words, sizeof(words.words), 0);
	close(fds[0]);
	words.n = n > 0 ? (size_t)n / sizeof(words.words[0]) : 0;
	words.now = picture->model != NULL ? (int64_t)picture->model->time_ps : 0;
	if (json)
		list_json(picture, &words);
	else
		list_text(picture, &words);
	return wf_cli_finish();
}

static int change(const char *path, const struct wf_live_picture *p, char **word)
{
	struct wf_live_req req = { .fault = { .host = WF_LIVE_ALL } };

	if (strcmp(word[0], "link") == 0) {
		if (word[1] == NULL)
			return wf_cli_usage("fault", "which link is missing");
		if (find_what(p, word[1], &req) != 0)
			return WF_EXIT_USAGE;
		return change_link(path, &req, word + 2);
	}
	if (strcmp(word[0], "on") == 0)
		return change_words(path, word + 1);
	if (strcmp(word[0], "clear") == 0 && p->model != NULL)
		return clear_words(path, p, word + 1);
	for (size_t i = 2; i < WF_ARRAY_SIZE(others); i++) {
		if (strcmp(others[i], word[0]) == 0)
			return change_host(path, p, &req, word);
	}
	return change_link(path, &req, word);
}

static int run_fault(int argc, char **argv)
{
	struct wf_live_picture p = { .n = 0 };
	static char path[WF_PATH_MAX];
	struct request req = { .json = false };
	struct wf_err err = { "" };
	int rc = wf_opt_parse(&wf_cmd_fault, argc, argv, &req);

	if (rc >= 0)
		return rc;
	if (optind == argc)
		return wf_cli_usage("fault", "what is to happen is missing");
	if (req.json && strcmp(argv[optind], "list") != 0)
		return wf_cli_usage("fault", "--json goes with list");
	rc = wf_live_path(req.name, false, path, &err);
	if (rc == 0)
		rc = wf_live_look(path, &p, &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	if (strcmp(argv[optind], "list") != 0)
		return change(path, &p, argv + optind);
	if (argv[optind + 1] != NULL)
		return wf_cli_usage("fault", "'%.40s' is not expected", argv[optind + 1]);
	return list(path, &p, req.json);
}

static void each_word(wf_values_fn *fn, void *arg)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(others); i++)
		fn(arg, others[i], "");
	for (size_t i = 0; i < WF_ARRAY_SIZE(verbs); i++)
		fn(arg, verbs[i].name, "");
}

static const struct wf_values words = { .each = each_word };
static const struct wf_values *const operands[] = { &words, &wf_values_hosts, &words, NULL };

static const char *const forms[] = {
	"fault [--name NAME] on WHAT FAULT|set PARAMETER=VALUE... [at T] [until T] [every T for T]",
	"fault [--name NAME] link LINK down|up",
	"fault [--name NAME] [link LINK] loss P|corrupt P|delay TIME",
	"fault [--name NAME] pause-storm HOST [off]",
	"fault [--name NAME] kill-host HOST",
	"fault [--name NAME] clear [HOST|LINK|WHAT]",
	"fault [--name NAME] list [--json]",
	NULL,
};

static const struct wf_opt_row options[] = {
	{ .is = &wf_opt_name, .take = wf_opt_take_text, .at = offsetof(struct request, name) },
	{ .is = &wf_opt_json, .take = wf_opt_take_flag, .at = offsetof(struct request, json) },
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Faults",
	  ":down, up\tNothing passes the link. Programs on the host get the asynchronous events "
	  "PORT_ERR and, when it is up again, PORT_ACTIVE; reliable queue pairs end with "
	  "RETRY_EXC_ERR after their retries.\n"
	  ":loss P\tSo many packets, e.g. 0.1%, vanish, each way.\n"
	  ":corrupt P\tSo many packets arrive with a wrong checksum, each way: they are discarded "
	  "and counted.\n"
	  ":delay TIME\tPackets take longer by TIME, each way, at most 2s; in a modelled fabric "
	  "some 0.1s, what its engine holds.\n"
	  ":pause-storm HOST\tThe host's adapter lets nobody send to it, until `off`.\n"
	  ":kill-host HOST\tThe programs on it are killed, and none can start there until it is "
	  "cleared.\n"
	  ":on WHAT ...\tIn a modelled fabric, what `faults:` of a scenario knows, from now on: "
	  "`down`, "
	  "`flap` (with `every` and `for`), `pause-storm`, `slow-receiver` (with `rate`), or any "
	  "setting that may change, of a "
	  "host, a switch, a port (`leaf0:5`, `leaf0:h3`), a link or all that fit a pattern "
	  "(`spine*`). Times count from now; without `at` it begins at once, without `until` it "
	  "stays. See weft-scenario(5).\n"
	  ":clear\tMends everything, or what is named.\n"
	  ":list\tSays what is broken.\n" },
	WF_LIVE_ENVIRONMENT,
	{ "Examples", "  weft fault link h1 down\n"
	              "  weft fault link leaf0-spine1 loss 0.1% delay 10us\n"
	              "  weft fault on leaf0-spine1 flap every 1s for 100ms until 30s\n"
	              "  weft fault on leaf0 set pfc.rx=none ecn.kmin=1MB ecn.kmax=2MB at 5s\n"
	              "  weft fault clear\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_fault = {
	.name = "fault",
	.summary = "break something in a live fabric, and mend it",
	.operands = "FAULT...",
	.values = operands,
	.options = options,
	.forms = forms,
	.text = "Breaks something in a live fabric while programs use it. A LINK is that of a "
		"host, `h1-s1` or just `h1`; without one, those of all hosts are meant. In a "
		"modelled fabric it may be any, e.g. `leaf0-spine1`, or `leaf0-spine1/2` for the "
		"second between the two. A fault stays until it is set to something else (0, `up`, "
		"`off`) or cleared.\n",
	.sections = sections,
	.see = "weft(1), weft-up(1), weft-status(1)",
	.run = run_fault,
};
