/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c - tells what a text is, and reads what comes line by line: names and their values.
 */
#include "evidence/read_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- what readers share ---- */

uint64_t wf_read_times(uint64_t value, uint64_t by)
{
	return by > 1 && value > UINT64_MAX / by ? UINT64_MAX : value * by;
}

/* The digits of a number, without its point and commas; *scale_p: those behind the point. */
static bool take_digits(struct wf_slice text, size_t *at, uint64_t *value_p, int *scale_p)
{
	bool point = false, digits = false;

	*value_p = 0;
	*scale_p = 0;
	for (; *at < text.len; ++*at) {
		char c = text.at[*at];

		if (c == ',' && digits && !point)
			continue;
		if (c == '.' && !point && digits) {
			point = true;
			continue;
		}
		if (c < '0' || c > '9')
			break;
		digits = true;
		if (*value_p > (UINT64_MAX - 9) / 10) {
			/* What is behind the point is no loss. */
			if (!point)
				return false;
			continue;
		}
		*value_p = *value_p * 10 + (uint64_t)(c - '0');
		*scale_p += point;
	}
	return digits;
}

bool wf_read_number(struct wf_slice text, uint64_t *value_p)
{
	int scale, power = 0;
	bool minus = false;
	size_t at = 0;

	if (!take_digits(text, &at, value_p, &scale))
		return false;
	if (at < text.len && (text.at[at] == 'e' || text.at[at] == 'E')) {
		size_t first;

		at++;
		if (at < text.len && (text.at[at] == '+' || text.at[at] == '-'))
			minus = text.at[at++] == '-';
		first = at;
		for (; at < text.len && text.at[at] >= '0' && text.at[at] <= '9' && power < 100;
		     at++)
			power = power * 10 + (text.at[at] - '0');
		if (at == first)
			return false;
	}
	power = (minus ? -power : power) - scale;
	for (; power > 0 && *value_p != 0; power--) {
		if (*value_p > UINT64_MAX / 10)
			return false;
		*value_p *= 10;
	}
	for (; power < 0 && *value_p != 0; power++)
		*value_p /= 10;
	return at == text.len;
}

int wf_read_device(struct wf_read *r, uint32_t *id_p)
{
	if (r->device == WF_EV_NONE) {
		const char *name = r->source->device;
		int ret = wf_evidence_device(r->ev, name, strlen(name), &r->device);

		if (ret != 0)
			return ret;
	}
	*id_p = r->device;
	return 0;
}

int wf_read_port(struct wf_read *r, struct wf_slice name, uint32_t *id_p)
{
	uint32_t device;
	int ret = wf_read_device(r, &device);

	return ret != 0 ? ret : wf_evidence_port(r->ev, device, name.at, name.len, id_p);
}

int wf_read_put(struct wf_read *r, uint32_t port, int queue, const struct wf_ev_name *is,
                uint64_t value)
{
	const struct wf_ev_sample sample = {
		.port = port,
		.queue = (int16_t)(is->queue >= 0 ? is->queue : queue),
		.counter = (uint16_t)is->counter,
		.file = r->file,
		.line = r->scan.line,
		.when = r->source->when != 0,
		/* More than that, and the tool has read a wider counter under this name. */
		.full = is->max != 0 && value == is->max,
		.value = wf_read_times(value, is->by),
	};

	return is->counter == WF_EV_PASSED ? 0 : wf_evidence_put(r->ev, &sample);
}

void wf_read_unknown(struct wf_read *r, const char *kind, struct wf_slice name)
{
	char text[WF_READ_NAME + 40], word[WF_READ_NAME];
	uint32_t h = UINT32_C(2166136261);

	for (size_t i = 0; i < name.len; i++)
		h = (h ^ (unsigned char)name.at[i]) * UINT32_C(16777619);
	for (unsigned i = 0; i < r->n_told; i++) {
		if (r->told[i] == h)
			return;
	}
	if (r->n_told < WF_READ_TOLD)
		r->told[r->n_told++] = h;
	wf_scan_copy(word, sizeof(word), name.at, name.at + name.len);
	snprintf(text, sizeof(text), "%s '%s' is not known, and left out", kind, word);
	wf_scan_note(&r->scan, text);
}

