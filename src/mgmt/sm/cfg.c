/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfg.c - the table of a subnet manager's parameters, and reading the lists that some of them
 * are.
 */
#include "mgmt/sm/cfg.h"

#include <errno.h>
#include <string.h>

#include "mgmt/sm/steps_priv.h"
#include "subnet/route.h"

static const char *const enforce_names[] = { "both", "in", "out", "off", NULL };

#define FIELD(f) .offset = offsetof(struct wf_sm_cfg, f), .size = sizeof(((struct wf_sm_cfg *)0)->f)
#define NUMBER(n, f, low, high, text, h)                                                           \
	{                                                                                          \
		.name = (n), .kind = WF_PARAM_U32, FIELD(f), .min = (low), .max = (high),          \
		.def = (text), .help = (h)                                                         \
	}
#define SWITCH(n, f, text, h)                                                                      \
	{                                                                                          \
		.name = (n), .kind = WF_PARAM_BOOL, FIELD(f), .max = 1, .def = (text), .help = (h) \
	}
#define DURATION(n, f, low, high, text, h)                                                         \
	{                                                                                          \
		.name = (n), .kind = WF_PARAM_TIME, FIELD(f), .min = (low), .max = (high),         \
		.def = (text), .help = (h)                                                         \
	}
#define LIST(n, f, c, text, h)                                                                     \
	{                                                                                          \
		.name = (n), .kind = WF_PARAM_TEXT, FIELD(f), .check = (c), .def = (text),         \
		.help = (h)                                                                        \
	}

static int check_key(const char *text, struct wf_err *err);
static int check_engines(const char *text, struct wf_err *err);
static int check_roots(const char *text, struct wf_err *err);
static int check_vl_arb(const char *text, struct wf_err *err);
static int check_sl2vl(const char *text, struct wf_err *err);

