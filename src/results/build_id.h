/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id.h - which sources this program was built of, as far as they have a part in results.
 */
#ifndef WF_RESULTS_BUILD_ID_H
#define WF_RESULTS_BUILD_ID_H

#define WF_BUILD_ID_SHORT 12 /* digits of it that people are shown */

/*
 * A hash of 64 hexadecimal digits over the sources of what simulates, records and compares: equal
 * in all builds of a commit, with any compiler and options. cmake/build_id.cmake makes it.
 */
const char *wf_build_id(void);

#endif
