/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - finds, asks and starts the daemon of a live fabric. */
#define _GNU_SOURCE
#include "cli/live/live.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/live/words.h"
#include "scenario/faults_live.h"
#include "text/suggest.h"
#include "live/client.h"
#include "live/sock.h"
#include "sim/mgmt/managed.h"
#include "wire/ib_rate.h"

int wf_live_err(struct wf_err *err, int rc, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return rc;
}

int wf_live_path(const char *name, bool make, char path[WF_PATH_MAX], struct wf_err *err)
{
	int ret = wf_sock_path(name, make, path, WF_PATH_MAX);

	if (ret == -EINVAL)
		return wf_live_err(err, -EINVAL,
		                   "weft: '%s' cannot be the name of a fabric: a name has no "
		                   "slash and does not begin with a dot",
		                   name != NULL ? name : getenv("WEFT_FABRIC"));
	if (ret != 0)
		return wf_live_err(err, ret,
		                   "weft: %s cannot be the folder of its sockets: %s; "
		                   "WEFT_RUNTIME_DIR names another",
		                   path, strerror(-ret));
	return 0;
}

/* Why the daemon at path, which is process pid, has not answered. */
static int no_answer(const char *path, int ret, pid_t pid, struct wf_err *err)
{
	if (ret == -ENOENT)
		return wf_live_err(err, ret, "weft: there is no fabric at %s; weft up starts one",
		                   path);
	if (ret == -ECONNREFUSED)
		return wf_live_err(
			err, ret,
			"weft: the daemon of the fabric at %s is gone: it was killed, or "
			"crashed; weft down removes what it left, weft up starts another",
			path);
	if (ret == -ETIMEDOUT && pid != 0 && wf_client_is_stopped(pid))
		return wf_live_err(err, ret,
		                   "weft: the daemon of the fabric at %s does not answer: process "
		                   "%d is stopped; kill -CONT %d lets it go on",
		                   path, (int)pid, (int)pid);
	if (ret == -ETIMEDOUT)
		return wf_live_err(err, ret, "weft: the daemon of the fabric at %s does not answer",
		                   path);
	return wf_live_err(err, ret, "weft: the daemon at %s: %s", path, strerror(-ret));
}

int wf_live_ask(const char *path, struct wf_live_req *req, struct wf_live_reply *reply,
                int fds[WF_LIVE_MAX_FDS], struct wf_err *err)
{
	int sock = wf_client_connect(path, WF_CLIENT_PATIENCE), ret = sock;
	pid_t pid = 0;

	reply->error = 0;
	if (sock >= 0) {
		ret = wf_client_ask(sock, req, reply, fds, WF_CLIENT_PATIENCE);
		(void)!wf_client_peer(sock, &pid);
		close(sock);
	}
	if (ret == 0)
		return 0;
	if (ret == -EPERM)
		return wf_live_err(err, ret,
		                   "weft: the fabric at %s is not yours: another user started it",
		                   path);
	if (reply->error == 0)
		return no_answer(path, ret, pid, err);
	if (ret == -EPROTO)
		return wf_live_err(err, ret,
		                   "weft: the daemon at %s is of another version of weft, whose "
		                   "weft down ends it",
		                   path);
	return wf_live_err(err, ret, "weft: the daemon at %s: %s", path, strerror(-ret));
}

/* Maps the file fd, which it closes. NULL for an empty one. */
static const void *map(int fd, size_t *size_p)
{
	struct stat st;
	void *at = MAP_FAILED;

	*size_p = 0;
	if (fstat(fd, &st) == 0 && st.st_size != 0)
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return NULL;
	*size_p = (size_t)st.st_size;
	return at;
}