const struct wf_param wf_sm_params[] = {
	NUMBER("sm_priority", priority, 0, 15, "0",
	       "who becomes master: the highest priority, then the lowest GUID"),
	LIST("sm_key", sm_key, check_key, "0x1", "other managers are believed with the same key"),
	DURATION("sminfo_polling_timeout", polling_timeout, WF_MS, 3600 * WF_S, "10s",
	         "how often a standby manager looks at the master"),
	NUMBER("polling_retry_number", polling_retry_number, 0, 1000, "4",
	       "looks in vain before a standby manager gives the master up"),
	SWITCH("sm_inactive", inactive, "false", "starts inactive, until another manager wakes it"),
	SWITCH("ignore_other_sm", ignore_other_sm, "false", "other managers do not count"),
	DURATION("sweep_interval", sweep_interval, 0, 86400 * WF_S, "10s",
	         "from the end of a sweep to the next; 0: only when something has changed"),
	SWITCH("force_heavy_sweep", force_heavy_sweep, "false",
	       "every sweep discovers the subnet anew"),
	SWITCH("sweep_on_trap", sweep_on_trap, "true", "traps make it sweep"),
	DURATION("transaction_timeout", transaction_timeout, WF_US, 60 * WF_S, "200ms",
	         "how long it waits for an answer"),
	NUMBER("transaction_retries", transaction_retries, 0, 100, "3",
	       "how often a request without an answer is sent again"),
	NUMBER("max_wire_smps", max_wire_smps, 1, WF_SM_MAX_WIRE_SMPS, "4",
	       "requests under way at a time"),
	NUMBER("max_wire_smps2", max_wire_smps2, 1, WF_SM_MAX_WIRE_SMPS, "4",
	       "requests under way at a time while answers do not come"),
	DURATION("max_smps_timeout", max_smps_timeout, WF_US, 60 * WF_S, "600ms",
	         "without an answer for so long, one more request up to max_wire_smps2"),
	SWITCH("babbling_port_policy", babbling_port_policy, "false",
	       "a port that has sent 250 traps of errors is disabled"),
	NUMBER("lmc", lmc, 0, WF_SUBNET_MAX_LMC, "0", "every adapter's port has 2^lmc LIDs"),
	SWITCH("lmc_esp0", lmc_esp0, "false", "enhanced ports 0 of switches have them, too"),
	SWITCH("reassign_lids", reassign_lids, "false",
	       "LIDs that ports have do not count when it becomes master"),
	LIST("subnet_prefix", subnet_prefix, check_key, "0xfe80000000000000",
	     "the upper half of all GIDs"),
	LIST("m_key", m_key, check_key, "0x0", "the key without which ports cannot be managed"),
	NUMBER("m_key_lease_period", m_key_lease_period, 0, 65535, "0",
	       "seconds after which a port forgets a key that nobody uses; 0: never"),
	NUMBER("m_key_protection_level", m_key_protection_level, 0, 3, "0",
	       "what a wrong key does not get: 0, 1 all but the key is read; 2, 3 nothing"),
	NUMBER("sm_sl", sm_sl, 0, 15, "0", "service level of messages to the manager"),
	NUMBER("subnet_timeout", subnet_timeout, 0, 31, "18",
	       "longest time through the subnet, 4.096us * 2^n: how often traps are repeated"),
	NUMBER("packet_life_time", packet_life_time, 0, 31, "18",
	       "longest time of a packet in a switch, 4.096us * 2^n; from 20 on: any"),
	NUMBER("head_of_queue_lifetime", head_of_queue_lifetime, 0, 31, "18",
	       "longest time at the head of a queue, 4.096us * 2^n; from 20 on: any"),
	NUMBER("leaf_head_of_queue_lifetime", leaf_head_of_queue_lifetime, 0, 31, "16",
	       "the same of switch ports to adapters"),
	NUMBER("vl_stall_count", vl_stall_count, 1, 7, "7",
	       "packets dropped one after the other before a lane is stalled"),
	NUMBER("leaf_vl_stall_count", leaf_vl_stall_count, 1, 7, "7",
	       "the same of switch ports to adapters"),
	NUMBER("max_op_vls", max_op_vls, 1, 5, "5",
	       "data lanes at most: 1 to 5 for 1, 2, 4, 8, 15"),
	NUMBER("force_link_width", force_link_width, 0, 255, "255",
	       "LinkWidthEnabled of all ports; 0: as it is; 255: all that they can"),
	NUMBER("force_link_speed", force_link_speed, 0, 15, "15",
	       "LinkSpeedEnabled of all ports; 0: as it is; 15: all that they can"),
	NUMBER("force_link_speed_ext", force_link_speed_ext, 0, 31, "31",
	       "LinkSpeedExtEnabled of all ports; 0: as it is; 31: all that they can"),
	NUMBER("local_phy_errors_threshold", local_phy_errors_threshold, 0, 15, "8",
	       "errors of a port before it sends trap 129"),
	NUMBER("overrun_errors_threshold", overrun_errors_threshold, 0, 15, "8",
	       "overruns of a port before it sends trap 130"),
	SWITCH("no_clients_rereg", no_clients_rereg, "false",
	       "ports are not told that what they have registered is lost"),
	{ .name = "part_enforce",
	  .kind = WF_PARAM_NAME,
	  FIELD(part_enforce),
	  .names = enforce_names,
	  .def = "both",
	  .help = "where switches look at P_Keys: packets in from adapters, out to them" },
	LIST("routing_engine", routing_engine, check_engines, "minhop",
	     "routing engines, separated by commas: the first that can route the subnet does"),
	LIST("root_guids", root_guids, check_roots, "",
	     "GUIDs of the highest switches, for updn and ftree; none: they are found"),
	NUMBER("vls", vls, 0, WF_SM_MAX_VLS, "0", "lanes that dfsssp may use; 0: 8"),
	SWITCH("adaptive", adaptive, "false",
	       "adaptive routing: switches have groups of ports beside their tables, as far as the "
	       "routing engine is free of credit loops with them (not an option of OpenSM's)"),
	SWITCH("disable_multicast", disable_multicast, "false", "no multicast tables"),
	SWITCH("use_mfttop", use_mfttop, "true", "sets MulticastFDBTop of switches that have it"),
	SWITCH("qos", qos, "false", "sets SL to VL and arbitration tables"),
	NUMBER("qos_max_vls", qos_max_vls, 1, 15, "15", "lanes that qos_sl2vl may name"),
	NUMBER("qos_high_limit", qos_high_limit, 0, 255, "0",
	       "how much goes by the table of high priority before the other has its turn"),
	LIST("qos_vlarb_high", qos_vlarb_high, check_vl_arb,
	     "0:4,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0,10:0,11:0,12:0,13:0,14:0",
	     "arbitration of high priority: lane and weight, separated by commas"),
	LIST("qos_vlarb_low", qos_vlarb_low, check_vl_arb,
	     "0:0,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4",
	     "arbitration of low priority"),
	LIST("qos_sl2vl", qos_sl2vl, check_sl2vl, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7",
	     "the lane of each of the sixteen service levels"),
};

