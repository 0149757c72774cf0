/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_text.c - results as nccl-tests prints them and as Prometheus reads them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "results/export_priv.h"
#include "text/human.h"

/* ---- nccl-tests ---- */

#define ELEMENT 4 /* bytes of a float */

struct nccl {
	FILE *file;
	int64_t run;
	char collective[32], algorithm[32];
	double sum;
	unsigned n;
};

static void nccl_end(struct nccl *t)
{
	if (t->n == 0)
		return;
	fprintf(t->file, "# %-20s : %d %s\n", "Out of bounds values", 0, "OK");
	fprintf(t->file, "# %-20s : %g \n#\n", "Avg bus bandwidth", t->sum / t->n);
	t->n = 0;
	t->sum = 0;
}

static void nccl_head(struct nccl *t, sqlite3_stmt *row)
{
	FILE *f = t->file;

	fprintf(f, "# weft: %s, run %lld, %s, algorithm %s, %lld ranks; in virtual time\n",
	        wf_export_text(row, 7), (long long)t->run, t->collective, t->algorithm,
	        (long long)sqlite3_column_int64(row, 3));
	fprintf(f,
	        "# one simulation is both out-of-place and in-place: the fabric carries the same\n"
	        "#\n");
	fprintf(f,
	        "# %10s  %12s  %8s  %6s  %6s           out-of-place                       "
	        "in-place          \n",
	        "", "", "", "", "");
	fprintf(f, "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s %6s  %7s  %6s  %6s %6s\n", "size",
	        "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time",
	        "algbw", "busbw", "#wrong");
	fprintf(f, "# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %5s  %7s  %6s  %6s  %5s\n", "(B)",
	        "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)",
	        "(GB/s)", "");
}

/* run, collective, algorithm, ranks, bytes, time_ps, algbw, label, busbw */
static void nccl_row(void *arg, sqlite3_stmt *row)
{
	struct nccl *t = arg;
	int64_t run = sqlite3_column_int64(row, 0), ranks = sqlite3_column_int64(row, 3);
	int64_t bytes = sqlite3_column_int64(row, 4);
	const char *collective = wf_export_text(row, 1), *algorithm = wf_export_text(row, 2);
	bool reduces = strstr(collective, "reduce") != NULL;
	bool shares = strcmp(collective, "all-reduce") != 0 && strcmp(collective, "broadcast") != 0;
	double us = (double)sqlite3_column_int64(row, 5) / 1e6;
	double algbw = sqlite3_column_double(row, 6) / 1e9;
	double busbw = sqlite3_column_double(row, 8) / 1e9;
	char time[16];

	if (run != t->run || strcmp(collective, t->collective) != 0 ||
	    strcmp(algorithm, t->algorithm) != 0) {
		nccl_end(t);
		t->run = run;
		snprintf(t->collective, sizeof(t->collective), "%s", collective);
		snprintf(t->algorithm, sizeof(t->algorithm), "%s", algorithm);
		nccl_head(t, row);
	}
	snprintf(time, sizeof(time), us >= 10000 ? "%7.0f" : us >= 100 ? "%7.1f" : "%7.2f", us);
	fprintf(t->file, "%12lld  %12lld  %8s  %6s  %6s", (long long)bytes,
	        (long long)(bytes / ELEMENT / (shares && ranks > 0 ? ranks : 1)), "float",
	        reduces ? "sum" : "none", strcmp(collective, "broadcast") == 0 ? "0" : "-1");
	for (int i = 0; i < 2; i++)
		fprintf(t->file, "  %7s  %6.2f  %6.2f  %5s", time, algbw, busbw, "N/A");
	fputc('\n', t->file);
	t->sum += busbw;
	t->n++;
}

static int nccl_write(struct wf_export *ex, const char *path, FILE *file, struct wf_err *err)
{
	struct nccl t = { .file = file };
	int rc =
		wf_export_each(ex,
	                       "SELECT b.run, collective, algorithm, ranks, bytes, time_ps, algbw, "
	                       "r.label, busbw FROM bandwidth b JOIN run r ON r.id = b.run "
	                       "WHERE ?1 IS NULL OR b.run = ?1 "
	                       "ORDER BY r.study, r.place, r.id, collective, algorithm, bytes",
	                       nccl_row, &t, err);

	(void)path;
	if (rc == 0 && t.run == 0)
		return wf_err_say(err, "%s: no run in it measured bandwidth by message size",
		                  ex->path);
	nccl_end(&t);
	return rc;
}

const struct wf_export_ops wf_export_nccl_tests = {
	.name = "nccl-tests",
	.help = "bus bandwidth by message size, as nccl-tests prints it",
	.write = nccl_write,
};

/* ---- Prometheus ---- */

struct prom {
	FILE *file;
	char metric[96]; /* the last one */
};

/*
 * What node_exporter makes of a name of ethtool's: of its words, which _ separates, rx becomes
 * received and tx transmitted.
 */
static void ethtool_metric(const char *counter, char *metric, size_t size)
{
	size_t at = (size_t)snprintf(metric, size, "node_ethtool");
	size_t len;

	for (; at < size; counter += len + (counter[len] == '_')) {
		len = strcspn(counter, "_");
		if (len == 2 && strncmp(counter, "rx", 2) == 0)
			at += (size_t)snprintf(metric + at, size - at, "_received");
		else if (len == 2 && strncmp(counter, "tx", 2) == 0)
			at += (size_t)snprintf(metric + at, size - at, "_transmitted");
		else
			at += (size_t)snprintf(metric + at, size - at, "_%.*s", (int)len, counter);
		if (counter[len] == '\0')
			break;
	}
}

