/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_nic.c - adapters: the output of mlnx_qos, mlxconfig and cma_roce_tos, values below /sys as
 * grep -r or cat show them, and what ip, ethtool and a job's environment say of them; one after the
 * other in one file or in several, with or without the lines that were typed.
 */
#include <errno.h>
#include <string.h>

#include "netconf/read_priv.h"

/* A port for what is said of an adapter without an interface's name; finish_nic() shares it out. */
#define ANY "(adapter)"

enum block { NO_BLOCK, DSCP2PRIO, PFC, CONFIG, TC };
enum waits { NOTHING, FOR_TOS, FOR_TCLASS, FOR_PATH };

struct nic {
	struct wf_conf_reading *r;
	struct wf_lines *l;
	struct wf_conf_port *port;
	enum block block;
	enum waits waits;
	char path[256]; /* FOR_PATH */
	unsigned tc;
	int ret;
};

static struct wf_conf_place here(const struct nic *n, const char *what)
{
	return wf_conf_at(n->r, n->l->line, what);
}

static void choose(struct nic *n, const char *name)
{
	struct wf_conf_port *port = wf_conf_port_here(n->r, name, n->l->line, &n->ret);

	if (port == NULL)
		return;
	port->defined = true;
	if (port->at.file == WF_CONF_NONE)
		port->at = here(n, NULL);
	n->port = port;
	(void)wf_conf_nic_of(n->r->net, port);
}

static void odd(const struct nic *n)
{
	wf_conf_add_note(n->r->net, WF_CONF_NOTE_ODD, here(n, NULL), "%.*s",
	                 (int)(n->l->raw_len > 100 ? 100 : n->l->raw_len), n->l->raw);
}

static struct wf_conf_map *map_of(struct nic *n, enum wf_conf_map_kind kind, const char *what)
{
	struct wf_conf_map *map = n->port->map[kind];

	if (map == NULL) {
		map = wf_conf_map_of(n->r->net, n->r->device, kind,
		                     wf_conf_textf(n->r->net, "%s %.100s", what, n->port->name));
		if (map == NULL)
			return NULL;
		map->is.defined = map->is.used = true;
		map->is.at = here(n, what);
		n->port->map[kind] = map;
		n->port->map_at[kind] = map->is.at;
	}
	return map;
}

/* ---- mlnx_qos ---- */

/* "prio:3 dscp:31,30,29,"; a long list goes on in lines of its own. */
static void take_dscps(struct nic *n)
{
	struct wf_conf_map *map = map_of(n, WF_CONF_DSCP_TC, "dscp2prio");
	const char *p = n->l->word[0];
	int64_t prio = p[5] - '0';

	if (map == NULL || p[5] == '\0' || prio < 0 || prio > 7 || p[6] != '\0') {
		odd(n);
		return;
	}
	for (unsigned i = 1; i < n->l->n; i++) {
		p = n->l->word[i];
		if (strncmp(p, "dscp:", 5) == 0)
			p += 5;
		while (*p != '\0') {
			unsigned dscp = 0;
			const char *start = p;

			for (; *p >= '0' && *p <= '9' && dscp < 100; p++)
				dscp = dscp * 10 + (unsigned)(*p - '0');
			if (p == start || dscp >= WF_CONF_DSCPS) {
				odd(n);
				return;
			}
			map->to[dscp] = (int8_t)prio;
			map->line[dscp] = n->l->line;
			p += *p == ',';
		}
	}
}

/* "enabled     0   0   0   1   0   0   0   0" */
static bool take_pfc(struct nic *n)
{
	int64_t mask = 0;

	if (!wf_lines_are(n->l, "enabled * * * * * * * *"))
		return wf_lines_are(n->l, "priority 0") || wf_lines_are(n->l, "buffer *");
	for (unsigned i = 0; i < WF_CONF_TCS; i++) {
		const char *word = n->l->word[i + 1];

		if (strcmp(word, "1") != 0 && strcmp(word, "0") != 0)
			return false;
		mask |= (int64_t)(word[0] - '0') << i;
	}
	n->port->pfc_rx = n->port->pfc_tx = wf_conf_say(mask, here(n, "PFC configuration"));
	n->port->has_qos = true;
	return true;
}

