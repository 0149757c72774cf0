/* SPDX-License-Identifier: Apache-2.0 */
/* sysfs.c - a host's device as files. The texts are those of the kernel's drivers. */
#define _GNU_SOURCE
#include "live/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rdma/hca.h"
#include "wire/ib_rate.h"

#define DEVICE "sys/class/infiniband/" WF_SYSFS_DEVICE
#define PORT DEVICE "/ports/1"
#define VERBS "sys/class/infiniband_verbs"
#define MADS "sys/class/infiniband_mad"
#define PATH 512

/* A tree that is being made: the first error stays. */
struct tree {
	const char *dir;
	int error;
};

static bool is_in_file(const struct wf_host_counter *row, const char *file)
{
	for (int k = 0; k < WF_HOST_FILES; k++) {
		if (row->files[k] != NULL && strcmp(row->files[k], file) == 0)
			return true;
	}
	return false;
}

/* What has been counted of a host, for the file of counters/ below /sys; -ENOENT: there is none. */
static int read_counter(const char *file, const uint64_t count[WF_LIVE_COUNTS], uint64_t *value_p)
{
	uint64_t sum = 0;
	bool found = false;

	for (uint32_t i = 0; i < WF_LIVE_COUNTS; i++) {
		const struct wf_host_counter *row = wf_live_counter(i);

		if (!is_in_file(row, file))
			continue;
		sum += count[i] / (row->file_unit != 0 ? row->file_unit : 1);
		found = true;
	}
	*value_p = sum;
	return found ? 0 : -ENOENT;
}

/* The same for a file of hw_counters/. */
static int read_hw_counter(const char *file, const uint64_t count[WF_LIVE_COUNTS],
                           uint64_t *value_p)
{
	for (uint32_t i = 0; i < WF_LIVE_COUNTS; i++) {
		const struct wf_host_counter *row = wf_live_counter(i);
		const char *name = row->hw ? row->name : row->wire_file;

		if (name != NULL && strcmp(name, file) == 0) {
			*value_p = count[i];
			return 0;
		}
	}
	return -ENOENT;
}

int wf_sysfs_dir(const char *socket, const char *host, char *dir, size_t size)
{
	return snprintf(dir, size, "%s.sys/%s", socket, host) >= (int)size ? -ENAMETOOLONG : 0;
}

/* Makes the folders above the file at path. */
static int make_parents(char *path, size_t from)
{
	for (char *at = strchr(path + from, '/'); at != NULL; at = strchr(at + 1, '/')) {
		int ret;

		*at = '\0';
		ret = mkdir(path, 0755) != 0 && errno != EEXIST ? -errno : 0;
		*at = '/';
		if (ret != 0)
			return ret;
	}
	return 0;
}

