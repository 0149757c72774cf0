/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - runs a fuzzer without libFuzzer, in builds that others' tests run in, too: every kept
 * input as it is, then so many that are made of them by chance, which is the same each time.
 *
 *	fuzz_x RUNS [CORPUS [DICTIONARY]]
 *
 * An input that fails is written to found-fuzz_x in the working folder, for fuzz_x of the fuzz
 * preset, which looks for new ways (make fuzz).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/base.h"

#define LEAST_MAX 4096 /* bytes that an input may grow to, if no kept one is longer */
#define MOST_INPUTS 4096
#define MOST_WORDS 1024
#define MOST_CHANGES 8 /* of one input */
#define DRAWN 16       /* inputs to begin with, where none are kept */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
	__attribute__((weak));
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

struct bytes {
	uint8_t *data;
	size_t size;
};

static struct bytes input[MOST_INPUTS], word[MOST_WORDS];
static size_t n_inputs, n_words;
static struct bytes now; /* the input that is being run */
static char found[256];
static uint64_t key, draws;

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "replay: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- what fails ---- */

static void keep(void)
{
	int fd = open(found, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	static const char told[] = "replay: the input is in ";

	if (fd < 0 || write(fd, now.data, now.size) != (ssize_t)now.size)
		return;
	close(fd);
	if (write(2, told, sizeof(told) - 1) < 0 || write(2, found, strlen(found)) < 0 ||
	    write(2, "\n", 1) < 0)
		return;
}

static void take_abort(int number)
{
	keep();
	signal(number, SIG_DFL);
	raise(number);
}

static void run(const uint8_t *data, size_t size)
{
	/* Memory of exactly that size, so that reading behind its end is seen. */
	now.data = malloc(size != 0 ? size : 1);
	if (now.data == NULL)
		die("malloc");
	now.size = size;
	memcpy(now.data, data, size);
	(void)LLVMFuzzerTestOneInput(now.data, size);
	free(now.data);
	now = (struct bytes){ NULL, 0 };
}

/* ---- what is read ---- */

static struct bytes read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct bytes b = { NULL, 0 };
	long size;

	if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0)
		die(path);
	rewind(f);
	b.size = (size_t)size;
	b.data = malloc(b.size + 1);
	if (b.data == NULL || fread(b.data, 1, b.size, f) != b.size)
		die(path);
	fclose(f);
	b.data[b.size] = '\0';
	return b;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_corpus(const char *folder)
{
	struct dirent **entry;
	int n = scandir(folder, &entry, NULL, by_name);
	char path[4096];

	if (n < 0)
		die(folder);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name);
		if (entry[i]->d_name[0] != '.' && n_inputs < MOST_INPUTS)
			input[n_inputs++] = read_file(path);
		free(entry[i]);
	}
	free(entry);
}

/* A line of a dictionary: "text", in which \xNN, \\ and \" stand for bytes. Returns the length. */
static size_t unquote(const char *from, uint8_t *to)
{
	size_t n = 0;

	for (; *from != '"' && *from != '\0'; n++) {
		unsigned byte = (uint8_t)*from++;

		if (byte == '\\' && from[0] == 'x' && sscanf(from + 1, "%2x", &byte) == 1)
			from += 3;
		else if (byte == '\\' && *from != '\0')
			byte = (uint8_t)*from++;
		to[n] = (uint8_t)byte;
	}
	return n;
}

static void read_words(const char *path)
{
	char *text = (char *)read_file(path).data, *rest = text, *line;

	while ((line = strsep(&rest, "\n")) != NULL && n_words < MOST_WORDS) {
		char *begin = strchr(line, '"');
		struct bytes *w = &word[n_words];

		if (line[0] == '#' || begin == NULL)
			continue;
		w->data = malloc(strlen(begin));
		if (w->data == NULL)
			die("malloc");
		w->size = unquote(begin + 1, w->data);
		n_words += w->size != 0;
	}
	free(text);
}

/* ---- what is made ---- */

static uint32_t draw(size_t n)
{
	return wf_rand_below(wf_rand64(key, draws++), (uint32_t)n);
}

/* None are kept: bytes by chance, from none to as many as fit. */
static void draw_inputs(void)
{
	for (size_t i = 0; i < DRAWN; i++) {
		struct bytes *b = &input[n_inputs++];

		b->size = i * LEAST_MAX / (DRAWN - 1);
		b->data = malloc(b->size + 1);
		if (b->data == NULL)
			die("malloc");
		for (size_t k = 0; k < b->size; k++)
			b->data[k] = (uint8_t)draw(256);
	}
}

