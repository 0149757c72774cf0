/* SPDX-License-Identifier: Apache-2.0 */
/* cca.c - the congestion control agent. */
#include "mgmt/cca.h"

#include <errno.h>
#include <string.h>

#include "mgmt/agent_priv.h"
#include "wire/perf.h"

#define TICK (1024 * WF_NS) /* of timestamps */
#define LOG_SWITCH 1
#define LOG_CA 2
#define BLOCKS_MAX 4

struct wf_cca {
	struct wf_mem *mem;
	void (*changed)(void *arg, unsigned what);
	void *arg;
	bool is_switch, credit_starvation;
	uint8_t n_ports, table_blocks;
	struct wf_cong_key_info key;
	wf_time lease_ends;
	uint16_t cct_limit;
	struct wf_cong_switch_setting sw;
	struct wf_cong_ca_setting ca;
	/* these are there once they are written */
	struct wf_cong_switch_port *ports;
	struct wf_cong_cct_entry *cct;
	struct wf_cong_log_switch *log_switch;
	struct wf_cong_log_ca *log_ca;
};

int wf_cca_create(const struct wf_cca_cfg *cfg, struct wf_mem *mem, struct wf_cca **cca_p)
{
	struct wf_cca *cca = mem->alloc(mem, sizeof(*cca));

	assert(cfg->table_blocks <= BLOCKS_MAX);
	if (cca == NULL)
		return -ENOMEM;
	cca->mem = mem;
	cca->changed = cfg->changed;
	cca->arg = cfg->arg;
	cca->is_switch = cfg->is_switch;
	cca->credit_starvation = cfg->credit_starvation;
	cca->n_ports = cfg->n_ports;
	cca->table_blocks = cfg->is_switch ? 0 : cfg->table_blocks;
	cca->lease_ends = WF_TIME_NEVER;
	*cca_p = cca;
	return 0;
}

void wf_cca_destroy(struct wf_cca *cca)
{
	if (cca == NULL)
		return;
	cca->mem->free(cca->mem, cca->ports);
	cca->mem->free(cca->mem, cca->cct);
	cca->mem->free(cca->mem, cca->log_switch);
	cca->mem->free(cca->mem, cca->log_ca);
	cca->mem->free(cca->mem, cca);
}

static uint32_t timestamp(wf_time now)
{
	return (uint32_t)(now / TICK);
}

/* A Set needs the key, if there is one. */
static bool check_key(struct wf_cca *cca, const struct wf_mad *h, uint64_t key, wf_time now)
{
	struct wf_cong_key_info *info = &cca->key;

	if (cca->lease_ends <= now) {
		cca->lease_ends = WF_TIME_NEVER;
		info->protect = false;
	}
	if (info->cc_key == 0 || key == info->cc_key) {
		cca->lease_ends = WF_TIME_NEVER;
		return true;
	}
	if (h->method == WF_MAD_METHOD_GET)
		return true;
	if (info->violations < UINT16_MAX)
		info->violations++;
	if (cca->lease_ends == WF_TIME_NEVER && info->lease_period != 0)
		cca->lease_ends = now + info->lease_period * WF_S;
	return false;
}

/* Each attribute: *mad is the whole MAD, key what came with it. */
typedef unsigned attr_fn(struct wf_cca *cca, uint8_t *mad, bool set, uint32_t modifier,
                         uint64_t key, wf_time now);

static unsigned class_port_info(struct wf_cca *cca, uint8_t *mad, bool set, uint32_t modifier,
                                uint64_t key, wf_time now)
{
	struct wf_class_port_info info = {
		.base_version = WF_MAD_BASE_VERSION,
		.class_version = WF_CONG_CLASS_VERSION,
	};

	(void)cca, (void)set, (void)modifier, (void)key, (void)now;
	wf_class_port_info_encode(&info, mad + WF_CONG_DATA);
	return WF_MAD_OK;
}

