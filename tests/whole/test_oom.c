/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: allocator checked */
/*
 * test_oom.c - every allocation fails in turn, once or from then on, from the reading of a scenario
 * to the page of its results: each ends with -ENOMEM or does without, gives back what it took, and
 * leaves nothing half-written.
 *
 * The linker puts the functions below in place of the C library's where weft calls them, and SQLite
 * takes its memory from them too. What libfyaml, zlib and the C library's streams take for
 * themselves is left alone: libfyaml does not survive it.
 */
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/export.h"
#include "results/page.h"
#include "run/run.h"
#include "study/compare.h"
#include "study/sweep.h"

/* ---- memory that runs out ---- */

static atomic_long budget = LONG_MAX; /* allocations that still succeed */
static atomic_long fired;             /* that did not */
static atomic_long held;              /* blocks that are out */
static atomic_long mapped;            /* bytes that are */
static bool of_sqlite;                /* it is SQLite's allocations that fail, not weft's */
static bool for_good;                 /* all that follow fail too */

/*
 * Of allocations that are made from the same place, called from the same places, the first and the
 * last are of interest, and of two just one: now this, now that. Here is where each is from.
 */
#define MAX_PLACES 65536
#define MAX_DEPTH 64

static struct {
	bool takes; /* the action is just looked at */
	atomic_long n;
	uint64_t from[MAX_PLACES]; /* a hash over the stack */
} places;

static void take_place(void)
{
	void *stack[MAX_DEPTH];
	int depth = backtrace(stack, MAX_DEPTH);
	long n = atomic_fetch_add(&places.n, 1);
	uint64_t hash = 14695981039346656037U;

	for (int i = 0; i < depth; i++)
		hash = (hash ^ (uintptr_t)stack[i]) * 1099511628211U;
	if (n < MAX_PLACES)
		places.from[n] = hash;
}

static bool fails(bool sqlite)
{
	if (places.takes && sqlite == of_sqlite)
		take_place();
	if (sqlite != of_sqlite || atomic_fetch_sub(&budget, 1) > 0)
		return false;
	atomic_store(&budget, for_good ? 0 : LONG_MAX);
	atomic_fetch_add(&fired, 1);
	errno = ENOMEM;
	return true;
}

static void *counted(void *p)
{
	atomic_fetch_add(&held, p != NULL);
	return p;
}

#define WRAP(type, name, ...)                                                                      \
	type __real_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__)

WRAP(void *, malloc, size_t size)
{
	return fails(false) ? NULL : counted(__real_malloc(size));
}

WRAP(void *, calloc, size_t n, size_t size)
{
	return fails(false) ? NULL : counted(__real_calloc(n, size));
}

WRAP(void *, aligned_alloc, size_t align, size_t size)
{
	return fails(false) ? NULL : counted(__real_aligned_alloc(align, size));
}

WRAP(void *, realloc, void *p, size_t size)
{
	void *more = fails(false) ? NULL : __real_realloc(p, size);

	atomic_fetch_add(&held, p == NULL && more != NULL);
	return more;
}

WRAP(void, free, void *p)
{
	atomic_fetch_sub(&held, p != NULL);
	__real_free(p);
}

WRAP(FILE *, open_memstream, char **text, size_t *size)
{
	FILE *file = fails(false) ? NULL : __real_open_memstream(text, size);

	/* Its text comes from within the C library and is given back by us. */
	atomic_fetch_add(&held, file != NULL);
	return file;
}

WRAP(void *, mmap, void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *p = fails(false) ? MAP_FAILED : __real_mmap(at, size, prot, flags, fd, offset);

	atomic_fetch_add(&mapped, p != MAP_FAILED ? (long)size : 0);
	return p;
}

WRAP(int, munmap, void *at, size_t size)
{
	atomic_fetch_sub(&mapped, (long)size);
	return __real_munmap(at, size);
}

static sqlite3_mem_methods sql; /* SQLite's own */

