/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - the devices that are emulated, by their paths. */
#include <string.h>

#include "base/base.h"
#include "compat/cm/ucma.h"
#include "compat/files/tree.h"
#include "compat/libc/libc.h"
#include "compat/umad/umad.h"
#include "live/sysfs.h"

static const struct {
	const char *path;
	int (*open)(int flags); /* a descriptor or -errno */
} devices[] = {
	{ "/dev/infiniband/rdma_cm", wv_ucma_open },
	{ "/dev/infiniband/" WF_SYSFS_UMAD, wv_umad_open },
	{ "/dev/infiniband/" WF_SYSFS_ISSM, wv_issm_open },
};

bool wx_device_open(const char *path, int flags, int *fd_p)
{
	for (size_t i = 0; i < WF_ARRAY_SIZE(devices); i++) {
		if (wx_path_is(path, devices[i].path)) {
			*fd_p = devices[i].open(flags);
			return true;
		}
	}
	return false;
}
