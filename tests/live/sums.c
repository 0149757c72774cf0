/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.c - an MPI program whose results can be checked: collectives, messages of all sizes,
 * one-sided.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX (1 << 18)

static int rank, ranks, wrong;

static void check(int ok, const char *what, int n)
{
	if (!ok) {
		fprintf(stderr, "rank %d: %s of %d: wrong\n", rank, what, n);
		wrong = 1;
	}
}

static int value(int from, int i)
{
	return from * 1000003 + i * 17;
}

static void all_reduce(int n, int *in, int *out)
{
	int ok = 1;

	for (int i = 0; i < n; i++)
		in[i] = rank + i;
	MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		ok &= out[i] == ranks * (ranks - 1) / 2 + ranks * i;
	check(ok, "all-reduce", n);
}

static void all_to_all(int n, int *in, int *out)
{
	int ok = 1;

	for (int to = 0; to < ranks; to++) {
		for (int i = 0; i < n; i++)
			in[to * n + i] = value(rank, to * n + i);
	}
	MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
	for (int from = 0; from < ranks; from++) {
		for (int i = 0; i < n; i++)
			ok &= out[from * n + i] == value(from, rank * n + i);
	}
	check(ok, "all-to-all", n);
}

static void ring(int n, int *in, int *out)
{
	int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks, ok = 1;

	for (int i = 0; i < n; i++)
		in[i] = value(rank, i);
	MPI_Sendrecv(in, n, MPI_INT, right, 7, out, n, MPI_INT, left, 7, MPI_COMM_WORLD,
	             MPI_STATUS_IGNORE);
	for (int i = 0; i < n; i++)
		ok &= out[i] == value(left, i);
	check(ok, "ring", n);
}

static void one_sided(void)
{
	long counter = 0, one = 1;
	MPI_Win window;

	MPI_Win_create(&counter, sizeof(counter), sizeof(counter), MPI_INFO_NULL, MPI_COMM_WORLD,
	               &window);
	MPI_Win_fence(0, window);
	for (int to = 0; to < ranks; to++)
		MPI_Accumulate(&one, 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_SUM, window);
	MPI_Win_fence(0, window);
	check(counter == ranks, "accumulate", ranks);
	MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
	int *in = malloc(MAX * sizeof(*in)), *out = malloc(MAX * sizeof(*out));
	int any = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	check(in != NULL && out != NULL && ranks == 8, "start", ranks);
	for (int n = 1; n <= MAX / 8 && !wrong; n *= 8) {
		all_reduce(n, in, out);
		all_to_all(n, in, out);
		ring(n, in, out);
	}
	one_sided();
	MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Finalize();
	free(in);
	free(out);
	return any;
}
