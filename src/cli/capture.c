/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.c - names, opens and completes capture files.
 */
#include "cli/capture.h"

#include <ctype.h>
#include <string.h>

/* A label as a part of a file's name. */
static void plain_label(const char *label, char out[WF_SCENARIO_LABEL])
{
	size_t n = 0;

	for (; *label != '\0' && n + 1 < WF_SCENARIO_LABEL; label++) {
		bool plain = isalnum((unsigned char)*label) || strchr("._-", *label) != NULL;

		if (plain)
			out[n++] = *label;
		else if (n > 0 && out[n - 1] != '_')
			out[n++] = '_';
	}
	out[n] = '\0';
}

/* The file of one of several fabrics: its label before the ending. */
static int path_for(const struct wf_scenario *s, unsigned index, const char *path,
                    char out[WF_PATH_MAX], struct wf_err *err)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	char label[WF_SCENARIO_LABEL], other[WF_SCENARIO_LABEL];
	size_t stem = dot != NULL && dot != name ? (size_t)(dot - path) : strlen(path);
	int n;

	plain_label(s->fabrics[index].label, label);
	for (unsigned i = 0; i < index; i++) {
		plain_label(s->fabrics[i].label, other);
		if (strcmp(label, other) == 0)
			return wf_err_say(
				err,
				"--pcap: the captures of fabrics '%s' and '%s' would have "
				"the same name; name the fabrics otherwise",
				s->fabrics[i].label, s->fabrics[index].label);
	}
	n = s->n_fabrics == 1
	            ? snprintf(out, WF_PATH_MAX, "%s", path)
	            : snprintf(out, WF_PATH_MAX, "%.*s.%s%s", (int)stem, path, label, path + stem);
	if (n >= WF_PATH_MAX)
		return wf_err_say(err, "--pcap: the name of the file is too long");
	return 0;
}

int wf_cli_capture_open(struct wf_cli_capture *c, const struct wf_scenario *s, unsigned index,
                        const char *path, const char *ports, struct wf_err *err)
{
	char name[WF_PATH_MAX];
	struct wf_pcap_cfg cfg = {
		.topo = s->fabrics[index].net->topo,
		.fabric = &s->fabrics[index].cfg,
		.ports = ports,
		.path = c->out.path,
	};
	int rc = path_for(s, index, path, name, err);

	if (rc == 0)
		rc = wf_out_open(&c->out, name, err);
	if (rc == 0)
		rc = wf_pcap_create(&cfg, &c->pcap, err);
	return rc;
}

int wf_cli_capture_write(struct wf_cli_capture *c, struct wf_err *err)
{
	int rc;

	if (c->pcap == NULL)
		return 0;
	rc = wf_pcap_write(c->pcap, c->out.file, err);
	/* What it kept meanwhile is as large as the capture. */
	wf_pcap_destroy(c->pcap);
	c->pcap = NULL;
	return rc;
}

int wf_cli_capture_commit(struct wf_cli_capture *c, struct wf_err *err)
{
	return c->out.file != NULL ? wf_out_commit(&c->out, err) : 0;
}

void wf_cli_capture_abort(struct wf_cli_capture *c)
{
	wf_pcap_destroy(c->pcap);
	c->pcap = NULL;
	wf_out_abort(&c->out);
}