/* The modelled fabric, if there is one. */
static int look_at_model(const char *path, struct wf_live_picture *p, struct wf_err *err)
{
	struct wf_live_req req = { .op = WF_LIVE_PORTS };
	struct wf_live_reply reply = { .error = 0 };
	int fds[WF_LIVE_MAX_FDS] = { -1, -1, -1, -1 };
	int ret;

	if (p->table->pace == WF_LIVE_DIRECT)
		return 0;
	ret = wf_live_ask(path, &req, &reply, fds, err);
	if (ret != 0)
		return ret;
	p->model = map(fds[0], &p->model_bytes);
	if (p->model_bytes >= sizeof(*p->model) &&
	    p->model_bytes >=
	            sizeof(*p->model) + (size_t)p->model->n_ports * sizeof(p->model->port[0]) +
	                    (size_t)p->model->n_deadlocks * sizeof(struct wf_live_deadlock))
		return 0;
	return wf_live_err(err, -EPROTO, "weft: the daemon at %s: its model cannot be read", path);
}

int wf_live_look(const char *path, struct wf_live_picture *p, struct wf_err *err)
{
	struct wf_live_req req = { .op = WF_LIVE_STATUS };
	struct wf_live_reply reply = { .error = 0 };
	int fds[WF_LIVE_MAX_FDS] = { -1, -1, -1, -1 };
	int ret = wf_live_ask(path, &req, &reply, fds, err);

	*p = (struct wf_live_picture){ .n = 0 };
	if (ret != 0)
		return ret;
	p->n = reply.status.n;
	p->status = map(fds[0], &p->status_bytes);
	if (p->status_bytes / sizeof(*p->status) < p->n)
		p->n = (uint32_t)(p->status_bytes / sizeof(*p->status));
	ret = wf_client_table(fds[1], &p->table);
	if (ret != 0)
		ret = wf_live_err(err, ret, "weft: the daemon at %s: its table of hosts: %s", path,
		                  strerror(-ret));
	if (ret == 0 && p->n < p->table->n_hosts)
		ret = wf_live_err(err, -EPROTO,
		                  "weft: the daemon at %s: it does not know its hosts", path);
	if (ret == 0)
		ret = look_at_model(path, p, err);
	if (ret != 0)
		wf_live_picture_fini(p);
	return ret;
}

int wf_live_counts(const char *path, const char *host, uint64_t count[WF_LIVE_COUNTS],
                   struct wf_err *err)
{
	struct wf_live_req req = { .op = WF_LIVE_COUNTERS };
	struct wf_live_reply reply = { .error = 0 };
	int fds[WF_LIVE_MAX_FDS] = { -1, -1, -1, -1 };
	size_t size = WF_LIVE_COUNTS * sizeof(count[0]);
	int ret;

	snprintf(req.attach.host, sizeof(req.attach.host), "%s", host);
	ret = wf_live_ask(path, &req, &reply, fds, err);
	if (ret != 0)
		return ret;
	if (pread(fds[0], count, size, 0) != (ssize_t)size)
		ret = -EPROTO;
	close(fds[0]);
	close(fds[1]);
	return ret;
}

void wf_live_picture_fini(struct wf_live_picture *p)
{
	wf_client_free_table(p->table);
	if (p->status != NULL)
		munmap((void *)(uintptr_t)p->status, p->status_bytes);
	if (p->model != NULL)
		munmap((void *)(uintptr_t)p->model, p->model_bytes);
	*p = (struct wf_live_picture){ .n = 0 };
}

int wf_live_find_host(const char *cmd, const struct wf_live_table *t, const char *text,
                      uint32_t *host_p)
{
	char link[2 * WF_LIVE_NAME + 1];
	struct wf_suggest suggest;

	wf_suggest_init(&suggest, text);
	for (uint32_t i = 0; i < t->n_hosts; i++) {
		const struct wf_live_host *h = &t->host[i];

		for (unsigned turned = 0; turned < 2; turned++) {
			snprintf(link, sizeof(link), "%.31s-%.31s", turned ? h->peer : h->name,
			         turned ? h->name : h->peer);
			if (strcmp(text, link) == 0 || strcmp(text, h->name) == 0) {
				*host_p = i;
				return 0;
			}
		}
		wf_suggest_offer(&suggest, strchr(text, '-') != NULL ? link : h->name);
	}
	return wf_cli_usage(cmd, "'%.60s' is no host and no link of a host%s", text,
	                    wf_suggest_text(&suggest, "there are"));
}