static void take_trust(struct nic *n, const char *word)
{
	bool dscp = strcmp(word, "dscp") == 0;

	if (!dscp && strcmp(word, "pcp") != 0) {
		wf_conf_bad(n->r, n->port, here(n, "Priority trust state"), word, "dscp or pcp");
		return;
	}
	n->port->trust = wf_conf_say(dscp ? WF_CONF_TRUST_L3 : WF_CONF_TRUST_L2,
	                             here(n, "Priority trust state"));
}

/* "tc: 3 ratelimit: unlimited, tsa: strict", and "priority:  3" below it. */
static void take_tc(struct nic *n)
{
	struct wf_conf_sched *sched;
	int64_t tc = 0;
	char key[8] = "tc: 0";

	if (!wf_conf_number(n->l->word[1], &tc) || tc < 0 || tc > 7) {
		odd(n);
		return;
	}
	n->tc = (unsigned)tc;
	key[4] = (char)('0' + tc);
	sched = wf_conf_named_of(n->r->net, &n->r->device->scheds, sizeof(*sched),
	                         wf_conf_textf(n->r->net, "%s %.100s", key, n->port->name));
	for (unsigned i = 2; i + 1 < n->l->n && sched != NULL; i++) {
		if (strcmp(n->l->word[i], "tsa:") != 0)
			continue;
		sched->is.defined = sched->is.used = true;
		sched->is.at = here(n, wf_conf_text(n->r->net, key, strlen(key)));
		sched->strict =
			wf_conf_say(strncmp(n->l->word[i + 1], "strict", 6) == 0, sched->is.at);
		n->port->queue[tc].sched = sched;
		n->port->queue[tc].sched_at = sched->is.at;
	}
}

static void take_tc_priority(struct nic *n, const char *word)
{
	struct wf_conf_map *map = map_of(n, WF_CONF_TC_QUEUE, "tc");
	int64_t prio = 0;

	if (map == NULL || !wf_conf_number(word, &prio) || prio < 0 || prio > 7) {
		odd(n);
		return;
	}
	map->to[prio] = (int8_t)n->tc;
	map->line[prio] = n->l->line;
}

/* Lines of mlnx_qos. */
static bool take_qos(struct nic *n)
{
	const struct wf_lines *l = n->l;
	int64_t v = 0;

	if (wf_lines_are(l, "Priority trust state: *"))
		take_trust(n, l->word[3]);
	else if (wf_lines_are(l, "dscp2prio mapping:"))
		n->block = DSCP2PRIO;
	else if (strncmp(l->word[0], "prio:", 5) == 0)
		take_dscps(n);
	else if (wf_lines_are(l, "PFC configuration:"))
		n->block = PFC;
	else if (n->block == PFC && take_pfc(n))
		;
	else if (wf_lines_are(l, "tc: *")) {
		n->block = TC;
		take_tc(n);
	} else if (n->block == TC && wf_lines_are(l, "priority: *"))
		take_tc_priority(n, l->word[1]);
	else if (wf_lines_are(l, "Cable len: *") && wf_conf_number(l->word[2], &v) && v >= 0 &&
	         v < 100000)
		n->port->cable = wf_conf_say(v * 100, here(n, "Cable len"));
	else
		return wf_lines_are(l, "DCBX mode:") || wf_lines_are(l, "default priority:") ||
		       wf_lines_are(l, "Receive buffer size");
	return true;
}

/* ---- mlxconfig ---- */

