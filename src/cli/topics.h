/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics.h - what can be named in a scenario, topic by topic: for weft list, its help, and
 * completion.
 */
#ifndef WF_CLI_TOPICS_H
#define WF_CLI_TOPICS_H

#include "cli/option.h"
#include "scenario/paths.h"

/*
 * X(name, title, where in a scenario such a name stands): the topics of weft list, in its order.
 * topics.c has a function list_<name>() for each.
 */
#define WF_TOPICS(X)                                                                               \
	X(profiles, "Profiles", "fabric: NAME")                                                    \
	X(topologies, "Topologies", "topology: {kind: NAME}")                                      \
	X(routing, "Routing", "fabric: {routing: NAME}")                                           \
	X(flowctl, "Flow control", "fabric: {flowctl: NAME}")                                      \
	X(watchdogs, "PFC watchdogs", "fabric: {watchdog: {rules: NAME}}, adapters: adapter")      \
	X(cc, "Congestion control", "fabric: {cc: {algorithm: NAME}}")                             \
	X(traffic, "Traffic", "traffic: [{kind: NAME}]")                                           \
	X(sizes, "Flow sizes", "traffic: [{kind: random, sizes: NAME}]")                           \
	X(models, "Models", "job: {kind: train, model: NAME}")                                     \
	X(gpus, "GPUs", "job: {kind: train, gpu: NAME}")                                           \
	X(switches, "Switches", "fabric: {switch: {model: NAME}}")                                 \
	X(cables, "Cables", "of links of that rate")                                               \
	X(parameters, "Parameters", "with default, range and meaning")

/* Who is told of a topic's names. */
struct wf_topic_sink {
	const struct wf_paths *paths;
	struct wf_arena arena;
	void (*entry)(struct wf_topic_sink *sink, const char *name, const char *help);
	void (*parameter)(struct wf_topic_sink *sink, const char *name, const struct wf_param *row);
};

struct wf_topic {
	const char *name;
	const char *title; /* "Routing (fabric: {routing: NAME})" */
	/* Returns 0 or -ENOMEM. */
	int (*list)(struct wf_topic_sink *sink);
};

#define WF_TOPIC_PARAMETERS "parameters"

/* The table; ends with a row without a name. */
const struct wf_topic *wf_topic_all(void);

/* The topic called name, or NULL. */
const struct wf_topic *wf_topic_find(const char *name);

/* Tells fn the names of a topic, as they are found without --profiles; of parameters "NAME=". */
void wf_topic_each(const char *name, wf_values_fn *fn, void *arg);

#endif
