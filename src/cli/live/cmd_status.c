/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_status.c - weft status: hosts and programs of a live fabric. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live/live.h"
#include "cli/live/options.h"
#include "text/json.h"

/* What the command line asks for. */
struct request {
	const char *name;
	bool json, watch;
};

static void dotted(uint32_t ip, char text[16])
{
	snprintf(text, 16, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

/* A program's name is what it says: it may not speak to the terminal. */
static void printable(const char from[WF_LIVE_NAME], char to[WF_LIVE_NAME])
{
	size_t i = 0;

	for (; i + 1 < WF_LIVE_NAME && from[i] != '\0'; i++)
		to[i] = (char)(from[i] < ' ' || from[i] >= 0x7f ? '?' : from[i]);
	to[i] = '\0';
}

/* The column of a host's counters at place at, from 1; NULL: there are no more. */
static const struct wf_column *column_at(unsigned at, uint32_t *count_p)
{
	for (uint32_t i = 0; i < WF_LIVE_COUNTS; i++) {
		const struct wf_column *column = &wf_live_counter(i)->column;

		if (column->at == at) {
			*count_p = i;
			return column;
		}
	}
	return NULL;
}

/* Of a port, as ibv_devinfo and OpenSM call them. */
static const char *state_name(uint32_t state)
{
	static const char *const names[] = { "", "down", "init", "armed", "active" };

	return state < WF_ARRAY_SIZE(names) ? names[state] : "?";
}

static const char *manager_state(uint32_t state)
{
	static const char *const names[] = { "not active", "discovering", "standby", "master" };

	return state < WF_ARRAY_SIZE(names) ? names[state] : "?";
}

static void print_counts(const struct wf_live_status *s)
{
	const struct wf_column *column;
	uint32_t count;

	printf(" %5u", s->qps);
	for (unsigned at = 1; (column = column_at(at, &count)) != NULL; at++)
		printf(" %*lu", column->width, s->count[count]);
	putchar('\n');
}

static void print_table(const struct wf_live_picture *p)
{
	const struct wf_live_table *t = p->table;
	const struct wf_column *column;
	uint32_t count;
	char ip[16];

	printf("fabric %s, %s, %u hosts\n\n", t->fabric,
	       t->layer == WF_LIVE_IB ? "InfiniBand" : "RoCE v2", t->n_hosts);
	printf("%-12s %-8s %-5s %-16s %8s %5s", "host", "port", "lid", "address", "pid", "qps");
	for (unsigned at = 1; (column = column_at(at, &count)) != NULL; at++)
		printf(" %*s", column->width, column->title);
	putchar('\n');
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		dotted(t->host[h].ipv4, ip);
		printf("%-12s %-8s %-5u %-16s", t->host[h].name,
		       state_name(wf_live_port_state(t, h)), t->host[h].lid, ip);
		printf(" %8s", "");
		print_counts(&p->status[h]);
		for (uint32_t i = t->n_hosts; i < p->n; i++) {
			const struct wf_live_status *s = &p->status[i];
			char name[WF_LIVE_NAME];

			if (s->host != h)
				continue;
			printable(s->program, name);
			printf("  %-42.31s %8d", name, s->pid);
			print_counts(s);
		}
	}
}

static const char *pace_name(uint32_t pace)
{
	return pace == WF_LIVE_WALL ? "wall" : pace == WF_LIVE_NONE ? "none" : "direct";
}

/*
 * Where the machine does not keep up: either the model, whose time then slips, or the programs,
 * which take in late what has come.
 */
static void print_late(const struct wf_live_picture *p)
{
	uint64_t packets = 0, ns = 0;

	for (uint32_t h = 0; h < p->table->n_hosts; h++) {
		packets += p->status[h].count[WF_LIVE_LATE_PACKETS];
		ns += p->status[h].count[WF_LIVE_LATE_NS];
	}
	if (packets != 0)
		printf("programs took packets in %.0f us after they were due, on the average\n",
		       (double)ns / (double)packets / 1000);
}

/* Circles of queues that stand, queue by queue, and those that are over. */
static void print_deadlock(const struct wf_live_deadlock *d)
{
	printf("\ndeadlock since %.6f s", (double)d->formed / (double)WF_S);
	if (d->ended != 0)
		printf(", over by %.6f s", (double)d->ended / (double)WF_S);
	printf(": %u queues wait for one another in a circle;\n%u queues with %lu packets and %u "
	       "host%s wait%s for it\n",
	       d->n, d->queues, d->packets, d->hosts, d->hosts == 1 ? "" : "s",
	       d->ended != 0 ? "ed" : "");
	for (uint32_t i = 0; i < d->n_links; i++) {
		const struct wf_live_deadlock_link *l = &d->link[i];
		char port[WF_LIVE_NAME + 12];

		snprintf(port, sizeof(port), "%s:%u", l->node, l->number);
		printf("  %-17s -> %-14s priority %u: %u packets, first %s -> %s, since %.6f "
		       "s%s%s\n",
		       port, l->peer, l->id, l->packets, l->src, l->dst,
		       (double)l->since / (double)WF_S, l->valley != 0 ? ", down and up again" : "",
		       i == d->closed ? ", the last" : "");
	}
	if (d->n_links < d->n)
		printf("  and %u more\n", d->n - d->n_links);
}

/* Who sets LIDs and routes, and what that comes to. */
static void print_managers(const struct wf_live_model *m)
{
	const struct wf_live_managers *ms = &m->managers;
	uint64_t refused = 0;

	if (ms->managed == 0)
		return;
	for (uint32_t i = 0; i < m->n_ports; i++)
		refused += m->port[i].counts.drops_pkey;
	if (ms->lid == 0)
		printf("managed by nobody: no port is active\n");
	else
		printf("managed from LID %u (%s)\n", ms->lid,
		       ms->master[0] != '\0' ? ms->master : "nobody's");
	for (uint32_t i = 0; i < ms->n && i < WF_LIVE_MANAGERS; i++)
		printf("weft's subnet manager on %s: %s, priority %u\n", ms->manager[i].host,
		       manager_state(ms->manager[i].state), ms->manager[i].priority);
	if (ms->n != 0)
		printf("%lu heavy sweeps; links changed %lu times, new routes after %.3f ms (at "
		       "most "
		       "%.3f ms)\n",
		       ms->sweeps, ms->reroutes, (double)ms->last / (double)WF_MS,
		       (double)ms->max / (double)WF_MS);
	printf("%lu management packets (hop by hop), %lu lost; %lu packets of other partitions "
	       "refused\n",
	       ms->smps, ms->smps_lost, refused);
}

static const char *port_state(const struct wf_live_port *p)
{
	if (p->down != 0)
		return "down";
	return p->state != 0 ? state_name(p->state) : "up";
}

/* All ports: those of switches come before those of hosts. */
static void print_model(const struct wf_live_picture *picture)
{
	const struct wf_live_model *m = picture->model;
	struct wf_counts_cell cell;

	printf("\nmodelled, pace %s; virtual time %.3f s, slipped %.3f s; %lu packets under way, "
	       "%lu "
	       "delivered,\n%lu lost, %lu unclaimed\n",
	       pace_name(m->pace), (double)m->time_ps / (double)WF_S,
	       (double)m->slip_ps / (double)WF_S, m->under_way, m->delivered, m->lost,
	       m->unclaimed);
	print_late(picture);
	print_managers(m);
	for (uint32_t i = 0; i < m->n_deadlocks; i++)
		print_deadlock(wf_live_deadlock(m, i));
	printf("\n%-14s %4s %-14s %-6s", "switch or host", "port", "to", "");
	for (unsigned at = 1; wf_counts_cell(NULL, WF_COUNTS_STATUS, at, &cell); at++)
		printf(" %*s", cell.width, cell.title);
	putchar('\n');
	for (uint32_t i = 0; i < m->n_ports; i++) {
		const struct wf_live_port *p = &m->port[i];

		printf("%-14s %4u %-14s %-6s", p->node, p->number, p->peer, port_state(p));
		for (unsigned at = 1; wf_counts_cell(&p->counts, WF_COUNTS_STATUS, at, &cell); at++)
			printf(" %*lu", cell.width, cell.value);
		putchar('\n');
	}
}

static void print_port(struct wf_json *json, const struct wf_live_port *p)
{
	wf_json_open(json, NULL, '{');
	wf_json_text(json, "node", p->node);
	wf_json_bool(json, "switch", p->is_switch != 0);
	wf_json_u64(json, "port", p->number);
	wf_json_text(json, "peer", p->peer);
	wf_json_bool(json, "up", p->down == 0);
	if (p->state != 0) {
		wf_json_text(json, "state", state_name(p->state));
		wf_json_u64(json, "lid", p->lid);
	}
	wf_json_u64(json, "rate", p->rate);
	for (size_t i = 0; i < WF_PORT_COUNTERS_N; i++) {
		const struct wf_port_counter *row = &wf_port_counters[i];

		if (row->live != NULL)
			wf_json_u64(json, row->live, wf_counts_get(&p->counts, row));
	}
	wf_json_close(json, '{');
}

static void print_deadlock_json(struct wf_json *json, const struct wf_live_deadlock *d)
{
	wf_json_open(json, NULL, '{');
	wf_json_u64(json, "formed_ps", d->formed);
	wf_json_u64(json, "found_ps", d->found);
	if (d->ended == 0)
		wf_json_null(json, "ended_ps");
	else
		wf_json_u64(json, "ended_ps", d->ended);
	wf_json_u64(json, "times", d->times);
	wf_json_u64(json, "queues", d->queues);
	wf_json_u64(json, "packets", d->packets);
	wf_json_u64(json, "hosts", d->hosts);
	wf_json_u64(json, "closed_by", d->closed);
	wf_json_open(json, "circle", '[');
	for (uint32_t i = 0; i < d->n_links; i++) {
		const struct wf_live_deadlock_link *l = &d->link[i];

		wf_json_open(json, NULL, '{');
		wf_json_text(json, "node", l->node);
		wf_json_u64(json, "port", l->number);
		wf_json_text(json, "to", l->peer);
		wf_json_u64(json, "class", l->id);
		wf_json_u64(json, "since_ps", l->since);
		wf_json_u64(json, "packets", l->packets);
		wf_json_u64(json, "bytes", l->bytes);
		wf_json_u64(json, "held", l->held);
		wf_json_text(json, "src", l->src);
		wf_json_text(json, "dst", l->dst);
		wf_json_bool(json, "valley", l->valley != 0);
		wf_json_close(json, '{');
	}
	wf_json_close(json, '[');
	wf_json_close(json, '{');
}

static void print_managers_json(struct wf_json *json, const struct wf_live_managers *ms)
{
	wf_json_open(json, "management", '{');
	wf_json_u64(json, "lid", ms->lid);
	wf_json_text(json, "host", ms->master);
	wf_json_open(json, "managers", '[');
	for (uint32_t i = 0; i < ms->n && i < WF_LIVE_MANAGERS; i++) {
		wf_json_open(json, NULL, '{');
		wf_json_text(json, "host", ms->manager[i].host);
		wf_json_text(json, "state", manager_state(ms->manager[i].state));
		wf_json_u64(json, "priority", ms->manager[i].priority);
		wf_json_close(json, '{');
	}
	wf_json_close(json, '[');
	wf_json_u64(json, "sweeps", ms->sweeps);
	wf_json_u64(json, "reroutes", ms->reroutes);
	wf_json_u64(json, "reroute_last_ps", ms->last);
	wf_json_u64(json, "reroute_max_ps", ms->max);
	wf_json_u64(json, "smps", ms->smps);
	wf_json_u64(json, "smps_lost", ms->smps_lost);
	wf_json_close(json, '{');
}

static void print_model_json(struct wf_json *json, const struct wf_live_model *m)
{
	wf_json_open(json, "model", '{');
	wf_json_text(json, "pace", pace_name(m->pace));
	wf_json_u64(json, "time_ps", m->time_ps);
	wf_json_u64(json, "slip_ps", m->slip_ps);
	wf_json_u64(json, "under_way", m->under_way);
	wf_json_u64(json, "delivered", m->delivered);
	wf_json_u64(json, "lost", m->lost);
	wf_json_u64(json, "unclaimed", m->unclaimed);
	wf_json_u64(json, "refused", m->refused);
	if (m->managers.managed != 0)
		print_managers_json(json, &m->managers);
	wf_json_open(json, "deadlocks", '[');
	for (uint32_t i = 0; i < m->n_deadlocks; i++)
		print_deadlock_json(json, wf_live_deadlock(m, i));
	wf_json_close(json, '[');
	wf_json_open(json, "ports", '[');
	for (uint32_t i = 0; i < m->n_ports; i++)
		print_port(json, &m->port[i]);
	wf_json_close(json, '[');
	wf_json_close(json, '{');
}

static void print_counts_json(struct wf_json *json, const struct wf_live_status *s)
{
	wf_json_u64(json, "qps", s->qps);
	wf_json_u64(json, "listens", s->listens);
	for (uint32_t i = 0; i < WF_LIVE_COUNTS; i++) {
		if (wf_live_counter(i)->status != NULL)
			wf_json_u64(json, wf_live_counter(i)->status, s->count[i]);
	}
}

static void print_program(struct wf_json *json, const struct wf_live_status *s)
{
	wf_json_open(json, NULL, '{');
	wf_json_text(json, "program", s->program);
	wf_json_u64(json, "pid", (uint64_t)s->pid);
	wf_json_u64(json, "slot", s->slot);
	print_counts_json(json, s);
	wf_json_close(json, '{');
}

/* A host on the wire: its addresses there, and what has passed. */
static void print_wire(struct wf_json *json, const struct wf_live_table *t, uint32_t host,
                       const uint64_t count[WF_LIVE_COUNTS])
{
	char text[INET6_ADDRSTRLEN];
	uint8_t gid[16];

	wf_json_open(json, "wire", '{');
	wf_json_open(json, "addresses", '[');
	for (uint32_t i = 0; i < WF_LIVE_GIDS; i++) {
		bool v4 = i == WF_LIVE_GID_IPV4;

		if ((t->host[host].wire & 1u << i) == 0 || !wf_live_gid(t, host, i, gid))
			continue;
		if (inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? gid + 12 : gid, text, sizeof(text)) !=
		    NULL)
			wf_json_text(json, NULL, text);
	}
	wf_json_close(json, '[');
	for (uint32_t i = 0; i < WF_LIVE_COUNTS; i++) {
		if (wf_live_counter(i)->wire != NULL)
			wf_json_u64(json, wf_live_counter(i)->wire, count[i]);
	}
	wf_json_close(json, '{');
}