/* "RPG_AI_RATE_P1   5", "CLAMP_TGT_RATE_P1   False(0)" */
static bool take_config(struct nic *n)
{
	const char *name = n->l->word[0], *text = n->l->word[1];
	size_t len = strlen(name);
	struct wf_conf_place at;
	int64_t v = 0;

	if (n->l->n < 2 || len < 4 || strncmp(name + len - 3, "_P", 2) != 0)
		return false;
	if (!wf_conf_number(text, &v) && !wf_conf_flag(text, &v))
		return false;
	/* The second port of a card has its own; the first's are taken for both. */
	if (name[len - 1] != '1')
		return true;
	at = here(n, wf_conf_text(n->r->net, name, len));
	for (unsigned i = 0; i < WF_CONF_N_DCQCN; i++) {
		if (strlen(wf_conf_dcqcn_names[i]) == len - 3 &&
		    memcmp(wf_conf_dcqcn_names[i], name, len - 3) == 0) {
			n->port->nic->dcqcn[i] = wf_conf_say(v, at);
			return true;
		}
	}
	if (strcmp(name, "ROCE_CC_PRIO_MASK_P1") == 0)
		n->port->nic->cc_mask = wf_conf_say(v, at);
	else if (strcmp(name, "CNP_DSCP_P1") == 0)
		n->port->nic->cnp_dscp = wf_conf_say(v, at);
	else if (strcmp(name, "CNP_802P_PRIO_P1") == 0)
		n->port->nic->cnp_pcp = wf_conf_say(v, at);
	else
		wf_conf_add_note(n->r->net, WF_CONF_NOTE_OTHER, at, "%.60s", name);
	return true;
}

static bool is_head_of_config(const struct wf_lines *l)
{
	return strcmp(l->word[0], "Configurations:") == 0 || wf_lines_are(l, "Device type:") ||
	       wf_lines_are(l, "PCI device:") || wf_lines_are(l, "Device #1:") ||
	       strcmp(l->word[0], "Description:") == 0 || strcmp(l->word[0], "Name:") == 0 ||
	       strcmp(l->word[0], "Device:") == 0 || l->word[0][0] == '-';
}

/* ---- below /sys ---- */

static bool ends_in(const char *text, const char *what)
{
	size_t n = strlen(text), k = strlen(what);

	return n >= k && strcmp(text + n - k, what) == 0;
}

/* The interface in ".../net/eth0/...": choose it. */
static void choose_by_path(struct nic *n, const char *path)
{
	const char *net = strstr(path, "/net/"), *stop;

	if (net == NULL)
		return;
	net += 5;
	stop = strchr(net, '/');
	if (stop != NULL && stop != net)
		choose(n, wf_conf_text(n->r->net, net, (size_t)(stop - net)));
}

/* "/roce_np/enable/3" */
static bool take_enable(struct nic *n, const char *path, int64_t v)
{
	const char *at = strstr(path, "/roce_np/enable/");
	bool np = at != NULL;
	struct wf_conf_value *on, *seen;
	int64_t bit;
	char c;

	at = np ? at : strstr(path, "/roce_rp/enable/");
	if (at == NULL)
		return false;
	c = at[16];
	if (c < '0' || c > '7' || at[17] != '\0' || (v != 0 && v != 1))
		return false;
	bit = INT64_C(1) << (c - '0');
	on = np ? &n->port->nic->np : &n->port->nic->rp;
	seen = np ? &n->port->nic->np_seen : &n->port->nic->rp_seen;
	*on = wf_conf_say(v != 0 ? on->v | bit : on->v & ~bit,
	                  here(n, wf_conf_text(n->r->net, path, strlen(path))));
	*seen = wf_conf_say(seen->v | bit, on->at);
	return true;
}

