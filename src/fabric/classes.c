/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classes.c - compiles the classes of a fabric, traffic classes or virtual lanes, from their text.
 */
#include "fabric/classes.h"

#include <errno.h>
#include <string.h>

#include "base/rows.h"
#include "wire/ib.h"

#define PRIORITIES 8 /* of 802.1Q */
#define VL_MANAGEMENT WF_VL_MGMT
#define MAX_WEIGHT 10000
#define AUTO_ARB_WEIGHT 64 /* 64-byte units: a packet of 4 KiB */

/* One entry of a list: "3" or "3:50". */
struct entry {
	uint32_t id;
	uint32_t weight;
};

#define FIELD(field) WF_PARAM_FIELD(struct entry, field)

/* ---- Ethernet ---- */

int wf_priorities_parse(const char *name, const char *text, unsigned *mask, struct wf_err *err)
{
	static const struct wf_param fields[] = {
		{ .name = "priority", .kind = WF_PARAM_U32, FIELD(id), .max = PRIORITIES - 1 },
	};
	const struct wf_rows table = {
		.name = name,
		.what = "a list of priorities",
		.example = "0 to 7 with commas between, e.g. 3,4",
		.fields = fields,
		.n_fields = WF_ARRAY_SIZE(fields),
		.size = sizeof(struct entry),
		.max = PRIORITIES,
	};
	struct entry e[PRIORITIES];
	unsigned n;
	int rc = wf_rows_parse(&table, text, e, &n, err);

	*mask = 0;
	for (unsigned i = 0; rc == 0 && i < n; i++) {
		if (*mask & 1u << e[i].id)
			return wf_err_say(err, "%s: priority %u is there twice; once is enough",
			                  name, e[i].id);
		*mask |= 1u << e[i].id;
	}
	return rc;
}

static int parse_weights(const char *text, unsigned strict, unsigned weight[PRIORITIES],
                         struct wf_err *err)
{
	static const struct wf_param fields[] = {
		{ .name = "priority", .kind = WF_PARAM_U32, FIELD(id), .max = PRIORITIES - 1 },
		{ .name = "weight", .kind = WF_PARAM_U32, FIELD(weight), .max = MAX_WEIGHT },
	};
	static const struct wf_rows table = {
		.name = "classes.weights",
		.what = "a list of weights",
		.example = "priority:weight with commas between, e.g. 0:50,3:50",
		.fields = fields,
		.n_fields = WF_ARRAY_SIZE(fields),
		.size = sizeof(struct entry),
		.max = PRIORITIES,
	};
	struct entry e[PRIORITIES];
	unsigned n;
	int rc = wf_rows_parse(&table, text, e, &n, err);

	for (unsigned i = 0; rc == 0 && i < n; i++) {
		if (e[i].weight == 0)
			return wf_err_say(
				err,
				"classes.weights: priority %u has weight 0 and would never "
				"send; write 1 to %d",
				e[i].id, MAX_WEIGHT);
		if (weight[e[i].id] != 0)
			return wf_err_say(err,
			                  "classes.weights: priority %u is there twice; once is "
			                  "enough",
			                  e[i].id);
		if (strict & 1u << e[i].id)
			return wf_err_say(
				err,
				"classes.weights: priority %u is in classes.strict too; a "
				"strict priority has no weight",
				e[i].id);
		weight[e[i].id] = e[i].weight;
	}
	return rc;
}

/* A priority that has neither a weight nor is strict gets a weight when nobody has one. */
static int fill_weights(unsigned named, unsigned strict, unsigned weight[PRIORITIES],
                        struct wf_err *err)
{
	unsigned weighted = 0;

	for (unsigned p = 0; p < PRIORITIES; p++)
		weighted |= weight[p] != 0 ? 1u << p : 0;
	for (unsigned p = 0; p < PRIORITIES; p++) {
		if (!(named & ~strict & ~weighted & 1u << p))
			continue;
		if (weighted != 0)
			return wf_err_say(
				err,
				"classes.weights: priority %u has no weight; add %u:50, or "
				"put it into classes.strict",
				p, p);
		weight[p] = 1;
	}
	return 0;
}

/* The one priority in which trimmed packets go on, as a mask; 0: packets are not trimmed. */
static int parse_trim(const struct wf_fabric_cfg *cfg, unsigned lossless, unsigned ecn,
                      unsigned *mask, struct wf_err *err)
{
	if (wf_priorities_parse("classes.trim", cfg->class_trim, mask, err) != 0)
		return -EINVAL;
	if ((*mask & (*mask - 1)) != 0)
		return wf_err_say(err,
		                  "classes.trim: \"%s\" names several priorities; what is left of "
		                  "trimmed packets goes on in one",
		                  cfg->class_trim);
	if ((*mask & (lossless | ecn)) != 0)
		return wf_err_say(err,
		                  "classes.trim: priority %s is lossless or marked: the data's "
		                  "own; write another one, e.g. one of classes.strict",
		                  cfg->class_trim);
	return 0;
}