static void *sql_malloc(int size)
{
	return fails(true) ? NULL : counted(sql.xMalloc(size));
}

static void *sql_realloc(void *p, int size)
{
	return fails(true) ? NULL : sql.xRealloc(p, size);
}

static void sql_free(void *p)
{
	atomic_fetch_sub(&held, p != NULL);
	sql.xFree(p);
}

static void take_over_sqlite(void)
{
	sqlite3_mem_methods ours;

	assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sql), SQLITE_OK);
	ours = sql;
	ours.xMalloc = sql_malloc;
	ours.xRealloc = sql_realloc;
	ours.xFree = sql_free;
	assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &ours), SQLITE_OK);
	assert_int_equal(sqlite3_initialize(), SQLITE_OK);
}

/*
 * Blocks that were given back are kept from use for as long as an action takes, and no longer: to
 * keep 256 MiB of them costs more than the actions.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=4";
}

/* ---- what is done ---- */

static char folder[32];
static char scenario_file[64], results_file[64], made_file[64], page_file[64], kept_file[64];
static struct wf_paths paths;
static const struct wf_scenario_opts opts = { .paths = &paths };

#define NETWORK "topology: {kind: leaf-spine, hosts: 4, radix: 8}\n"
#define FLOWS                                                                                      \
	"fabric: roce-400g\n"                                                                      \
	"traffic: [{kind: permutation, size: 4KB, op: write}]\n"                                   \
	"faults: [{link: [leaf0, spine0], down: 1us, up: 2us}]\n"
#define WINDOWS                                                                                    \
	"fabric: [uec-400g]\n"                                                                     \
	"traffic: [{kind: random, load: 0.1, duration: 1us, sizes: storage}]\n"
#define JOB                                                                                        \
	"fabric: ib-ndr\n"                                                                         \
	"job: {kind: all-reduce, bytes: 4KiB, gpus_per_server: 2, nics_per_server: 1}\n"
#define STORAGE                                                                                    \
	"fabric: roce-400g\n"                                                                      \
	"storage:\n"                                                                               \
	"  - {targets: h3, hosts: 'h0, h1', depth: 2, duration: 1us}\n"                            \
	"  - {targets: h3, hosts: 'h1, h2', depth: 2, duration: 1us, transport: tcp}\n"
#define TRAIN                                                                                      \
	"fabric: roce-400g\n"                                                                      \
	"job: {kind: train, gpus_per_server: 2, layers: 2, sequence: 64, tp: 2, "                  \
	"micro_batches: 1, scale: 1/1024, scale_error: 1000}\n"

static int load(struct wf_scenario *s, const char *text, struct wf_err *err)
{
	int rc = wf_scenario_parse(s, text, strlen(text), "s.yaml", &opts, err);

	return rc != 0 ? rc : wf_scenario_build(s, err);
}

static int do_load(void *arg, struct wf_err *err)
{
	struct wf_scenario s;
	int rc = load(&s, arg, err);

	wf_scenario_fini(&s);
	return rc;
}

/* Reads the file and records, if record is not NULL, a run to it. */
static int run_one(const char *text, struct wf_record *record, struct wf_err *err)
{
	struct wf_run_opts run_opts = {
		.threads = 1,
		.record = { .record = record, .sample = 100 * WF_NS, .events = UINT32_MAX }
	};
	struct wf_run *run = calloc(1, sizeof(*run));
	struct wf_scenario s;
	int rc = run == NULL ? -ENOMEM : load(&s, text, err);

	if (run == NULL)
		return rc;
	if (rc == 0)
		rc = wf_run_fabric(&s, 0, &run_opts, run, err);
	if (rc == 0)
		wf_run_fini(run);
	wf_scenario_fini(&s);
	free(run);
	return rc;
}

static int do_run(void *arg, struct wf_err *err)
{
	return run_one(arg, NULL, err);
}