/* ---- names and values ---- */

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '-' || c == '/' || c == '[' || c == ']';
}

/* Goes over a word of names and paths. */
static struct wf_slice take_name(struct wf_scan *s)
{
	struct wf_slice name = { s->at, 0 };

	while (s->at < s->stop && is_word_char(*s->at))
		s->at++;
	name.len = (size_t)(s->at - name.at);
	return name;
}

/* Goes over what is there up to a blank. */
static struct wf_slice take_word(struct wf_scan *s)
{
	struct wf_slice word = { s->at, 0 };

	while (s->at < s->stop && *s->at != ' ' && *s->at != '\t')
		s->at++;
	word.len = (size_t)(s->at - word.at);
	return word;
}

static void keep(char *to, size_t size, struct wf_slice from)
{
	wf_scan_copy(to, size, from.at, from.at + from.len);
}

/* The part of a path behind the first "/word/", up to the next slash. */
static struct wf_slice part_behind(struct wf_slice path, const char *word)
{
	size_t n = strlen(word);
	struct wf_slice part = { "", 0 };

	for (size_t i = 0; i + n < path.len; i++) {
		if (memcmp(path.at + i, word, n) != 0)
			continue;
		part.at = path.at + i + n;
		while (part.at + part.len < path.at + path.len && part.at[part.len] != '/')
			part.len++;
		break;
	}
	return part;
}

/* A path below /sys: which port, and the name at its end. */
static struct wf_slice take_path(struct wf_read *r, struct wf_slice path)
{
	struct wf_slice name = path, device = part_behind(path, "infiniband/");
	struct wf_slice port = part_behind(path, "ports/"), net = part_behind(path, "net/");
	char text[WF_READ_NAME], number[24];

	while (name.len > 0 && memchr(name.at, '/', name.len) != NULL) {
		name.at++;
		name.len--;
	}
	if (device.len > 0) {
		keep(text, sizeof(text) - sizeof(number), device);
		keep(number, sizeof(number), port);
		snprintf(r->port, sizeof(r->port), "%.*s%s%s", WF_READ_NAME - 30, text,
		         port.len > 0 ? "/" : "", number);
	} else if (net.len > 0) {
		keep(r->port, sizeof(r->port), net);
	}
	return name;
}

static int put_named(struct wf_read *r, enum wf_ev_tongue tongue, struct wf_slice name,
                     uint64_t value)
{
	struct wf_slice port = { r->port, strlen(r->port) };
	struct wf_ev_name is;
	uint32_t id;
	int ret;

	if (!wf_ev_name(tongue, name.at, name.len, &is)) {
		wf_read_unknown(r, "counter", name);
		return 0;
	}
	if (port.len == 0)
		port = (struct wf_slice){ "1", 1 };
	ret = wf_read_port(r, port, &id);
	/* Adapters speak so, and who has them. */
	if (ret == 0 && tongue != WF_EV_PMA && r->ev->devices[r->device].kind == WF_EV_ANY)
		r->ev->devices[r->device].kind = WF_EV_HOST;
	return ret != 0 ? ret : wf_read_put(r, id, WF_EV_NO_QUEUE, &is, value);
}

/* "name: value", "name:.....value", "name value", "path:value". -EAGAIN: it is none. */
static int read_pair(struct wf_read *r)
{
	struct wf_scan s = r->scan;
	struct wf_slice name, value;
	bool dots = false, path;
	uint64_t number;

	name = take_name(&s);
	if (name.len == 0)
		return -EAGAIN;
	(void)wf_scan_take(&s, ":");
	while (wf_scan_take(&s, "."))
		dots = true;
	if (!wf_scan_blanks(&s))
		return -EAGAIN;
	if (wf_scan_take(&s, "0x"))
		value = (struct wf_slice){ "0", 1 };
	else
		value = take_word(&s);
	if (!dots && wf_scan_blanks(&s))
		return -EAGAIN;
	if (!wf_read_number(value, &number))
		return -EAGAIN;
	path = memchr(name.at, '/', name.len) != NULL;
	if (path)
		name = take_path(r, name);
	return put_named(r, dots ? WF_EV_PMA : path ? WF_EV_SYSFS : WF_EV_ETHTOOL, name, number);
}