static int parse_ethernet(const struct wf_fabric_cfg *cfg, unsigned more, struct wf_classes *c,
                          struct wf_err *err)
{
	unsigned weight[PRIORITIES] = { 0 };
	unsigned lossless, strict, ecn, named, trim;

	if (wf_priorities_parse("classes.lossless", cfg->class_lossless, &lossless, err) != 0 ||
	    wf_priorities_parse("classes.strict", cfg->class_strict, &strict, err) != 0 ||
	    wf_priorities_parse("classes.ecn", cfg->class_ecn, &ecn, err) != 0 ||
	    parse_weights(cfg->class_weights, strict, weight, err) != 0)
		return -EINVAL;
	if (strcmp(cfg->flowctl, "none") == 0)
		lossless = 0;
	if (parse_trim(cfg, lossless, ecn, &trim, err) != 0)
		return -EINVAL;
	named = lossless | strict | ecn | trim;
	if (fill_weights(named, strict, weight, err) != 0)
		return -EINVAL;
	for (unsigned p = 0; p < PRIORITIES; p++)
		named |= weight[p] != 0 ? 1u << p : 0;
	if (named == 0) {
		named = 1;
		weight[0] = 1;
	}

	for (unsigned p = 0; p < PRIORITIES; p++) {
		if (!((named | more) & 1u << p))
			continue;
		if (named & 1u << p)
			c->of[p] = (uint8_t)c->n;
		else
			weight[p] = 1;
		if (trim >> p & 1) {
			c->trims = true;
			c->trim = (uint8_t)c->n;
		}
		c->queue[c->n++] = (struct wf_class){
			.id = (uint8_t)p,
			.lossless = lossless >> p & 1,
			.strict = strict >> p & 1,
			.ecn = ecn >> p & 1,
			.weight = (uint16_t)weight[p],
			.alpha = wf_narrow_u32(cfg->buffer_queue_alpha),
		};
		if ((trim >> p & 1) != 0 && cfg->buffer_trim_alpha != (uint64_t)WF_PARAM_AUTO)
			c->queue[c->n - 1].alpha = wf_narrow_u32(cfg->buffer_trim_alpha);
	}
	/* All other priorities share a queue: that of priority 0, or the lowest that is named. */
	for (unsigned p = 0; p < WF_MAX_CLASSES; p++) {
		if (!(named >> p & 1))
			c->of[p] = c->of[__builtin_ctz(named)];
	}
	return 0;
}

/* ---- InfiniBand ---- */

static int parse_sl2vl(const struct wf_fabric_cfg *cfg, struct wf_classes *c, struct wf_err *err)
{
	static const struct wf_param fields[] = {
		{ .name = "VL", .kind = WF_PARAM_U32, FIELD(id), .max = VL_MANAGEMENT },
	};
	static const struct wf_rows table = {
		.name = "vl.sl2vl",
		.what = "a list of 16 VLs",
		.example = "the VL of each service level with commas between, or auto",
		.fields = fields,
		.n_fields = WF_ARRAY_SIZE(fields),
		.size = sizeof(struct entry),
		.max = WF_MAX_CLASSES,
	};
	struct entry e[WF_MAX_CLASSES];
	unsigned n;
	int rc;

	if (strcmp(cfg->vl_sl2vl, "auto") == 0) {
		for (unsigned sl = 0; sl < WF_MAX_CLASSES - 1; sl++)
			c->of[sl] = (uint8_t)(sl % cfg->vl_count);
		c->of[WF_MAX_CLASSES - 1] = wf_narrow_u8(cfg->vl_count);
		return 0;
	}
	rc = wf_rows_parse(&table, cfg->vl_sl2vl, e, &n, err);
	if (rc != 0)
		return rc;
	if (n != WF_MAX_CLASSES)
		return wf_err_say(err, "vl.sl2vl: \"%s\" is not %s: it has %u; write %s",
		                  cfg->vl_sl2vl, table.what, n, table.example);
	for (unsigned sl = 0; sl < WF_MAX_CLASSES; sl++) {
		if (e[sl].id == VL_MANAGEMENT && sl == WF_MAX_CLASSES - 1)
			e[sl].id = cfg->vl_count;
		else if (e[sl].id >= cfg->vl_count)
			return wf_err_say(
				err,
				"vl.sl2vl: service level %u goes to VL %u, but vl.count is "
				"%u; write a VL from 0 to %u",
				sl, e[sl].id, cfg->vl_count, cfg->vl_count - 1);
		c->of[sl] = (uint8_t)e[sl].id;
	}
	return 0;
}