static bool take_path(struct nic *n, const char *path, const char *text)
{
	static const struct {
		const char *name;
		enum wf_conf_dcqcn id;
	} rows[] = {
		{ "rpg_time_reset", WF_CONF_DCQCN_TIME_RESET },
		{ "rpg_byte_reset", WF_CONF_DCQCN_BYTE_RESET },
		{ "rpg_threshold", WF_CONF_DCQCN_THRESHOLD },
		{ "rpg_max_rate", WF_CONF_DCQCN_MAX_RATE },
		{ "rpg_ai_rate", WF_CONF_DCQCN_AI_RATE },
		{ "rpg_hai_rate", WF_CONF_DCQCN_HAI_RATE },
		{ "rpg_gd", WF_CONF_DCQCN_GD },
		{ "rpg_min_dec_fac", WF_CONF_DCQCN_MIN_DEC_FAC },
		{ "rpg_min_rate", WF_CONF_DCQCN_MIN_RATE },
		{ "rate_to_set_on_first_cnp", WF_CONF_DCQCN_FIRST_RATE },
		{ "dce_tcp_g", WF_CONF_DCQCN_TCP_G },
		{ "dce_tcp_rtt", WF_CONF_DCQCN_TCP_RTT },
		{ "rate_reduce_monitor_period", WF_CONF_DCQCN_MONITOR },
		{ "initial_alpha_value", WF_CONF_DCQCN_ALPHA },
		{ "min_time_between_cnps", WF_CONF_DCQCN_CNP_GAP },
		{ "clamp_tgt_rate", WF_CONF_DCQCN_CLAMP },
		{ "clamp_tgt_rate_after_time_inc", WF_CONF_DCQCN_CLAMP_TIME },
	};
	const char *slash = strrchr(path, '/');
	struct wf_conf_place at = here(n, wf_conf_text(n->r->net, path, strlen(path)));
	int64_t v = 0;

	choose_by_path(n, path);
	if (strncmp(text, "tclass=", 7) == 0)
		text += 7;
	if (slash == NULL || !wf_conf_number(text, &v))
		return false;
	if (take_enable(n, path, v))
		return true;
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows); i++) {
		if (strcmp(slash + 1, rows[i].name) == 0) {
			n->port->nic->dcqcn[rows[i].id] = wf_conf_say(v, at);
			return true;
		}
	}
	if (strcmp(slash + 1, "cnp_dscp") == 0)
		n->port->nic->cnp_dscp = wf_conf_say(v, at);
	else if (strcmp(slash + 1, "cnp_802p_prio") == 0)
		n->port->nic->cnp_pcp = wf_conf_say(v, at);
	else if (ends_in(path, "/default_roce_tos"))
		n->port->nic->tos = wf_conf_say(v, at);
	else if (ends_in(path, "/traffic_class"))
		n->port->nic->tclass = wf_conf_say(v, at);
	else if (ends_in(path, "/mtu"))
		n->port->mtu = wf_conf_say(v, at);
	else if (ends_in(path, "/speed") && v > 0 && v < 10000000)
		n->port->speed = wf_conf_say(v * 1000000, at);
	else
		return false;
	return true;
}

/* "/sys/class/net/eth0/ecn/roce_np/cnp_dscp:48", with =, : or blanks between. */
static bool take_sys(struct nic *n)
{
	char path[256];
	size_t len = strcspn(n->l->word[0], ":=");
	const char *text = n->l->word[0] + len;
	unsigned i = 1;

	if (len >= sizeof(path) || memchr(n->l->word[0], '/', len) == NULL)
		return false;
	memcpy(path, n->l->word[0], len);
	path[len] = '\0';
	text += *text != '\0';
	while (*text == '\0' && i < n->l->n) {
		text = n->l->word[i++];
		if (strcmp(text, "=") == 0 || strcmp(text, ":") == 0 || strcmp(text, "Global") == 0)
			text = "";
	}
	if (strcmp(text, "Global") == 0 && i < n->l->n)
		text = n->l->word[i];
	return take_path(n, path, text);
}

/* ---- what was typed ---- */

/* A line that was typed says what follows; true: it is one. */
static bool take_command(struct nic *n)
{
	bool is = false;

	for (unsigned i = 0; i < n->l->n; i++) {
		const char *w = n->l->word[i], *next = n->l->word[i + 1];
		int64_t v = 0;

		if (strcmp(w, "mlnx_qos") == 0 || ends_in(w, "/mlnx_qos") ||
		    strcmp(w, "mlxconfig") == 0 || strcmp(w, "mstconfig") == 0 ||
		    strcmp(w, "ethtool") == 0) {
			is = true;
			n->block = NO_BLOCK;
			n->waits = NOTHING;
		} else if (strcmp(w, "cma_roce_tos") == 0) {
			is = true;
			n->waits = FOR_TOS;
		} else if (strcmp(w, "cat") == 0 && next[0] == '/') {
			size_t len = strlen(next);

			is = true;
			n->waits = len < sizeof(n->path) ? FOR_PATH : NOTHING;
			memcpy(n->path, next, len < sizeof(n->path) ? len + 1 : 0);
		} else if (is && strcmp(w, "-i") == 0 && next[0] != '\0') {
			choose(n, wf_conf_text(n->r->net, next, strlen(next)));
		} else if (is && n->waits == FOR_TOS && strcmp(w, "-t") == 0 &&
		           wf_conf_number(next, &v)) {
			n->port->nic->tos = wf_conf_say(v, here(n, "cma_roce_tos"));
		}
	}
	return is;
}

