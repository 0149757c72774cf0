/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - cmocka with the headers it needs, and nothing else.
 */
#ifndef WF_TESTS_CHECK_H
#define WF_TESTS_CHECK_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#endif
