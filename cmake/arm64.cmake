# SPDX-License-Identifier: Apache-2.0
# The toolchain of the preset arm64: Debian's cross compiler, the packages that scripts/debian-root unpacked, and
# qemu's user mode to run what was built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_C_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../build/arm64-root" ABSOLUTE)
if(NOT EXISTS "${root}/packages")
	message(FATAL_ERROR "the libraries for arm64 are missing: scripts/test-arm64 fetches them")
endif()
set(CMAKE_SYSROOT "${root}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${root}")
set(ENV{PKG_CONFIG_LIBDIR}
	"${root}/usr/lib/aarch64-linux-gnu/pkgconfig:${root}/usr/share/pkgconfig")
find_program(QEMU_PROGRAM NAMES qemu-aarch64 qemu-aarch64-static)
if(QEMU_PROGRAM)
	set(CMAKE_CROSSCOMPILING_EMULATOR "${QEMU_PROGRAM};-L;${root}")
endif()
