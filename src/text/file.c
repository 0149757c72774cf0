/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - files in and out, with every error said in words.
 */
#include "text/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP ((size_t)64 << 10)

/* Opens path for reading when it is a regular file, and sets its size. */
static int open_regular(const char *path, size_t limit, int *fd_p, size_t *size_p,
                        struct wf_err *err)
{
	struct stat st;
	/* Not to hang on a FIFO that nobody writes. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return wf_err_at(err, path, 0, 0, "cannot open it: %s", strerror(errno));
	if (fstat(fd, &st) != 0) {
		wf_err_at(err, path, 0, 0, "cannot look at it: %s", strerror(errno));
	} else if (S_ISDIR(st.st_mode)) {
		wf_err_at(err, path, 0, 0, "it is a directory; name a file in it");
	} else if (!S_ISREG(st.st_mode)) {
		wf_err_at(err, path, 0, 0,
		          "it is not a regular file; to read standard input, name it -");
	} else if (st.st_size > (off_t)limit) {
		wf_err_at(err, path, 0, 0, "it has %lld bytes; at most %zu MiB are read",
		          (long long)st.st_size, limit >> 20);
	} else {
		*fd_p = fd;
		*size_p = (size_t)st.st_size;
		return 0;
	}
	close(fd);
	return -EINVAL;
}

/* Reads fd to its end, from a buffer of room bytes on. */
static int read_all(int fd, const char *path, size_t room, size_t limit, struct wf_mem *mem,
                    char **text_p, size_t *len_p, struct wf_err *err)
{
	char *text = mem->alloc(mem, room + 1);
	size_t len = 0;
	ssize_t n;

	if (text == NULL)
		return -ENOMEM;
	while ((n = read(fd, text + len, room - len + 1)) != 0) {
		if (n < 0 && (errno == EINTR))
			continue;
		if (n < 0) {
			mem->free(mem, text);
			return wf_err_at(err, path, 0, 0, "cannot read it: %s", strerror(errno));
		}
		len += (size_t)n;
		if (len > limit) {
			mem->free(mem, text);
			return wf_err_at(err, path, 0, 0,
			                 "it has more than %zu MiB; no more are read", limit >> 20);
		}
		if (len > room) { /* it grows while we read, or its size is not known */
			char *more = mem->alloc(mem, 2 * room + 1);

			if (more != NULL)
				memcpy(more, text, len);
			mem->free(mem, text);
			if (more == NULL)
				return -ENOMEM;
			text = more;
			room *= 2;
		}
	}
	text[len] = '\0';
	*text_p = text;
	*len_p = len;
	return 0;
}

int wf_file_read(const char *path, size_t limit, struct wf_mem *mem, char **text_p, size_t *len_p,
                 struct wf_err *err)
{
	size_t size = STEP;
	int fd = -1, rc;

	if (strcmp(path, "-") == 0)
		return read_all(STDIN_FILENO, "standard input", size, limit, mem, text_p, len_p,
		                err);
	rc = open_regular(path, limit, &fd, &size, err);
	if (rc != 0)
		return rc;
	rc = read_all(fd, path, size == 0 ? STEP : size, limit, mem, text_p, len_p, err);
	close(fd);
	return rc;
}

bool wf_file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool wf_file_is_same(const char *a, const char *b)
{
	struct stat one, other;

	return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

int wf_file_beside(const char *from, const char *name, char out[WF_PATH_MAX])
{
	const char *slash = strrchr(from, '/');
	int n;

	if (name[0] == '/' || slash == NULL)
		n = snprintf(out, WF_PATH_MAX, "%s", name);
	else
		n = snprintf(out, WF_PATH_MAX, "%.*s/%s", (int)(slash - from), from, name);
	return n < 0 || n >= WF_PATH_MAX ? -ENAMETOOLONG : 0;
}

int wf_file_refused(const char *path, int error, struct wf_err *err)
{
	wf_err_at(err, path, 0, 0, "cannot write it: %s", strerror(error));
	switch (error) {
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case EACCES:
	case EPERM:
	case EROFS:
	case ENAMETOOLONG:
	case ELOOP:
	case EEXIST:
	case ETXTBSY:
	case ENXIO:
		return -EINVAL;
	default:
		return -EIO;
	}
}

/* Devices and pipes: they are written to, not replaced. */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int wf_out_open(struct wf_out *out, const char *path, struct wf_err *err)
{
	mode_t mask;
	int fd;

	memset(out, 0, sizeof(*out));
	if (path == NULL) {
		out->file = stdout;
		return 0;
	}
	/* An empty name is that of no file; in out->path it would be standard output. */
	if (path[0] == '\0')
		return wf_file_refused("\"\"", ENOENT, err);
	snprintf(out->path, sizeof(out->path), "%s", path);
	if (is_special(path)) {
		out->file = fopen(path, "w");
		return out->file != NULL ? 0 : wf_file_refused(path, errno, err);
	}
	/* It could be written beside it, and not take its name. */
	if (is_folder(path))
		return wf_file_refused(path, EISDIR, err);
	if (snprintf(out->temp, sizeof(out->temp), "%s.XXXXXX", path) >= (int)sizeof(out->temp)) {
		out->temp[0] = '\0';
		return wf_file_refused(path, ENAMETOOLONG, err);
	}
	fd = mkstemp(out->temp);
	if (fd < 0) {
		out->temp[0] = '\0';
		return wf_file_refused(path, errno, err);
	}
	/* mkstemp() lets only the owner read; a result is as readable as any other new file. */
	mask = umask(0);
	umask(mask);
	if (fchmod(fd, 0666 & ~mask) != 0 || (out->file = fdopen(fd, "w")) == NULL) {
		int error = errno;

		close(fd);
		wf_out_abort(out);
		return wf_file_refused(path, error, err);
	}
	return 0;
}

/* Closes what is not standard output. Returns whether that went wrong. */
static bool close_out(struct wf_out *out)
{
	FILE *file = out->file;

	out->file = NULL;
	return file != NULL && out->path[0] != '\0' && fclose(file) != 0;
}

int wf_out_commit(struct wf_out *out, struct wf_err *err)
{
	bool bad;
	int error = 0;

	errno = 0;
	bad = fflush(out->file) != 0 || ferror(out->file) != 0;
	if (!bad && out->temp[0] != '\0')
		bad = fsync(fileno(out->file)) != 0;
	error = errno;
	if (close_out(out) && !bad) {
		bad = true;
		error = errno;
	}
	if (!bad && out->temp[0] != '\0' && rename(out->temp, out->path) != 0) {
		bad = true;
		error = errno;
	}
	if (!bad) {
		out->temp[0] = '\0';
		return 0;
	}
	wf_out_abort(out);
	(void)wf_file_refused(out->path[0] != '\0' ? out->path : "standard output",
	                      error != 0 ? error : EIO, err);
	return -EIO;
}

void wf_out_abort(struct wf_out *out)
{
	(void)close_out(out);
	if (out->temp[0] != '\0')
		unlink(out->temp);
	out->temp[0] = '\0';
}