/* What was waited for. */
static bool take_answer(struct nic *n)
{
	const char *text = n->l->word[n->l->n - 1];
	int64_t v = 0;
	bool taken = false;

	if (n->waits == FOR_TOS && n->l->n == 1 && wf_conf_number(text, &v)) {
		n->port->nic->tos = wf_conf_say(v, here(n, "cma_roce_tos"));
		taken = true;
	} else if (n->waits == FOR_PATH) {
		taken = take_path(n, n->path, text);
	}
	n->waits = NOTHING;
	return taken;
}

/*
 * "2: eth0: <...> mtu 9000 qdisc", "Speed: 400000Mb/s", "Active FEC encoding: RS",
 * NCCL_IB_TC=106.
 */
static bool take_other(struct nic *n)
{
	const struct wf_lines *l = n->l;
	int64_t v = 0;

	for (unsigned i = 0; i + 1 < l->n; i++) {
		if (strcmp(l->word[i], "mtu") == 0 && wf_conf_number(l->word[i + 1], &v)) {
			size_t len = strlen(l->word[1]);

			if (l->word[0][strlen(l->word[0]) - 1] == ':' && len > 1 &&
			    l->word[1][len - 1] == ':')
				choose(n, wf_conf_text(n->r->net, l->word[1], len - 1));
			n->port->mtu = wf_conf_say(v, here(n, "mtu"));
			return true;
		}
	}
	if (wf_lines_are(l, "Speed: *")) {
		const char *p = l->word[1];

		for (; *p >= '0' && *p <= '9' && v < 100000000; p++)
			v = v * 10 + (*p - '0');
		if (strcmp(p, "Mb/s") == 0)
			n->port->speed = wf_conf_say(v * 1000000, here(n, "Speed"));
		return true;
	}
	if (wf_lines_are(l, "Active FEC")) {
		const char *fec = l->word[l->n - 1];

		v = strcmp(fec, "RS") == 0      ? WF_CONF_FEC_RS
		    : strcmp(fec, "BaseR") == 0 ? WF_CONF_FEC_FC
		                                : WF_CONF_FEC_NONE;
		n->port->fec = wf_conf_say(v, here(n, "Active FEC encoding"));
		return true;
	}
	for (unsigned i = 0; i < l->n; i++) {
		if (strncmp(l->word[i], "NCCL_IB_TC=", 11) == 0 &&
		    wf_conf_number(l->word[i] + 11, &v)) {
			n->port->nic->tclass = wf_conf_say(v, here(n, "NCCL_IB_TC"));
			return true;
		}
	}
	return strncmp(l->word[0], "NCCL_", 5) == 0 || strcmp(l->word[0], "export") == 0 ||
	       wf_lines_are(l, "Settings for") || wf_lines_are(l, "FEC parameters") ||
	       l->word[0][0] == '#';
}

static int read_nic(struct wf_conf_reading *r, const char *text, size_t len)
{
	struct wf_lines *l = wf_arena_alloc(r->arena, sizeof(*l), _Alignof(struct wf_lines));
	struct nic n = { .r = r, .l = l };

	if (l == NULL)
		return -ENOMEM;
	wf_lines_init(l, text, len);
	r->device->form = WF_CONF_FORM_NIC;
	r->device->adapter = true;
	if (r->device->at.file == WF_CONF_NONE)
		r->device->at = wf_conf_at(r, 0, NULL);
	choose(&n, r->port[0] == '\0' ? ANY : r->port);
	while (n.ret == 0 && n.port != NULL && n.port->nic != NULL && wf_lines_next(l)) {
		if (take_command(&n) || (n.waits != NOTHING && take_answer(&n)) || take_qos(&n) ||
		    is_head_of_config(l) || take_config(&n) || take_sys(&n) || take_other(&n))
			continue;
		if (wf_lines_are(l, "Global *") && strncmp(l->word[1], "tclass=", 7) == 0)
			(void)take_path(&n, "/traffic_class", l->word[1]);
		else
			odd(&n);
	}
	return n.ret;
}

