#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ctest: live tsan
# In builds with a sanitizer, unmodified programs run with the sanitized library, and clean: a report ends a
# program with an error, and the test with it.

load common

# sanitized: sets kind, the sanitizer of this build; without one there is nothing to see.
sanitized() {
	kind=$(ldd "$WEFT" | sed -n 's/.*=> \(.*\/lib\([at]san\)\.so[^ ]*\).*/\2/p')
	[ -n "$kind" ] || skip "a build without sanitizers"
}

# sees NAME: compiles a program of a few lines that does what it should not, through the library, and expects
# a report.
sees() {
	cc -O1 -o "$1" -xc - -libverbs -lpthread
	run on h1 "./$1"
	echo "$output"
	[ "$status" -ne 0 ]
}

@test "the library that is loaded is the sanitized one, and it is heard" {
	needs cc ibv_asyncwatch
	sanitized
	up
	spawn h1 stdbuf -oL ibv_asyncwatch >server.txt 2>&1
	server=$pid
	until_true grep -q weft0 server.txt
	grep -q "/lib$kind\.so" "/proc/$server/maps"
	grep -q "^[^ ]* r-x.*/weft/.*verbs\.so" "/proc/$server/maps"
	kill -9 "$server"
	ends "$server"
	server=
	if [ "$kind" = asan ]; then
		sees overflow <<-'END'
			#include <infiniband/verbs.h>
			#include <stdlib.h>
			int main(void)
			{
				struct ibv_context *c = ibv_open_device(ibv_get_device_list(NULL)[0]);
				return ibv_query_gid(c, 1, 0, (union ibv_gid *)malloc(4));
			}
		END
		[[ "$output" == *"AddressSanitizer: heap-buffer-overflow"* ]]
	else
		sees race <<-'END'
			#include <infiniband/verbs.h>
			#include <pthread.h>
			#include <unistd.h>
			static struct ibv_context *c;
			static struct ibv_device_attr attr;
			static void *ask(void *arg)
			{
				for (int i = 0; i < 1000; i++)
					ibv_query_device(c, &attr);
				return arg;
			}
			int main(void)
			{
				pthread_t t;
				c = ibv_open_device(ibv_get_device_list(NULL)[0]);
				pthread_create(&t, NULL, ask, NULL);
				ask(NULL);
				pthread_join(t, NULL);
				return 0;
			}
		END
		[[ "$output" == *"ThreadSanitizer: data race"* ]]
	fi
}

# pingpongs: every one of them, polling and with events.
pingpongs() {
	local service
	for service in rc uc ud srq xsrq; do
		pair ibv_${service}_pingpong -g 0 -n 100
		pair ibv_${service}_pingpong -g 0 -n 100 -e
	done
}

@test "pingpongs with the interposer" {
	needs ibv_rc_pingpong ibv_xsrq_pingpong
	sanitized
	up
	pingpongs
}

@test "mixed traffic of several queue pairs" {
	needs cc
	sanitized
	cc -O2 -o traffic "$WEFT_SOURCE_DIR/tests/live/traffic.c" -libverbs
	up
	spawn h1 ./traffic . 0 8 >server.txt 2>&1
	server=$pid
	ask ./traffic . 1 8
	served
}
