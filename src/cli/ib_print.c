/* SPDX-License-Identifier: Apache-2.0 */
/* ib_print.c - what weft ib prints, for people or as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/ib.h"
#include "text/human.h"
#include "text/json.h"

#define TOP_LINKS 5 /* of the busiest that people are shown */

/* ---- what all of them print ---- */

struct counts {
	uint32_t switches, adapters, routers, links, no_link;
};

static struct counts count(const struct wf_subnet *subnet)
{
	struct counts n = { 0 };
	uint32_t ends = 0;

	for (uint32_t id = 0; id < subnet->n_nodes; id++) {
		const struct wf_subnet_node *node = &subnet->nodes[id];
		uint32_t linked = 0;

		for (unsigned i = 1; i <= node->n_ports; i++)
			linked += wf_subnet_port(subnet, id, i)->peer != WF_SUBNET_NONE;
		ends += linked;
		n.no_link += linked == 0;
		n.switches += node->kind == WF_SUBNET_SWITCH;
		n.adapters += node->kind == WF_SUBNET_ADAPTER;
		n.routers += node->kind == WF_SUBNET_ROUTER;
	}
	n.links = ends / 2;
	return n;
}

static const char *guid_text(uint64_t guid, char buf[24])
{
	(void)snprintf(buf, 24, "0x%016" PRIx64, guid);
	return buf;
}

static void put_count(FILE *file, const char *what, uint64_t n)
{
	char text[WF_HUMAN];

	wf_human_count(n, text, sizeof(text));
	fprintf(file, "%s%s", text, what);
}

static void print_head(const struct wf_ib *ib, FILE *file)
{
	struct counts n = count(ib->subnet);

	fprintf(file, "%s: %s, ", ib->ask->file, ib->form);
	put_count(file, " nodes (", ib->subnet->n_nodes);
	put_count(file, " switches, ", n.switches);
	put_count(file, " adapters", n.adapters);
	if (n.routers != 0) {
		fprintf(file, ", ");
		put_count(file, " routers", n.routers);
	}
	fprintf(file, "), ");
	put_count(file, " links\n", n.links);
}

static void json_counts(const struct wf_ib *ib, struct wf_json *json)
{
	struct counts n = count(ib->subnet);

	wf_json_text(json, "file", ib->ask->file);
	wf_json_text(json, "form", ib->form);
	wf_json_u64(json, "nodes", ib->subnet->n_nodes);
	wf_json_u64(json, "switches", n.switches);
	wf_json_u64(json, "adapters", n.adapters);
	wf_json_u64(json, "routers", n.routers);
	wf_json_u64(json, "links", n.links);
	wf_json_u64(json, "without_link", n.no_link);
}

static void json_notes(const struct wf_ib *ib, struct wf_json *json)
{
	wf_json_open(json, "not_understood", '[');
	for (const struct wf_ib_note *note = ib->notes; note != NULL; note = note->next) {
		wf_json_open(json, NULL, '{');
		wf_json_text(json, "file", note->file);
		wf_json_u64(json, "line", note->line);
		wf_json_u64(json, "column", note->column);
		wf_json_text(json, "text", note->what);
		wf_json_close(json, '{');
	}
	wf_json_close(json, '[');
}

static void json_begin(const struct wf_ib *ib, struct wf_json *json, FILE *file)
{
	wf_json_init(json, file);
	wf_json_document(json, "weft.ib", 1);
	wf_json_text(json, "action", ib->ask->action);
	json_counts(ib, json);
	json_notes(ib, json);
}

static void print_tables(const struct wf_ib *ib, FILE *file)
{
	if (ib->ask->lfts != NULL)
		fprintf(file, "tables: %s\n", ib->ask->lfts);
	else
		fprintf(file, "tables: %s, %u virtual lane%s%s\n", ib->tables->engine,
		        ib->tables->n_vls, ib->tables->n_vls == 1 ? "" : "s",
		        ib->lids_made ? "; ports without a LID were given one" : "");
	if (ib->tables->note[0] != '\0')
		fprintf(file, "        %s\n", ib->tables->note);
}

