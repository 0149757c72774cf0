/* SPDX-License-Identifier: Apache-2.0 */
/*
 * algs.h - the algorithms and what can be set of each.
 *
 * Whoever sets parameters by name walks ops->params (base/param.h) over ops->param_size bytes; who
 * sets them in C includes this header, fills the struct with wf_param_defaults() and changes what
 * it likes. The defaults, the ranges and where the numbers come from are beside each table.
 *
 * WF_PARAM_AUTO in a field that allows it follows from the line rate and the base RTT. A base_rtt
 * that is left at auto is WF_CC_BASE_RTT; who knows the path should set it.
 *
 * window, window_scales, window_slack mean the same wherever they occur: a rate based algorithm may
 * also bound the bytes in flight by window (0: it does not), times rate / line rate if
 * window_scales, plus window_slack. The requester sends while a packet of the MTU fits; a slack of
 * MTU - 1 makes that "while less than the window is in flight".
 */
#ifndef WF_CC_ALGS_H
#define WF_CC_ALGS_H

#include "cc/cc.h"

#define WF_CC_BASE_RTT (10 * WF_US)

/*
 * DCQCN's reaction point. The names are those of the adapters' settings; values that adapters take
 * as bare numbers have units here.
 *
 * when alpha and the rate move is a choice: "cnp", as published (SIGCOMM 2015), or "timer", as
 * adapters do it: free-running timers that look whether a CNP came since their last tick.
 */
struct wf_cc_dcqcn_param {
	wf_time rpg_time_reset;   /* between increases by the timer; starts anew at a decrease */
	uint64_t rpg_byte_reset;  /* bytes between increases by the byte counter; 0: no counter */
	uint32_t rpg_threshold;   /* increases of fast recovery before additive increase */
	uint32_t rpg_gd;          /* log2: a decrease takes alpha * 2^10 / 2^gd of the rate */
	uint64_t rpg_ai_rate;     /* bits/s; auto: line rate / 1000 */
	uint64_t rpg_hai_rate;    /* bits/s; auto: 10 * rpg_ai_rate */
	uint64_t rpg_min_rate;    /* bits/s */
	uint64_t rpg_max_rate;    /* bits/s; 0: the line rate */
	uint32_t rpg_min_dec_fac; /* per cent of the rate that a single decrease leaves at least */
	uint32_t initial_alpha_value;       /* alpha at the first CNP, in units of 1/1024 */
	uint64_t dce_tcp_g;                 /* the gain of alpha, Q32 */
	wf_time dce_tcp_rtt;                /* between updates of alpha */
	uint64_t rate_to_set_on_first_cnp;  /* bits/s; 0: 85 % of the line; auto: as any other */
	wf_time rate_reduce_monitor_period; /* at most one decrease in this time */
	bool clamp_tgt_rate;   /* every decrease sets the target; else only one after an increase */
	bool cnp_on_ack;       /* an acknowledgement with a congestion mark is a CNP */
	bool release;          /* back at the full rate, the next CNP is a first one again */
	char alpha_update[8];  /* "cnp" or "timer" */
	char rate_decrease[8]; /* "cnp" or "timer" */
	wf_time decrease_phase; /* the decrease timer ticks this long after alpha's */
	uint64_t window;
	uint64_t window_slack;
	bool window_scales;
};

struct wf_cc_hpcc_param {
	wf_time base_rtt;      /* T: RTT without queues; auto: WF_CC_BASE_RTT */
	uint64_t eta;          /* the utilisation aimed at, Q32 */
	uint32_t max_stage;    /* increases by addition before one by multiplication (MI_THRESH) */
	bool fast_react;       /* react to every acknowledgement, not once an RTT */
	bool repace;           /* a new rate also moves the next packet's time */
	uint64_t rate_ai;      /* bits/s (W_AI / T); auto: line rate * (1 - eta) / 100 */
	uint64_t min_rate;     /* bits/s */
	uint64_t window;       /* bytes; auto: line rate * base_rtt */
	uint64_t window_slack; /* bytes */
	bool window_scales;    /* with the rate */
	uint64_t pint_prob;    /* share of acknowledgements with one code that is used, Q32 */
	uint64_t pint_seed;
};

/* The same as its authors' simulator has it: whole ns, the header's units, doubles. */
struct wf_cc_hpcc_ns3_param {
	wf_time base_rtt;      /* T; auto: WF_CC_BASE_RTT */
	uint64_t eta;          /* Q32; nine decimals of it count */
	uint32_t max_stage;    /* MI_THRESH */
	bool fast_react;       /* react to every acknowledgement, not once an RTT */
	bool multi_rate;       /* a rate for each hop */
	bool sample_feedback;  /* hops without a queue count only once an RTT */
	bool window_scales;    /* with the rate */
	uint64_t rate_ai;      /* bits/s */
	uint64_t min_rate;     /* bits/s */
	uint64_t window;       /* bytes; auto: line rate * base_rtt; 0: none */
	uint64_t window_slack; /* bytes */
	uint32_t int_multi;    /* the header's units, times this */
	bool pint;             /* CC_MODE 10: telemetry comes as one code */
	uint64_t pint_prob;    /* share of acknowledgements that is used, Q32 */
	uint64_t pint_seed;
};