const size_t wf_sm_n_params = WF_ARRAY_SIZE(wf_sm_params);

int wf_sm_cfg_init(struct wf_sm_cfg *cfg, struct wf_err *err)
{
	memset(cfg, 0, sizeof(*cfg));
	return wf_param_defaults(wf_sm_params, wf_sm_n_params, cfg, err);
}

/* ---- lists ---- */

static const char *skip(const char *p)
{
	while (*p == ' ' || *p == ',' || *p == '\t' || *p == '\n')
		p++;
	return p;
}

static unsigned digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

/* A hexadecimal number at *p_p; false where there is none, or it is too long. */
static bool take_hex(const char **p_p, uint64_t *value_p)
{
	const char *p = *p_p;
	unsigned n = 0;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	*value_p = 0;
	for (; digit(*p) < 16; p++, n++)
		*value_p = *value_p << 4 | digit(*p);
	*p_p = p;
	return n > 0 && n <= 16;
}

static bool take_number(const char **p_p, unsigned max, unsigned *value_p)
{
	const char *p = *p_p;
	unsigned n = 0;

	for (*value_p = 0; *p >= '0' && *p <= '9' && n < 4; p++, n++)
		*value_p = *value_p * 10 + (unsigned)(*p - '0');
	*p_p = p;
	return n > 0 && *value_p <= max;
}

static bool read_key(const char *text, uint64_t *key_p)
{
	return take_hex(&text, key_p) && *text == '\0';
}

static int check_key(const char *text, struct wf_err *err)
{
	uint64_t key;

	if (read_key(text, &key))
		return 0;
	return wf_err_say(err, "%.40s is no key; write up to 16 hexadecimal digits, e.g. 0x1f",
	                  text);
}

static int read_engines(const char *text, const struct wf_sm_route_ops **engines, uint32_t *n_p,
                        struct wf_err *err)
{
	*n_p = 0;
	for (text = skip(text); *text != '\0'; text = skip(text)) {
		size_t len = strcspn(text, ", \t\n");
		char name[WF_SM_ROUTE_NAME] = "";

		if (len < sizeof(name))
			memcpy(name, text, len);
		if (wf_sm_route_find(name) == NULL)
			return wf_err_say(err, "there is no routing engine %.*s; the first is %s",
			                  (int)(len < 40 ? len : 40), text, wf_sm_route_names[0]);
		if (*n_p == WF_SM_ENGINES)
			return wf_err_say(err, "more than %d routing engines", WF_SM_ENGINES);
		engines[(*n_p)++] = wf_sm_route_find(name);
		text += len;
	}
	return 0;
}

static int check_engines(const char *text, struct wf_err *err)
{
	const struct wf_sm_route_ops *engines[WF_SM_ENGINES];
	uint32_t n;

	return read_engines(text, engines, &n, err);
}