static void json_tables(const struct wf_ib *ib, struct wf_json *json)
{
	wf_json_open(json, "tables", '{');
	if (ib->ask->lfts != NULL) {
		wf_json_null(json, "engine");
		wf_json_text(json, "file", ib->ask->lfts);
	} else {
		wf_json_text(json, "engine", ib->tables->engine);
		wf_json_null(json, "file");
	}
	wf_json_u64(json, "lanes", ib->tables->n_vls);
	wf_json_bool(json, "lids_given", ib->lids_made);
	wf_json_text(json, "note", ib->tables->note);
	wf_json_close(json, '{');
}

static void json_port(const struct wf_ib *ib, struct wf_json *json, const char *key, uint32_t at)
{
	const struct wf_subnet_port *port = &ib->subnet->ports[at];
	char guid[24];

	wf_json_open(json, key, '{');
	wf_json_text(json, "node", guid_text(ib->subnet->nodes[port->node].guid, guid));
	wf_json_text(json, "description", ib->subnet->nodes[port->node].desc);
	wf_json_u64(json, "port", wf_subnet_number(ib->subnet, port));
	wf_json_close(json, '{');
}

/* "a[1] to b[2]" */
static void print_link(const struct wf_ib *ib, FILE *file, uint32_t at)
{
	const struct wf_subnet_port *peer = wf_subnet_peer(ib->subnet, &ib->subnet->ports[at]);
	char a[WF_SUBNET_NAME], b[WF_SUBNET_NAME];

	fprintf(file, "%s", wf_subnet_port_name(&ib->names, at, a));
	if (peer != NULL)
		fprintf(file, " to %s",
		        wf_subnet_port_name(&ib->names, (uint32_t)(peer - ib->subnet->ports), b));
}

/* ---- routes ---- */

/* What the permutations come to together. */
struct spread {
	uint32_t most_min, most_max;
	double share_min, share_max, share_mean, least;
};

static double share_of(const struct wf_permutation *p)
{
	return p->all == 0 ? 0 : (double)p->share_sum / p->all / 4294967296.0;
}

static struct spread spread_of(const struct wf_permutation *p, unsigned n)
{
	struct spread s = { .most_min = UINT32_MAX, .share_min = 1, .least = 1 };

	for (unsigned i = 0; i < n; i++) {
		double share = share_of(&p[i]), least = (double)p[i].share_min / 4294967296.0;

		s.most_min = p[i].most < s.most_min ? p[i].most : s.most_min;
		s.most_max = p[i].most > s.most_max ? p[i].most : s.most_max;
		s.share_min = share < s.share_min ? share : s.share_min;
		s.share_max = share > s.share_max ? share : s.share_max;
		s.share_mean += share / n;
		s.least = least < s.least ? least : s.least;
	}
	return s;
}

static bool between_switches(const struct wf_subnet *subnet, uint32_t at)
{
	const struct wf_subnet_port *port = &subnet->ports[at];

	return port->peer != WF_SUBNET_NONE && port->peer != port->node &&
	       wf_subnet_is_switch(subnet, port->node) && wf_subnet_is_switch(subnet, port->peer);
}

static void print_busiest(const struct wf_ib *ib, const struct wf_survey *v, FILE *file)
{
	uint64_t limit = UINT64_MAX;
	uint32_t last = 0;

	/* By load, then by place: each is the first behind the one before. */
	for (unsigned k = 0; k < TOP_LINKS; k++) {
		uint32_t best = WF_SUBNET_NONE;

		for (uint32_t i = 0; i < ib->subnet->n_ports; i++) {
			if (!between_switches(ib->subnet, i) || v->load[i] > limit ||
			    (v->load[i] == limit && i <= last))
				continue;
			if (best == WF_SUBNET_NONE || v->load[i] > v->load[best])
				best = i;
		}
		if (best == WF_SUBNET_NONE || v->load[best] == 0)
			return;
		limit = v->load[best];
		last = best;
		fprintf(file, "  %8" PRIu64 "  ", v->load[best]);
		print_link(ib, file, best);
		fputc('\n', file);
	}
}

