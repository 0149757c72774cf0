/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_app_priv.h - a job on a simulation from the inside.
 */
#ifndef WF_RUN_JOB_APP_PRIV_H
#define WF_RUN_JOB_APP_PRIV_H

#include "engine/cells.h"
#include "job/nvlink.h"
#include "run/job_app.h"
#include "rdma/qp.h"

#define JOB_SENDS (2 * WF_EXEC_RECEIVES) /* data work requests of a queue pair at most */
#define JOB_MANY 64 /* queue pairs of a host: with more, each has fewer work requests */

/*
 * A connection. The sender's fields are touched by its host's thread alone, the receiver's
 * likewise; posted is written by the sender before the message leaves and read by the receiver
 * after it came.
 */
struct job_conn {
	uint32_t rank[2];         /* 0 sends data, 1 receives it */
	uint32_t end[2];          /* the executors' numbers */
	struct wf_qp **qp[2];     /* qps each */
	struct job_sock *sock[2]; /* the same where messages go over TCP (job_tcp.c) */
	uint32_t next_sock;       /* sender: whose turn it is */
	uint32_t rkey[2];         /* of the other side's memory */
	bool net;                 /* over the fabric */
	uint8_t qps;
	uint8_t out;    /* sender: posted and not completed */
	uint32_t sends; /* the next place: 0 again when one is posted and none is out */
	struct {
		uint32_t handle;
		uint8_t left; /* parts not completed */
	} send[JOB_SENDS];
	wf_time posted[WF_EXEC_RECEIVES];
	uint8_t come[WF_EXEC_RECEIVES]; /* receiver: parts that are there */
};

/*
 * Messages of a socket that have not come; a power of two. No more are announced, and so sent, than
 * WF_EXEC_RECEIVES of a connection.
 */
#define JOB_FIFO (4 * WF_EXEC_RECEIVES)

/* What is on its way through a socket: written before it leaves, read when some of it has come. */
struct job_framed {
	uint64_t end; /* of it in the stream */
	uint32_t imm;
	uint8_t parts; /* of its message; 0: an announcement */
	uint8_t place; /* sender: in job_conn.send */
};

/* One end of a socket. */
struct job_sock {
	struct job_conn *conn;
	struct job_host *host;
	struct job_sock *peer;
	struct wf_tcp_sock *tcp;
	struct job_framed fifo[JOB_FIFO]; /* that this end sends */
	uint64_t end;                     /* of what it has sent */
	uint64_t known;                   /* of what has come, whole messages */
	uint32_t sent, written, come;     /* messages: sent, copied from memory, received */
};

struct job_host;

struct job_rank {
	struct job_host *host;
	struct wf_exec *exec;
	wf_time due; /* when the executor wants to run */
	struct wf_nv_port nvlink;
	uint32_t number;
};

/* A rank that waits for others: what it sent. */
struct nv_waiting {
	uint64_t body[sizeof(((struct wf_cell *)0)->body) / sizeof(uint64_t)];
};

/* The NVLink switch of a server: an engine node that is not late. */
struct nv_switch {
	struct wf_node node;
	uint32_t n_waiting, room;
	struct nv_waiting *waiting; /* behind the links */
	struct wf_link out[];       /* to the server's NICs */
};

struct job_shard {
	struct wf_exec_counts counts;
	uint64_t finished;
	uint64_t errors;
	uint64_t lost; /* hosts' groups that lost their trees */
	bool no_memory;
} WF_ALIGNED(WF_CACHE_LINE);

struct job_host {
	struct wf_job_app *job;
	struct wf_adapter *adapter;
	struct job_shard *shard;
	struct wf_pd *pd;
	struct wf_cq *cq;
	struct wf_srq *srq;
	struct wf_mr *mr;
	uint32_t number;
	uint32_t first_rank, n_ranks;
	uint32_t n_qps;
	struct wf_link link; /* to the NVLink switch */
	bool started;
	/* the first work request that failed, and why; WF_WC_SUCCESS: none */
	enum wf_wc_status failed;
	const struct job_conn *failed_on;
};

struct wf_job_app {
	const struct wf_schedule *schedule;
	struct wf_cluster cluster;
	struct wf_job_net net;
	const struct wf_cc_choice *cc;
	const struct wf_job_observer *observer;
	struct wf_mem *mem;
	wf_time side_delay; /* of a server's inner links; 0: it has none */
	uint32_t n_local;   /* connections inside servers */
	uint32_t n_hosts;   /* that have ranks */
	struct job_host *hosts;
	struct job_rank *ranks;
	struct job_conn *conns;
	uint32_t n_conns, conns_room;
	uint32_t n_qps; /* pairs of them */
	uint32_t parts; /* work requests that the longest message takes on a queue pair */
	struct wf_qp **qps;
	struct job_sock *socks;
	unsigned n_shards;
	struct job_shard **shards;
	uint64_t work; /* of all ranks, at a guess */
	bool no_memory;
	struct wf_err err;
};

/* TCP's part (job_tcp.c). */

/* Opens the sockets of all connections; before the run. Returns 0 or -ENOMEM. */
int wf_job_tcp_start(struct wf_job_app *job, const struct wf_fabric *fabric) WF_MUST_USE;

/* Data of a rank, at place in c->send; and an announcement of one. */
void wf_job_tcp_data(struct job_conn *c, const struct wf_post *post, uint32_t place, wf_time now);
void wf_job_tcp_announce(struct job_conn *c, const struct wf_post *post, wf_time now);

/* NVLink's part (job_nvlink.c). */

/* Connects the hosts of every server with a switch; before the run. Returns 0 or -ENOMEM. */
int wf_job_nvlink_start(struct wf_job_app *job) WF_MUST_USE;

/* Data for a rank of the same server. */
void wf_job_nvlink_data(struct job_rank *rank, const struct wf_post *post, wf_time now);

/* An announcement: it is small, and does not wait for data. */
void wf_job_nvlink_announce(struct job_rank *rank, const struct wf_post *post, wf_time now);

/* A cell came in. */
void wf_job_nvlink_cell(struct job_host *host, const struct wf_cell *cell, wf_time now);

/* A rank has begun what its server does together. */
void wf_job_nvlink_meet(struct job_rank *rank, const struct wf_op *op, uint32_t handle,
                        wf_time now);

/* What a rank's NVLink calls, with the rank. */
extern const struct wf_nv_user wf_job_nvlink_user;

/* Has the host called when the first of its ranks wants to be. */
void wf_job_host_plan(struct job_host *host);

/* The rank's own post. */
static inline struct job_host *job_host_of(struct wf_job_app *job, uint32_t rank)
{
	return job->ranks[rank].host;
}

#endif
