/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relax.h - what a thread does between two looks at a word that another one writes.
 */
#ifndef WF_BASE_RELAX_H
#define WF_BASE_RELAX_H

#include <stdatomic.h>

/* Lets the CPU's other thread have more of it, where the CPU has a way to say so. */
static inline void wf_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#else
	atomic_signal_fence(memory_order_seq_cst);
#endif
}

#endif