/* What is below /dev is opened for writing, too; what is below /sys is only read. */
static int put_text(struct tree *t, const char *name, const char *text)
{
	mode_t mode = strncmp(name, "dev/", 4) == 0 ? 0666 : 0444;
	char path[PATH];
	ssize_t n;
	int fd, ret;

	if (snprintf(path, sizeof(path), "%s/%s", t->dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	ret = make_parents(path, 1);
	if (ret != 0)
		return ret;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n < 0)
		ret = -errno;
	else if (n < (ssize_t)strlen(text))
		ret = -ENOSPC; /* a part of it still had room */
	close(fd);
	return ret;
}

/* A file with a line of text. */
static void put(struct tree *t, const char *name, const char *fmt, ...) WF_PRINTF(3, 4);
static void put(struct tree *t, const char *name, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (t->error == 0)
		t->error = put_text(t, name, text);
}

/* The same for one of several, whose number ends its name. */
static void put_nth(struct tree *t, const char *folder, uint32_t n, const char *text)
{
	char name[PATH];

	snprintf(name, sizeof(name), "%s/%u", folder, n);
	put(t, name, "%s\n", text);
}

static void put_link(struct tree *t, const char *name, const char *to)
{
	char path[PATH];

	if (t->error != 0)
		return;
	if (snprintf(path, sizeof(path), "%s/%s", t->dir, name) >= (int)sizeof(path))
		t->error = -ENAMETOOLONG;
	else
		t->error = make_parents(path, 1);
	if (t->error == 0 && symlink(to, path) != 0)
		t->error = -errno;
}

static void put_guid(struct tree *t, const char *name, uint64_t guid)
{
	put(t, name, "%04x:%04x:%04x:%04x\n", (unsigned)(guid >> 48),
	    (unsigned)(guid >> 32 & 0xffff), (unsigned)(guid >> 16 & 0xffff),
	    (unsigned)(guid & 0xffff));
}

static void gid_text(const uint8_t gid[16], char text[40])
{
	for (int i = 0; i < 8; i++)
		snprintf(text + 5 * i, 6, "%02x%02x%s", gid[2 * i], gid[2 * i + 1],
		         i < 7 ? ":" : "");
}

static unsigned lanes(unsigned width)
{
	switch (width) {
	case WF_WIDTH_1X:
		return 1;
	case WF_WIDTH_2X:
		return 2;
	case WF_WIDTH_8X:
		return 8;
	case WF_WIDTH_12X:
		return 12;
	default:
		return 4;
	}
}

/* As the kernel has it: a rate, lanes, and what the speed of a lane is called. */
static int rate_text(const struct wf_live_table *t, uint32_t host, char *buf)
{
	static const struct {
		uint64_t rate;
		const char *name;
	} speeds[] = {
		{ UINT64_C(10000000000), "10 Gb/sec (4X SDR)" },
		{ UINT64_C(40000000000), "40 Gb/sec (4X FDR10)" },
		{ UINT64_C(56000000000), "56 Gb/sec (4X FDR)" },
		{ UINT64_C(100000000000), "100 Gb/sec (4X EDR)" },
		{ UINT64_C(200000000000), "200 Gb/sec (4X HDR)" },
	};
	const struct wf_live_ib *ib = &t->host[host].ib;
	uint64_t rate = wf_ib_rate(ib->width, ib->speed);
	const char *name = "400 Gb/sec (4X NDR)";

	if (t->managed != 0 && rate != 0)
		return snprintf(buf, WF_SYSFS_MAX_TEXT, "%" PRIu64 "%s Gb/sec (%uX %s)\n",
		                rate / 1000000000, rate % 1000000000 != 0 ? ".5" : "",
		                lanes(ib->width), wf_ib_speed_name(ib->speed));
	for (size_t i = WF_ARRAY_SIZE(speeds); i > 0; i--)
		name = t->rate <= speeds[i - 1].rate ? speeds[i - 1].name : name;
	return snprintf(buf, WF_SYSFS_MAX_TEXT, "%s\n", name);
}

static uint32_t n_pkeys(const struct wf_live_table *table)
{
	struct wf_hca_attr attr;

	wf_hca_attr_defaults(&attr);
	return table->managed != 0 ? WF_LIVE_PKEYS : attr.num_pkeys;
}

static int state_text(const struct wf_live_table *t, uint32_t host, char *buf)
{
	static const char *const names[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE" };
	unsigned state = wf_live_port_state(t, host);

	return snprintf(buf, WF_SYSFS_MAX_TEXT, "%u: %s\n", state,
	                state < WF_ARRAY_SIZE(names) ? names[state] : "<unknown>");
}

static int phys_text(const struct wf_live_table *t, uint32_t host, char *buf)
{
	static const char *const names[] = { "",
		                             "Sleep",
		                             "Polling",
		                             "Disabled",
		                             "PortConfigurationTraining",
		                             "LinkUp",
		                             "LinkErrorRecovery",
		                             "Phy Test" };
	unsigned phys = t->host[host].down == 0 ? 5 : 3;

	if (t->managed != 0)
		phys = t->host[host].ib.phys;
	return snprintf(buf, WF_SYSFS_MAX_TEXT, "%u: %s\n", phys,
	                phys < WF_ARRAY_SIZE(names) ? names[phys] : "<unknown>");
}

static int lid_text(const struct wf_live_table *t, uint32_t host, char *buf)
{
	return snprintf(buf, WF_SYSFS_MAX_TEXT, "0x%x\n", t->host[host].lid);
}

static int lmc_text(const struct wf_live_table *t, uint32_t host, char *buf)
{
	return snprintf(buf, WF_SYSFS_MAX_TEXT, "%u\n", t->host[host].ib.lmc);
}

static int sm_lid_text(const struct wf_live_table *t, uint32_t host, char *buf)
{
	unsigned lid = t->layer == WF_LIVE_IB;

	return snprintf(buf, WF_SYSFS_MAX_TEXT, "0x%x\n",
	                t->managed != 0 ? t->host[host].ib.sm_lid : lid);
}

static int sm_sl_text(const struct wf_live_table *t, uint32_t host, char *buf)
{
	return snprintf(buf, WF_SYSFS_MAX_TEXT, "%u\n", t->host[host].ib.sm_sl);
}

static int cap_text(const struct wf_live_table *t, uint32_t host, char *buf)
{
	uint32_t cap = t->layer == WF_LIVE_ROCE ? 0x04010000 : WF_CAP_CM;

	return snprintf(buf, WF_SYSFS_MAX_TEXT, "0x%08x\n",
	                t->managed != 0 ? t->host[host].ib.cap : cap);
}

/* Files of the port that management may change. */
static const struct port_file {
	const char *name;
	int (*text)(const struct wf_live_table *t, uint32_t host, char *buf);
} port_files[] = {
	{ "state", state_text },        { "phys_state", phys_text }, { "lid", lid_text },
	{ "lid_mask_count", lmc_text }, { "sm_lid", sm_lid_text },   { "sm_sl", sm_sl_text },
	{ "cap_mask", cap_text },       { "rate", rate_text },
};

static const struct port_file *port_file(const char *path)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(port_files); i++) {
		if (strcmp(path, port_files[i].name) == 0)
			return &port_files[i];
	}
	return NULL;
}

