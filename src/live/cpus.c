/* SPDX-License-Identifier: Apache-2.0 */
/* cpus.c - what the system says of CPUs, and what it is told. */
#define _GNU_SOURCE
#include "live/cpus.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

#define TURN (100 * WF_US)
#define LEVELS 8 /* of caches, of a CPU, at most */

void wf_ask_for_short_turns(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr) };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) != 0)
		return;
	attr.size = sizeof(attr);
	attr.runtime = TURN / WF_NS;
	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

unsigned wf_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* Adds CPUs to a set, from a text such as 0-3,8-11. */
static void add_cpus(const char *text, cpu_set_t *set)
{
	while (*text >= '0' && *text <= '9') {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long i = first; i <= last && i < CPU_SETSIZE; i++)
			CPU_SET(i, set);
		text = *end == ',' ? end + 1 : end;
	}
}

/* The CPUs that share a cache of this one; none where there is no such cache. */
static void sharers(unsigned cpu, unsigned cache, cpu_set_t *set)
{
	char path[96], text[1024];
	FILE *f;

	CPU_ZERO(set);
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list",
	         cpu, cache);
	f = fopen(path, "re");
	if (f == NULL)
		return;
	if (fgets(text, sizeof(text), f) != NULL)
		add_cpus(text, set);
	fclose(f);
}

bool wf_cpus_share_cache(void)
{
	cpu_set_t ours, theirs, both;
	unsigned cpu = 0;

	if (sched_getaffinity(0, sizeof(ours), &ours) != 0)
		return false;
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &ours))
		cpu++;
	for (unsigned cache = 0; cache < LEVELS; cache++) {
		sharers(cpu, cache, &theirs);
		CPU_AND(&both, &ours, &theirs);
		if (CPU_EQUAL(&both, &ours))
			return true;
	}
	return false;
}
