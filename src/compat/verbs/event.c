/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.c - completion channels and asynchronous events. Their descriptors are eventfds that count
 * what waits, so programs can poll them, make them non-blocking and wait on them with others.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "compat/cm/ucma.h"
#include "compat/verbs/verbs_priv.h"

_Static_assert((int)WF_EVENT_CQ_ERR == (int)IBV_EVENT_CQ_ERR &&
                       (int)WF_EVENT_PORT_ERR == (int)IBV_EVENT_PORT_ERR &&
                       (int)WF_EVENT_GID_CHANGE == (int)IBV_EVENT_GID_CHANGE,
               "events keep their numbers");

static void count_up(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n;
}

/* Takes one off; waits as the descriptor says. Returns 0 or an errno. */
static int count_down(int fd)
{
	uint64_t one;

	return read(fd, &one, sizeof(one)) == (ssize_t)sizeof(one) ? 0 : errno;
}

/* The same for what is taken out unread, without waiting: a reader may have been faster. */
static void count_back(int fd)
{
	uint64_t one;
	struct iovec iov = { .iov_base = &one, .iov_len = sizeof(one) };
	ssize_t n = preadv2(fd, &iov, 1, -1, RWF_NOWAIT);

	(void)n;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c)
{
	struct wv_channel *ch = wv_handle_make(sizeof(*ch), WV_CHANNEL);

	if (ch == NULL)
		return NULL;
	ch->ibv.context = c;
	ch->ibv.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (ch->ibv.fd < 0) {
		int error = errno;

		wv_handle_free(ch);
		return wv_fail(error);
	}
	return &ch->ibv;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct wv_channel *ch = (struct wv_channel *)(void *)channel;

	if (!wv_handle_is(ch, WV_CHANNEL))
		return EINVAL;
	if (ch->ibv.refcnt != 0)
		return EBUSY;
	wv_handle_remove(ch);
	close(ch->ibv.fd);
	free(ch->ready);
	free(ch);
	return 0;
}

/* Between calls, and under the lock. */
static void assert_channel(const struct wv_channel *ch)
{
	assert(wf_nic_is_locked(wv_nic(ch->ibv.context)));
	assert(ch->n <= ch->max && (ch->max == 0 || ch->head < ch->max));
	assert((ch->ready == NULL) == (ch->max == 0) && ch->ibv.refcnt >= 0);
	for (uint32_t i = 0; i < ch->n; i++)
		assert(ch->ready[(ch->head + i) % ch->max]->channel == &ch->ibv);
	(void)ch;
}

static void assert_asyncs(const struct wv_context *c)
{
#ifndef NDEBUG
	struct wv_async *const *at = &c->async;

	assert(wf_nic_is_locked(c->nic));
	while (*at != NULL)
		at = &(*at)->next;
	assert(c->async_tail == at);
#else
	(void)c;
#endif
}

static void channel_add(struct wv_channel *ch, struct ibv_cq *cq)
{
	assert_channel(ch);
	if (ch->n == ch->max) {
		uint32_t max = ch->max != 0 ? 2 * ch->max : 16;
		struct ibv_cq **more = calloc(max, sizeof(struct ibv_cq *));

		if (more == NULL)
			return;
		for (uint32_t i = 0; i < ch->n; i++)
			more[i] = ch->ready[(ch->head + i) % ch->max];
		free(ch->ready);
		ch->ready = more;
		ch->head = 0;
		ch->max = max;
	}
	assert(cq->channel == &ch->ibv);
	ch->ready[(ch->head + ch->n++) % ch->max] = cq;
	count_up(ch->ibv.fd);
}

void wv_on_completion(void *arg, struct wf_cq *cq)
{
	struct wv_cq *wcq = wf_cq_user(cq);

	(void)arg;
	if (wcq != NULL && wcq->ex.channel != NULL)
		channel_add((struct wv_channel *)(void *)wcq->ex.channel, wv_ibv_cq(wcq));
}

void wv_channel_purge(struct wv_channel *ch, const struct ibv_cq *cq)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < ch->n; i++) {
		struct ibv_cq *at = ch->ready[(ch->head + i) % ch->max];

		if (at == cq)
			count_back(ch->ibv.fd);
		else
			ch->ready[(ch->head + kept++) % ch->max] = at;
	}
	ch->n = kept;
	assert_channel(ch);
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct wv_channel *ch = (struct wv_channel *)(void *)channel;
	struct ibv_cq *found = NULL;

	while (found == NULL) {
		int error = count_down(channel->fd);

		if (error != 0) {
			errno = error;
			return -1;
		}
		if (!wv_lock(channel->context)) {
			errno = EIO;
			return -1;
		}
		if (ch->n != 0) {
			found = ch->ready[ch->head];
			ch->head = (ch->head + 1) % ch->max;
			ch->n--;
		}
		if (found != NULL)
			wv_cq(found)->notices++;
		wv_unlock(channel->context);
	}
	*cq = found;
	*cq_context = found->cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += n;
	pthread_cond_broadcast(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}

