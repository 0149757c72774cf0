/* SPDX-License-Identifier: Apache-2.0 */
/* read.c - which form a text has. */
#include "subnet/read.h"

#include <errno.h>
#include <string.h>

#include "subnet/scan.h"

static const struct wf_subnet_form *const all_forms[] = { &wf_subnet_ibnetdiscover,
	                                                  &wf_subnet_ports, &wf_subnet_db_csv,
	                                                  NULL };

const struct wf_subnet_form *const *wf_subnet_forms(void)
{
	return all_forms;
}

/* "CA   134  1 0x7cfe9003003b4bde 4x EDR" */
static bool is_port_line(struct wf_scan *s)
{
	uint64_t number;

	if (!wf_scan_take(s, "CA ") && !wf_scan_take(s, "SW ") && !wf_scan_take(s, "RT "))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		wf_scan_blanks(s);
		if (!wf_scan_number(s, 10, UINT16_MAX, &number))
			return false;
	}
	wf_scan_blanks(s);
	return wf_scan_take(s, "0x");
}

const struct wf_subnet_form *wf_subnet_form_of(const char *text, size_t len)
{
	struct wf_scan s;

	wf_scan_init(&s, text, len, "", NULL, NULL);
	while (wf_scan_line(&s)) {
		if (!wf_scan_blanks(&s) || *s.at == '#')
			continue;
		if (wf_scan_take(&s, "START_"))
			return &wf_subnet_db_csv;
		if (is_port_line(&s))
			return &wf_subnet_ports;
		if (wf_scan_take(&s, "Switch") || wf_scan_take(&s, "Ca") ||
		    wf_scan_take(&s, "vendid="))
			break;
	}
	return &wf_subnet_ibnetdiscover;
}

int wf_subnet_read(const char *text, size_t len, const char *name, const struct wf_subnet_ear *ear,
                   struct wf_mem *mem, struct wf_subnet **subnet_p, struct wf_err *err)
{
	struct wf_subnet *subnet;
	int ret = wf_subnet_create(mem, &subnet);

	if (ret != 0)
		return ret;
	ret = wf_subnet_form_of(text, len)->read(subnet, text, len, name, ear, err);
	if (ret != 0)
		wf_subnet_destroy(subnet);
	else
		*subnet_p = subnet;
	return ret;
}