static int read_roots(const char *text, uint64_t *roots, uint32_t *n_p, struct wf_err *err)
{
	*n_p = 0;
	for (text = skip(text); *text != '\0'; text = skip(text)) {
		const char *at = text;
		uint64_t guid;

		if (!take_hex(&text, &guid) || (*text != '\0' && skip(text) == text))
			return wf_err_say(err, "%.40s is no GUID; write 16 hexadecimal digits", at);
		if (*n_p == WF_SM_ROOTS)
			return wf_err_say(err, "more than %d GUIDs", WF_SM_ROOTS);
		roots[(*n_p)++] = guid;
	}
	return 0;
}

static int check_roots(const char *text, struct wf_err *err)
{
	uint64_t roots[WF_SM_ROOTS];
	uint32_t n;

	return read_roots(text, roots, &n, err);
}

static int read_vl_arb(const char *text, struct wf_vl_arb_entry table[64], struct wf_err *err)
{
	unsigned n = 0;

	memset(table, 0, 64 * sizeof(table[0]));
	for (text = skip(text); *text != '\0'; text = skip(text)) {
		const char *at = text;
		unsigned vl, weight;

		if (!take_number(&text, 14, &vl) || *text++ != ':' ||
		    !take_number(&text, 255, &weight) || (*text != '\0' && skip(text) == text))
			return wf_err_say(err,
			                  "%.20s is no lane and weight; write 0:4 for lane 0 with "
			                  "weight 4, lanes to 14, weights to 255",
			                  at);
		if (n == 64)
			return wf_err_say(err, "more than 64 lanes and weights");
		table[n++] = (struct wf_vl_arb_entry){ (uint8_t)vl, (uint8_t)weight };
	}
	return 0;
}

static int check_vl_arb(const char *text, struct wf_err *err)
{
	struct wf_vl_arb_entry table[64];

	return read_vl_arb(text, table, err);
}

static int read_sl2vl(const char *text, uint8_t vls[WF_SLS], struct wf_err *err)
{
	unsigned n = 0;

	for (text = skip(text); *text != '\0' && n < WF_SLS; text = skip(text)) {
		unsigned vl;

		if (!take_number(&text, 15, &vl))
			break;
		vls[n++] = (uint8_t)vl;
	}
	if (n == WF_SLS && *text == '\0')
		return 0;
	return wf_err_say(err,
	                  "these are not sixteen lanes from 0 to 15; write one for each service "
	                  "level, separated by commas");
}

static int check_sl2vl(const char *text, struct wf_err *err)
{
	uint8_t vls[WF_SLS];

	return read_sl2vl(text, vls, err);
}

int wf_sm_cfg_read(struct wf_sm *sm, struct wf_err *err)
{
	const struct wf_sm_cfg *cfg = &sm->cfg;
	int ret = read_engines(cfg->routing_engine, sm->engines, &sm->n_engines, err);

	if (ret == 0)
		ret = read_roots(cfg->root_guids, sm->roots, &sm->n_roots, err);
	if (ret == 0)
		ret = read_vl_arb(cfg->qos_vlarb_high, sm->vlarb_high, err);
	if (ret == 0)
		ret = read_vl_arb(cfg->qos_vlarb_low, sm->vlarb_low, err);
	if (ret == 0)
		ret = read_sl2vl(cfg->qos_sl2vl, sm->sl2vl, err);
	if (ret == 0 && !read_key(cfg->m_key, &sm->m_key))
		ret = check_key(cfg->m_key, err);
	if (ret == 0 && !read_key(cfg->sm_key, &sm->sm_key))
		ret = check_key(cfg->sm_key, err);
	if (ret == 0 && !read_key(cfg->subnet_prefix, &sm->prefix))
		ret = check_key(cfg->subnet_prefix, err);
	return ret;
}