static bool is_nic(const char *text, size_t len, char name[WF_CONF_NAME])
{
	static const char *const marks[] = {
		"Priority trust state:", "PFC configuration:", "ROCE_CC_PRIO_MASK",
		"RPG_TIME_RESET",        "CNP_DSCP",           "/ecn/roce_",
		"cma_roce_tos",          "traffic_class",      "default_roce_tos",
		"NCCL_IB_TC=",           "Global tclass=",
	};

	name[0] = '\0';
	for (size_t i = 0; i < WF_ARRAY_SIZE(marks); i++) {
		if (wf_conf_has(text, len, marks[i], NULL))
			return true;
	}
	return false;
}

/* ---- when all is read ---- */

static void copy_unset(struct wf_conf_value *to, const struct wf_conf_value *from)
{
	if (to->said != WF_CONF_SAID)
		*to = *from;
}

/* What is said without an interface goes to all that have one. */
static void share(struct wf_conf_port *to, const struct wf_conf_port *from)
{
	copy_unset(&to->trust, &from->trust);
	copy_unset(&to->pfc_rx, &from->pfc_rx);
	copy_unset(&to->pfc_tx, &from->pfc_tx);
	copy_unset(&to->mtu, &from->mtu);
	copy_unset(&to->speed, &from->speed);
	copy_unset(&to->fec, &from->fec);
	copy_unset(&to->cable, &from->cable);
	copy_unset(&to->nic->tos, &from->nic->tos);
	copy_unset(&to->nic->tclass, &from->nic->tclass);
	copy_unset(&to->nic->cc_mask, &from->nic->cc_mask);
	copy_unset(&to->nic->cnp_dscp, &from->nic->cnp_dscp);
	copy_unset(&to->nic->cnp_pcp, &from->nic->cnp_pcp);
	copy_unset(&to->nic->np, &from->nic->np);
	copy_unset(&to->nic->np_seen, &from->nic->np_seen);
	copy_unset(&to->nic->rp, &from->nic->rp);
	copy_unset(&to->nic->rp_seen, &from->nic->rp_seen);
	for (unsigned i = 0; i < WF_CONF_N_DCQCN; i++)
		copy_unset(&to->nic->dcqcn[i], &from->nic->dcqcn[i]);
	for (unsigned i = 0; i < WF_CONF_MAPS; i++) {
		if (to->map[i] == NULL) {
			to->map[i] = from->map[i];
			to->map_at[i] = from->map_at[i];
		}
	}
	to->has_qos |= from->has_qos;
}

static void finish_nic(struct wf_netconf *net, struct wf_conf_device *d)
{
	struct wf_conf_port *any = wf_conf_find_port(net, d, ANY);
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n_ports; i++) {
		if (d->ports[i] == any && d->n_ports > 1)
			continue;
		/* Somebody's link may have named it, too. */
		if (wf_conf_nic_of(net, d->ports[i]) == NULL)
			return;
		d->ports[n++] = d->ports[i];
	}
	for (uint32_t i = 0; i < n && any != NULL && d->n_ports > 1; i++)
		share(d->ports[i], any);
	d->n_ports = n;
	for (uint32_t i = 0; i < n; i++) {
		/* mlnx_qos says it where it is asked; where it is not, nothing is known. */
		if (d->ports[i]->has_qos)
			wf_conf_default(&d->ports[i]->trust, WF_CONF_TRUST_L2);
	}
}

const struct wf_conf_reader wf_conf_nic = {
	.name = "adapter",
	.help = "mlnx_qos, mlxconfig, cma_roce_tos, ecn/roce_* below /sys, ip link, ethtool, "
		"NCCL_IB_TC",
	.form = WF_CONF_FORM_NIC,
	.is = is_nic,
	.read = read_nic,
	.finish = finish_nic,
};
