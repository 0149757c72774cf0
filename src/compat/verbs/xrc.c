/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xrc.c - XRC domains, and queue pairs that are opened a second time. A domain that is opened with
 * a file's descriptor is the same wherever the process opens it with that file; those of other
 * processes of the host are known by the file (rdma/xrc.h).
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "compat/verbs/verbs_priv.h"
#include "rdma/xrc.h"

/* What several handles may share; all under the lock of the adapter. */
struct wv_domain {
	struct wv_domain *next;
	struct wf_xrcd *xrcd;
	uint32_t handles;
	bool has_file;
	dev_t dev;
	ino_t ino;
};

static struct wv_domain *domains;

void wv_xrc_forget(void)
{
	while (domains != NULL) {
		struct wv_domain *d = domains;

		domains = d->next;
		free(d);
	}
}

struct wf_xrcd *wv_xrcd(const struct ibv_xrcd *xrcd)
{
	return ((const struct wv_xrcd *)(const void *)xrcd)->domain->xrcd;
}

static struct wv_domain *find(const struct stat *st)
{
	struct wv_domain *d = domains;

	while (d != NULL && (!d->has_file || d->dev != st->st_dev || d->ino != st->st_ino))
		d = d->next;
	return d;
}

/* The domain of that file (NULL: of none), new or as oflags allow. Returns 0 or an errno. */
static int get_domain(struct ibv_context *c, const struct stat *st, int oflags,
                      struct wv_domain **domain_p)
{
	struct wv_domain *d = st != NULL ? find(st) : NULL;
	int ret;

	assert(wf_nic_is_locked(wv_nic(c)) && (d == NULL || d->handles > 0));
	if (d != NULL) {
		if ((oflags & O_EXCL) != 0)
			return EINVAL;
		d->handles++;
		*domain_p = d;
		return 0;
	}
	if (st != NULL && (oflags & O_CREAT) == 0)
		return EAGAIN;
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return ENOMEM;
	ret = wf_xrcd_create(wf_nic_hca(wv_nic(c)), &d->xrcd);
	if (ret != 0) {
		free(d);
		return -ret;
	}
	d->handles = 1;
	d->has_file = st != NULL;
	if (st != NULL) {
		struct wf_xrc_id id = { st->st_dev, st->st_ino };

		wf_xrcd_set_id(d->xrcd, &id);
		d->dev = st->st_dev;
		d->ino = st->st_ino;
	}
	d->next = domains;
	domains = d;
	*domain_p = d;
	return 0;
}

struct ibv_xrcd *wv_open_xrcd(struct ibv_context *c, struct ibv_xrcd_init_attr *attr)
{
	uint32_t all = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct wv_xrcd *xrcd;
	struct stat st;
	int ret;

	if ((attr->comp_mask & ~all) != 0)
		return wv_fail(EOPNOTSUPP);
	if (attr->comp_mask != all || (attr->oflags & ~(O_CREAT | O_EXCL)) != 0)
		return wv_fail(EINVAL);
	if (attr->fd != -1 && fstat(attr->fd, &st) != 0)
		return NULL;
	xrcd = wv_handle_make(sizeof(*xrcd), WV_XRCD);
	if (xrcd == NULL)
		return NULL;
	if (!wv_lock(c)) {
		wv_handle_free(xrcd);
		return wv_fail(EIO);
	}
	ret = get_domain(c, attr->fd != -1 ? &st : NULL, attr->oflags, &xrcd->domain);
	wv_unlock(c);
	if (ret != 0) {
		wv_handle_free(xrcd);
		return wv_fail(ret);
	}
	xrcd->ibv.context = c;
	return &xrcd->ibv;
}

int wv_close_xrcd(struct ibv_xrcd *ibv)
{
	struct wv_xrcd *xrcd = (struct wv_xrcd *)(void *)ibv;
	struct wv_domain *d, **at = &domains;
	int ret = 0;

	if (!wv_handle_is(xrcd, WV_XRCD))
		return EINVAL;
	if (!wv_lock(ibv->context))
		return EIO;
	d = xrcd->domain;
	assert(d->handles > 0);
	if (d->handles == 1)
		ret = wf_xrcd_destroy(d->xrcd);
	if (ret == 0 && --d->handles == 0) {
		while (*at != d) {
			assert(*at != NULL); /* it is one of them */
			at = &(*at)->next;
		}
		*at = d->next;
		free(d);
	}
	wv_unlock(ibv->context);
	if (ret != 0)
		return -ret;
	wv_handle_free(xrcd);
	return 0;
}

/* Another handle of an XRC_RECV queue pair: it lives as long as the last of them. */
struct ibv_qp *wv_open_qp(struct ibv_context *c, struct ibv_qp_open_attr *attr)
{
	uint32_t need = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
	struct wf_qp_init init;
	struct wf_qp_attr now;
	struct wv_qp *qp;
	struct wf_qp *found;

	if ((attr->comp_mask & need) != need || !wv_handle_is(attr->xrcd, WV_XRCD) ||
	    attr->qp_type != IBV_QPT_XRC_RECV)
		return wv_fail(EINVAL);
	qp = wv_handle_make(sizeof(*qp), WV_QP);
	if (qp == NULL)
		return NULL;
	if (!wv_lock(c)) {
		wv_handle_free(qp);
		return wv_fail(EIO);
	}
	found = wf_hca_qp(wf_nic_hca(wv_nic(c)), attr->qp_num);
	if (found != NULL)
		wf_qp_query(found, &now, &init);
	if (found == NULL || init.xrcd != wv_xrcd(attr->xrcd) || wf_qp_user(found) == NULL) {
		wv_unlock(c);
		wv_handle_free(qp);
		return wv_fail(EINVAL);
	}
	qp->qp = found;
	qp->handles = ((struct wv_qp *)wf_qp_user(found))->handles;
	assert(*qp->handles > 0);
	++*qp->handles;
	wv_unlock(c);
	qp->ex.qp_base.context = c;
	qp->ex.qp_base.qp_context =
		(attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT) != 0 ? attr->qp_context : NULL;
	qp->ex.qp_base.qp_num = qp->ex.qp_base.handle = attr->qp_num;
	qp->ex.qp_base.qp_type = IBV_QPT_XRC_RECV;
	qp->ex.qp_base.state = (enum ibv_qp_state)now.qp_state;
	qp->init.qp_type = IBV_QPT_XRC_RECV;
	pthread_mutex_init(&qp->ex.qp_base.mutex, NULL);
	pthread_cond_init(&qp->ex.qp_base.cond, NULL);
	return &qp->ex.qp_base;
}