struct wf_cc_timely_param {
	uint64_t ewma;      /* weight of the newest RTT difference, Q32 */
	uint64_t beta;      /* factor of the decrease, Q32 */
	wf_time t_low;      /* below this RTT the rate grows */
	wf_time t_high;     /* above it the rate falls, whatever the gradient */
	wf_time min_rtt;    /* the gradient is relative to it */
	uint32_t hai_after; /* increases in a row before hai_rate */
	uint64_t segment;   /* bytes between updates; 0: once an RTT */
	uint64_t ai_rate;   /* bits/s; auto: line rate / 1000 */
	uint64_t hai_rate;  /* bits/s; auto: 5 * ai_rate */
	uint64_t min_rate;  /* bits/s */
	uint64_t window;
	uint64_t window_slack;
	bool window_scales;
};

struct wf_cc_swift_param {
	wf_time base_target;  /* delay aimed at, zero hops and a large window */
	wf_time per_hop;      /* added for each hop */
	uint32_t hops;        /* where telemetry does not tell them */
	wf_time fs_range;     /* most that flow scaling adds */
	uint64_t fs_min_cwnd; /* packets, Q16: below it flow scaling adds fs_range */
	uint64_t fs_max_cwnd; /* packets, Q16: above it nothing */
	uint64_t ai;          /* packets an RTT, Q16 */
	uint64_t beta;        /* factor of the decrease, Q32 */
	uint64_t max_mdf;     /* most that one decrease takes, Q32 */
	uint64_t min_cwnd;    /* packets, Q16 */
	uint64_t max_cwnd;    /* packets, Q16; auto: what the line carries in base_target */
	uint32_t retx_reset;  /* timeouts in a row after which the window is the smallest */
	uint64_t mtu;         /* bytes of a packet's payload */
};

struct wf_cc_dctcp_param {
	char mode[8];          /* "window" (RFC 8257 without slow start) or "rate" */
	uint64_t g;            /* the gain of alpha, Q32 */
	uint64_t mtu;          /* bytes of a packet's payload */
	wf_time base_rtt;      /* auto: WF_CC_BASE_RTT */
	uint64_t window;       /* bytes; "window": at the start; auto: line rate * base_rtt */
	uint64_t window_max;   /* bytes; "window": never more; auto: 8 * window */
	uint64_t window_slack; /* bytes */
	bool window_scales;    /* "rate" */
	bool slow_start;       /* "window": doubles every RTT until the first mark */
	bool count_acks;   /* alpha from marked acknowledgements per packets in flight, not bytes */
	bool loss_reacts;  /* a loss halves, a timeout goes to one packet or min_rate */
	uint64_t rate_ai;  /* bits/s, "rate": added every RTT */
	uint64_t min_rate; /* bits/s, "rate" */
};

#define WF_IBCC_ENTRIES 128

struct wf_cc_ibcc_param {
	uint32_t ccti_increase; /* of the index, at a BECN */
	uint32_t ccti_limit;    /* the largest index */
	uint32_t ccti_min;      /* the smallest index */
	wf_time ccti_timer;     /* the index falls by one after each */
	char cct_shape[12];     /* "linear" or "exponential", where cct is empty */
	uint64_t cct_step;      /* Q16: packet times that an index adds (linear), or the ratio */
	/*
	 * Entries from 0: "multiplier" or "shift:multiplier", commas; the last stands for the rest.
	 */
	char cct[192];
	bool becn_on_ack; /* an acknowledgement with a mark is a BECN */
};

struct wf_cc_nscc_param {
	wf_time base_rtt;      /* largest RTT without queues; auto: WF_CC_BASE_RTT */
	wf_time target_qdelay; /* auto: base_rtt * 3 / 4 with trimming, else base_rtt */
	bool trimming;         /* the network trims what does not fit */
	uint64_t mtu;          /* bytes of a packet's payload */
	uint64_t window;       /* bytes at the start; auto: the largest */
	uint64_t window_max;   /* bandwidth-delay products, Q16 */
	uint64_t prop;         /* packets, Q16: proportional increase */
	uint64_t fair;         /* packets, Q16: fair increase */
	uint64_t eta;          /* packets, Q16: added every RTT */
	uint64_t fast;         /* fast increase per byte acknowledged, Q16 */
	uint64_t gamma;        /* multiplicative decrease, Q32 */
	uint64_t max_md;       /* most that one decrease takes, Q32 */
	uint64_t delay_gain;   /* gain of the average delay, Q32 */
	wf_time fast_delay;    /* below it, for a window, fast increase begins */
	bool quick_adapt;
	uint64_t qa_threshold; /* times target_qdelay, Q16 */
	uint32_t qa_gate;      /* only if less than window_max / 2^gate got through */
};

extern const struct wf_cc_ops wf_cc_dcqcn;
extern const struct wf_cc_ops wf_cc_hpcc;
extern const struct wf_cc_ops wf_cc_hpcc_ns3;
extern const struct wf_cc_ops wf_cc_timely;
extern const struct wf_cc_ops wf_cc_swift;
extern const struct wf_cc_ops wf_cc_dctcp;
extern const struct wf_cc_ops wf_cc_ibcc;
extern const struct wf_cc_ops wf_cc_nscc;

#endif