/* "link mlx5_0/1 name value name value ..." */
static int read_rdma(struct wf_read *r)
{
	struct wf_scan *s = &r->scan;
	int ret = 0;

	if (!wf_scan_take(s, "link ") || !wf_scan_blanks(s))
		return -EAGAIN;
	keep(r->port, sizeof(r->port), take_word(s));
	while (ret == 0 && wf_scan_blanks(s)) {
		struct wf_slice name = take_word(s), value;
		uint64_t number;

		(void)wf_scan_blanks(s);
		value = take_word(s);
		if (!wf_read_number(value, &number)) {
			wf_scan_note(s, "a counter's name is followed by its value");
			break;
		}
		ret = put_named(r, WF_EV_SYSFS, name, number);
	}
	return ret;
}

/* ---- InfiniBand's tools ---- */

/* "# Port extended counters: Lid 133 port 1 (CapMask...": of whom the lines below it are. */
static bool read_heading(struct wf_read *r)
{
	struct wf_scan s = r->scan;
	uint64_t lid, port;
	char name[32];

	if (!wf_scan_find(&s, "counters: Lid ") || !wf_scan_number(&s, 10, WF_LID_MAX, &lid) ||
	    !wf_scan_find(&s, "port ") || !wf_scan_number(&s, 10, 255, &port))
		return false;
	snprintf(name, sizeof(name), "lid %u", (unsigned)lid);
	if (wf_evidence_device(r->ev, name, strlen(name), &r->device) != 0)
		return false;
	snprintf(r->port, sizeof(r->port), "%u", (unsigned)port);
	return true;
}

/*
 * ibqueryerrors: "Errors for 0x... "name"" and below it "GUID 0x... port 1: [Name == 5 (5.000)]
 * [...]". -EAGAIN: it is none.
 */
static int read_errors(struct wf_read *r)
{
	struct wf_scan *s = &r->scan, here = r->scan;
	struct wf_slice guid;
	int ret = 0;

	if (wf_scan_take(&here, "Errors for ") || wf_scan_take(&here, "##"))
		return 0;
	if (!wf_scan_take(s, "GUID ") || !wf_scan_blanks(s))
		return -EAGAIN;
	guid = take_word(s);
	if (guid.len > 0 && guid.at[guid.len - 1] == ':')
		guid.len--;
	ret = wf_evidence_device(r->ev, guid.at, guid.len, &r->device);
	if (ret == 0 && wf_scan_blanks(s) && wf_scan_take(s, "port ")) {
		struct wf_slice port = take_word(s);

		port.len -= port.len > 0 && port.at[port.len - 1] == ':';
		keep(r->port, sizeof(r->port), port);
	}
	while (ret == 0 && wf_scan_find(s, "[")) {
		struct wf_slice name = take_name(s);
		uint64_t value;

		if (!wf_scan_take(s, " == ") || !wf_scan_number(s, 10, UINT64_MAX, &value)) {
			wf_scan_note(s, "here a counter and its value should be");
			continue;
		}
		ret = put_named(r, WF_EV_PMA, name, value);
	}
	return ret;
}

/* ---- lines ---- */

/* Of the command that a prompt ran, or a comment speaks of: whose counters follow. */
static void hear_command(struct wf_read *r, struct wf_scan s)
{
	if (wf_scan_find(&s, "ethtool -S ") || wf_scan_find(&s, "ethtool --statistics ")) {
		(void)wf_scan_blanks(&s);
		keep(r->port, sizeof(r->port), take_name(&s));
	}
}

bool wf_read_is_prompt(struct wf_scan s)
{
	while (s.at < s.stop && is_word_char(*s.at))
		s.at++;
	if (!wf_scan_take(&s, "@"))
		return false;
	return take_name(&s).len > 0 && wf_scan_take(&s, ":");
}