static void print_hops(const struct wf_survey *v, FILE *file)
{
	char text[WF_HUMAN];

	wf_human_count(v->pairs, text, sizeof(text));
	fprintf(file, "pairs: %s, of %" PRIu32 " ports; ", text, v->n_ends);
	if (v->reached == v->pairs) {
		fprintf(file, "all are reached\n");
	} else {
		put_count(file, " are not reached", v->pairs - v->reached);
		if (v->loops != 0)
			put_count(file, " of them go in circles", v->loops);
		fputc('\n', file);
	}
	fprintf(file, "  switches passed        pairs\n");
	for (unsigned i = 1; i <= WF_SURVEY_HOPS; i++) {
		wf_human_count(v->hops[i], text, sizeof(text));
		if (v->hops[i] != 0)
			fprintf(file, "  %15u %12s\n", i, text);
	}
}

static void print_survey(const struct wf_ib *ib, const struct wf_survey *v,
                         const struct wf_permutation *p, FILE *file)
{
	struct spread s = spread_of(p, ib->ask->seeds);
	double used = (double)(v->links - v->idle);
	double mean = used > 0 ? (double)v->sum / used : 0;

	print_hops(v, file);
	if (v->links == 0) {
		fprintf(file, "links between switches: none\n");
		return;
	}
	fprintf(file,
	        "all to all, paths on each of %" PRIu64 " directions of links between switches:\n"
	        "  most %" PRIu64
	        ", mean %.1f, most/mean %.2f, of those that any path uses; %" PRIu64 " idle\n",
	        v->links, v->most, mean, mean > 0 ? (double)v->most / mean : 0, v->idle);
	print_busiest(ib, v, file);
	fprintf(file,
	        "random permutations, %" PRIu32 " seeds: most flows on a link %" PRIu32
	        " to %" PRIu32 "\n"
	        "  share of a link that a flow has: mean %.3f (%.3f to %.3f), least %.3f\n",
	        ib->ask->seeds, s.most_min, s.most_max, s.share_mean, s.share_min, s.share_max,
	        s.least);
}

static void json_survey(const struct wf_ib *ib, const struct wf_survey *v,
                        const struct wf_permutation *p, struct wf_json *json)
{
	wf_json_open(json, "routes", '{');
	wf_json_u64(json, "ports", v->n_ends);
	wf_json_u64(json, "pairs", v->pairs);
	wf_json_u64(json, "reached", v->reached);
	wf_json_u64(json, "circles", v->loops);
	wf_json_open(json, "hops", '[');
	for (unsigned i = 1; i <= WF_SURVEY_HOPS; i++) {
		if (v->hops[i] == 0)
			continue;
		wf_json_open(json, NULL, '{');
		wf_json_u64(json, "switches", i);
		wf_json_u64(json, "pairs", v->hops[i]);
		wf_json_close(json, '{');
	}
	wf_json_close(json, '[');
	wf_json_u64(json, "directions", v->links);
	wf_json_u64(json, "idle", v->idle);
	wf_json_u64(json, "load_most", v->most);
	wf_json_ratio(json, "load_mean", v->sum, v->links - v->idle);
	wf_json_ratio(json, "balance", v->most * (v->links - v->idle), v->sum);
	wf_json_open(json, "load", '[');
	for (uint32_t i = 0; i < ib->subnet->n_ports; i++) {
		if (!between_switches(ib->subnet, i))
			continue;
		wf_json_open(json, NULL, '{');
		json_port(ib, json, "from", i);
		json_port(ib, json, "to",
		          (uint32_t)(wf_subnet_peer(ib->subnet, &ib->subnet->ports[i]) -
		                     ib->subnet->ports));
		wf_json_u64(json, "paths", v->load[i]);
		wf_json_close(json, '{');
	}
	wf_json_close(json, '[');
	wf_json_open(json, "permutations", '[');
	for (unsigned i = 0; i < ib->ask->seeds; i++) {
		wf_json_open(json, NULL, '{');
		wf_json_u64(json, "seed", i + 1);
		wf_json_u64(json, "load_most", p[i].most);
		wf_json_real(json, "share_mean", share_of(&p[i]));
		wf_json_real(json, "share_least", (double)p[i].share_min / 4294967296.0);
		wf_json_close(json, '{');
	}
	wf_json_close(json, '[');
	wf_json_close(json, '{');
}