/* Puts n bytes where there were none; as many as there is room for. Returns the new size. */
static size_t insert(uint8_t *data, size_t size, size_t max, const uint8_t *from, size_t n)
{
	size_t at = draw(size + 1);

	n = n < max - size ? n : max - size;
	memmove(data + at + n, data + at, size - at);
	memcpy(data + at, from, n);
	return size + n;
}

static size_t cut(uint8_t *data, size_t size)
{
	size_t at = draw(size), n = 1 + draw(size - at);

	memmove(data + at, data + at + n, size - at - n);
	return size - n;
}

/* Numbers that are at an end of something. */
static void set_number(uint8_t *data, size_t size)
{
	static const uint64_t numbers[] = { 0,          1,          0x7f,       0x80,
		                            0xff,       0x7fff,     0x8000,     0xffff,
		                            0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX >> 1,
		                            UINT64_MAX };
	uint64_t number = numbers[draw(WF_ARRAY_SIZE(numbers))];
	size_t n = (size_t)1 << draw(4), at;
	bool big = draw(2) == 0;

	if (n > size)
		n = size;
	at = draw(size - n + 1);
	for (size_t i = 0; i < n; i++)
		data[at + (big ? n - 1 - i : i)] = (uint8_t)(number >> 8 * i);
}

static size_t change(uint8_t *data, size_t size, size_t max)
{
	uint8_t some[16];
	const struct bytes *other;

	switch (size == 0 ? 3 : draw(8)) {
	case 0:
		data[draw(size)] ^= (uint8_t)(1u << draw(8));
		return size;
	case 1:
		data[draw(size)] = (uint8_t)draw(256);
		return size;
	case 2:
		set_number(data, size);
		return size;
	case 3:
		for (size_t i = 0; i < sizeof(some); i++)
			some[i] = (uint8_t)draw(256);
		return insert(data, size, max, some, 1 + draw(sizeof(some)));
	case 4:
		return cut(data, size);
	case 5: /* again */
		memcpy(some, data, size < sizeof(some) ? size : sizeof(some));
		return insert(data, size, max, some, size < sizeof(some) ? size : sizeof(some));
	case 6: /* a part of another */
		other = &input[draw(n_inputs)];
		return insert(data, size, max, other->data, draw(other->size + 1));
	default:
		if (n_words == 0)
			return size;
		other = &word[draw(n_words)];
		return insert(data, size, max, other->data, other->size);
	}
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	for (uint32_t n = 1 + draw(MOST_CHANGES); n > 0; n--)
		size = change(data, size, max);
	return size;
}

static void run_made(unsigned long runs)
{
	size_t max = LEAST_MAX;
	uint8_t *data;

	for (size_t i = 0; i < n_inputs; i++)
		max = input[i].size > max ? input[i].size : max;
	data = malloc(max);
	if (data == NULL)
		die("malloc");
	for (unsigned long i = 0; i < runs; i++) {
		const struct bytes *from = &input[draw(n_inputs)];
		size_t size = from->size;

		memcpy(data, from->data, size);
		if (LLVMFuzzerCustomMutator != NULL)
			size = LLVMFuzzerCustomMutator(data, size, max, draw(UINT32_MAX));
		else
			size = LLVMFuzzerMutate(data, size, max);
		run(data, size);
	}
	free(data);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');

	if (argc < 2) {
		fprintf(stderr, "usage: %s RUNS [CORPUS [DICTIONARY]]\n", argv[0]);
		return 2;
	}
	snprintf(found, sizeof(found), "found-%s", slash != NULL ? slash + 1 : argv[0]);
	key = wf_rand_key(1, 0, 0);
	signal(SIGABRT, take_abort);
	if (__sanitizer_set_death_callback != NULL)
		__sanitizer_set_death_callback(keep);
	if (argc > 2)
		read_corpus(argv[2]);
	if (argc > 3)
		read_words(argv[3]);
	for (size_t i = 0; i < n_inputs; i++)
		run(input[i].data, input[i].size);
	if (n_inputs == 0)
		draw_inputs();
	run_made(strtoul(argv[1], NULL, 10));
	for (size_t i = 0; i < n_inputs; i++)
		free(input[i].data);
	for (size_t i = 0; i < n_words; i++)
		free(word[i].data);
	return 0;
}
