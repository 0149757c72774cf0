/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_capture.c - weft capture: the packets of a live fabric, for Wireshark. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live/live.h"
#include "cli/live/options.h"
#include "cli/progress.h"
#include "live/sniffer.h"
#include "wire/packet_codec.h"

#ifndef WEFT_VERSION
#define WEFT_VERSION "0"
#endif

#define BUFFER (256 << 10)              /* bytes that are written at once */
#define FLUSH (100 * INT64_C(1000000))  /* ns after which what there is, is written */
#define READY (2000 * INT64_C(1000000)) /* ns that programs have to learn of the capture */
#define BATCH 1024                      /* packets before it looks at anything else */
#define NAP (1 * INT64_C(1000000))      /* ns between two looks */
#define NAP_IDLE (5 * INT64_C(1000000)) /* when there was nothing for a while */
#define NAPS_BUSY 100                   /* short ones before the longer ones */

struct capture {
	const char *fabric;
	const char *file;
	const char **hosts; /* names, as given */
	uint32_t n_hosts;   /* interfaces */
	uint32_t *numbers;  /* their hosts' */
	uint64_t snaplen;   /* bytes */
	uint64_t count;     /* 0: no end */
	wf_time duration;   /* 0: no end */
	struct wf_live_picture picture;
	struct wf_sniffer *sniffer;
	uint64_t written; /* packets */
	int64_t flushed;
	int fd;
	size_t used;
	uint8_t *buffer;
};

/* Writes what is in the buffer: whole blocks, so that whoever reads along finds whole packets. */
static int flush(struct capture *c)
{
	size_t at = 0;

	c->flushed = wf_sniffer_now();
	while (at < c->used) {
		ssize_t n = write(c->fd, c->buffer + at, c->used - at);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			at += (size_t)n;
	}
	c->used = 0;
	return 0;
}

/* Where the next block goes, of at most WF_PACKET_BYTES_MAX + WF_PCAPNG_BLOCK_MAX bytes. */
static int make_room(struct capture *c, uint8_t **at_p, size_t *room_p)
{
	int ret = 0;

	if (BUFFER - c->used < WF_PACKET_BYTES_MAX + WF_PCAPNG_BLOCK_MAX)
		ret = flush(c);
	*at_p = c->buffer + c->used;
	*room_p = BUFFER - c->used;
	return ret;
}

static int put_packet(struct capture *c, const struct wf_pcapng_packet *packet)
{
	size_t room, len = 0;
	uint8_t *at;
	int ret = make_room(c, &at, &room);

	if (ret == 0)
		ret = wf_pcapng_put_packet(at, room, packet, &len);
	c->used += len;
	c->written++;
	return ret;
}

static int put_head(struct capture *c)
{
	const struct wf_live_table *t = c->picture.table;
	size_t room, len = 0;
	uint8_t *at;
	int ret = make_room(c, &at, &room);

	if (ret == 0)
		ret = wf_pcapng_put_section(at, room, "weft " WEFT_VERSION, &len);
	c->used += len;
	for (uint32_t i = 0; ret == 0 && i < c->n_hosts; i++) {
		const struct wf_pcapng_interface itf = {
			.link_type =
				t->layer == WF_LIVE_IB ? WF_LINKTYPE_ERF : WF_LINKTYPE_ETHERNET,
			.name = t->host[c->numbers[i]].name,
			.snaplen = (uint32_t)c->snaplen + (t->layer == WF_LIVE_IB ? WF_ERF_LEN : 0),
		};

		ret = make_room(c, &at, &room);
		if (ret == 0)
			ret = wf_pcapng_put_interface(at, room, &itf, &len);
		c->used += len;
	}
	return ret != 0 ? ret : flush(c);
}

/* What is said of each interface at the end of the file; *missed_p: of all together. */
static int put_tail(struct capture *c, int64_t until, uint64_t *missed_p)
{
	size_t room, len = 0;
	uint8_t *at;
	int ret = 0;

	*missed_p = 0;
	for (uint32_t i = 0; i < c->n_hosts; i++) {
		struct wf_pcapng_statistics st;

		wf_sniffer_statistics(c->sniffer, i, until, &st);
		*missed_p += st.missed;
		if (ret == 0)
			ret = make_room(c, &at, &room);
		if (ret == 0)
			ret = wf_pcapng_put_statistics(at, room, &st, &len);
		c->used += len;
	}
	return ret != 0 ? ret : flush(c);
}