/*
 * Asks what has passed at each host that is on the wire, before anything is printed: a document is
 * whole or not there. *wires_p, by host, is the caller's to free.
 */
static int ask_wires(const char *path, const struct wf_live_table *t,
                     uint64_t (**wires_p)[WF_LIVE_COUNTS], struct wf_err *err)
{
	uint64_t(*wires)[WF_LIVE_COUNTS] = calloc(t->n_hosts, sizeof(*wires));
	int ret = wires == NULL ? -ENOMEM : 0;

	for (uint32_t h = 0; ret == 0 && h < t->n_hosts; h++) {
		if (t->host[h].wire != 0)
			ret = wf_live_counts(path, t->host[h].name, wires[h], err);
	}
	if (ret != 0)
		free(wires);
	else
		*wires_p = wires;
	return ret;
}

static int print_json(const char *path, const struct wf_live_picture *p, struct wf_err *err)
{
	const struct wf_live_table *t = p->table;
	uint64_t(*wires)[WF_LIVE_COUNTS];
	struct wf_json json;
	char ip[16];
	int ret = ask_wires(path, t, &wires, err);

	if (ret != 0)
		return ret;
	wf_json_init(&json, stdout);
	wf_json_document(&json, "weft.status", 1);
	wf_json_text(&json, "fabric", t->fabric);
	wf_json_text(&json, "link_layer", t->layer == WF_LIVE_IB ? "infiniband" : "ethernet");
	wf_json_open(&json, "hosts", '[');
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		dotted(t->host[h].ipv4, ip);
		wf_json_open(&json, NULL, '{');
		wf_json_text(&json, "name", t->host[h].name);
		wf_json_text(&json, "address", ip);
		wf_json_u64(&json, "lid", t->host[h].lid);
		wf_json_bool(&json, "up", t->host[h].down == 0);
		wf_json_text(&json, "state", state_name(wf_live_port_state(t, h)));
		if (t->host[h].wire != 0)
			print_wire(&json, t, h, wires[h]);
		wf_json_open(&json, "total", '{');
		print_counts_json(&json, &p->status[h]);
		wf_json_close(&json, '{');
		wf_json_open(&json, "programs", '[');
		for (uint32_t i = t->n_hosts; i < p->n; i++) {
			if (p->status[i].host == h)
				print_program(&json, &p->status[i]);
		}
		wf_json_close(&json, '[');
		wf_json_close(&json, '{');
	}
	wf_json_close(&json, '[');
	if (p->model != NULL)
		print_model_json(&json, p->model);
	wf_json_close(&json, '{');
	free(wires);
	return 0;
}