static int do_record(void *arg, struct wf_err *err)
{
	struct wf_record *record = NULL;
	struct wf_err later = { "" };
	int rc = wf_record_open(made_file, "run", "x", &record, err), closed;

	if (rc != 0)
		return rc;
	rc = run_one(arg, record, err);
	closed = wf_record_close(record, rc == 0 ? err : &later);
	return rc == 0 ? closed : rc;
}

static int do_page(void *arg, struct wf_err *err)
{
	const struct wf_page_request request = { .file = results_file, .out = page_file };

	(void)arg;
	return wf_page_write(&request, err);
}

static void hear(void *arg, const char *text)
{
	(void)text;
	++*(unsigned *)arg;
}

static int do_warn(void *arg, struct wf_err *err)
{
	const struct wf_page_request request = { .file = results_file };
	unsigned n = 0;

	(void)arg;
	return wf_page_warnings(&request, hear, &n, err);
}

static int do_export(void *arg, struct wf_err *err)
{
	const struct wf_export_ops *ops = wf_export_find(arg);
	struct wf_export *ex = NULL;
	int rc = wf_export_open(results_file, ops->one_run, &ex, err);

	if (rc == 0)
		rc = wf_export_write(ex, ops, page_file, err);
	wf_export_close(ex);
	return rc;
}

static void tasks(void *arg, size_t n)
{
	(void)arg;
	(void)n;
}

static void begin(void *arg, size_t task, const char *label)
{
	(void)arg;
	(void)task;
	(void)label;
}

static bool step(void *arg, size_t task, wf_time now, uint64_t hops, uint32_t share)
{
	(void)arg;
	(void)task;
	(void)now;
	(void)hops;
	return share <= UINT32_MAX;
}

static const struct wf_watch watch = { NULL, tasks, begin, step, tasks };

static int sweep_to(struct wf_record *record, struct wf_err *err)
{
	static struct wf_axis axis = { .name = "seed", .n = 2, .value = { "1", "2" } };
	static const char *const show[] = { "completion" };
	const struct wf_sweep_cfg cfg = {
		.scenario = scenario_file,
		.opts = opts,
		.axes = &axis,
		.n_axes = 1,
		.at_once = 1,
		.record = { .record = record, .sample = WF_RECORD_NEVER },
		.watch = &watch,
	};
	struct wf_sweep *sweep = NULL;
	FILE *null = fopen("/dev/null", "w");
	int rc = wf_sweep_create(&cfg, &sweep, err);

	assert_non_null(null);
	if (rc == 0)
		rc = wf_sweep_run(sweep, err);
	if (rc == 0)
		wf_sweep_table(sweep, show, 1, null);
	wf_sweep_destroy(sweep);
	fclose(null);
	return rc;
}

static int compare_to(struct wf_record *record, struct wf_err *err)
{
	struct wf_compare *result = calloc(1, sizeof(*result));
	struct wf_scenario s;
	struct wf_compare_cfg cfg = { .scenario = &s, .at_once = 1, .watch = &watch };
	int rc = result == NULL ? -ENOMEM : load(&s, NETWORK JOB, err);

	if (result == NULL)
		return rc;
	s.cfg.compare_seeds = 2;
	snprintf(s.cfg.compare_sizes, sizeof(s.cfg.compare_sizes), "64");
	cfg.record.record = record;
	cfg.record.sample = WF_RECORD_NEVER;
	if (rc == 0)
		rc = wf_compare(&cfg, result, err);
	wf_compare_fini(result);
	wf_scenario_fini(&s);
	free(result);
	return rc;
}

/* A study of two runs, begun, or gone on with where arg says that the file has them. */
static int study(const char *kind, const char *file,
                 int (*to)(struct wf_record *record, struct wf_err *err), struct wf_err *err)
{
	struct wf_record *record = NULL;
	struct wf_err later = { "" };
	int rc = wf_record_open(file, kind, "x", &record, err), closed;

	if (rc != 0)
		return rc;
	rc = to(record, err);
	closed = wf_record_close(record, rc == 0 ? err : &later);
	return rc == 0 ? closed : rc;
}

