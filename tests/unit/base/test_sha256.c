/* SPDX-License-Identifier: Apache-2.0 */
/* test_sha256.c - the examples of FIPS 180-4 and its companion, at once and in pieces. */
#include "base/sha256.h"

#include "check.h"

#include <string.h>

static const char *hash(const char *text, size_t len, size_t piece, char out[WF_SHA256_TEXT])
{
	struct wf_sha256 h;

	wf_sha256_init(&h);
	for (size_t i = 0; i < len; i += piece)
		wf_sha256_add(&h, text + i, len - i < piece ? len - i : piece);
	wf_sha256_text(&h, out);
	return out;
}

static void test_vectors(void **state)
{
	static const struct {
		const char *text, *hash;
	} rows[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
		{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
		  "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
		  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
	};
	char out[WF_SHA256_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].text);

		assert_string_equal(hash(rows[i].text, len, 1000, out), rows[i].hash);
		for (size_t piece = 1; piece < 70; piece++)
			assert_string_equal(hash(rows[i].text, len, piece, out), rows[i].hash);
	}
}

/* Around the ends of blocks, where the padding takes one block more. */
static void test_million(void **state)
{
	static char text[1000000];
	char out[WF_SHA256_TEXT], again[WF_SHA256_TEXT];

	(void)state;
	memset(text, 'a', sizeof(text));
	assert_string_equal(hash(text, sizeof(text), 4096, out),
	                    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	for (size_t len = 50; len < 140; len++) {
		hash(text, len, 7, out);
		assert_string_equal(hash(text, len, len, again), out);
		assert_string_not_equal(hash(text, len + 1, 7, again), out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_million),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