int wf_ib_print_routes(struct wf_ib *ib, FILE *file)
{
	struct wf_permutation permutations[WF_IB_MAX_SEEDS];
	struct wf_survey survey;
	struct wf_json json;
	int ret = wf_survey_all(ib->subnet, ib->tables, &survey);

	if (ret != 0)
		return ret;
	ret = wf_survey_permute(ib->subnet, ib->tables, 1, ib->ask->seeds, permutations);
	if (ret == 0 && ib->ask->json) {
		json_begin(ib, &json, file);
		json_tables(ib, &json);
		json_survey(ib, &survey, permutations, &json);
		wf_json_close(&json, '{');
	} else if (ret == 0) {
		print_head(ib, file);
		print_tables(ib, file);
		print_survey(ib, &survey, permutations, file);
	}
	wf_survey_fini(&survey);
	return ret;
}

/* ---- check ---- */

struct checker {
	struct wf_ib *ib;
	FILE *file;
	struct wf_json *json; /* NULL: for people */
	unsigned n[WF_FINDING_ERROR + 1];
};

static void print_steps(const struct checker *c, const struct wf_finding *f)
{
	char a[WF_SUBNET_NAME], b[WF_SUBNET_NAME];

	for (uint32_t i = 0; i < f->n_steps; i++) {
		const struct wf_finding_step *step = &f->steps[i];

		fprintf(c->file, "           ");
		print_link(c->ib, c->file, step->port);
		if (f->id == WF_FIND_CREDIT_LOOP) {
			fprintf(c->file, " waits for the next: ");
			put_count(c->file, step->paths == 1 ? " path" : " paths", step->paths);
			fprintf(c->file, ", such as %s to %s",
			        wf_subnet_port_name(&c->ib->names, step->from, a),
			        wf_subnet_port_name(&c->ib->names, step->to, b));
		}
		fputc('\n', c->file);
	}
}

static void json_finding(const struct checker *c, const struct wf_finding *f)
{
	struct wf_json *json = c->json;
	char guid[24];

	wf_json_open(json, NULL, '{');
	wf_json_text(json, "kind", wf_finding_rows[f->id].name);
	wf_json_text(json, "grade", wf_finding_grades[wf_finding_rows[f->id].grade]);
	wf_json_text(json, "text", f->text);
	if (f->line != 0)
		wf_json_u64(json, "line", f->line);
	else
		wf_json_null(json, "line");
	if (f->node != WF_SUBNET_NONE)
		wf_json_text(json, "node", guid_text(c->ib->subnet->nodes[f->node].guid, guid));
	else
		wf_json_null(json, "node");
	if (f->port != WF_SUBNET_NONE)
		wf_json_u64(json, "port",
		            wf_subnet_number(c->ib->subnet, &c->ib->subnet->ports[f->port]));
	else
		wf_json_null(json, "port");
	wf_json_u64(json, "lane", f->lane);
	wf_json_open(json, "steps", '[');
	for (uint32_t i = 0; i < f->n_steps; i++) {
		wf_json_open(json, NULL, '{');
		json_port(c->ib, json, "link", f->steps[i].port);
		wf_json_u64(json, "paths", f->steps[i].paths);
		json_port(c->ib, json, "from", f->steps[i].from);
		json_port(c->ib, json, "to", f->steps[i].to);
		wf_json_close(json, '{');
	}
	wf_json_close(json, '[');
	wf_json_close(json, '{');
}

static void take_finding(void *arg, const struct wf_finding *f)
{
	struct checker *c = arg;
	const struct wf_finding_row *row = &wf_finding_rows[f->id];

	c->n[row->grade]++;
	if (c->json != NULL) {
		json_finding(c, f);
		return;
	}
	fprintf(c->file, "%-8s  %s: ", wf_finding_grades[row->grade], row->name);
	if (f->line != 0)
		fprintf(c->file, "%s:%u: ", c->ib->ask->file, f->line);
	fprintf(c->file, "%s\n", f->text);
	print_steps(c, f);
}

static void print_end(const struct checker *c)
{
	const struct wf_tables *tables = c->ib->tables;

	if (tables == NULL)
		fprintf(c->file, "no tables were looked at; --lfts FILE or --engine NAME says "
		                 "which\n");
	fprintf(c->file, "%u error%s, %u warning%s, %u note%s\n", c->n[WF_FINDING_ERROR],
	        c->n[WF_FINDING_ERROR] == 1 ? "" : "s", c->n[WF_FINDING_WARNING],
	        c->n[WF_FINDING_WARNING] == 1 ? "" : "s", c->n[WF_FINDING_NOTE],
	        c->n[WF_FINDING_NOTE] == 1 ? "" : "s");
}

