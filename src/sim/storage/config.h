/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - what a scenario says of storage: who uses which targets, and how.
 */
#ifndef WF_SIM_STORAGE_CONFIG_H
#define WF_SIM_STORAGE_CONFIG_H

#include "base/err.h"
#include "base/param.h"

#define WF_STORAGE_HOSTS_TEXT 512

enum wf_storage_kind {
	WF_STORAGE_RANDOM,
	WF_STORAGE_SEQUENTIAL,
	WF_STORAGE_CHECKPOINT,
	WF_STORAGE_RESTORE,
	WF_STORAGE_KINDS
};

struct wf_storage_cfg {
	char name[24];                       /* heads its rows; "": its kind */
	char kind[12];                       /* a name of enum wf_storage_kind */
	char transport[8];                   /* "auto", "rdma" or "tcp" */
	char hosts[WF_STORAGE_HOSTS_TEXT];   /* names and patterns; "": all that are no targets */
	char targets[WF_STORAGE_HOSTS_TEXT]; /* the same */
	uint64_t read;                       /* of 2^16: share of reads */
	uint64_t block;                      /* bytes of an I/O */
	uint64_t bytes;                      /* checkpoint, restore: of each host */
	uint64_t in_capsule;             /* bytes of a write that go with its command; or auto */
	uint64_t maxh2cdata;             /* TCP: bytes of data in a PDU from the host */
	uint64_t data_align;             /* TCP: bytes */
	bool header_digest, data_digest; /* TCP: there are some */
	bool success;                    /* TCP: no responses to reads */
	uint32_t depth;                  /* I/Os under way on a queue */
	uint32_t queues;                 /* of a host and a target */
	uint32_t cls;                    /* priority or service level */
	wf_time start;
	wf_time duration; /* random, sequential: I/Os begin for so long */
};

extern const struct wf_param wf_storage_params[];
extern const size_t wf_storage_n_params;

/* The kind called name, which there is. */
enum wf_storage_kind wf_storage_kind_find(const char *name);

/* Of a number of bytes: a checkpoint or its opposite. The others go on for a time. */
static inline bool wf_storage_kind_is_bulk(enum wf_storage_kind kind)
{
	return kind == WF_STORAGE_CHECKPOINT || kind == WF_STORAGE_RESTORE;
}

/* Its name, or that of its kind. */
static inline const char *wf_storage_name(const struct wf_storage_cfg *cfg)
{
	return cfg->name[0] != '\0' ? cfg->name : cfg->kind;
}

/* Whether it goes over TCP on a fabric that has a nic.stack. */
bool wf_storage_is_tcp(const struct wf_storage_cfg *cfg, const char *nic_stack);

/* Bytes of a write that go with its command. */
uint64_t wf_storage_in_capsule(const struct wf_storage_cfg *cfg, bool tcp);

/*
 * Checks values against each other. Returns 0, or -EINVAL with err filled: "<parameter>: <text>".
 */
int wf_storage_check(const struct wf_storage_cfg *cfg, struct wf_err *err) WF_MUST_USE;

#endif
