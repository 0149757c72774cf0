# SPDX-License-Identifier: Apache-2.0
# Benchmarks and fuzzers: bench/x.c is the program bench_x and fuzz/x.c the libFuzzer target fuzz_x
# (a file that carries the prefix already keeps its name). Both may use everything below cli.

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

if(WEFT_FUZZ)
	enable_testing()
	add_custom_target(fuzzers)
	set(WEFT_FUZZ_RUNS 5000 CACHE STRING "How many inputs the short run of a fuzzer tries")
	file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*.c")
	weft_built(sources)
	foreach(source IN LISTS sources)
		weft_prefixed(name fuzz "${source}")
		add_executable(${name} EXCLUDE_FROM_ALL "${source}")
		set_target_properties(${name} PROPERTIES
			RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
		# libFuzzer calls an entry point that no header declares.
		target_compile_options(${name} PRIVATE -Wno-missing-prototypes)
		target_link_options(${name} PRIVATE -fsanitize=fuzzer)
		# Those of compat have its functions in place of the C library's.
		if(name MATCHES "^fuzz_compat_")
			target_link_libraries(${name} PRIVATE weft_compat)
		else()
			target_link_libraries(${name} PRIVATE weft_all)
		endif()
		add_dependencies(fuzzers ${name})
		# The kept inputs, where there are any, then as many new ones: the same on every run.
		set(corpus "")
		string(REGEX REPLACE "^fuzz_" "" short ${name})
		if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/fuzz/corpus/${short}")
			set(corpus "${PROJECT_BINARY_DIR}/fuzz/new/${short}"
				"${PROJECT_SOURCE_DIR}/fuzz/corpus/${short}")
			file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz/new/${short}")
		endif()
		# The words of its language, where it has one.
		set(words "")
		if(EXISTS "${PROJECT_SOURCE_DIR}/fuzz/dict/${short}.dict")
			set(words "-dict=${PROJECT_SOURCE_DIR}/fuzz/dict/${short}.dict")
		endif()
		# One that takes long for an input says so: fuzz: runs=1/10
		set(runs ${WEFT_FUZZ_RUNS})
		set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
		file(STRINGS "${source}" mark REGEX "^[ /*]*fuzz: runs=1/[0-9]+" LIMIT_COUNT 1)
		if(mark MATCHES "runs=1/([0-9]+)")
			math(EXPR runs "${runs} / ${CMAKE_MATCH_1}")
		endif()
		add_test(NAME ${name} COMMAND ${name} ${words} -seed=1 -runs=${runs} -timeout=300
			-rss_limit_mb=2048 -print_final_stats=0 ${corpus})
		set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 1800
			WORKING_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
	endforeach()
endif()