/* The number that a path is in a folder of n; UINT32_MAX: it is none. */
static uint32_t place_in(const char *path, const char *folder, uint32_t n)
{
	size_t len = strlen(folder);
	unsigned long at;
	char *end;

	if (strncmp(path, folder, len) != 0 || path[len] < '0' || path[len] > '9')
		return UINT32_MAX;
	at = strtoul(path + len, &end, 10);
	return *end == '\0' && at < n ? (uint32_t)at : UINT32_MAX;
}

/* A place of one of the port's two tables. */
static int table_text(const char *path, const struct wf_live_table *t, uint32_t host, char *buf)
{
	uint32_t gid_at = place_in(path, "gids/", WF_LIVE_GID_TABLE);
	uint32_t pkey_at = place_in(path, "pkeys/", n_pkeys(t));
	uint16_t pkeys[WF_LIVE_PKEYS];
	uint8_t gid[16] = { 0 };

	if (gid_at != UINT32_MAX) {
		(void)wf_live_gid(t, host, gid_at, gid);
		gid_text(gid, buf);
		return snprintf(buf + 39, WF_SYSFS_MAX_TEXT - 39, "\n") + 39;
	}
	if (pkey_at == UINT32_MAX)
		return -ENOENT;
	wf_live_pkeys(t, host, pkeys);
	return snprintf(buf, WF_SYSFS_MAX_TEXT, "0x%04x\n", pkeys[pkey_at]);
}

bool wf_sysfs_is_live(const char *path)
{
	return strncmp(path, "counters/", 9) == 0 || strncmp(path, "hw_counters/", 12) == 0 ||
	       strncmp(path, "gids/", 5) == 0 || strncmp(path, "pkeys/", 6) == 0 ||
	       port_file(path) != NULL;
}

int wf_sysfs_live(const char *path, const struct wf_live_table *t, uint32_t host,
                  const uint64_t count[WF_LIVE_COUNTS], char buf[WF_SYSFS_MAX_TEXT])
{
	const struct port_file *file = port_file(path);
	uint64_t value;
	int ret;

	if (file != NULL)
		return file->text(t, host, buf);
	if (strncmp(path, "counters/", 9) == 0)
		ret = read_counter(path + 9, count, &value);
	else if (strncmp(path, "hw_counters/", 12) == 0)
		ret = read_hw_counter(path + 12, count, &value);
	else
		return table_text(path, t, host, buf);
	if (ret != 0)
		return ret;
	return snprintf(buf, WF_SYSFS_MAX_TEXT, "%" PRIu64 "\n", value);
}