static bool is_done(const struct capture *c)
{
	return c->count != 0 && c->written >= c->count;
}

/* Writes up to n of the packets there are until then. Returns how many, or -errno. */
static int take(struct capture *c, int64_t until, int n)
{
	struct wf_pcapng_packet packet;
	int i, ret = 0;

	for (i = 0; i < n && ret == 0 && !is_done(c); i++) {
		if (!wf_sniffer_next(c->sniffer, until, &packet))
			break;
		ret = put_packet(c, &packet);
	}
	return ret != 0 ? ret : i;
}

static void nap(const struct capture *c, int64_t ns)
{
	const struct timespec time = { .tv_nsec = ns };
	struct pollfd news = { .fd = wf_sniffer_fd(c->sniffer), .events = POLLIN };

	(void)ppoll(&news, 1, &time, NULL);
}

/* Programs that are there have to learn of it; one that is stopped is not waited for. */
static int get_ready(struct capture *c)
{
	int64_t end = wf_sniffer_now() + READY;
	int ret = 0;

	while (ret == 0 && !wf_sniffer_ready(c->sniffer) && wf_sniffer_now() < end &&
	       !wf_progress_interrupted()) {
		nap(c, NAP);
		ret = wf_sniffer_news(c->sniffer);
	}
	fprintf(stderr,
	        "weft capture: listening on %u host%s of %s, %s, %" PRIu64 " bytes of a packet\n",
	        c->n_hosts, c->n_hosts == 1 ? "" : "s", c->picture.table->fabric,
	        c->picture.table->layer == WF_LIVE_IB ? "InfiniBand" : "RoCE v2", c->snaplen);
	return ret;
}

/* Captures until something ends it. Returns 0 or -errno: -ECONNRESET, the fabric has ended. */
static int listen_on(struct capture *c)
{
	int64_t end = c->duration == 0 ? INT64_MAX : wf_sniffer_now() + c->duration / WF_NS;
	unsigned naps = 0;
	int ret = get_ready(c);

	while (ret >= 0 && !is_done(c) && !wf_progress_interrupted() && wf_sniffer_now() < end) {
		ret = take(c, wf_sniffer_now() - WF_SNIFFER_LAG, BATCH);
		naps = ret != 0 ? 0 : naps + 1;
		if (ret == 0)
			nap(c, naps < NAPS_BUSY ? NAP : NAP_IDLE);
		if (ret >= 0 && c->used != 0 && wf_sniffer_now() - c->flushed >= FLUSH)
			ret = flush(c);
		if (ret >= 0)
			ret = wf_sniffer_news(c->sniffer);
	}
	return ret;
}

/* What is still on its way, and the end of the file. */
static int finish(struct capture *c, int ret)
{
	int64_t until = wf_sniffer_now();
	uint64_t missed, odd;
	int n = wf_sniffer_news(c->sniffer);

	wf_sniffer_stop(c->sniffer);
	/* The fabric's end is a capture's, too. */
	if (ret >= 0 && n != 0)
		ret = n;
	n = 1;
	while (n > 0 && (ret >= 0 || ret == -ECONNRESET))
		n = take(c, until, BATCH);
	if (n < 0)
		ret = n;
	n = put_tail(c, until, &missed);
	if (ret >= 0 || ret == -ECONNRESET)
		ret = n;
	odd = wf_sniffer_nonsense(c->sniffer);
	fprintf(stderr, "%" PRIu64 " packets captured\n%" PRIu64 " packets missed\n", c->written,
	        missed);
	if (odd != 0)
		fprintf(stderr, "%" PRIu64 " entries of programs were no packets\n", odd);
	/* Who reads along may go at any time. */
	return ret == -EPIPE ? 0 : ret;
}