int wf_ib_print_check(struct wf_ib *ib, FILE *file, unsigned *errors_p)
{
	struct checker c = { .ib = ib, .file = file };
	const struct wf_check_ear ear = { take_finding, &c };
	struct wf_json json;
	int ret;

	if (ib->ask->json) {
		c.json = &json;
		json_begin(ib, &json, file);
		if (ib->tables != NULL)
			json_tables(ib, &json);
		wf_json_open(&json, "findings", '[');
	} else {
		print_head(ib, file);
		if (ib->tables != NULL)
			print_tables(ib, file);
	}
	ret = wf_subnet_check(ib->subnet, &ear);
	if (ret == 0 && ib->parts != NULL)
		ret = wf_members_check(ib->subnet, &ib->members, &ear);
	if (ret == 0 && ib->tables != NULL)
		ret = wf_tables_check(ib->subnet, ib->tables, &ear);
	if (ret == 0 && ib->ask->json) {
		wf_json_close(&json, '[');
		wf_json_close(&json, '{');
	} else if (ret == 0) {
		print_end(&c);
	}
	*errors_p = c.n[WF_FINDING_ERROR];
	return ret;
}

/* ---- import ---- */

/* Links by width and speed, the fastest first. */
static void each_rate(const struct wf_ib *ib, FILE *file, struct wf_json *json)
{
	for (unsigned speed = WF_SUBNET_N_SPEEDS; speed-- > 0;) {
		for (unsigned width = 13; width-- > 0;) {
			uint32_t ends = 0;
			char name[16];

			for (uint32_t i = 0; i < ib->subnet->n_ports; i++) {
				const struct wf_subnet_port *port = &ib->subnet->ports[i];

				ends += port->peer != WF_SUBNET_NONE && port->width == width &&
				        port->speed == speed;
			}
			if (ends == 0)
				continue;
			if (width == 0)
				(void)snprintf(name, sizeof(name), "??%s",
				               wf_subnet_speeds[speed].name);
			else
				(void)snprintf(name, sizeof(name), "%ux%s", width,
				               wf_subnet_speeds[speed].name);
			if (json == NULL) {
				fprintf(file, "  %8" PRIu32 " ends of links run at %s\n", ends,
				        name);
				continue;
			}
			wf_json_open(json, NULL, '{');
			wf_json_text(json, "rate", name);
			wf_json_u64(json, "bits_per_second", wf_subnet_rate(width, speed));
			wf_json_u64(json, "ends", ends);
			wf_json_close(json, '{');
		}
	}
}

static void print_topology(const struct wf_ib *ib, FILE *file)
{
	const struct wf_topo *topo = ib->topo;

	if (topo == NULL) {
		fprintf(file, "as a topology: %s\n", ib->no_topo.text);
		return;
	}
	fprintf(file, "as a topology: ");
	put_count(file, " hosts, ", topo->n_hosts);
	put_count(file, " switches, ", topo->n_nodes - topo->n_hosts);
	put_count(file, " links\n", topo->n_links);
}

int wf_ib_print_import(struct wf_ib *ib, FILE *file)
{
	struct counts n = count(ib->subnet);
	struct wf_json json;

	if (ib->ask->json) {
		json_begin(ib, &json, file);
		wf_json_open(&json, "rates", '[');
		each_rate(ib, file, &json);
		wf_json_close(&json, '[');
		wf_json_open(&json, "topology", '{');
		wf_json_u64(&json, "hosts", ib->topo == NULL ? 0 : ib->topo->n_hosts);
		wf_json_u64(&json, "switches",
		            ib->topo == NULL ? 0 : ib->topo->n_nodes - ib->topo->n_hosts);
		wf_json_u64(&json, "links", ib->topo == NULL ? 0 : ib->topo->n_links);
		wf_json_text(&json, "error", ib->no_topo.text);
		wf_json_close(&json, '{');
		wf_json_close(&json, '{');
		return 0;
	}
	print_head(ib, file);
	if (n.no_link != 0)
		put_count(file, n.no_link == 1 ? " node has no link\n" : " nodes have no link\n",
		          n.no_link);
	each_rate(ib, file, NULL);
	print_topology(ib, file);
	return 0;
}