/*
 * The metric of a counter, which node_exporter calls exporter, if it knows it; *type_p is its type,
 * *base_p whether its value is to be in the base unit.
 */
static void metric_of(const char *counter, const char *source, const char *kind,
                      const char *exporter, char *metric, size_t size, const char **type_p,
                      bool *base_p)
{
	*base_p = false;
	*type_p = strcmp(kind, "counter") == 0 ? "counter" : "gauge";
	if (exporter[0] != '\0') {
		snprintf(metric, size, "node_infiniband_%s", exporter);
		*base_p = strstr(metric, "_bytes_") != NULL;
		return;
	}
	if (strcmp(source, "ethtool") == 0) {
		/* node_exporter does not know which of them are counters. */
		ethtool_metric(counter, metric, size);
		*type_p = "untyped";
		return;
	}
	snprintf(metric, size, "weft_%s%s", counter, (*type_p)[0] == 'c' ? "_total" : "");
}

static void prom_head(struct prom *p, const char *metric, const char *help, const char *type)
{
	if (strcmp(p->metric, metric) == 0)
		return;
	snprintf(p->metric, sizeof(p->metric), "%s", metric);
	fprintf(p->file, "# HELP %s %s\n# TYPE %s %s\n", metric, help, metric, type);
}

/* {name="text" with what has to be escaped, so. */
static void prom_label(FILE *file, char before, const char *name, const char *text)
{
	fprintf(file, "%c%s=\"", before, name);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		if (*text == '\n')
			fputs("\\n", file);
		else
			fputc(*text, file);
	}
	fputc('"', file);
}

static void prom_number(FILE *file, double v)
{
	char text[WF_HUMAN_REAL];

	wf_human_real(v, text);
	fprintf(file, " %s\n", text);
}

/* counter, source, kind, help, value, factor, node, port, run, label, exporter */
static void prom_counter(void *arg, sqlite3_stmt *row)
{
	struct prom *p = arg;
	double v = sqlite3_column_double(row, 4);
	char metric[96], help[160];
	const char *type;
	bool base;

	metric_of(wf_export_text(row, 0), wf_export_text(row, 1), wf_export_text(row, 2),
	          wf_export_text(row, 10), metric, sizeof(metric), &type, &base);
	snprintf(help, sizeof(help), "%s: %s", wf_export_text(row, 0), wf_export_text(row, 3));
	prom_head(p, metric, help, type);
	fputs(metric, p->file);
	prom_label(p->file, '{', "device", wf_export_text(row, 6));
	prom_label(p->file, ',', "port", wf_export_text(row, 7));
	prom_label(p->file, ',', "run", wf_export_text(row, 8));
	prom_label(p->file, ',', "fabric", wf_export_text(row, 9));
	fputc('}', p->file);
	prom_number(p->file, base ? v * sqlite3_column_double(row, 5) : v);
}

/* name, value, unit, run, label */
static void prom_value(void *arg, sqlite3_stmt *row)
{
	struct prom *p = arg;
	const char *name = wf_export_text(row, 0), *unit = wf_export_text(row, 2);
	const char *suffix = "";
	double v = sqlite3_column_double(row, 1);
	char metric[96], help[160];

	if (strcmp(unit, "ps") == 0) {
		v /= (double)WF_S;
		suffix = "_seconds";
	} else if (strcmp(unit, "bytes") == 0 && strstr(name, "bytes") == NULL) {
		suffix = "_bytes";
	} else if (strcmp(unit, "bit/s") == 0) {
		v /= 8;
		suffix = "_bytes_per_second";
	}
	snprintf(metric, sizeof(metric), "weft_run_%s%s", name, suffix);
	snprintf(help, sizeof(help), "Result %s of the run.", name);
	for (char *c = metric; *c != '\0'; c++) {
		if (strchr(" -./", *c) != NULL)
			*c = '_';
	}
	prom_head(p, metric, help, "gauge");
	fputs(metric, p->file);
	prom_label(p->file, '{', "run", wf_export_text(row, 3));
	prom_label(p->file, ',', "fabric", wf_export_text(row, 4));
	fputc('}', p->file);
	prom_number(p->file, v);
}

static int prometheus_write(struct wf_export *ex, const char *path, FILE *file, struct wf_err *err)
{
	struct prom p = { .file = file };
	int rc = wf_export_each(
		ex,
		"SELECT c.name, c.source, c.kind, c.help, t.value, c.factor, n.name, "
		"t.port, r.id, r.label, c.exporter FROM total t "
		"JOIN counter c ON c.id = t.counter "
		"JOIN node n ON n.run = t.run AND n.id = t.node "
		"JOIN run r ON r.id = t.run WHERE ?1 IS NULL OR t.run = ?1 "
		"ORDER BY c.name, r.study, r.place, r.id, n.id, t.port",
		prom_counter, &p, err);

	(void)path;
	if (rc != 0)
		return rc;
	return wf_export_each(ex,
	                      "SELECT v.name, v.value, v.unit, r.id, r.label FROM value v "
	                      "JOIN run r ON r.id = v.run "
	                      "WHERE (?1 IS NULL OR v.run = ?1) "
	                      "AND typeof(v.value) IN ('integer', 'real') "
	                      "AND v.name NOT GLOB 'compare.*' "
	                      "ORDER BY v.name, r.study, r.place, r.id",
	                      prom_value, &p, err);
}

const struct wf_export_ops wf_export_prometheus = {
	.name = "prometheus",
	.help = "the last value of every counter, and the results, in Prometheus' text format",
	.write = prometheus_write,
};
