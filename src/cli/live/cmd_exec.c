/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_exec.c - weft exec: runs a program as if on a host of a live fabric. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live/exec_check.h"
#include "cli/live/live.h"
#include "cli/live/options.h"
#include "live/client.h"
#include "live/sock.h"
#include "live/sysfs.h"

/* The folder of libraries from that of programs, where weft is installed. */
#ifndef WEFT_LIB_FROM_BIN
#define WEFT_LIB_FROM_BIN "../lib"
#endif

/* What the command line asks for. */
struct request {
	struct wf_live_plan plan;
	const char *host;
	bool verbose;
};

#define LIBRARY "libibverbs.so.1"

/* The folder with the library: in the build tree, or where weft was installed. */
static int find_library(char dir[WF_PATH_MAX], struct wf_err *err)
{
	static const char *const places[] = { "lib/weft", WEFT_LIB_FROM_BIN "/weft" };
	char exe[WF_PATH_MAX], file[WF_PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	if (slash == NULL)
		return wf_live_err(err, -ENOENT, "weft exec: /proc/self/exe cannot be read");
	*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(dir, WF_PATH_MAX, "%s/%s", exe, places[i]);
		snprintf(file, sizeof(file), "%s/" LIBRARY, dir);
		if (access(file, R_OK) == 0)
			return 0;
	}
	return wf_live_err(err, -ENOENT, "weft exec: " LIBRARY " is not in %s/lib/weft", exe);
}

/*
 * The loader splits lists of libraries at blanks and colons, and lists of folders at colons and
 * semicolons, and knows no quotes.
 */
static bool is_splittable(const char *path)
{
	return strpbrk(path, " \t\n:;") != NULL;
}

/*
 * A name for the folder that the loader takes as one: its own, or that of a link to it. The link is
 * beside the daemon's socket and goes with the fabric; where that is no better, in /tmp/weft-UID,
 * where one is left for each installation.
 */
static int name_library(const char *path, char dir[WF_PATH_MAX], struct wf_err *err)
{
	char link[WF_PATH_MAX], tmp[WF_PATH_MAX];
	struct stat st;
	int ret = 0, n;

	if (!is_splittable(dir))
		return 0;
	if (stat(dir, &st) != 0)
		return wf_live_err(err, -errno, "weft exec: %s: %s", dir, strerror(errno));
	n = snprintf(link, sizeof(link), "%s.sys/.lib-%jx-%jx", path, (uintmax_t)st.st_dev,
	             (uintmax_t)st.st_ino);
	if (is_splittable(link)) {
		ret = wf_sock_tmp_dir(tmp, sizeof(tmp));
		n = snprintf(link, sizeof(link), "%s/lib-%jx-%jx", tmp, (uintmax_t)st.st_dev,
		             (uintmax_t)st.st_ino);
	}
	if (ret == 0 && n >= (int)sizeof(link))
		ret = -ENAMETOOLONG;
	if (ret == 0 && symlink(dir, link) != 0 && errno != EEXIST)
		ret = -errno;
	if (ret != 0)
		return wf_live_err(err, ret,
		                   "weft exec: %s: the system's loader cannot preload a library "
		                   "from a path with a blank, a colon or a semicolon, and a link "
		                   "to it cannot be made: %s: %s",
		                   dir, link, strerror(-ret));
	snprintf(dir, WF_PATH_MAX, "%s", link);
	return 0;
}

/* Puts word in front of the list in the environment's variable. */
static int prepend(const char *variable, const char *word)
{
	const char *old = getenv(variable);
	char *text;
	int ret;

	if (old == NULL || old[0] == '\0')
		return setenv(variable, word, 1);
	if (asprintf(&text, "%s:%s", word, old) < 0)
		return -1;
	ret = setenv(variable, text, 1);
	free(text);
	return ret;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* A library with a sanitizer needs its runtime before everything else: the one that we have. */
static void preload_sanitizer(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024];

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		char *path = strchr(line, '/');

		if (path == NULL ||
		    (strstr(path, "/libasan.so") == NULL && strstr(path, "/libtsan.so") == NULL))
			continue;
		path[strcspn(path, "\n")] = '\0';
		(void)prepend("LD_PRELOAD", path);
		break;
	}
	if (maps != NULL)
		fclose(maps);
	/* Programs are not ours to check for leaks. */
	(void)setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
}
#else
static void preload_sanitizer(void)
{
}
#endif