/* The interfaces: the hosts that were named, each once, or all. */
static int choose_hosts(struct capture *c)
{
	const struct wf_live_table *t = c->picture.table;
	uint32_t named = c->n_hosts, n = 0;

	c->numbers = calloc(t->n_hosts, sizeof(*c->numbers));
	if (c->numbers == NULL)
		return WF_EXIT_FAILED;
	for (uint32_t i = 0; i < named; i++) {
		uint32_t host, k = 0;

		if (wf_live_find_host("capture", t, c->hosts[i], &host) != 0)
			return WF_EXIT_USAGE;
		while (k < n && c->numbers[k] != host)
			k++;
		if (k == n)
			c->numbers[n++] = host;
	}
	for (uint32_t i = 0; named == 0 && i < t->n_hosts; i++)
		c->numbers[n++] = i;
	c->n_hosts = n;
	return WF_EXIT_OK;
}

static int open_file(struct capture *c, struct wf_err *err)
{
	if (c->file == NULL || strcmp(c->file, "-") == 0) {
		c->file = "standard output";
		c->fd = STDOUT_FILENO;
		return 0;
	}
	c->fd = open(c->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (c->fd < 0)
		return wf_live_err(err, -errno, "%s: %s", c->file, strerror(errno));
	return 0;
}

static int capture(struct capture *c, const char *path, struct wf_err *err)
{
	const struct wf_sniffer_cfg cfg = { .path = path,
		                            .hosts = c->numbers,
		                            .n_hosts = c->n_hosts,
		                            .snaplen = (uint32_t)c->snaplen };
	int ret;

	c->buffer = malloc(BUFFER);
	if (c->buffer == NULL)
		return -ENOMEM;
	ret = open_file(c, err);
	if (ret != 0)
		return ret;
	signal(SIGPIPE, SIG_IGN);
	wf_progress_catch();
	ret = wf_sniffer_open(&cfg, &c->sniffer);
	if (ret != 0)
		return wf_live_err(err, ret, "weft capture: %s: %s", path,
		                   ret == -EUSERS ? "too many captures at once" : strerror(-ret));
	ret = put_head(c);
	if (ret == 0)
		ret = listen_on(c);
	ret = finish(c, ret);
	if (ret != 0)
		(void)wf_live_err(err, ret, "%s: %s", c->file, strerror(-ret));
	return ret;
}

static int take_host(const struct wf_opt_call *call)
{
	struct capture *c = call->request;

	c->hosts[c->n_hosts++] = call->arg;
	return 0;
}

/* Reads the arguments. Returns -1 to go on, or the exit status. */
static int prepare(struct capture *c, int argc, char **argv)
{
	int rc = wf_opt_parse(&wf_cmd_capture, argc, argv, c);

	if (rc >= 0)
		return rc;
	if (optind != argc)
		return wf_cli_usage("capture", "'%.40s' is not expected", argv[optind]);
	if (c->file == NULL && isatty(STDOUT_FILENO))
		return wf_cli_usage("capture", "where to is missing: --out FILE");
	return -1;
}

static int run_capture(int argc, char **argv)
{
	struct capture c = { .snaplen = WF_SNIFFER_SNAPLEN, .fd = -1 };
	static char path[WF_PATH_MAX];
	struct wf_err err = { "" };
	int rc, status;

	c.hosts = calloc((size_t)argc, sizeof(*c.hosts));
	if (c.hosts == NULL)
		return wf_cli_fail(-ENOMEM, &err);
	status = prepare(&c, argc, argv);
	if (status < 0) {
		rc = wf_live_path(c.fabric, false, path, &err);
		if (rc == 0)
			rc = wf_live_look(path, &c.picture, &err);
		status = rc != 0 ? wf_cli_fail(rc, &err) : choose_hosts(&c);
		if (status == WF_EXIT_OK) {
			rc = capture(&c, path, &err);
			status = rc != 0 ? wf_cli_fail(rc, &err) : WF_EXIT_OK;
		}
		wf_live_picture_fini(&c.picture);
	}
	if (c.sniffer != NULL)
		wf_sniffer_close(c.sniffer);
	free(c.hosts);
	free(c.numbers);
	free(c.buffer);
	return status;
}

#define NUMBER(what, of, most)                                                                     \
	&(const struct wf_param)                                                                   \
	{                                                                                          \
		.name = (what), .kind = (of), .size = sizeof(uint64_t), .min = 1, .max = (most)    \
	}

static const struct wf_opt_row options[] = {
	{ .is = &wf_opt_name, .take = wf_opt_take_text, .at = offsetof(struct capture, fabric) },
	{ .is = &wf_opt_host,
	  .take = take_host,
	  .more = "May be given several times; all hosts if not given.",
	  .many = true },
	{ .is = &wf_opt_out,
	  .take = wf_opt_take_text,
	  .at = offsetof(struct capture, file),
	  .more = "Standard output if not given, unless that is a terminal.",
	  .old = "write",
	  .old_letter = 'w' },
	{
		.is =
			&(const struct wf_opt){
				.name = "snaplen",
				.arg = "BYTES",
				.help = "At most so many bytes of each packet, from its first "
					"header on "
					"(ERF's comes besides). Fewer are missed with a small "
					"number: 128 "
					"has all headers.",
			},
		.take = wf_opt_take_param,
		.at = offsetof(struct capture, snaplen),
		.param = NUMBER("snaplen", WF_PARAM_BYTES, WF_SNIFFER_SNAPLEN),
		.old_letter = 's',
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "count",
				.letter = 'c',
				.arg = "N",
				.help = "Ends after N packets.",
			},
		.take = wf_opt_take_param,
		.at = offsetof(struct capture, count),
		.param = NUMBER("count", WF_PARAM_U64, INT64_MAX),
	},
	{
		.is =
			&(const struct wf_opt){
				.name = "duration",
				.arg = "TIME",
				.help = "Ends after that time, e.g. 10s or 500ms.",
			},
		.take = wf_opt_take_param,
		.at = offsetof(struct capture, duration),
		.param = NUMBER("duration", WF_PARAM_TIME, INT64_MAX),
	},
	{ .is = NULL },
};