int wv_async_open(struct wv_context *c)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);

	if (fd < 0)
		return -errno;
	c->v.context.async_fd = fd;
	c->async_tail = &c->async;
	return 0;
}

void wv_async_close(struct wv_context *c)
{
	while (c->async != NULL) {
		struct wv_async *a = c->async;

		c->async = a->next;
		free(a);
	}
	close(c->v.context.async_fd);
}

static void async_add(struct wv_context *c, const struct ibv_async_event *event)
{
	struct wv_async *a = calloc(1, sizeof(*a));

	assert_asyncs(c);
	if (a == NULL)
		return;
	a->event = *event;
	*c->async_tail = a;
	c->async_tail = &a->next;
	count_up(c->v.context.async_fd);
}

void wv_on_event(void *arg, const struct wf_event *event)
{
	struct ibv_async_event e = { .event_type = (enum ibv_event_type)event->type };

	(void)arg;
	if (event->type == WF_EVENT_CQ_ERR) {
		struct wv_cq *cq = wf_cq_user(event->cq);

		e.element.cq = wv_ibv_cq(cq);
		async_add(wv_context(cq->ex.context), &e);
	} else if (event->type == WF_EVENT_SRQ_ERR || event->type == WF_EVENT_SRQ_LIMIT_REACHED) {
		struct wv_srq *srq = wf_srq_user(event->srq);

		e.element.srq = &srq->ibv;
		async_add(wv_context(srq->ibv.context), &e);
	} else if (event->type <= WF_EVENT_PATH_MIG_ERR ||
	           event->type == WF_EVENT_QP_LAST_WQE_REACHED) {
		struct wv_qp *qp = wf_qp_user(event->qp);

		if (qp == NULL)
			return;
		e.element.qp = &qp->ex.qp_base;
		async_add(wv_context(qp->ex.qp_base.context), &e);
	} else {
		e.element.port_num = WV_PORT;
		if (event->type == WF_EVENT_DEVICE_FATAL)
			wv_ucma_removed();
		for (struct wv_context *c = wv_contexts(); c != NULL; c = c->next)
			async_add(c, &e);
	}
}

/* The counter that an event of this kind is counted in; NULL for the port's. */
static uint32_t *asyncs_of(const struct ibv_async_event *event, uint32_t **completed_p,
                           pthread_mutex_t **mutex_p, pthread_cond_t **cond_p)
{
	struct ibv_qp *qp = event->element.qp;
	struct ibv_cq *cq = event->element.cq;
	struct ibv_srq *srq = event->element.srq;

	switch ((int)event->event_type) {
	case IBV_EVENT_CQ_ERR:
		*completed_p = &cq->async_events_completed;
		*mutex_p = &cq->mutex;
		*cond_p = &cq->cond;
		return &wv_cq(cq)->asyncs;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		*completed_p = &srq->events_completed;
		*mutex_p = &srq->mutex;
		*cond_p = &srq->cond;
		return &((struct wv_srq *)(void *)srq)->asyncs;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		*completed_p = &qp->events_completed;
		*mutex_p = &qp->mutex;
		*cond_p = &qp->cond;
		return &wv_qp(qp)->asyncs;
	default:
		return NULL;
	}
}

int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *event)
{
	struct wv_context *wc = wv_context(c);
	struct wv_async *a = NULL;

	while (a == NULL) {
		pthread_mutex_t *mutex;
		pthread_cond_t *cond;
		uint32_t *completed, *count;
		int error = count_down(c->async_fd);

		if (error != 0 || !wv_lock(c)) {
			errno = error != 0 ? error : EIO;
			return -1;
		}
		a = wc->async;
		if (a != NULL) {
			wc->async = a->next;
			if (wc->async == NULL)
				wc->async_tail = &wc->async;
			count = asyncs_of(&a->event, &completed, &mutex, &cond);
			if (count != NULL)
				(*count)++;
		}
		wv_unlock(c);
	}
	*event = a->event;
	free(a);
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	pthread_mutex_t *mutex;
	pthread_cond_t *cond;
	uint32_t *completed;

	if (asyncs_of(event, &completed, &mutex, &cond) == NULL)
		return;
	pthread_mutex_lock(mutex);
	++*completed;
	pthread_cond_broadcast(cond);
	pthread_mutex_unlock(mutex);
}

void wv_async_purge(struct wv_context *c, const void *object)
{
	struct wv_async **at = &c->async;

	while (*at != NULL) {
		struct wv_async *a = *at;

		if (a->event.element.qp == object) {
			*at = a->next;
			free(a);
			count_back(c->v.context.async_fd);
		} else {
			at = &a->next;
		}
	}
	c->async_tail = at;
	assert_asyncs(c);
}