/* The name of the switch that a host's first port leads to. */
static const char *peer_of(const struct wf_topo *t, uint32_t host)
{
	const struct wf_topo_node *node = &t->nodes[t->host_node[host]];

	return t->nodes[t->ports[node->first_port].peer].name;
}

/* What the daemon of a plan borrows. */
struct made {
	struct wf_scenario s;
	struct wf_managed_cfg managed;
	struct wf_faults_live faults;
};

/* Hosts and their names, from the topology. */
static int take_hosts(const struct wf_scenario *s, struct wf_daemon_cfg *cfg)
{
	const struct wf_topo *topo = s->fabrics[0].net->topo;
	const char **names;

	cfg->n_hosts = s->n_hosts;
	names = calloc((size_t)2 * cfg->n_hosts, sizeof(char *));
	if (names == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->n_hosts; i++) {
		names[i] = topo->nodes[topo->host_node[i]].name;
		names[cfg->n_hosts + i] = peer_of(topo, i);
	}
	cfg->names = names;
	cfg->peers = names + cfg->n_hosts;
	return 0;
}

/* The number of the host that is called name[0..len). */
static int host_number(const struct wf_daemon_cfg *cfg, const char *name, size_t len)
{
	char own[16];

	for (uint32_t i = 0; i < cfg->n_hosts; i++) {
		const char *is = own;

		snprintf(own, sizeof(own), "h%u", i + 1);
		if (cfg->names != NULL)
			is = cfg->names[i];
		if (strlen(is) == len && memcmp(is, name, len) == 0)
			return (int)i;
	}
	return -1;
}

/*
 * Reads "192.0.2.1:4791", "192.0.2.1", "2001:db8::1", "[fe80::1%eth0]:4791" …; what is behind the
 * address is left in *rest_p. The caller owns what comes back; NULL: it is no address.
 */
static struct addrinfo *read_address(const char *text, const char **rest_p)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *found = NULL;
	bool bracket = text[0] == '[', v6 = bracket || strchr(text, ':') != strrchr(text, ':');
	size_t len = strcspn(text + bracket, bracket ? "]" : v6 ? "" : ":");
	const char *rest = text + bracket + len;
	char buf[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];

	*rest_p = rest + (bracket && *rest == ']');
	snprintf(buf, sizeof(buf), "%.*s", (int)len, text + bracket);
	if (len >= sizeof(buf) || getaddrinfo(buf, NULL, &hints, &found) != 0)
		return NULL;
	return found;
}

static int take_address(const char *text, struct wf_daemon_wire *wire, struct wf_err *err)
{
	const char *port;
	struct addrinfo *found = read_address(text, &port);

	if (found == NULL)
		return wf_live_err(err, -EINVAL, "weft up: --wire: '%s' is not an IP address",
		                   text);
	memset(wire->gid, 0, sizeof(wire->gid));
	if (found->ai_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)found->ai_addr;

		wire->gid[10] = wire->gid[11] = 0xff;
		memcpy(wire->gid + 12, &in->sin_addr, 4);
	} else {
		const struct sockaddr_in6 *in6 = (const void *)found->ai_addr;

		memcpy(wire->gid, &in6->sin6_addr, 16);
		wire->scope = in6->sin6_scope_id;
	}
	freeaddrinfo(found);
	if (port[0] != '\0' && strcmp(port, ":4791") != 0)
		return wf_live_err(err, -EINVAL,
		                   "weft up: --wire: RoCE v2 is at port 4791, not '%s'", port + 1);
	return 0;
}