/* "root@leaf1:~# show pfc counters": whose prompt it is. */
static bool read_prompt(struct wf_read *r)
{
	struct wf_scan s = r->scan;
	struct wf_slice host;

	if (!wf_read_is_prompt(s) || !wf_scan_find(&s, "@"))
		return false;
	host = take_name(&s);
	(void)take_word(&s);
	if (wf_evidence_device(r->ev, host.at, host.len, &r->device) != 0)
		return false;
	r->port[0] = '\0';
	hear_command(r, s);
	return true;
}

/* A line that heads what follows, or says how something was set. */
static bool read_words(struct wf_read *r)
{
	static const char *const passed[] = { "NIC statistics",
		                              "Changed polling interval",
		                              "Capability codes",
		                              "Last cached time was",
		                              "Total entries",
		                              "Namespace:",
		                              "For namespace",
		                              "(R)",
		                              "$ " };
	struct wf_scan s = r->scan;

	for (size_t i = 0; i < WF_ARRAY_SIZE(passed); i++) {
		if (wf_scan_take(&s, passed[i])) {
			hear_command(r, s);
			return true;
		}
	}
	if (s.stop > s.at && s.stop[-1] == ':') {
		keep(r->title, sizeof(r->title),
		     (struct wf_slice){ s.at, (size_t)(s.stop - s.at) });
		return true;
	}
	return false;
}

static int read_line(struct wf_read *r)
{
	struct wf_scan *s = &r->scan;
	int ret;

	if (!wf_scan_blanks(s))
		return 0;
	if (*s->at == '#') {
		if (!read_heading(r))
			hear_command(r, *s);
		return 0;
	}
	ret = wf_read_table(r);
	if (ret != -EAGAIN)
		return ret;
	if (read_prompt(r) || read_words(r))
		return 0;
	ret = read_errors(r);
	if (ret == -EAGAIN)
		ret = read_rdma(r);
	if (ret == -EAGAIN)
		ret = wf_read_metric(r);
	if (ret == -EAGAIN)
		ret = read_pair(r);
	if (ret != -EAGAIN)
		return ret;
	wf_scan_note(s, "this line is not understood, and left out");
	return 0;
}

/* A file below /sys: nothing but a number. */
static int read_one(struct wf_read *r, const char *text, size_t len, bool *is_p)
{
	struct wf_slice all = { text, len };
	struct wf_slice path = { r->source->file, strlen(r->source->file) };
	uint64_t value;

	while (all.len > 0 && strchr(" \r\n", all.at[all.len - 1]) != NULL &&
	       all.at[all.len - 1] != '\0')
		all.len--;
	*is_p = wf_read_number(all, &value);
	if (!*is_p)
		return 0;
	r->scan.line = 1;
	return put_named(r, WF_EV_SYSFS, take_path(r, path), value);
}

static bool has_section(const char *text, size_t len)
{
	struct wf_scan s;

	wf_scan_init(&s, text, len, "", NULL, NULL);
	while (wf_scan_line(&s)) {
		if (wf_scan_take(&s, "START_"))
			return true;
	}
	return false;
}

int wf_evidence_read(struct wf_evidence *ev, const char *text, size_t len,
                     const struct wf_ev_source *source, const struct wf_subnet_ear *ear,
                     struct wf_err *err)
{
	struct wf_read r = { .ev = ev, .source = source, .device = WF_EV_NONE };
	bool one;
	int ret = wf_evidence_file(ev, source->file, &r.file);

	if (ret != 0)
		return ret;
	wf_scan_init(&r.scan, text, len, source->file, ear, err);
	ev->later |= source->when != 0;
	ret = read_one(&r, text, len, &one);
	if (ret != 0 || one)
		return ret;
	for (const char *p = r.scan.next; p < text + len; p++) {
		if (strchr(" \t\r\n", *p) != NULL && *p != '\0')
			continue;
		if (*p == '{' || *p == '[')
			return wf_read_json(&r, text, len);
		break;
	}
	if (has_section(text, len))
		return wf_read_csv(&r);
	while (ret == 0 && wf_scan_line(&r.scan))
		ret = read_line(&r);
	return ret;
}