static const struct wf_cmd_section sections[] = {
	WF_LIVE_ENVIRONMENT,
	{ "Exit status",
	  "0 it worked, also where it was interrupted; 1 it could not be done; 2 what was asked is "
	  "wrong.\n" },
	{ "Examples",
	  "  weft capture --out all.pcapng\n"
	  "  weft capture --host h1 --snaplen 128 --out h1.pcapng\n"
	  "  weft capture --out - | wireshark -k -i -\n"
	  "  weft capture --out - | tshark -r - -Y infiniband.aeth.syndrome.opcode==3\n" },
	{ NULL, NULL },
};

const struct wf_cmd wf_cmd_capture = {
	.name = "capture",
	.summary = "capture the packets of a live fabric for Wireshark",
	.options = options,
	.text = "Captures the packets that programs on a live fabric (`weft up`) send and receive, "
		"as pcapng: RoCE v2 in Ethernet frames, InfiniBand in ERF records, as Wireshark "
		"and tshark read them. Every byte is there that would be on the wire, with "
		"checksums. Each host is an interface; a packet between two hosts is there twice, "
		"as sent and as received. Programs that attach later are captured from their first "
		"packet on. What was written can be read while the capture goes on: it is at most "
		"200 milliseconds old where the machine is not busy.\n"
		"Programs do not wait for it. What comes faster than it can be written is missed, "
		"up to 4 MiB for each program being kept; how many packets were captured and how "
		"many missed is said at the end and is in the file, for each interface. A capture "
		"ends when it is interrupted (SIGINT, SIGTERM), when the fabric ends, when whoever "
		"reads its output goes, or as --count or --duration say; the file is then "
		"complete. Up to 16 can run at once.\n"
		"Packets that come corrupted by `weft fault` have a wrong ICRC; those that are "
		"lost on a link are there only as sent. Packets to and from addresses of `weft up "
		"--wire` are those of the program's adapter: MAC addresses, IP identification and, "
		"going out, UDP source ports are the system's, and others on the cable.\n"
		"A capture shows other programs' data. The daemon lets in only its own user and "
		"root, and with a new file only that user may read it.\n",
	.sections = sections,
	.see = "weft(1), weft-up(1), tshark(1), wireshark(1)",
	.run = run_capture,
};