static unsigned cong_info(struct wf_cca *cca, uint8_t *mad, bool set, uint32_t modifier,
                          uint64_t key, wf_time now)
{
	struct wf_cong_info info = {
		.congestion_info = cca->is_switch && cca->credit_starvation,
		.control_table_cap = cca->table_blocks,
	};

	(void)set, (void)key, (void)now;
	if (modifier != 0)
		return WF_MAD_INVALID_FIELD;
	wf_cong_info_encode(&info, mad + WF_CONG_DATA);
	return WF_MAD_OK;
}

static unsigned key_info(struct wf_cca *cca, uint8_t *mad, bool set, uint32_t modifier,
                         uint64_t key, wf_time now)
{
	struct wf_cong_key_info info;

	(void)now;
	if (modifier != 0)
		return WF_MAD_INVALID_FIELD;
	if (set) {
		wf_cong_key_info_decode(mad + WF_CONG_DATA, &info);
		/* violations are counted; a Set can only begin anew */
		if (info.violations != 0)
			info.violations = cca->key.violations;
		cca->key = info;
		key = info.cc_key;
	}
	info = cca->key;
	if (info.protect && key != info.cc_key)
		info.cc_key = 0;
	wf_cong_key_info_encode(&info, mad + WF_CONG_DATA);
	return WF_MAD_OK;
}

static unsigned cong_log(struct wf_cca *cca, uint8_t *mad, bool set, uint32_t modifier,
                         uint64_t key, wf_time now)
{
	struct wf_cong_log_switch sw = { .log_type = LOG_SWITCH };
	struct wf_cong_log_ca ca = { .log_type = LOG_CA };

	(void)set, (void)key;
	if (modifier != 0)
		return WF_MAD_INVALID_FIELD;
	memset(mad + WF_CONG_LOG_DATA, 0, WF_MAD_LEN - WF_CONG_LOG_DATA);
	if (cca->is_switch) {
		if (cca->log_switch != NULL)
			sw = *cca->log_switch;
		sw.timestamp = timestamp(now);
		wf_cong_log_switch_encode(&sw, mad + WF_CONG_LOG_DATA);
	} else {
		if (cca->log_ca != NULL)
			ca = *cca->log_ca;
		ca.timestamp = timestamp(now);
		wf_cong_log_ca_encode(&ca, mad + WF_CONG_LOG_DATA);
	}
	return WF_MAD_OK;
}

static unsigned switch_setting(struct wf_cca *cca, uint8_t *mad, bool set, uint32_t modifier,
                               uint64_t key, wf_time now)
{
	(void)key, (void)now;
	if (modifier != 0)
		return WF_MAD_INVALID_FIELD;
	if (set) {
		wf_cong_switch_setting_decode(mad + WF_CONG_DATA, &cca->sw);
		cca->changed(cca->arg, WF_CCA_SWITCH);
	}
	wf_cong_switch_setting_encode(&cca->sw, mad + WF_CONG_DATA);
	return WF_MAD_OK;
}

static unsigned switch_ports(struct wf_cca *cca, uint8_t *mad, bool set, uint32_t modifier,
                             uint64_t key, wf_time now)
{
	struct wf_cong_switch_ports block = { .port[0].valid = false };
	unsigned first;

	(void)key, (void)now;
	if (modifier > cca->n_ports / WF_CONG_PORTS_PER_BLOCK)
		return WF_MAD_INVALID_FIELD;
	first = modifier * WF_CONG_PORTS_PER_BLOCK;
	if (set && cca->ports == NULL)
		cca->ports = cca->mem->alloc(cca->mem, (cca->n_ports + 1U) * sizeof(cca->ports[0]));
	if (set && cca->ports == NULL)
		return WF_MAD_BUSY;
	if (set) {
		wf_cong_switch_ports_decode(mad + WF_CONG_DATA, &block);
		for (unsigned i = 0; i < WF_CONG_PORTS_PER_BLOCK && first + i <= cca->n_ports; i++)
			cca->ports[first + i] = block.port[i];
		cca->changed(cca->arg, WF_CCA_PORTS);
	}
	for (unsigned i = 0; i < WF_CONG_PORTS_PER_BLOCK; i++)
		block.port[i] = wf_cca_port(cca, first + i);
	wf_cong_switch_ports_encode(&block, mad + WF_CONG_DATA);
	return WF_MAD_OK;
}

