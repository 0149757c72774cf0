# SPDX-License-Identifier: Apache-2.0
# The libraries that make unmodified programs use weft, in lib/weft: the interposer for LD_PRELOAD
# and the drop-in libibverbs.so.1, both of weft_compat; and weft_files, which goes with either.
set(symbols "${PROJECT_SOURCE_DIR}/src/compat/verbs/symbols.txt")
set(made "${PROJECT_BINARY_DIR}/compat/verbs")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_custom_command(
	OUTPUT "${made}/stubs.c" "${made}/private.c" "${made}/dropin.map" "${made}/interposer.map"
	COMMAND ${Python3_EXECUTABLE} -B "${PROJECT_SOURCE_DIR}/scripts/verbs_symbols.py"
		"${symbols}" "${made}"
	DEPENDS "${symbols}" "${PROJECT_SOURCE_DIR}/scripts/verbs_symbols.py")
add_custom_target(weft_verbs_symbols DEPENDS "${made}/stubs.c")

# The C library's functions that take a path are a library of their own.
file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/compat/files/*.c")
get_target_property(verbs weft_compat SOURCES)
list(REMOVE_ITEM verbs ${files})
set_target_properties(weft_compat PROPERTIES SOURCES "${verbs}")
add_library(weft_files SHARED ${files})
target_link_libraries(weft_files PRIVATE weft_live ${CMAKE_DL_LIBS})
target_compile_options(weft_files PRIVATE -fno-builtin -U_FORTIFY_SOURCE)
target_link_options(weft_files PRIVATE "LINKER:-z,nodelete" "LINKER:-z,now"
	"LINKER:--exclude-libs,ALL")
set_target_properties(weft_files PROPERTIES C_VISIBILITY_PRESET default
	LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/weft")

# What a program may call is what the version scripts list.
set_target_properties(weft_compat PROPERTIES C_VISIBILITY_PRESET default)

# A library of all of weft_compat and the sources that follow. It stays loaded: its thread runs.
function(weft_add_compat_library target map)
	add_library(${target} SHARED ${ARGN})
	add_dependencies(${target} weft_verbs_symbols)
	set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET default
		LINK_DEPENDS "${map}")
	target_compile_options(${target} PRIVATE -fno-builtin ${WEFT_LTO_COMPILE})
	target_link_options(${target} PRIVATE "LINKER:--version-script=${map}"
		"LINKER:-z,nodelete" "LINKER:-z,now" ${WEFT_LTO_LINK})
	target_link_libraries(${target} PRIVATE
		"$<LINK_LIBRARY:WHOLE_ARCHIVE,weft_compat>")
endfunction()

weft_add_compat_library(weft_verbs "${made}/interposer.map" "${made}/stubs.c")
set_target_properties(weft_verbs PROPERTIES
	LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/weft")
weft_add_compat_library(weft_ibverbs "${made}/dropin.map" "${made}/stubs.c" "${made}/private.c")
set_target_properties(weft_ibverbs PROPERTIES OUTPUT_NAME ibverbs VERSION 1.14.65 SOVERSION 1
	LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/weft/dropin")
add_dependencies(weft weft_verbs weft_ibverbs weft_files)

set(WEFT_LIBDIR "${CMAKE_INSTALL_LIBDIR}/weft")
install(TARGETS weft_verbs weft_files LIBRARY DESTINATION "${WEFT_LIBDIR}")
install(TARGETS weft_ibverbs LIBRARY DESTINATION "${WEFT_LIBDIR}/dropin" NAMELINK_SKIP)