static int do_sweep(void *arg, struct wf_err *err)
{
	return study("sweep", arg, sweep_to, err);
}

static int do_compare(void *arg, struct wf_err *err)
{
	return study("compare", arg, compare_to, err);
}

/* ---- all of it ---- */

struct action {
	const char *name;
	int (*run)(void *arg, struct wf_err *err);
	const void *arg;
	bool records; /* what cannot be recorded is -EIO at the end, and the run goes on */
	bool sqlite;  /* it has a results file */
};

static const struct action actions[] = {
	{ "load flows", do_load, NETWORK FLOWS, false, false },
	{ "load sizes", do_load, NETWORK WINDOWS, false, false },
	{ "load train", do_load, NETWORK TRAIN, false, false },
	{ "run flows", do_run, NETWORK FLOWS, false, false },
	{ "run windows", do_run, NETWORK WINDOWS, false, false },
	{ "run job", do_run, NETWORK JOB, false, false },
	{ "run train", do_run, NETWORK TRAIN, false, false },
	{ "run storage", do_run, NETWORK STORAGE, false, false },
	{ "record flows", do_record, NETWORK FLOWS, true, true },
	{ "record job", do_record, NETWORK JOB, true, true },
	{ "page", do_page, NULL, false, true },
	{ "warnings", do_warn, NULL, false, true },
	{ "perfetto", do_export, "perfetto", false, true },
	{ "nccl-tests", do_export, "nccl-tests", false, true },
	{ "prometheus", do_export, "prometheus", false, true },
	{ "sweep", do_sweep, made_file, true, true },
	{ "sweep again", do_sweep, results_file, true, true },
	{ "compare", do_compare, made_file, true, true },
	{ "compare again", do_compare, results_file, true, true },
};

/* Whether a results file is whole, and has no run that is not over. */
static void check_results(const struct action *a, const char *file)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	bool good = false;

	assert_int_equal(sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		good = strcmp((const char *)sqlite3_column_text(stmt, 0), "ok") == 0;
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	if (!good)
		fail_msg("%s: %s is damaged", a->name, file);
}

/* That nothing is in the folder but files that are whole; takes away what was made. */
static void check_folder(const struct action *a, bool good)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	char path[400];

	assert_non_null(dir);
	while ((e = readdir(dir)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		if (e->d_name[0] == '.' || strcmp(path, scenario_file) == 0 ||
		    strcmp(path, results_file) == 0 || strcmp(path, kept_file) == 0)
			continue;
		if (strcmp(path, made_file) == 0)
			check_results(a, path);
		else if (strcmp(path, page_file) == 0 ? !good : a->records == false)
			fail_msg("%s leaves %s", a->name, path);
		unlink(path);
	}
	closedir(dir);
	if (a->records)
		check_results(a, results_file);
}

/* Does it with memory for n allocations; false when that was enough. */
static bool try(const struct action *a, long n)
{
	struct wf_err err = { "" };
	long before, bytes;
	bool enough;
	int rc;

	before = atomic_load(&held);
	bytes = atomic_load(&mapped);
	atomic_store(&fired, 0);
	atomic_store(&budget, n);
	rc = a->run((void *)(uintptr_t)a->arg, &err);
	atomic_store(&budget, LONG_MAX);
	enough = atomic_load(&fired) == 0;
	if (enough ? rc != 0 : rc != 0 && rc != -ENOMEM && !(a->records && rc == -EIO))
		fail_msg("%s, %ld allocations: %d %s", a->name, n, rc, err.text);
	if (atomic_load(&held) != before || atomic_load(&mapped) != bytes)
		fail_msg("%s, %ld allocations: %ld not given back", a->name, n,
		         atomic_load(&held) - before);
	check_folder(a, rc == 0);
	return !enough;
}