/* The host's device as files, for programs that look below /sys and /dev. */
static int make_files(const char *path, const char *host, struct wf_err *err)
{
	struct wf_live_req req = { .op = WF_LIVE_COUNTERS };
	const struct wf_live_table *table;
	static char dir[WF_PATH_MAX];
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	int ret;

	snprintf(req.attach.host, sizeof(req.attach.host), "%s", host);
	ret = wf_live_ask(path, &req, &reply, fds, err);
	if (ret != 0)
		return ret;
	close(fds[0]);
	ret = wf_client_table(fds[1], &table);
	if (ret != 0)
		return wf_live_err(err, ret, "weft exec: %s: %s", path, strerror(-ret));
	ret = reply.attach.host >= table->n_hosts ? -EPROTO : 0;
	if (ret == 0)
		ret = wf_sysfs_dir(path, table->host[reply.attach.host].name, dir, sizeof(dir));
	if (ret == 0)
		ret = wf_sysfs_make(table, reply.attach.host, dir);
	wf_client_free_table(table);
	if (ret != 0)
		return wf_live_err(err, ret, "weft exec: %s: %s", dir, strerror(-ret));
	return setenv("WEFT_SYSFS", dir, 1) != 0 ? -ENOMEM : 0;
}

/*
 * Preloaded, the library comes before the C library, of which it has some functions, and is what
 * its name stands for, whoever asks for libibverbs.so.1 later. Its folder is for those who ask for
 * libibverbs.so.
 */
static int prepare(const char *path, const char *host, bool verbose, struct wf_err *err)
{
	static char dir[WF_PATH_MAX], file[WF_PATH_MAX + 32];
	int ret = find_library(dir, err);

	if (ret == 0)
		ret = make_files(path, host, err);
	if (ret == 0)
		ret = name_library(path, dir, err);
	if (ret != 0)
		return ret;
	snprintf(file, sizeof(file), "%s/" LIBRARY, dir);
	if (prepend("LD_PRELOAD", file) != 0 || prepend("LD_LIBRARY_PATH", dir) != 0 ||
	    setenv("WEFT_SOCKET", path, 1) != 0 || setenv("WEFT_HOST", host, 1) != 0 ||
	    (verbose && setenv("WEFT_VERBOSE", "1", 1) != 0))
		return -ENOMEM;
	preload_sanitizer();
	if (verbose)
		fprintf(stderr,
		        "weft exec: fabric %s, host %s\n"
		        "weft exec: LD_PRELOAD=%s\n"
		        "weft exec: LD_LIBRARY_PATH=%s\n"
		        "weft exec: files below /sys and /dev are in %s\n",
		        path, host[0] != '\0' ? host : "(the first)", getenv("LD_PRELOAD"),
		        getenv("LD_LIBRARY_PATH"), getenv("WEFT_SYSFS"));
	return 0;
}

/* Whether the fabric at path has such a host; says which it has. */
static int check_host(const char *path, const char *host, struct wf_err *err)
{
	struct wf_live_req req = { .op = WF_LIVE_ATTACH };
	struct wf_live_reply reply;
	int fds[WF_LIVE_MAX_FDS];
	int ret;

	if (strlen(host) >= sizeof(req.attach.host))
		return wf_live_err(err, -EINVAL, "weft exec: --host: '%s' is too long", host);
	snprintf(req.attach.host, sizeof(req.attach.host), "%s", host);
	ret = wf_live_ask(path, &req, &reply, fds, err);
	if (reply.error == -ENOENT)
		return wf_live_err(err, -EINVAL,
		                   "weft exec: --host: the fabric has no host '%s'; weft status "
		                   "lists them",
		                   host);
	if (ret == -EHOSTDOWN)
		return wf_live_err(err, -EHOSTDOWN,
		                   "weft exec: host '%s' was killed; weft fault clear brings it "
		                   "back",
		                   host);
	for (uint32_t i = 0; ret == 0 && i < reply.n_fds; i++)
		close(fds[i]);
	return ret;
}

