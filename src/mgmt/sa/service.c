/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.c - ServiceRecord: what programs offer, for as long as they have said. A record is known
 * by its ID, GID and P_Key (15.2.5.14).
 */
#include <string.h>

#include "mgmt/sa/sa_priv.h"

#define FOR_EVER UINT32_MAX
#define MULTICAST_BYTE 0xff
#define DEFAULT_KEY 0xffff

static void drop(struct wf_sa *sa, struct wf_sa_service **at)
{
	struct wf_sa_service *s = *at;

	*at = s->next;
	sa->mem->free(sa->mem, s);
}

/* ---- leases ---- */

void wf_sa_services_tick(struct wf_sa *sa)
{
	struct wf_sa_service **at = &sa->services;

	while (*at != NULL) {
		if ((*at)->until <= sa->now)
			drop(sa, at);
		else
			at = &(*at)->next;
	}
}

wf_time wf_sa_services_deadline(const struct wf_sa *sa)
{
	wf_time at = WF_TIME_NEVER;

	for (const struct wf_sa_service *s = sa->services; s != NULL; s = s->next)
		at = wf_min_time(at, s->until);
	return at;
}

void wf_sa_services_lose(struct wf_sa *sa, uint64_t guid)
{
	struct wf_sa_service **at = &sa->services;

	while (*at != NULL) {
		const uint8_t *gid = (*at)->record.gid;

		if (gid[0] != MULTICAST_BYTE && wf_sa_gid_guid(gid) == guid)
			drop(sa, at);
		else
			at = &(*at)->next;
	}
}

void wf_sa_services_drop(struct wf_sa *sa)
{
	while (sa->services != NULL)
		drop(sa, &sa->services);
}

/* What a lease is when somebody asks: what is left of it, in seconds that have begun. */
static uint32_t lease_left(const struct wf_sa *sa, const struct wf_sa_service *s)
{
	return s->until == WF_TIME_NEVER ? FOR_EVER
	                                 : (uint32_t)((s->until - sa->now + WF_S - 1) / WF_S);
}

/* ---- records ---- */

static struct wf_sa_service **find(struct wf_sa *sa, const struct wf_service_record *r)
{
	struct wf_sa_service **at = &sa->services;

	while (*at != NULL && ((*at)->record.service_id != r->service_id ||
	                       memcmp((*at)->record.gid, r->gid, sizeof(r->gid)) != 0 ||
	                       (*at)->record.pkey != r->pkey))
		at = &(*at)->next;
	return at;
}

/* The key of a service is for those who are trusted. */
static void add(struct wf_sa *sa, struct wf_sa_req *req, const struct wf_service_record *record)
{
	struct wf_service_record r = *record;

	if (!req->trusted)
		memset(r.key, 0, sizeof(r.key));
	wf_sa_add(sa, req, &wf_service_record_layout, &r);
}

/* Who registers a service, and where it is, are in its partition. */
static bool may_register(const struct wf_sa *sa, const struct wf_sa_req *req,
                         const struct wf_service_record *r)
{
	uint32_t port;

	if (!wf_sa_has(req, WF_SERVICE_C_PKEY))
		return true;
	if (!wf_sa_has_key(sa, req->port, r->pkey))
		return false;
	if (!wf_sa_has(req, WF_SERVICE_C_GID) || r->gid[0] == MULTICAST_BYTE)
		return true;
	port = wf_sa_by_guid(req->view, wf_sa_gid_guid(r->gid));
	return port != WF_SUBNET_NONE && wf_sa_has_key(sa, port, r->pkey);
}

/* Leases that are longer than time goes are for ever, too. */
static wf_time end_of(wf_time now, uint32_t lease)
{
	return (WF_TIME_NEVER - now) / WF_S < lease ? WF_TIME_NEVER : now + lease * WF_S;
}

static uint16_t set(struct wf_sa *sa, struct wf_sa_req *req, struct wf_service_record *r)
{
	struct wf_sa_service **at = find(sa, r), *s = *at;

	if (!wf_sa_has(req, WF_SERVICE_C_ID) || !wf_sa_has(req, WF_SERVICE_C_GID))
		return WF_SA_REQ_INVALID;
	if (!wf_sa_has(req, WF_SERVICE_C_LEASE))
		r->lease = FOR_EVER;
	if (s == NULL) {
		s = sa->mem->alloc(sa->mem, sizeof(*s));
		if (s == NULL)
			return WF_SA_NO_RESOURCES;
		s->next = sa->services;
		sa->services = s;
	}
	s->record = *r;
	s->until = end_of(sa->now, r->lease);
	if (!wf_sa_has(req, WF_SERVICE_C_PKEY))
		r->pkey = DEFAULT_KEY;
	add(sa, req, r);
	return 0;
}

static uint16_t delete (struct wf_sa *sa, struct wf_sa_req *req, const struct wf_service_record *r)
{
	struct wf_sa_service **at = find(sa, r);

	if (*at == NULL)
		return WF_SA_NO_RECORDS;
	add(sa, req, &(*at)->record);
	drop(sa, at);
	return 0;
}

uint16_t wf_sa_answer_service(struct wf_sa *sa, struct wf_sa_req *req)
{
	uint64_t mask = req->sa.comp_mask;
	struct wf_service_record r;

	wf_service_record_decode(req->data, &r);
	wf_sa_services_tick(sa);
	if (req->head.method == WF_MAD_METHOD_SET)
		return may_register(sa, req, &r) ? set(sa, req, &r) : WF_SA_REQ_INVALID;
	if (req->head.method == WF_MAD_METHOD_DELETE)
		return may_register(sa, req, &r) ? delete (sa, req, &r) : WF_SA_REQ_INVALID;
	for (const struct wf_sa_service *s = sa->services; s != NULL; s = s->next) {
		struct wf_service_record has = s->record;

		has.lease = lease_left(sa, s);
		if (wf_layout_matches(&wf_service_record_layout, &has, &r,
		                      wf_sa_but(mask, WF_SERVICE_C_LEASE)) &&
		    wf_sa_has_key(sa, req->port, has.pkey))
			add(sa, req, &has);
	}
	return 0;
}
