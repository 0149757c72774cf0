/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_json.c - SONiC's COUNTERS_DB as JSON, and what show queue counters --json prints.
 *
 *	{ "COUNTERS_QUEUE_NAME_MAP": { "Ethernet0:3": "oid:0x15000000000357" },
 *	  "COUNTERS:oid:0x15000000000357": { "SAI_QUEUE_STAT_PACKETS": "12" } }
 *
 * redis-dump puts the fields into "value" below each key. The text is gone through twice: maps,
 * then counters.
 */
#include <errno.h>
#include <string.h>

#include "base/sort.h"
#include "evidence/read_priv.h"

#define FIRST_ROOM 256

/* An object of the switch: a port, or a queue or priority group of it. */
struct object {
	uint64_t oid;
	struct wf_slice name; /* of the port */
	int queue;
};

struct db {
	struct wf_read *r;
	struct object *objects;
	uint32_t n, room;
	bool other; /* objects in no map were told of */
};

static bool take_oid(struct wf_slice text, uint64_t *oid_p)
{
	struct wf_scan s;

	wf_scan_init(&s, text.at, text.len, "", NULL, NULL);
	return wf_scan_line(&s) && wf_scan_take(&s, "oid:") &&
	       wf_scan_number(&s, 16, UINT64_MAX, oid_p) && s.at == s.stop;
}

/* The last key; of redis-dump's, what is below "value". False: it is not of a table's. */
static bool field_of(const struct wf_json_value *v, struct wf_slice *field_p)
{
	static const char *const of_dump[] = { "type", "ttl", "expireat" };

	if (v->depth != 2 && (v->depth != 3 || !wf_slice_is(v->key[1], "value")))
		return false;
	for (size_t i = 0; i < WF_ARRAY_SIZE(of_dump); i++) {
		if (v->depth == 2 && wf_slice_is(v->key[1], of_dump[i]))
			return false;
	}
	*field_p = v->key[v->depth - 1];
	return true;
}

static int add_object(struct db *db, const struct object *object)
{
	struct wf_mem *mem = db->r->ev->mem;

	if (db->n == db->room) {
		uint32_t room = db->room == 0 ? FIRST_ROOM : db->room * 2;
		struct object *more = mem->alloc(mem, room * sizeof(*more));

		if (more == NULL)
			return -ENOMEM;
		if (db->n > 0)
			memcpy(more, db->objects, db->n * sizeof(*more));
		mem->free(mem, db->objects);
		db->objects = more;
		db->room = room;
	}
	db->objects[db->n++] = *object;
	return 0;
}

static int map_value(void *arg, const struct wf_json_value *v)
{
	static const char *const maps[] = { "COUNTERS_PORT_NAME_MAP", "COUNTERS_QUEUE_NAME_MAP",
		                            "COUNTERS_PG_NAME_MAP", "COUNTERS_VOQ_NAME_MAP",
		                            "COUNTERS_SYSTEM_PORT_NAME_MAP" };
	struct object object = { .queue = WF_EV_NO_QUEUE };
	struct db *db = arg;
	bool is_map = false;

	for (size_t i = 0; i < WF_ARRAY_SIZE(maps); i++)
		is_map |= wf_slice_is(v->key[0], maps[i]);
	if (!is_map || !field_of(v, &object.name) || !take_oid(v->value, &object.oid))
		return 0;
	for (size_t i = object.name.len; i-- > 0;) {
		uint64_t queue;

		if (object.name.at[i] != ':')
			continue;
		if (wf_read_number(
			    (struct wf_slice){ object.name.at + i + 1, object.name.len - i - 1 },
			    &queue) &&
		    queue < 64) {
			object.queue = (int)queue;
			object.name.len = i;
		}
		break;
	}
	return add_object(db, &object);
}

static int by_oid(const void *pa, const void *pb, const void *arg)
{
	const struct object *a = pa, *b = pb;

	(void)arg;
	return a->oid < b->oid ? -1 : a->oid > b->oid;
}

static const struct object *find_object(const struct db *db, uint64_t oid)
{
	uint32_t low = 0, high = db->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (db->objects[mid].oid < oid)
			low = mid + 1;
		else
			high = mid;
	}
	return low < db->n && db->objects[low].oid == oid ? &db->objects[low] : NULL;
}

static void at_value(struct db *db, const struct wf_json_value *v)
{
	struct wf_scan *s = &db->r->scan;

	s->line = v->line;
	s->start = v->value.at - (v->column - 1) - (v->quoted ? 1 : 0);
	s->at = v->value.at;
	s->stop = v->value.at + v->value.len;
}

static int counter_value(struct db *db, const struct wf_json_value *v, const struct object *object,
                         struct wf_slice field)
{
	struct wf_ev_name is;
	uint64_t value;
	uint32_t port;
	int ret;