/* The processors that are near the device: all of them. */
static void put_cpus(struct tree *t)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);
	char text[1024] = "";
	size_t at = 0;

	if (n < 1 || n > 1024)
		n = 1;
	for (long word = (n - 1) / 32; word >= 0; word--) {
		uint32_t mask =
			n - 32 * word >= 32 ? UINT32_MAX : (UINT32_C(1) << (n - 32 * word)) - 1;

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%08x%s", mask,
		                       word != 0 ? "," : "");
	}
	put(t, DEVICE "/device/local_cpus", "%s\n", text);
	put(t, DEVICE "/device/local_cpulist", n > 1 ? "0-%ld\n" : "%ld\n", n - 1);
}

static void put_device(struct tree *t, const struct wf_live_table *table, uint32_t host)
{
	const struct wf_live_host *h = &table->host[host];

	put(t, DEVICE "/node_type", "1: CA\n");
	put_guid(t, DEVICE "/node_guid", h->guid);
	put_guid(t, DEVICE "/sys_image_guid", h->guid);
	put(t, DEVICE "/node_desc", "%s " WF_SYSFS_DEVICE "\n", h->name);
	put(t, DEVICE "/fw_ver", "%s\n", WEFT_VERSION);
	put(t, DEVICE "/hw_rev", "1\n");
	put(t, DEVICE "/hca_type", "weft\n");
	put(t, DEVICE "/board_id", "weft\n");
	put(t, DEVICE "/device/numa_node", "-1\n");
	put_cpus(t);
	put_link(t, DEVICE "/device/infiniband/" WF_SYSFS_DEVICE, "../..");
	put_link(t, DEVICE "/device/infiniband_verbs/" WF_SYSFS_UVERBS,
	         "../../../../infiniband_verbs/" WF_SYSFS_UVERBS);
	put_link(t, DEVICE "/device/net/lo", "/sys/class/net/lo");
	put(t, VERBS "/abi_version", "6\n");
	put(t, VERBS "/" WF_SYSFS_UVERBS "/abi_version", "1\n");
	put(t, VERBS "/" WF_SYSFS_UVERBS "/ibdev", WF_SYSFS_DEVICE "\n");
	put(t, VERBS "/" WF_SYSFS_UVERBS "/dev", "%d:%d\n", WF_SYSFS_UVERBS_MAJOR,
	    WF_SYSFS_UVERBS_MINOR);
	put_link(t, VERBS "/" WF_SYSFS_UVERBS "/device",
	         "../../infiniband/" WF_SYSFS_DEVICE "/device");
	put(t, "dev/infiniband/" WF_SYSFS_UVERBS, "%s", "");
}

/* One of the devices of management programs. */
static void put_mad_device(struct tree *t, const char *name, int minor)
{
	char path[PATH];

	snprintf(path, sizeof(path), MADS "/%s/ibdev", name);
	put(t, path, WF_SYSFS_DEVICE "\n");
	snprintf(path, sizeof(path), MADS "/%s/port", name);
	put(t, path, "1\n");
	snprintf(path, sizeof(path), MADS "/%s/dev", name);
	put(t, path, "%d:%d\n", WF_SYSFS_MAD_MAJOR, minor);
	snprintf(path, sizeof(path), MADS "/%s/device", name);
	put_link(t, path, "../../infiniband/" WF_SYSFS_DEVICE "/device");
	snprintf(path, sizeof(path), "dev/infiniband/%s", name);
	put(t, path, "%s", "");
}

static void put_mads(struct tree *t)
{
	put(t, MADS "/abi_version", "5\n");
	put_mad_device(t, WF_SYSFS_UMAD, WF_SYSFS_UMAD_MINOR);
	put_mad_device(t, WF_SYSFS_ISSM, WF_SYSFS_ISSM_MINOR);
}

static void put_live(struct tree *t, const struct wf_live_table *table, uint32_t host,
                     const char *file)
{
	static const uint64_t none[WF_LIVE_COUNTS];
	char name[PATH], text[WF_SYSFS_MAX_TEXT];

	if (t->error == 0 && wf_sysfs_live(file, table, host, none, text) < 0)
		t->error = -EINVAL;
	snprintf(name, sizeof(name), PORT "/%s", file);
	put(t, name, "%s", text);
}