/* Shows it once, or with watch again every second until it cannot be written or the fabric ends. */
static int show(const char *path, bool as_json, bool watch, struct wf_err *err)
{
	struct wf_live_picture p;
	int ret;

	for (;;) {
		ret = wf_live_look(path, &p, err);
		if (ret != 0)
			return ret;
		if (watch && isatty(STDOUT_FILENO))
			printf("\033[H\033[J"); /* from the top of an empty screen */
		if (as_json)
			ret = print_json(path, &p, err);
		else
			print_table(&p);
		if (!as_json && p.model != NULL)
			print_model(&p);
		wf_live_picture_fini(&p);
		if (ret != 0 || !watch || fflush(stdout) != 0)
			return ret;
		sleep(1);
	}
}

static int run_status(int argc, char **argv)
{
	static char path[WF_PATH_MAX];
	struct request req = { .name = NULL };
	struct wf_err err = { "" };
	int rc = wf_opt_parse(&wf_cmd_status, argc, argv, &req);

	if (rc >= 0)
		return rc;
	if (optind != argc)
		return wf_cli_usage("status", "'%.40s' is not expected", argv[optind]);
	if (req.json && req.watch)
		return wf_cli_usage("status", "--watch is for people: not with --json");
	rc = wf_live_path(req.name, false, path, &err);
	if (rc == 0)
		rc = show(path, req.json, req.watch, &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	return wf_cli_finish();
}

static const struct wf_opt_row options[] = {
	{ .is = &wf_opt_name, .take = wf_opt_take_text, .at = offsetof(struct request, name) },
	{ .is = &wf_opt_json, .take = wf_opt_take_flag, .at = offsetof(struct request, json) },
	{
		.is =
			&(const struct wf_opt){
				.name = "watch",
				.letter = 'w',
				.help = "Shows it again every second, until it is interrupted or "
					"the "
					"fabric ends.",
			},
		.take = wf_opt_take_flag,
		.at = offsetof(struct request, watch),
	},
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	WF_LIVE_ENVIRONMENT,
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_status = {
	.name = "status",
	.summary = "show hosts and programs of a live fabric",
	.options = options,
	.text = "Shows the hosts of a live fabric, the programs attached to them, their queue "
		"pairs and what they have sent and received; of a modelled fabric the ports of its "
		"switches and hosts, what they counted, deadlocks among them queue by queue, and "
		"by how much the model's clock has "
		"slipped behind this machine's and how late programs took packets in.\n",
	.sections = sections,
	.see = "weft(1), weft-up(1), weft-capture(1), weft-fault(1)",
	.run = run_status,
};
