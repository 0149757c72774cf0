/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_subnet_part.c - partitions.conf may be any text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "subnet/part.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wf_part_port port = { .guid = 0x11, .kind = 1, .self = true };
	struct wf_err err = { "" };
	struct wf_parts *parts;
	uint16_t keys[4], first;
	char *text = malloc(size + 1);

	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (wf_parts_read(wf_mem_heap(), text, "fuzz", &parts, &err) == 0) {
		/* Every port is in the default partition. */
		if (wf_parts_pkeys(parts, &port, keys, 4, &first) == 0 || first == 0)
			abort();
		wf_parts_destroy(parts);
	} else if (strncmp(err.text, "fuzz:", 5) != 0) {
		abort();
	}
	free(text);
	return 0;
}