static void put_live_nth(struct tree *t, const struct wf_live_table *table, uint32_t host,
                         const char *folder, uint32_t n)
{
	char file[32];

	snprintf(file, sizeof(file), "%s/%u", folder, n);
	put_live(t, table, host, file);
}

static void put_tables(struct tree *t, const struct wf_live_table *table, uint32_t host)
{
	bool roce = table->layer == WF_LIVE_ROCE;
	uint8_t gid[16];

	for (uint32_t i = 0; i < WF_LIVE_GID_TABLE; i++) {
		put_live_nth(t, table, host, "gids", i);
		if (wf_live_gid(table, host, i, gid)) {
			bool roce2 = roce && !wf_live_is_roce1(table, i);

			put_nth(t, PORT "/gid_attrs/types", i, roce2 ? "RoCE v2" : "IB/RoCE v1");
			if (roce)
				put_nth(t, PORT "/gid_attrs/ndevs", i, "lo");
		}
	}
	for (uint32_t i = 0; i < n_pkeys(table); i++)
		put_live_nth(t, table, host, "pkeys", i);
}

/* Whether a file of counters/ has what a counter before this one has, too. */
static bool is_there(uint32_t counter, const char *file)
{
	for (uint32_t i = 0; i < counter; i++) {
		if (is_in_file(wf_live_counter(i), file))
			return true;
	}
	return false;
}

/* The files in which a counter is. */
static void put_counter(struct tree *t, const struct wf_live_table *table, uint32_t host,
                        uint32_t counter)
{
	const struct wf_host_counter *row = wf_live_counter(counter);
	const char *hw = row->hw ? row->name : table->host[host].wire != 0 ? row->wire_file : NULL;
	char name[PATH];

	for (int k = 0; k < WF_HOST_FILES && row->files[k] != NULL; k++) {
		snprintf(name, sizeof(name), "counters/%s", row->files[k]);
		if (!is_there(counter, row->files[k]))
			put_live(t, table, host, name);
	}
	if (hw != NULL) {
		snprintf(name, sizeof(name), "hw_counters/%s", hw);
		put_live(t, table, host, name);
	}
}

static void put_port(struct tree *t, const struct wf_live_table *table, uint32_t host)
{
	bool roce = table->layer == WF_LIVE_ROCE;

	put(t, PORT "/link_layer", "%s\n", roce ? "Ethernet" : "InfiniBand");
	for (size_t i = 0; i < WF_ARRAY_SIZE(port_files); i++)
		put_live(t, table, host, port_files[i].name);
	for (uint32_t i = 0; i < WF_LIVE_COUNTS; i++)
		put_counter(t, table, host, i);
	put(t, PORT "/counters/link_error_recovery", "0\n"); /* links here do not retrain */
	put(t, PORT "/hw_counters/lifespan", "0\n");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) != 0 && errno != ENOENT ? -1 : 0;
}

static void remove_tree(const char *dir)
{
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int wf_sysfs_make(const struct wf_live_table *table, uint32_t host, const char *dir)
{
	char temporary[PATH];
	struct tree t = { .dir = temporary };

	if (access(dir, F_OK) == 0)
		return 0;
	if (snprintf(temporary, sizeof(temporary), "%s.%d", dir, (int)getpid()) >=
	    (int)sizeof(temporary))
		return -ENAMETOOLONG;
	put_device(&t, table, host);
	put_tables(&t, table, host);
	put_port(&t, table, host);
	if (table->managed != 0)
		put_mads(&t);
	if (t.error == 0 && rename(temporary, dir) == 0)
		return 0;
	if (t.error == 0 && errno != EEXIST && errno != ENOTEMPTY)
		t.error = -errno;
	remove_tree(temporary);
	return t.error;
}

void wf_sysfs_remove(const char *socket)
{
	char dir[PATH];

	if (snprintf(dir, sizeof(dir), "%s.sys", socket) < (int)sizeof(dir))
		remove_tree(dir);
}