static int run_exec(int argc, char **argv)
{
	struct request req = { .plan = { .hosts = 2 }, .host = "" };
	static char path[WF_PATH_MAX];
	struct wf_err err = { "" };
	const char *why;
	int rc = wf_opt_parse(&wf_cmd_exec, argc, argv, &req);

	if (rc >= 0)
		return rc;
	if (optind == argc)
		return wf_cli_usage("exec", "there is no program to run");
	rc = wf_live_path(req.plan.name, true, path, &err);
	if (rc == 0)
		rc = check_host(path, req.host, &err);
	if (rc == -ENOENT && req.plan.name == NULL) {
		static char own[32];

		snprintf(own, sizeof(own), "exec-%d", (int)getpid());
		err.text[0] = '\0';
		rc = wf_live_path(own, true, path, &err);
		if (rc == 0)
			rc = wf_live_start(&req.plan, path, true, &err);
		if (rc == 0)
			rc = check_host(path, req.host, &err);
	}
	if (rc == 0)
		rc = prepare(path, req.host, req.verbose, &err);
	if (rc != 0)
		return wf_cli_fail(rc, &err);
	why = wf_exec_check(argv[optind]);
	if (why != NULL)
		fprintf(stderr, "weft exec: %s %s: it will not see the fabric\n", argv[optind],
		        why);
	execvp(argv[optind], argv + optind);
	fprintf(stderr, "weft exec: %s: %s\n", argv[optind], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}

static const struct wf_values program = { .files = "!" };
static const struct wf_values *const operands[] = { &program, NULL };

static const struct wf_opt_row options[] = {
	{ .is = &wf_opt_host,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct request, host),
	  .more = "The first if not given." },
	{ .is = &wf_opt_name, .take = wf_opt_take_text, .at = offsetof(struct request, plan.name) },
	{
		.is =
			&(const struct wf_opt){
				.name = "verbose",
				.letter = 'v',
				.help = "Says what is set up, and at the end of each process that "
					"opened "
					"the device how many packets it sent and received.",
			},
		.take = wf_opt_take_flag,
		.at = offsetof(struct request, verbose),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "drop-in",
				.help = "Of older versions; the library is always that one.",
			},
		.gone = true,
	},
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	{ "Environment",
	  ":WEFT_RUNTIME_DIR\tThe folder of the daemons' sockets; otherwise "
	  "`$XDG_RUNTIME_DIR/weft` or `/tmp/weft-UID`.\n"
	  ":WEFT_FABRIC\tThe name of the fabric where --name is not given.\n"
	  ":WEFT_SOCKET, WEFT_HOST\tWhat it tells the program's library: which daemon, which "
	  "host.\n" },
	{ "Exit status", "As the program's; 127 where there is none, 126 where it cannot be run; 1 "
	                 "and 2 as of all commands.\n" },
	{ "Examples", "  weft up\n"
	              "  weft exec --host h1 -- ibv_rc_pingpong -g 0 &\n"
	              "  weft exec --host h2 -- ibv_rc_pingpong -g 0 localhost\n"
	              "  weft down\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_exec = {
	.name = "exec",
	.summary = "run a program on a host of a live fabric",
	.operands = "[--] PROGRAM [ARGUMENTS...]",
	.values = operands,
	.options = options,
	.stops = true,
	.text = "Runs PROGRAM as if on a host of a live fabric (`weft up`): it sees an RDMA "
		"device, `weft0`, through libibverbs, and reaches the programs on the fabric's "
		"other hosts with it. The program is not changed; it needs neither RDMA hardware "
		"nor a kernel module nor root. Where no fabric runs, a private one with two hosts "
		"is started, which ends with the program.\n",
	.sections = sections,
	.see = "weft(1), weft-up(1), weft-status(1), ibv_devinfo(1)",
	.run = run_exec,
};
