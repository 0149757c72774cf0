/* SPDX-License-Identifier: Apache-2.0 */
/* rig_daemon.h - a daemon in a thread of the test, for a fabric of two hosts. */
#ifndef WF_TESTS_LIVE_RIG_DAEMON_H
#define WF_TESTS_LIVE_RIG_DAEMON_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "check.h"
#include "live/daemon.h"

struct rig_fabric {
	struct wf_daemon *daemon;
	pthread_t thread;
	int stop;
	char dir[32], path[64];
};

static inline void *rig_serve(void *arg)
{
	struct rig_fabric *f = arg;

	return wf_daemon_run(f->daemon, f->stop) == 0 ? NULL : f;
}

static inline void rig_start(struct rig_fabric *f)
{
	struct wf_daemon_cfg cfg = {
		.fabric = "test",
		.layer = WF_LIVE_ROCE,
		.n_hosts = 2,
		.rate = UINT64_C(400000000000),
		.mtu = 4096,
	};

	snprintf(f->dir, sizeof(f->dir), "/tmp/weft-test.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/s", f->dir);
	cfg.path = f->path;
	assert_int_equal(wf_daemon_create(&cfg, &f->daemon), 0);
	f->stop = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(pthread_create(&f->thread, NULL, rig_serve, f), 0);
}

static inline void rig_stop(struct rig_fabric *f)
{
	uint64_t one = 1;
	void *ret;

	assert_int_equal(write(f->stop, &one, sizeof(one)), sizeof(one));
	assert_int_equal(pthread_join(f->thread, &ret), 0);
	assert_null(ret);
	wf_daemon_destroy(f->daemon);
	close(f->stop);
	assert_int_equal(rmdir(f->dir), 0);
}

#endif