/* "h2=192.0.2.1:4791" */
static int take_wire(const char *text, const struct wf_daemon_cfg *cfg, struct wf_daemon_wire *wire,
                     struct wf_err *err)
{
	size_t name = strcspn(text, "=");
	int host;

	if (text[name] == '\0')
		return wf_live_err(err, -EINVAL,
		                   "weft up: --wire: '%s' has no address; write, e.g., "
		                   "h2=192.0.2.1:4791",
		                   text);
	host = host_number(cfg, text, name);
	if (host < 0)
		return wf_live_err(err, -EINVAL, "weft up: --wire: there is no host '%.*s'",
		                   (int)name, text);
	*wire = (struct wf_daemon_wire){ .host = (uint32_t)host };
	return take_address(text + name + 1, wire, err);
}

/* "127.0.0.1:9100", "[::1]:9100" */
static int take_metrics(const char *text, struct wf_daemon_cfg *cfg, struct wf_err *err)
{
	const char *rest = "";
	struct addrinfo *found = read_address(text, &rest);
	struct sockaddr_storage *at = &cfg->metrics;
	char *end = NULL;
	unsigned long port = 0;

	if (rest[0] == ':' && rest[1] >= '0' && rest[1] <= '9')
		port = strtoul(rest + 1, &end, 10);
	if (found == NULL || port == 0 || port > UINT16_MAX || *end != '\0') {
		if (found != NULL)
			freeaddrinfo(found);
		return wf_live_err(err, -EINVAL,
		                   "weft up: --metrics: '%s' is no address; write, e.g., "
		                   "127.0.0.1:9315 or [::1]:9315",
		                   text);
	}
	memcpy(at, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	if (at->ss_family == AF_INET)
		((struct sockaddr_in *)(void *)at)->sin_port = htons((uint16_t)port);
	else
		((struct sockaddr_in6 *)(void *)at)->sin6_port = htons((uint16_t)port);
	return 0;
}

static int take_wires(const char *const *texts, uint32_t n, struct wf_daemon_cfg *cfg,
                      struct wf_daemon_wire wires[WF_LIVE_WIRES], struct wf_err *err)
{
	if (n != 0 && cfg->layer != WF_LIVE_ROCE)
		return wf_live_err(err, -EINVAL,
		                   "weft up: --wire: the wire is RoCE v2, and this fabric is "
		                   "InfiniBand");
	for (uint32_t t = 0, i = cfg->n_wires; t < n; t++, i++) {
		int ret = i == WF_LIVE_WIRES
		                  ? wf_live_err(err, -EINVAL, "weft up: --wire: at most %d",
		                                WF_LIVE_WIRES)
		                  : take_wire(texts[t], cfg, &wires[i], err);

		if (ret != 0)
			return ret;
		for (uint32_t k = 0; k < i; k++) {
			if (wires[k].host == wires[i].host &&
			    wf_live_source(wires[k].gid) == wf_live_source(wires[i].gid))
				return wf_live_err(err, -EINVAL,
				                   "weft up: --wire: '%s': a host has one IPv4 "
				                   "address, one IPv6 address and one that is "
				                   "link-local",
				                   texts[t]);
		}
	}
	cfg->wires = wires;
	cfg->n_wires += n;
	return 0;
}

/* The fabric of a plan, from its file or as it is without one. */
static int read_plan(const struct wf_live_plan *plan, struct wf_scenario *s, struct wf_err *err)
{
	struct wf_scenario_opts opts = { .fabrics = plan->fabric, .programs = true };
	static struct wf_paths paths;
	char text[80];
	int ret;

	snprintf(text, sizeof(text), "topology: {kind: single, hosts: %u, host_rate: 400Gbps}\n",
	         plan->hosts);
	if (plan->file == NULL && plan->fabric == NULL)
		opts.fabrics = WF_LIVE_DEFAULT_FABRIC;
	ret = wf_paths_init(&paths, plan->profiles, err);
	opts.paths = &paths;
	if (ret == 0 && plan->file != NULL)
		ret = wf_scenario_read(s, plan->file, &opts, err);
	else if (ret == 0)
		ret = wf_scenario_parse(s, text, strlen(text), "weft up", &opts, err);
	s->endless = true;
	if (ret == 0)
		ret = wf_scenario_build(s, err);
	if (ret == 0 && s->n_fabrics != 1)
		ret = wf_live_err(err, -EINVAL,
		                  "weft up: a live fabric is one fabric, and there are %u; choose "
		                  "with --fabric",
		                  s->n_fabrics);
	return ret;
}

/* Without a file, nodes are called as they always were. */
static void name_nodes(struct wf_topo *t)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		struct wf_topo_node *node = &t->nodes[i];

		if (node->kind == WF_TOPO_HOST)
			snprintf(node->name, sizeof(node->name), "h%u", node->host + 1);
		else
			snprintf(node->name, sizeof(node->name), "s1");
	}
}