static unsigned ca_setting(struct wf_cca *cca, uint8_t *mad, bool set, uint32_t modifier,
                           uint64_t key, wf_time now)
{
	(void)key, (void)now;
	if (modifier != 0)
		return WF_MAD_INVALID_FIELD;
	if (set) {
		wf_cong_ca_setting_decode(mad + WF_CONG_DATA, &cca->ca);
		cca->changed(cca->arg, WF_CCA_CA);
	}
	wf_cong_ca_setting_encode(&cca->ca, mad + WF_CONG_DATA);
	return WF_MAD_OK;
}

static unsigned control_table(struct wf_cca *cca, uint8_t *mad, bool set, uint32_t modifier,
                              uint64_t key, wf_time now)
{
	struct wf_cong_table block = { .ccti_limit = 0 };
	unsigned entries = cca->table_blocks * WF_CONG_CCT_PER_BLOCK, first;

	(void)key, (void)now;
	if (modifier >= cca->table_blocks)
		return WF_MAD_INVALID_FIELD;
	first = modifier * WF_CONG_CCT_PER_BLOCK;
	if (set) {
		wf_cong_table_decode(mad + WF_CONG_DATA, &block);
		if (block.ccti_limit >= entries)
			return WF_MAD_INVALID_FIELD;
		if (cca->cct == NULL)
			cca->cct = cca->mem->alloc(cca->mem, entries * sizeof(cca->cct[0]));
		if (cca->cct == NULL)
			return WF_MAD_BUSY;
		memcpy(cca->cct + first, block.entry, sizeof(block.entry));
		cca->cct_limit = block.ccti_limit;
		cca->changed(cca->arg, WF_CCA_TABLE);
	}
	block.ccti_limit = cca->cct_limit;
	for (unsigned i = 0; i < WF_CONG_CCT_PER_BLOCK; i++)
		block.entry[i] = wf_cca_cct(cca, first + i);
	wf_cong_table_encode(&block, mad + WF_CONG_DATA);
	return WF_MAD_OK;
}

static unsigned time_stamp(struct wf_cca *cca, uint8_t *mad, bool set, uint32_t modifier,
                           uint64_t key, wf_time now)
{
	struct wf_cong_timestamp t = { .timestamp = timestamp(now) };

	(void)cca, (void)set, (void)key;
	if (modifier != 0)
		return WF_MAD_INVALID_FIELD;
	wf_cong_timestamp_encode(&t, mad + WF_CONG_DATA);
	return WF_MAD_OK;
}

enum who {
	BOTH,
	SWITCHES,
	ADAPTERS,
};

static const struct {
	uint16_t id;
	bool sets;
	enum who who;
	attr_fn *fn;
} attrs[] = {
	{ WF_MAD_ATTR_CLASS_PORT_INFO, false, BOTH, class_port_info },
	{ WF_CONG_INFO, false, BOTH, cong_info },
	{ WF_CONG_KEY_INFO, true, BOTH, key_info },
	{ WF_CONG_LOG, false, BOTH, cong_log },
	{ WF_CONG_SWITCH_SETTING, true, SWITCHES, switch_setting },
	{ WF_CONG_SWITCH_PORT_SETTING, true, SWITCHES, switch_ports },
	{ WF_CONG_CA_SETTING, true, ADAPTERS, ca_setting },
	{ WF_CONG_CONTROL_TABLE, true, ADAPTERS, control_table },
	{ WF_CONG_TIMESTAMP, false, BOTH, time_stamp },
};

