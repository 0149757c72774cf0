/* SPDX-License-Identifier: Apache-2.0 */
/* attr_test.h - every layout of management's attributes, and members by name. */
#ifndef WF_TESTS_ATTR_TEST_H
#define WF_TESTS_ATTR_TEST_H

#include "wire_test.h"

#include "wire/congestion.h"
#include "wire/sa.h"

#define ATTR_MAX 2048 /* bytes of a struct */

#define ATTR_ADDRESS(s) &wf_##s##_layout,

static const struct wf_layout *const attr_layouts[] = {
	WF_SMP_LAYOUTS(ATTR_ADDRESS) WF_NOTICE_LAYOUTS(ATTR_ADDRESS) WF_PERF_LAYOUTS(ATTR_ADDRESS)
		WF_SA_LAYOUTS(ATTR_ADDRESS) WF_CONG_LAYOUTS(ATTR_ADDRESS)
};

/* The row of "member" or "member.member", and where its struct begins. An array has one row. */
static inline const struct wf_field *attr_row(const struct wf_layout *layout, const char *path,
                                              size_t *base_p)
{
	size_t len = strcspn(path, ".");

	for (unsigned i = 0; i < layout->n_fields; i++) {
		const struct wf_field *f = &layout->fields[i];

		if (strlen(f->name) != len || strncmp(f->name, path, len) != 0)
			continue;
		if (path[len] == '\0')
			return f;
		assert_non_null(f->sub);
		*base_p += f->at;
		return attr_row(f->sub, path + len + 1, base_p);
	}
	fail_msg("%s has no member %s", layout->name, path);
	return NULL;
}

/* Where element i of a member is, and its row. */
static inline const uint8_t *attr_member(const struct wf_layout *layout, const void *attr,
                                         const char *path, unsigned i, const struct wf_field **f_p)
{
	size_t base = 0;
	const struct wf_field *f = attr_row(layout, path, &base);

	assert_true(i < f->count);
	*f_p = f;
	return (const uint8_t *)attr + base + f->at + i * f->size;
}

/* The number that element i of a member is. */
static inline uint64_t attr_number(const struct wf_layout *layout, const void *attr,
                                   const char *path, unsigned i)
{
	const struct wf_field *f;
	const uint8_t *at = attr_member(layout, attr, path, i, &f);
	uint64_t v = 0;

	assert_true(f->size <= 8 && f->sub == NULL);
	/* the hosts that weft is built for are little-endian */
	memcpy(&v, at, f->size);
	return v;
}

#endif