static int take_pace(const struct wf_live_plan *plan, const struct wf_scenario *s,
                     struct wf_daemon_cfg *cfg, struct wf_err *err)
{
	static const char *const names[] = {
		[WF_LIVE_DIRECT] = "direct",
		[WF_LIVE_WALL] = "wall",
		[WF_LIVE_NONE] = "none",
	};
	const char *pace = plan->pace;

	if (pace == NULL)
		pace = plan->file != NULL ? s->cfg.live_pace : "direct";
	for (size_t i = 0; i < WF_ARRAY_SIZE(names); i++) {
		if (strcmp(pace, names[i]) == 0) {
			cfg->pace = (enum wf_live_pace)i;
			return 0;
		}
	}
	return wf_live_err(err, -EINVAL, "weft up: %s: there is no '%.40s'; wall, none or direct",
	                   plan->pace != NULL ? "--pace" : "live.pace", pace);
}

/* The class of packets that have none: RDMA's in most fabrics is the lossless one. */
static uint8_t default_class(const struct wf_scenario *s)
{
	const struct wf_classes *c = &s->fabrics[0].classes;

	if (s->cfg.live_class != WF_PARAM_AUTO)
		return (uint8_t)s->cfg.live_class;
	for (unsigned i = 0; i < c->n && strcmp(s->fabrics[0].cfg.link_layer, "ethernet") == 0;
	     i++) {
		if (c->queue[i].lossless)
			return c->queue[i].id;
	}
	return 0;
}

/* The fabric between the hosts, where it is modelled. */
static int take_model(struct wf_scenario *s, struct wf_sim_cfg *sim, struct wf_daemon_cfg *cfg,
                      struct wf_err *err)
{
	struct wf_fabric_cfg *fabric = &s->fabrics[0].cfg;

	if (strcmp(fabric->header, "rocev1") == 0)
		return wf_live_err(err, -EINVAL,
		                   "weft up: header: in a live fabric, programs choose between "
		                   "rocev1 and rocev2 by the index of their GID");
	/* Programs may send either. */
	if (strcmp(fabric->header, "rocev2") == 0)
		snprintf(fabric->header, sizeof(fabric->header), "roce");
	*sim = (struct wf_sim_cfg){
		.topo = s->fabrics[0].net->topo,
		.fabric = fabric,
		.cc = &s->fabrics[0].values.cc,
		.devices = wf_devices_of(&s->fabrics[0].devices),
		.reconverge = wf_fabric_convergence(&s->fabrics[0].values, s->cfg.reconverge),
		.deadlock_check = s->cfg.deadlock_check,
		.seed = s->cfg.seed,
	};
	cfg->model = sim;
	cfg->err = err;
	cfg->cls = default_class(s);
	sim->faults = s->fabrics[0].events;
	sim->n_faults = s->fabrics[0].n_events;
	if (cfg->pace == WF_LIVE_DIRECT && s->n_faults != 0)
		return wf_live_err(
			err, -EINVAL,
			"weft up: faults: with pace direct nothing is modelled that could "
			"fail; weft fault breaks links of hosts there");
	return 0;
}