static void copy(const char *from, const char *to)
{
	char buf[4096];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t n;

	assert_true(in != NULL && out != NULL);
	while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
		assert_int_equal(fwrite(buf, 1, n, out), n);
	assert_true(fclose(in) == 0 && fclose(out) == 0);
}

static bool is_spared(long n)
{
	long before = 0, after = 0, first = n;

	for (long i = 0; i < places.n; i++) {
		if (places.from[i] != places.from[n])
			continue;
		first = i < first ? i : first;
		before += i < n;
		after += i > n;
	}
	if (before + after == 1)
		return first % 2 == (before == 0);
	return before > 0 && after > 0;
}

/* Finds from where the allocations of an action come. */
static void take_places(const struct action *a)
{
	atomic_store(&places.n, 0);
	places.takes = true;
	assert_false(try(a, LONG_MAX));
	places.takes = false;
	assert_in_range(places.n, 1, MAX_PLACES);
	copy(kept_file, results_file);
}

/* Which allocation fails after number n has. */
static long next(long n, bool some)
{
	if (some)
		return n + 1 + n / 8;
	do
		n++;
	while (n < places.n && is_spared(n));
	return n;
}

/*
 * Weft's allocations fail one after the other. What differs when all that follow fail too is what
 * is done after the first, and SQLite has thousands, and tests of its own for them: of both some
 * are tried, farther and farther apart.
 */
static void each(bool sqlite, bool stays)
{
	of_sqlite = sqlite;
	for_good = stays;
	for (size_t i = 0; i < WF_ARRAY_SIZE(actions); i++) {
		bool some = sqlite || stays;
		long n = 0, tried = 0;

		if (sqlite && !actions[i].sqlite)
			continue;
		/* What could not be looked up was done anew, and has another number. */
		copy(kept_file, results_file);
		if (!some)
			take_places(&actions[i]);
		for (; try(&actions[i], n); n = next(n, some))
			tried++;
		printf("%s: %ld allocations, %ld failed\n", actions[i].name, n, tried);
		assert_true(n > 0);
	}
}

static void test_once(void **state)
{
	(void)state;
	each(false, false);
}

static void test_for_good(void **state)
{
	(void)state;
	each(false, true);
}

static void test_sqlite(void **state)
{
	(void)state;
	each(true, false);
	each(true, true);
}

static int set_up(void **state)
{
	struct wf_err err = { "" };
	void *first[1];
	FILE *file;

	(void)state;
	(void)backtrace(first, 1); /* which takes what it needs */
	take_over_sqlite();
	/* In memory, where that can be: thousands of files are made. */
	snprintf(folder, sizeof(folder), "/dev/shm/weft-oom-XXXXXX");
	if (mkdtemp(folder) == NULL) {
		snprintf(folder, sizeof(folder), "/tmp/weft-oom-XXXXXX");
		assert_non_null(mkdtemp(folder));
	}
	assert_int_equal(wf_paths_init(&paths, WEFT_SOURCE_DIR "/profiles", &err), 0);
	snprintf(scenario_file, sizeof(scenario_file), "%s/s.yaml", folder);
	snprintf(results_file, sizeof(results_file), "%s/r.db", folder);
	snprintf(kept_file, sizeof(kept_file), "%s/kept.db", folder);
	snprintf(made_file, sizeof(made_file), "%s/made.db", folder);
	snprintf(page_file, sizeof(page_file), "%s/page", folder);
	file = fopen(scenario_file, "w");
	assert_non_null(file);
	assert_true(fputs(NETWORK FLOWS, file) >= 0 && fclose(file) == 0);
	if (do_sweep(made_file, &err) != 0 || do_compare(made_file, &err) != 0 ||
	    do_record((void *)(uintptr_t)NETWORK JOB, &err) != 0)
		fail_msg("%s", err.text);
	copy(made_file, kept_file);
	unlink(made_file);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(scenario_file);
	unlink(results_file);
	unlink(kept_file);
	rmdir(folder);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_for_good),
		cmocka_unit_test(test_sqlite),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
