/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - objects that travel between shards, found by a number of 32 bits.
 *
 * A number says which shard owns the object (upper 8 bits) and which of its objects it is (lower
 * 24, from 1). Whoever has the number has the object, so no two threads ever touch one at once. It
 * may be given back in any shard: it goes to its owner, who takes back what others gave when it has
 * none left. So there are never many more objects than were in use at once, on any number of
 * threads. Nothing is locked. Which number an object gets may depend on the threads; no result may
 * depend on that.
 */
#ifndef WF_ENGINE_STORE_H
#define WF_ENGINE_STORE_H

#include "engine/engine.h"

#define WF_STORE_MAX_SHARDS 256u

struct wf_store;

/*
 * A store for the shards of an engine, which owns it. Objects have size bytes, a multiple of 8; the
 * first four are the store's while an object is not in use. Returns 0 or -ENOMEM.
 */
int wf_store_create(struct wf_engine *engine, size_t size, struct wf_store **store_p) WF_MUST_USE;

/* Takes an object for a shard. 0: there is no more memory, and the run ends. */
uint32_t wf_store_get(struct wf_store *store, unsigned shard) WF_MUST_USE;

/* The object with a number. */
void *wf_store_at(const struct wf_store *store, uint32_t number);

/* A shard gives an object back, its own or another's. */
void wf_store_put(struct wf_store *store, unsigned shard, uint32_t number);

/* While no node runs: objects that are in use, and those that there are. */
uint64_t wf_store_in_use(const struct wf_store *store);
uint64_t wf_store_made(const struct wf_store *store);

#endif
