# SPDX-License-Identifier: Apache-2.0
# Benchmarks and fuzzers: bench/x.c is the program bench_x and fuzz/x.c the program fuzz_x (a file that carries
# the prefix already keeps its name). Both may use everything below cli. In the fuzz preset libFuzzer looks for new
# inputs; among the tests the kept ones are run, and some that are made of them (tests/fuzz/replay.c).

# Sets <out> to the program's name for source.
function(weft_prefixed out prefix source)
	cmake_path(GET source STEM name)
	if(NOT name MATCHES "^${prefix}_")
		set(name ${prefix}_${name})
	endif()
	set(${out} ${name} PARENT_SCOPE)
endfunction()

# Takes out of the list of files those whose name begins with a folder that is not built.
function(weft_built list)
	foreach(folder live compat mgmt)
		if(NOT folder IN_LIST WEFT_FOLDERS)
			list(FILTER ${list} EXCLUDE REGEX "/(bench_|fuzz_)?${folder}_[^/]*$")
		endif()
	endforeach()
	set(${list} "${${list}}" PARENT_SCOPE)
endfunction()

if(WEFT_BENCH)
	add_custom_target(benches)
	if(WEFT_TESTS_IN_ALL)
		set_target_properties(benches PROPERTIES EXCLUDE_FROM_ALL OFF)
	endif()
	file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.c")
	weft_built(sources)
	foreach(source IN LISTS sources)
		weft_prefixed(name bench "${source}")
		add_executable(${name} EXCLUDE_FROM_ALL "${source}")
		set_target_properties(${name} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
		target_compile_options(${name} PRIVATE ${WEFT_LTO_COMPILE})
		target_link_options(${name} PRIVATE ${WEFT_LTO_LINK})
		target_link_libraries(${name} PRIVATE weft_all)
		add_dependencies(benches ${name})
	endforeach()
endif()

# A fuzzer's program; the rest of the arguments are what feeds it, where that is not libFuzzer.
function(weft_add_fuzzer name source)
	add_executable(${name} EXCLUDE_FROM_ALL "${source}" ${ARGN})
	set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
	# libFuzzer calls an entry point that no header declares.
	target_compile_options(${name} PRIVATE -Wno-missing-prototypes)
	# Those of compat have its functions in place of the C library's.
	if(name MATCHES "^fuzz_compat_")
		target_link_libraries(${name} PRIVATE weft_compat)
	else()
		target_link_libraries(${name} PRIVATE weft_all)
	endif()
endfunction()

# As a test: the kept inputs, where there are any, then as many that are made of them, with the words of the language,
# where it has some. One that takes long for an input says so: fuzz: runs=1/10
function(weft_add_replay name source)
	weft_add_fuzzer(${name} "${source}" "${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c")
	string(REGEX REPLACE "^fuzz_" "" short ${name})
	set(runs 5000)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
	file(STRINGS "${source}" mark REGEX "^[ /*]*fuzz: runs=1/[0-9]+" LIMIT_COUNT 1)
	if(mark MATCHES "runs=1/([0-9]+)")
		math(EXPR runs "${runs} / ${CMAKE_MATCH_1}")
	endif()
	set(arguments ${runs})
	if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/fuzz/corpus/${short}")
		list(APPEND arguments "${PROJECT_SOURCE_DIR}/fuzz/corpus/${short}")
		if(EXISTS "${PROJECT_SOURCE_DIR}/fuzz/dict/${short}.dict")
			list(APPEND arguments "${PROJECT_SOURCE_DIR}/fuzz/dict/${short}.dict")
		endif()
	endif()
	add_dependencies(tests ${name})
	weft_register(${name} fuzz 1800 ${name} ${arguments})
	# An input of a few KB is no reason to ask for much at once.
	set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT_MODIFICATION
		"ASAN_OPTIONS=string_append::max_allocation_size_mb=2048")
endfunction()

file(GLOB fuzzers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*.c")
weft_built(fuzzers)
if(WEFT_FUZZ)
	add_custom_target(fuzzers)
	foreach(source IN LISTS fuzzers)
		weft_prefixed(name fuzz "${source}")
		weft_add_fuzzer(${name} "${source}")
		target_link_options(${name} PRIVATE -fsanitize=fuzzer)
		add_dependencies(fuzzers ${name})
	endforeach()
elseif(WEFT_TESTS AND WEFT_TESTS_IN_ALL)
	foreach(source IN LISTS fuzzers)
		weft_prefixed(name fuzz "${source}")
		weft_add_replay(${name} "${source}")
	endforeach()
endif()