/* Whether a manager can manage it: hosts have one port, lanes are as many as it can count. */
static bool can_be_managed(const struct wf_scenario_fabric *fabric)
{
	const struct wf_topo *topo = fabric->net->topo;
	unsigned vls = (unsigned)fabric->cfg.vl_count;

	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		const struct wf_topo_node *node = &topo->nodes[i];

		if (node->n_ports > (node->kind == WF_TOPO_SWITCH ? WF_MANAGED_PORTS : 1))
			return false;
	}
	return wf_ib_vls_decode(wf_ib_vls_encode(vls)) == vls;
}

/* Who manages the fabric. One of InfiniBand that does not say has weft's manager. */
static int take_managed(const struct wf_scenario_fabric *fabric, struct wf_managed_cfg *managed,
                        struct wf_daemon_cfg *cfg, struct wf_err *err)
{
	const struct wf_manage_cfg *manage = &fabric->values.manage;
	bool ib = cfg->layer == WF_LIVE_IB && can_be_managed(fabric);
	enum wf_manage_kind kind;
	struct wf_err why = { "" };
	int ret;

	ib = ib && cfg->pace != WF_LIVE_DIRECT;
	kind = wf_manage_kind_of(manage, ib ? WF_MANAGE_WEFT : WF_MANAGE_IDEAL);
	if (kind == WF_MANAGE_IDEAL)
		return 0;
	if (cfg->pace == WF_LIVE_DIRECT)
		return wf_live_err(err, -EINVAL,
		                   "weft up: sm: with pace direct there is nothing to manage; "
		                   "--pace wall or none models the fabric");
	ret = wf_manage_resolve(manage, kind, fabric->net->topo, managed, &why);
	if (ret != 0)
		return wf_settings_err(&fabric->settings, &fabric->place, &why, err);
	cfg->managed = managed;
	return 0;
}

static int create_daemon(const struct wf_daemon_cfg *cfg, struct wf_daemon **d_p,
                         struct wf_err *err)
{
	int ret = wf_daemon_create(cfg, d_p);

	if (ret == -EEXIST)
		return wf_live_err(err, -EEXIST,
		                   "weft up: a fabric runs at %s already; weft down ends it, "
		                   "--name starts another beside it",
		                   cfg->path);
	if (ret != 0 && err->text[0] == '\0')
		return wf_live_err(err, ret, "weft up: %s%s: %s", cfg->path,
		                   cfg->n_wires != 0 || cfg->metrics.ss_family != AF_UNSPEC
		                           ? ", or --wire or --metrics"
		                           : "",
		                   strerror(-ret));
	return ret;
}

static void free_made(struct made *m)
{
	if (m != NULL) {
		wf_faults_live_fini(&m->faults);
		wf_scenario_fini(&m->s);
	}
	free(m);
}

/* What the daemon has to say: in the background nobody hears it. */
static void say(void *arg, const char *line)
{
	(void)arg;
	fprintf(stderr, "weft up: %s\n", line);
}

/* The daemon of a plan, which borrows what is in *made_p. */
static int make_daemon(const struct wf_live_plan *plan, const char *path, struct wf_daemon **d_p,
                       struct made **made_p, struct wf_err *err)
{
	struct wf_daemon_cfg cfg = { .path = path, .n_hosts = plan->hosts, .say = say };
	struct wf_daemon_wire wires[WF_LIVE_WIRES] = { { .host = 0 } };
	struct made *m = calloc(1, sizeof(*m));
	struct wf_scenario *s = &m->s;
	struct wf_sim_cfg sim;
	int ret;

