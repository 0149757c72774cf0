/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvlink.h - NVLink inside a server, without I/O.
 *
 *	GPU a: out --> [switch] --> in: GPU b
 *	   rate of a GPU   latency   rate of a GPU
 *
 * A message leaves when all before it have left, at the GPU's rate; it passes the switch a latency
 * after its first byte left; it is there when its last byte is in, behind all that came before. The
 * switch itself never is the bottleneck (NVSwitch has the sum of all rates).
 */
#ifndef WF_JOB_NVLINK_H
#define WF_JOB_NVLINK_H

#include <stdbool.h>

#include "base/mem.h"

/*
 * Rates inside a server, bits/s. At the highest, a byte takes 524 of 2^-16 ps, which is right
 * within 0.2 %.
 */
#define WF_NV_RATE_MIN INT64_C(1000000000)
#define WF_NV_RATE_MAX INT64_C(1000000000000000)

struct wf_nvlink {
	uint64_t rate;   /* bits/s, of each GPU in each direction */
	wf_time latency; /* GPU to GPU */
	bool lines;      /* a chain of GPUs that a ring passes is estimated, not executed */
};

struct wf_nv_message {
	wf_time at; /* in: when it is there */
	wf_time posted;
	uint64_t bytes;
	uint32_t conn, imm, handle; /* the user's */
};

/* A queue of them that grows. */
struct wf_nv_queue {
	struct wf_nv_message *ring;
	uint32_t room, head, tail; /* room: a power of two, or 0 */
};

/* What a GPU's NVLink tells who uses it. Every function is set. */
struct wf_nv_user {
	/* The first byte of a message leaves: it is to come in at its receiver a latency later. */
	void (*leaves)(void *ctx, const struct wf_nv_message *m, wf_time now);
	/* Its last byte has left. */
	void (*left)(void *ctx, const struct wf_nv_message *m, wf_time now);
	/* A message that came in is there. */
	void (*there)(void *ctx, const struct wf_nv_message *m, wf_time now);
};

/* A GPU's NVLink. */
struct wf_nv_port {
	const struct wf_nv_user *user;
	void *ctx;
	struct wf_mem *mem;
	uint64_t ps_q16; /* per byte, of 2^16 */
	struct wf_nv_queue out, in;
	wf_time out_end; /* the first of out has left; WF_TIME_NEVER: nothing does */
	wf_time in_end;  /* the last of in is there */
	bool no_memory;  /* a message was lost for want of it */
};

/* user and mem are borrowed. */
void wf_nv_init(struct wf_nv_port *p, const struct wf_nvlink *nvlink, const struct wf_nv_user *user,
                void *ctx, struct wf_mem *mem);
void wf_nv_fini(struct wf_nv_port *p);

/* A message for another GPU; conn, imm, handle and bytes are set. */
void wf_nv_send(struct wf_nv_port *p, const struct wf_nv_message *m, wf_time now);

/* The first byte of a message for this GPU comes in. */
void wf_nv_comes(struct wf_nv_port *p, const struct wf_nv_message *m, wf_time now);

/* Does what is due. */
void wf_nv_run(struct wf_nv_port *p, wf_time now);

/* When that is. */
wf_time wf_nv_due(const struct wf_nv_port *p);

/* How long so many bytes take at ps_q16 for each. */
static inline wf_time wf_nv_duration(uint64_t ps_q16, uint64_t bytes)
{
	return wf_time_cap(((unsigned __int128)bytes * ps_q16) >> 16);
}

/* The time of a byte at a rate, of 2^16. */
static inline uint64_t wf_nv_ps_q16(uint64_t rate)
{
	return (uint64_t)(((unsigned __int128)8 * (uint64_t)WF_S << 16) / rate);
}

#endif
