/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self.c - the files that this code runs from, as Linux, the BSDs and macOS say it.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* dladdr() */
#endif
#include "scenario/self.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__) || defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) ||     \
	defined(__OpenBSD__)
#include <dlfcn.h>

/* The whole path, without links, which a library's name mostly is. */
static int whole(const char *name, char out[WF_PATH_MAX])
{
	char *path = realpath(name, NULL);
	int ret = -ENOENT;

	if (path != NULL && strlen(path) < WF_PATH_MAX) {
		memcpy(out, path, strlen(path) + 1);
		ret = 0;
	}
	free(path);
	return ret;
}

int wf_self_object(char out[WF_PATH_MAX])
{
	static const char here;
	Dl_info info;

	/* A program may be named by the word that it was called with, which is no path. */
	if (dladdr(&here, &info) == 0 || info.dli_fname == NULL ||
	    strchr(info.dli_fname, '/') == NULL)
		return -ENOENT;
	return whole(info.dli_fname, out);
}

int wf_self_program(char out[WF_PATH_MAX])
{
	if (whole("/proc/self/exe", out) == 0 || whole("/proc/curproc/file", out) == 0)
		return 0;
	return wf_self_object(out);
}

#else

int wf_self_object(char out[WF_PATH_MAX])
{
	(void)out;
	return -ENOENT;
}

int wf_self_program(char out[WF_PATH_MAX])
{
	(void)out;
	return -ENOENT;
}

#endif