static int parse_arb(const char *name, const char *text, unsigned vl_count,
                     struct wf_vlarb_entry entries[WF_VLARB_ENTRIES], unsigned *n_p,
                     struct wf_err *err)
{
	static const struct wf_param fields[] = {
		{ .name = "VL", .kind = WF_PARAM_U32, FIELD(id), .max = VL_MANAGEMENT },
		{ .name = "weight", .kind = WF_PARAM_U32, FIELD(weight), .max = UINT8_MAX },
	};
	const struct wf_rows table = {
		.name = name,
		.what = "an arbitration table",
		.example =
			"VL:weight with weights from 0 to 255 and commas between, e.g. 0:64,1:32",
		.fields = fields,
		.n_fields = WF_ARRAY_SIZE(fields),
		.size = sizeof(struct entry),
		.max = WF_VLARB_ENTRIES,
	};
	struct entry e[WF_VLARB_ENTRIES];
	int rc = wf_rows_parse(&table, text, e, n_p, err);

	for (unsigned i = 0; rc == 0 && i < *n_p; i++) {
		if (e[i].id >= vl_count)
			return wf_err_say(
				err,
				"%s: it names VL %u, but vl.count is %u; write a VL from 0 "
				"to %u",
				name, e[i].id, vl_count, vl_count - 1);
		entries[i].queue = (uint8_t)e[i].id;
		entries[i].weight = (uint8_t)e[i].weight;
	}
	return rc;
}

/* A VL that packets use but no table serves would hold them for ever. */
static int check_arb(const struct wf_classes *c, unsigned vl_count, struct wf_err *err)
{
	bool served[WF_MAX_QUEUES] = { false };

	for (unsigned i = 0; i < c->n_high; i++)
		served[c->high[i].queue] |= c->high[i].weight != 0;
	for (unsigned i = 0; i < c->n_low; i++)
		served[c->low[i].queue] |= c->low[i].weight != 0;
	for (unsigned sl = 0; sl < WF_MAX_CLASSES; sl++) {
		if (c->of[sl] < vl_count && !served[c->of[sl]])
			return wf_err_say(err,
			                  "vl.arb_low: VL %u has no weight in either table, so its "
			                  "packets would never leave; add %u:64",
			                  c->of[sl], c->of[sl]);
	}
	return 0;
}

static int parse_infiniband(const struct wf_fabric_cfg *cfg, struct wf_classes *c,
                            struct wf_err *err)
{
	int rc;

	if (cfg->vl_count == 0 || cfg->vl_count >= WF_MAX_QUEUES)
		return wf_err_say(err, "vl.count: %u virtual lanes cannot be; write 1 to %d",
		                  (unsigned)cfg->vl_count, WF_MAX_QUEUES - 1);
	for (unsigned vl = 0; vl < cfg->vl_count; vl++)
		c->queue[c->n++] = (struct wf_class){ .id = (uint8_t)vl, .lossless = true };
	c->queue[c->n++] = (struct wf_class){
		.id = VL_MANAGEMENT,
		.strict = true,
		.exempt = true,
	};
	rc = parse_sl2vl(cfg, c, err);
	if (rc == 0)
		rc = parse_arb("vl.arb_high", cfg->vl_arb_high, cfg->vl_count, c->high, &c->n_high,
		               err);
	if (rc != 0)
		return rc;
	if (strcmp(cfg->vl_arb_low, "auto") == 0) {
		for (unsigned vl = 0; vl < cfg->vl_count; vl++)
			c->low[c->n_low++] =
				(struct wf_vlarb_entry){ (uint8_t)vl, AUTO_ARB_WEIGHT };
	} else {
		rc = parse_arb("vl.arb_low", cfg->vl_arb_low, cfg->vl_count, c->low, &c->n_low,
		               err);
	}
	return rc != 0 ? rc : check_arb(c, cfg->vl_count, err);
}

unsigned wf_classes_priorities(const struct wf_fabric_cfg *cfg, const struct wf_classes *classes)
{
	unsigned mask = 0;

	for (unsigned q = 0; q < classes->n && strcmp(cfg->link_layer, "infiniband") != 0; q++)
		mask |= 1u << classes->queue[q].id;
	return mask;
}

int wf_classes_parse(const struct wf_fabric_cfg *cfg, struct wf_classes *classes,
                     struct wf_err *err)
{
	return wf_classes_parse_with(cfg, 0, classes, err);
}

int wf_classes_parse_with(const struct wf_fabric_cfg *cfg, unsigned more,
                          struct wf_classes *classes, struct wf_err *err)
{
	struct wf_classes c = { .high_limit = cfg->vl_high_limit };
	int rc;

	if (strcmp(cfg->link_layer, "infiniband") == 0)
		rc = parse_infiniband(cfg, &c, err);
	else
		rc = parse_ethernet(cfg, more, &c, err);
	if (rc == 0)
		*classes = c;
	return rc;
}
