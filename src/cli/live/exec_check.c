/* SPDX-License-Identifier: Apache-2.0 */
/* exec_check.c - looks at the head of an executable file. */
#define _GNU_SOURCE
#include "cli/live/exec_check.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

#define MAX_HEADERS 64 /* of segments; programs have a dozen */

/* Opens the file that execvp() would run; -1: there is none that can be read. */
static int open_program(const char *program)
{
	const char *at = getenv("PATH");
	char path[4096];
	int fd = -1;

	if (strchr(program, '/') != NULL)
		return open(program, O_RDONLY | O_CLOEXEC);
	while (at != NULL && fd < 0) {
		size_t len = strcspn(at, ":");

		if (snprintf(path, sizeof(path), "%.*s%s%s", (int)len, at, len != 0 ? "/" : "",
		             program) < (int)sizeof(path) &&
		    access(path, X_OK) == 0)
			fd = open(path, O_RDONLY | O_CLOEXEC);
		at = at[len] == ':' ? at + len + 1 : NULL;
	}
	return fd;
}

/* Whether it is an ELF file of this machine's kind that asks for no loader. */
static bool is_static(int fd)
{
	Elf64_Phdr segment[MAX_HEADERS];
	Elf64_Ehdr head;
	size_t n, bytes;

	if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(segment[0]))
		return false;
	n = head.e_phnum < MAX_HEADERS ? head.e_phnum : MAX_HEADERS;
	bytes = n * sizeof(segment[0]);
	if (pread(fd, segment, bytes, (off_t)head.e_phoff) != (ssize_t)bytes)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (segment[i].p_type == PT_INTERP)
			return false;
	}
	return true;
}

const char *wf_exec_check(const char *program)
{
	int fd = open_program(program);
	const char *why = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (is_static(fd))
		why = "is linked statically (as Go's programs are without cgo) and loads no "
		      "libraries";
	else if (fstat(fd, &st) == 0 &&
	         ((st.st_mode & S_ISUID) != 0 || (st.st_mode & S_ISGID) != 0) && geteuid() != 0)
		why = "runs with another user's rights (setuid), and the system then preloads "
		      "nothing";
	close(fd);
	return why;
}
