# SPDX-License-Identifier: Apache-2.0
# The library that makes unmodified programs use weft: lib/weft/libibverbs.so.1, which is preloaded
# and found by its name.
set(symbols "${PROJECT_SOURCE_DIR}/src/compat/verbs/symbols.txt")
set(made "${PROJECT_BINARY_DIR}/compat/verbs")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_custom_command(
	OUTPUT "${made}/stubs.c" "${made}/ibverbs.map"
	COMMAND ${Python3_EXECUTABLE} -B "${PROJECT_SOURCE_DIR}/scripts/verbs_symbols.py"
		"${symbols}" "${made}"
	DEPENDS "${symbols}" "${PROJECT_SOURCE_DIR}/scripts/verbs_symbols.py")
add_custom_target(weft_verbs_symbols DEPENDS "${made}/stubs.c")

# What a program may call is what the version script lists.
set_target_properties(weft_compat PROPERTIES C_VISIBILITY_PRESET default)
target_link_libraries(weft_compat PUBLIC ${CMAKE_DL_LIBS})

# The functions of the C library are called with whatever programs call them with, NULL too, which
# their declarations promise never happens; and so are copies of memory that may not be there.
file(GLOB libc CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/compat/libc/*.c"
	"${PROJECT_SOURCE_DIR}/src/compat/files/*.c")
set(null -fno-delete-null-pointer-checks -fno-sanitize=nonnull-attribute)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
	list(APPEND null -Wno-nonnull-compare)
endif()
# The thread sanitizer calls them before it can itself be called.
set_source_files_properties(${libc} PROPERTIES COMPILE_OPTIONS
	"-fno-builtin;-U_FORTIFY_SOURCE;-fno-sanitize=thread;${null}")
set_source_files_properties("${PROJECT_SOURCE_DIR}/src/compat/verbs/guard.c" PROPERTIES
	COMPILE_OPTIONS "${null}")

# It stays loaded: its thread runs.
add_library(weft_ibverbs SHARED "${made}/stubs.c")
add_dependencies(weft_ibverbs weft_verbs_symbols)
set_target_properties(weft_ibverbs PROPERTIES OUTPUT_NAME ibverbs VERSION 1.14.65 SOVERSION 1
	C_VISIBILITY_PRESET default LINK_DEPENDS "${made}/ibverbs.map"
	LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/weft")
target_compile_options(weft_ibverbs PRIVATE -fno-builtin ${WEFT_LTO_COMPILE})
target_link_options(weft_ibverbs PRIVATE "LINKER:--version-script=${made}/ibverbs.map"
	"LINKER:-z,nodelete" "LINKER:-z,now" ${WEFT_LTO_LINK})
# Programs get no library with it that only the daemon uses: weft_live names those, too.
target_link_options(weft_ibverbs BEFORE PRIVATE "LINKER:--as-needed")
# The C library opens libgcc_s when a thread is cancelled or exits, and aborts where it cannot: in a
# program that has no descriptor left, because of ours. So it is there from the beginning.
target_link_libraries(weft_ibverbs PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,weft_compat>"
	-Wl,--push-state,--no-as-needed -lgcc_s -Wl,--pop-state)
add_dependencies(weft weft_ibverbs)

install(TARGETS weft_ibverbs LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/weft" COMPONENT program)
