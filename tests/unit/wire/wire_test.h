/* SPDX-License-Identifier: Apache-2.0 */
/* wire_test.h - what the tests of wire share: random numbers, random packets, files. */
#ifndef WF_TESTS_WIRE_TEST_H
#define WF_TESTS_WIRE_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "wire/headers.h"
#include "wire/opcode.h"

#define TEST_PACKET_MAX 8192

struct test_rnd {
	uint64_t key;
	uint64_t n;
};

static inline struct test_rnd test_rnd_seed(uint64_t seed)
{
	return (struct test_rnd){ .key = wf_rand_key(seed, 0, 0) };
}

static inline uint64_t test_rnd64(struct test_rnd *r)
{
	return wf_rand64(r->key, r->n++);
}

static inline uint32_t test_rnd_below(struct test_rnd *r, uint32_t n)
{
	return wf_rand_below(test_rnd64(r), n);
}

static inline void test_rnd_fill(struct test_rnd *r, void *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)p)[i] = (uint8_t)test_rnd64(r);
}

/* Random values for all that wf_headers_complete() leaves alone, in the headers that are there. */
static inline void test_rnd_headers(struct test_rnd *r, enum wf_encap encap, uint8_t op,
                                    struct wf_headers *h)
{
	uint8_t bytes[WF_IPV6_LEN];

	memset(h, 0, sizeof(*h));
	h->encap = encap;
	h->has_vlan = wf_encap_is_eth(encap) && encap != WF_ENCAP_PFC && test_rnd_below(r, 2) != 0;
	test_rnd_fill(r, bytes, sizeof(bytes));
	wf_eth_decode(bytes, &h->eth);
	wf_vlan_decode(bytes + 14, &h->vlan);
	test_rnd_fill(r, bytes, sizeof(bytes));
	wf_ipv4_decode(bytes, &h->ipv4);
	h->ipv4.frag &= 0xc000;
	wf_udp_decode(bytes + WF_IPV4_LEN, &h->udp);
	test_rnd_fill(r, bytes, sizeof(bytes));
	wf_ipv6_decode(bytes, &h->ipv6);
	test_rnd_fill(r, bytes, sizeof(bytes));
	wf_lrh_decode(bytes, &h->lrh);
	h->lrh.lver = 0;
	wf_pfc_decode(bytes + 8, &h->pfc);
	wf_fcp_decode(bytes + 32, &h->fcp);
	h->fcp.op &= 1;
	test_rnd_fill(r, bytes, sizeof(bytes));
	wf_bth_decode(bytes, &h->bth);
	h->bth.opcode = op;
	h->bth.tver = 0;
	wf_rdeth_decode(bytes + 12, &h->rdeth);
	wf_xrceth_decode(bytes + 16, &h->xrceth);
	wf_deth_decode(bytes + 20, &h->deth);
	test_rnd_fill(r, bytes, sizeof(bytes));
	wf_atomiceth_decode(bytes, &h->atomiceth);
	wf_aeth_decode(bytes + 28, &h->aeth);
	test_rnd_fill(r, bytes, sizeof(bytes));
	wf_reth_decode(bytes, &h->reth);
	h->atomic_orig = test_rnd64(r);
	h->imm = (uint32_t)test_rnd64(r);
	h->inv_rkey = (uint32_t)test_rnd64(r);
	test_rnd_fill(r, h->cnp, sizeof(h->cnp));
}

/* A payload length that the opcode can carry: 0, or often short, at times long. */
static inline uint16_t test_rnd_length(struct test_rnd *r, uint8_t op)
{
	if (!wf_op_has_payload(op))
		return 0;
	return (uint16_t)test_rnd_below(r, test_rnd_below(r, 4) == 0 ? WF_MTU_MAX + 1 : 40);
}

/* The whole file, which the caller frees. */
static inline uint8_t *test_read_file(const char *path, size_t *len_p)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes;
	long size;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	assert_true(size >= 0);
	rewind(file);
	bytes = malloc((size_t)size + 1);
	assert_non_null(bytes);
	*len_p = fread(bytes, 1, (size_t)size, file);
	assert_int_equal(*len_p, size);
	bytes[size] = 0;
	fclose(file);
	return bytes;
}

#endif