	if (m == NULL)
		return -ENOMEM;
	ret = read_plan(plan, s, err);
	if (ret == 0 && plan->file == NULL)
		name_nodes(s->fabrics[0].net->topo);
	if (ret == 0)
		ret = take_hosts(s, &cfg);
	if (ret == 0)
		ret = take_pace(plan, s, &cfg, err);
	if (ret == 0) {
		cfg.fabric = s->fabrics[0].label;
		cfg.layer = strcmp(s->fabrics[0].cfg.link_layer, "infiniband") == 0 ? WF_LIVE_IB
		                                                                    : WF_LIVE_ROCE;
		cfg.rate = s->host_rate;
		cfg.mtu = (uint32_t)s->fabrics[0].cfg.mtu;
		ret = take_wires(s->wires, s->n_wires, &cfg, wires, err);
	}
	if (ret == 0)
		ret = take_wires(plan->wires, plan->n_wires, &cfg, wires, err);
	if (ret == 0 && plan->metrics != NULL)
		ret = take_metrics(plan->metrics, &cfg, err);
	if (ret == 0)
		ret = take_model(s, &sim, &cfg, err);
	if (ret == 0)
		ret = take_managed(&s->fabrics[0], &m->managed, &cfg, err);
	if (ret == 0) {
		wf_faults_live_init(&m->faults, s, &s->fabrics[0]);
		cfg.words = &wf_live_words;
		cfg.words_arg = &m->faults;
	}
	if (ret == 0)
		ret = create_daemon(&cfg, d_p, err);
	free((void *)(uintptr_t)cfg.names);
	if (ret == 0)
		*made_p = m;
	else
		free_made(m);
	return ret;
}

/* Serves until told to stop, by a message or a signal. */
static int serve(struct wf_daemon *d)
{
	sigset_t set;
	int fd, ret;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	ret = fd < 0 ? -errno : wf_daemon_run(d, fd);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Serves as long as that process, our parent, lives, and then until no program is left. */
static int serve_parent(struct wf_daemon *d, pid_t parent)
{
	int fd = (int)syscall(SYS_pidfd_open, parent, 0), ret;

	if (fd < 0)
		return -errno;
	/* Else the number may be another's by now. */
	ret = getppid() == parent ? wf_daemon_run_for(d, fd) : 0;
	close(fd);
	return ret;
}

int wf_live_run(const struct wf_live_plan *plan, const char *path, struct wf_err *err)
{
	struct made *m = NULL;
	struct wf_daemon *d;
	int ret = make_daemon(plan, path, &d, &m, err);

	if (ret != 0)
		return ret;
	ret = serve(d);
	wf_daemon_destroy(d);
	free_made(m);
	return ret;
}

/*
 * Closes what the process was started with: whoever reads the other end of such a pipe would wait
 * for the daemon's end. What weft opens itself has FD_CLOEXEC, what was inherited cannot have it.
 */
static void close_inherited(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (fd > 2 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0)
			close(fd);
	}
	if (dir != NULL)
		closedir(dir);
}

/* The daemon has nothing to do with the terminal it was started from. */
static void let_go(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	close_inherited();
	setsid();
	if (chdir("/") != 0 || null < 0)
		return;
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
}

int wf_live_start(const struct wf_live_plan *plan, const char *path, bool tied, struct wf_err *err)
{
	struct made *m = NULL;
	struct wf_daemon *d;
	int ret = make_daemon(plan, path, &d, &m, err);
	pid_t parent = getpid(), pid;

	if (ret != 0)
		return ret;
	pid = fork();
	if (pid < 0) {
		ret = wf_live_err(err, -errno, "weft up: %s", strerror(errno));
		wf_daemon_destroy(d);
		free_made(m);
		return ret;
	}
	if (pid == 0) {
		let_go();
		ret = tied ? serve_parent(d, parent) : serve(d);
		wf_daemon_destroy(d);
		free_made(m);
		_exit(ret == 0 ? 0 : 1);
	}
	wf_daemon_leave(d);
	free_made(m);
	return 0;
}
