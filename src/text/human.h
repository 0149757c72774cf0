/* SPDX-License-Identifier: Apache-2.0 */
/*
 * human.h - numbers as people read them: four digits and a unit, or commas between the thousands.
 */
#ifndef WF_TEXT_HUMAN_H
#define WF_TEXT_HUMAN_H

#include "base/base.h"

#define WF_HUMAN 40 /* bytes that hold any of them */

/* "1.250 us" */
void wf_human_time(uint64_t ps, char *buf, size_t size);

/* "64.00 KB", in steps of 1000 */
void wf_human_bytes(uint64_t bytes, char *buf, size_t size);

/* "1,234,567" */
void wf_human_count(uint64_t n, char *buf, size_t size);

#define WF_HUMAN_REAL 32 /* bytes a number takes */

/* A finite number in as few digits as say which it is; reading it back gives the same. */
void wf_human_real(double v, char buf[WF_HUMAN_REAL]);

#endif
