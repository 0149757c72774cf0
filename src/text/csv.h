/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h - a cell of a CSV file.
 */
#ifndef WF_TEXT_CSV_H
#define WF_TEXT_CSV_H

#include <stdio.h>
#include <string.h>

/* Writes text as RFC 4180 has it: quoted where it must be. */
static inline void wf_csv_cell(FILE *file, const char *text)
{
	if (strpbrk(text, ",\"\r\n") == NULL) {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

#endif
