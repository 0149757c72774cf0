/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz: runs=1/4 */
/*
 * fuzz_rdma_model.c - the bytes are a verbs program and the faults of its network: what it leaves
 * behind must be what the model of tests/unit/rdma says.
 */
#include "../tests/unit/rdma/model_ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct model_source source = { .bytes = data, .left = size };
	struct model_prog prog;

	if (size < 8)
		return 0;
	model_draw(&source, &prog);
	prog.seed = size;
	model_run(&prog);
	return 0;
}