	at_value(db, v);
	if (wf_slice_is(field, "PFC_WD_STATUS")) {
		is = (struct wf_ev_name){ .counter = WF_EV_wd_stormed, .queue = -1, .by = 1 };
		value = wf_slice_is(v->value, "stormed");
	} else if (!wf_ev_name(WF_EV_SAI, field.at, field.len, &is)) {
		wf_read_unknown(db->r, "counter", field);
		return 0;
	} else if (is.counter == WF_EV_PASSED || wf_slice_is(v->value, "N/A")) {
		return 0;
	} else if (!wf_read_number(v->value, &value)) {
		wf_scan_note(&db->r->scan, "this is no number that a counter can have");
		return 0;
	}
	ret = wf_read_port(db->r, object->name, &port);
	if (ret == 0)
		db->r->ev->devices[db->r->device].kind = WF_EV_SWITCH;
	return ret != 0 ? ret : wf_read_put(db->r, port, object->queue, &is, value);
}

/* {"Ethernet0": {"UC3": {"totalpacket": "1,234"}}} */
static int queue_value(struct db *db, const struct wf_json_value *v)
{
	static const struct {
		const char *name;
		enum wf_ev_counter counter;
	} rows[] = {
		{ "totalpacket", WF_EV_tx_packets },
		{ "totalbytes", WF_EV_tx_bytes },
		{ "droppacket", WF_EV_queue_drops },
		{ "dropbytes", WF_EV_queue_drop_bytes },
	};
	struct wf_slice queue = v->key[1];
	uint64_t value, number;
	uint32_t port;
	int ret = 0;

	while (queue.len > 0 && (*queue.at < '0' || *queue.at > '9')) {
		queue.at++;
		queue.len--;
	}
	at_value(db, v);
	for (size_t i = 0; i < WF_ARRAY_SIZE(rows) && ret == 0; i++) {
		const struct wf_ev_name is = { .counter = rows[i].counter, .queue = -1, .by = 1 };

		if (!wf_slice_is(v->key[2], rows[i].name))
			continue;
		if (wf_slice_is(v->value, "N/A"))
			return 0;
		if (!wf_read_number(v->value, &value) || !wf_read_number(queue, &number) ||
		    number >= 64) {
			wf_scan_note(&db->r->scan, "this is no number that a counter can have");
			return 0;
		}
		ret = wf_read_port(db->r, v->key[0], &port);
		return ret != 0 ? ret : wf_read_put(db->r, port, (int)number, &is, value);
	}
	wf_read_unknown(db->r, "key", v->key[2]);
	return 0;
}

/* Tables beside the counters that say what is not looked at, or the same in another way. */
static bool is_passed(struct wf_slice key)
{
	static const char *const passed[] = { "COUNTERS_",   "RATES",       "CRM",
		                              "PERSISTENT_", "PERIODIC_",   "PORT_PHY_ATTR",
		                              "ACL_COUNTER", "FLEX_COUNTER" };

	for (size_t i = 0; i < WF_ARRAY_SIZE(passed); i++) {
		if (wf_slice_starts(key, passed[i]))
			return true;
	}
	return false;
}

static int db_value(void *arg, const struct wf_json_value *v)
{
	struct db *db = arg;
	struct wf_slice field, oid;
	const struct object *object;
	uint64_t number;
	size_t n;

	if (v->depth == 3 && !wf_slice_is(v->key[1], "value"))
		return queue_value(db, v);
	if (v->depth == 0 || is_passed(v->key[0]) || !field_of(v, &field))
		return 0;
	n = wf_slice_starts(v->key[0], "COUNTERS:")          ? strlen("COUNTERS:")
	    : wf_slice_starts(v->key[0], "USER_WATERMARKS:") ? strlen("USER_WATERMARKS:")
	                                                     : 0;
	oid = (struct wf_slice){ v->key[0].at + n, v->key[0].len - n };
	if (n == 0) {
		at_value(db, v);
		wf_read_unknown(db->r, "table", v->key[0]);
		return 0;
	}
	object = take_oid(oid, &number) ? find_object(db, number) : NULL;
	if (object != NULL)
		return counter_value(db, v, object, field);
	if (!db->other) {
		at_value(db, v);
		wf_scan_note(&db->r->scan, "this is of no port, queue or priority group, and left "
		                           "out, as others of that kind are");
		db->other = true;
	}
	return 0;
}

int wf_read_json(struct wf_read *r, const char *text, size_t len)
{
	struct wf_mem *mem = r->ev->mem;
	struct db db = { .r = r };
	int ret = wf_json_walk(text, len, r->scan.name, map_value, &db, r->scan.err);

	if (ret == 0 && db.n > 0) {
		void *room = mem->alloc(mem, db.n * sizeof(*db.objects));

		if (room == NULL)
			ret = -ENOMEM;
		else
			wf_sort(db.objects, room, db.n, sizeof(*db.objects), by_oid, NULL);
		mem->free(mem, room);
	}
	if (ret == 0)
		ret = wf_json_walk(text, len, r->scan.name, db_value, &db, r->scan.err);
	mem->free(mem, db.objects);
	return ret;
}