static unsigned attribute(struct wf_cca *cca, const struct wf_mad *h, uint64_t key, uint8_t *mad,
                          wf_time now)
{
	bool set = h->method == WF_MAD_METHOD_SET;

	for (unsigned i = 0; i < WF_ARRAY_SIZE(attrs); i++)
		if (attrs[i].id == h->attr_id && (attrs[i].sets || !set) &&
		    attrs[i].who != (cca->is_switch ? ADAPTERS : SWITCHES))
			return attrs[i].fn(cca, mad, set, h->attr_mod, key, now);
	return WF_MAD_BAD_ATTRIBUTE;
}

bool wf_cca_rx(struct wf_cca *cca, uint8_t *mad, wf_time now)
{
	uint64_t key = wf_be64_get(mad + WF_CONG_KEY);
	struct wf_mad h;
	unsigned status;

	wf_mad_decode(mad, &h);
	if (h.mgmt_class != WF_MAD_CLASS_CC || wf_mad_is_response(h.method))
		return false;
	status = wf_agent_check(&h, WF_CONG_CLASS_VERSION);
	if (status == WF_MAD_OK && !check_key(cca, &h, key, now))
		return false;
	if (status == WF_MAD_OK)
		status = attribute(cca, &h, key, mad, now);
	wf_agent_answer(mad, status);
	return true;
}

void wf_cca_log_switch(struct wf_cca *cca, unsigned port,
                       const struct wf_cong_log_switch_entry *entry, wf_time now)
{
	struct wf_cong_log_switch *log = cca->log_switch;

	assert(cca->is_switch && port <= cca->n_ports);
	if (log == NULL) {
		log = cca->mem->alloc(cca->mem, sizeof(*log));
		if (log == NULL)
			return;
		log->log_type = LOG_SWITCH;
		cca->log_switch = log;
	}
	memmove(log->entry + 1, log->entry, sizeof(log->entry) - sizeof(log->entry[0]));
	log->entry[0] = *entry;
	log->entry[0].timestamp = timestamp(now);
	if (log->event_counter < UINT16_MAX)
		log->event_counter++;
	/* bit 0 of the map is the least significant of its last byte */
	log->port_map[sizeof(log->port_map) - 1 - port / 8] |= (uint8_t)(1U << port % 8);
}

void wf_cca_log_ca(struct wf_cca *cca, const struct wf_cong_log_ca_entry *entry, wf_time now)
{
	struct wf_cong_log_ca *log = cca->log_ca;

	assert(!cca->is_switch);
	if (log == NULL) {
		log = cca->mem->alloc(cca->mem, sizeof(*log));
		if (log == NULL)
			return;
		log->log_type = LOG_CA;
		cca->log_ca = log;
	}
	memmove(log->entry + 1, log->entry, sizeof(log->entry) - sizeof(log->entry[0]));
	log->entry[0] = *entry;
	log->entry[0].timestamp = timestamp(now);
	if (log->event_counter < UINT16_MAX)
		log->event_counter++;
	log->event_map |= (uint16_t)(1U << (entry->sl & 0xf));
}

const struct wf_cong_switch_setting *wf_cca_switch(const struct wf_cca *cca)
{
	return &cca->sw;
}

struct wf_cong_switch_port wf_cca_port(const struct wf_cca *cca, unsigned port)
{
	if (cca->ports == NULL || port > cca->n_ports)
		return (struct wf_cong_switch_port){ .valid = false };
	return cca->ports[port];
}

const struct wf_cong_ca_setting *wf_cca_ca(const struct wf_cca *cca)
{
	return &cca->ca;
}

struct wf_cong_cct_entry wf_cca_cct(const struct wf_cca *cca, unsigned index)
{
	if (cca->cct == NULL || index >= cca->table_blocks * (unsigned)WF_CONG_CCT_PER_BLOCK)
		return (struct wf_cong_cct_entry){ .shift = 0 };
	return cca->cct[index];
}

uint16_t wf_cca_cct_limit(const struct wf_cca *cca)
{
	return cca->cct_limit;
}
