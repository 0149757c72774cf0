# SPDX-License-Identifier: Apache-2.0
# Finds the tests and registers them with CTest:
#
#   tests/unit/<folder>/test_x.c   cmocka program test_<folder>_x, linked with weft_<folder>
#   tests/unit/*.c                 helpers, linked into all of these
#   tests/whole/test_x.c           cmocka program test_whole_x, linked with everything below cli
#   tests/cli/x.bats               bats, with the program's path in $WEFT
#   tests/web/x.mjs                Node's test runner and Chromium, with the program's path in $WEFT
#   tests/live/x.bats              bats, as live_x: programs on live fabrics, by an ordinary user (tests/live/as_user)
#   tests/scripts/test_x.py        Python's unittest, with WEFT_LINT_TESTS
#
# A test's labels are its ring (unit, whole, cli, web, live, scripts), its folder, and the words of a comment
# `ctest: word ...` among its first lines; `timeout=seconds` there gives it more than half an hour,
# which is long because machines may have much else to do, and a test that hangs is found all the same. What
# is labelled `tsan` also runs under the thread sanitizer: all unit tests of engine, and those that
# say so; `tsan=PATTERN` runs only the tests of that name there, as in `tsan=*threads*`. The label
# `oom` lets the test fail what gives memory, descriptors and threads (tests/unit/oom.h); with
# `allocator` the test has functions of its own in place of those that give memory: __wrap_malloc() and so on.
#
# With WEFT_SHORT, a test that takes long is left to the build without it: files labelled `long`, tests in
# bats with `# bats test_tags=long`, and cases over which check_step() (tests/unit/check.h) goes. The other way
# round, files labelled `checked` and tests with that tag, whose point is what assertions and sanitizers see,
# run only with it.
#
# tests/costs.txt has how long tests take: costly ones begin first, and those below ten seconds have
# the label `quick`.

find_package(PkgConfig REQUIRED)
pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET GLOBAL cmocka)
if(NOT CMOCKA_FOUND)
	message(STATUS "the tests in C are left out: cmocka is missing (scripts/setup --test)")
endif()
find_program(BATS_PROGRAM bats)
if(NOT BATS_PROGRAM)
	message(STATUS "the tests of the command line are left out: bats is missing (scripts/setup --test)")
endif()

find_program(CHROMIUM_PROGRAM NAMES chromium chromium-browser)
find_program(SQLITE3_PROGRAM sqlite3)
if(NOT CHROMIUM_PROGRAM OR NOT SQLITE3_PROGRAM)
	message(STATUS "the tests of the report's page are left out: chromium or sqlite3 is missing (scripts/setup --test)")
endif()

if(WEFT_TESTS_IN_ALL)
	add_custom_target(tests ALL)
else()
	add_custom_target(tests)
endif()
if(TARGET weft AND NOT WEFT_TEST_LABEL)
	add_dependencies(tests weft)
endif()

set(WEFT_TEST_ENV
	"WEFT_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
	"ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=1"
	"UBSAN_OPTIONS=print_stacktrace=1"
	"TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1")
if(TARGET weft)
	list(APPEND WEFT_TEST_ENV "WEFT=$<TARGET_FILE:weft>")
endif()
set(WEFT_BATS_OPTIONS --filter-tags "!checked")
if(WEFT_SHORT)
	list(APPEND WEFT_TEST_ENV "WEFT_TEST_SHORT=1")
	set(WEFT_BATS_OPTIONS --filter-tags "!long")
endif()

# Sets WEFT_COST_<test> for the tests that take long: the most of the seconds in the test's row.
function(weft_read_costs)
	set(table "${PROJECT_SOURCE_DIR}/tests/costs.txt")
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
	file(STRINGS "${table}" rows REGEX "^[a-z]")
	foreach(row IN LISTS rows)
		string(REGEX MATCH "^[^ ]+" name "${row}")
		string(REGEX MATCHALL "=[0-9]+" cells "${row}")
		set(most 0)
		foreach(cell IN LISTS cells)
			string(SUBSTRING "${cell}" 1 -1 seconds)
			if(seconds GREATER most)
				set(most ${seconds})
			endif()
		endforeach()
		set(WEFT_COST_${name} ${most} PARENT_SCOPE)
	endforeach()
endfunction()
weft_read_costs()

# Sets <out>_LABELS and <out>_TIMEOUT from the comment in file, <out>_ONLY to the pattern of the tests that
# are run of it (empty: all), and <out>_WANTED to whether this build wants the test at all. The rest of the
# arguments are labels it has anyway.
function(weft_test_labels out file)
	set(labels ${ARGN})
	set(timeout 1800)
	set(only "")
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
	file(STRINGS "${file}" marks REGEX "^[ /#*]*ctest: " LIMIT_COUNT 1)
	if(marks MATCHES "ctest: ([a-z0-9_=* -]+[a-z0-9*])")
		string(REGEX MATCHALL "[a-z0-9_=*-]+" words "${CMAKE_MATCH_1}")
		foreach(word IN LISTS words)
			if(word MATCHES "^tsan=(.+)$")
				list(APPEND labels tsan)
				if(WEFT_TEST_LABEL STREQUAL "tsan")
					set(only "${CMAKE_MATCH_1}")
				endif()
			elseif(word MATCHES "^timeout=([0-9]+)$")
				if(NOT CMAKE_MATCH_1 GREATER timeout)
					message(FATAL_ERROR "${file}: every test has ${timeout} s anyway, and timeout= is more")
				endif()
				set(timeout ${CMAKE_MATCH_1})
			else()
				list(APPEND labels ${word})
			endif()
		endforeach()
	endif()
	if((NOT WEFT_TEST_LABEL OR WEFT_TEST_LABEL IN_LIST labels) AND NOT (WEFT_SHORT AND "long" IN_LIST labels)
			AND (WEFT_SHORT OR NOT "checked" IN_LIST labels))
		set(${out}_WANTED TRUE PARENT_SCOPE)
	else()
		set(${out}_WANTED FALSE PARENT_SCOPE)
	endif()
	set(${out}_ONLY "${only}" PARENT_SCOPE)
	set(${out}_LABELS "${labels}" PARENT_SCOPE)
	set(${out}_TIMEOUT ${timeout} PARENT_SCOPE)
endfunction()

# Registers the test name, which runs the command that follows the labels.
function(weft_register name labels timeout)
	add_test(NAME ${name} COMMAND ${ARGN})
	set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout}
		ENVIRONMENT "${WEFT_TEST_ENV}" WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
	if(DEFINED WEFT_COST_${name})
		set_tests_properties(${name} PROPERTIES COST ${WEFT_COST_${name}})
	endif()
	if(NOT DEFINED WEFT_COST_${name} OR WEFT_COST_${name} LESS 10)
		set_property(TEST ${name} APPEND PROPERTY LABELS quick)
	endif()
endfunction()

# What tests/unit/oom.h has in place of the C library's.
set(WEFT_OOM_CALLS malloc calloc realloc aligned_alloc mmap memfd_create ftruncate eventfd timerfd_create
	epoll_create1 socket socketpair epoll_ctl fcntl pthread_create)
list(TRANSFORM WEFT_OOM_CALLS PREPEND "LINKER:--wrap=" OUTPUT_VARIABLE WEFT_OOM_LINK)

# A test program of one file. The rest of the arguments are libraries.
function(weft_add_c_test name source labels)
	weft_test_labels(test "${source}" ${labels})
	if(NOT test_WANTED)
		return()
	endif()
	add_executable(${name} EXCLUDE_FROM_ALL "${source}")
	target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/unit"
		"${PROJECT_SOURCE_DIR}/tests")
	target_compile_definitions(${name} PRIVATE WEFT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
	set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
	if(WEFT_LTO_LINK)
		target_link_options(${name} PRIVATE -fno-lto)
	endif()
	if("oom" IN_LIST test_LABELS)
		target_link_options(${name} PRIVATE ${WEFT_OOM_LINK})
	endif()
	if("allocator" IN_LIST test_LABELS)
		foreach(function malloc calloc realloc aligned_alloc free open_memstream mmap munmap)
			target_link_options(${name} PRIVATE -Wl,--wrap=${function})
		endforeach()
	endif()
	# The code under test is optimised as ever; that which tests it is compiled four times as fast.
	target_compile_options(${name} PRIVATE -O0)
	target_link_libraries(${name} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,weft_test_support> ${ARGN}
		PkgConfig::CMOCKA)
	add_dependencies(tests ${name})
	weft_register(${name} "${test_LABELS}" ${test_TIMEOUT} ${name})
	if(test_ONLY)
		set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "WEFT_TEST_ONLY=${test_ONLY}")
	endif()
endfunction()

function(weft_add_c_tests)
	file(GLOB support CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/unit/*.c")
	add_library(weft_test_support STATIC EXCLUDE_FROM_ALL ${support})
	target_link_libraries(weft_test_support PUBLIC weft_base PkgConfig::CMOCKA)
	foreach(folder IN LISTS WEFT_FOLDERS)
		set(top "${PROJECT_SOURCE_DIR}/tests/unit/${folder}")
		file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${top}/test_*.c")
		set(labels unit ${folder})
		if(folder STREQUAL "engine")
			list(APPEND labels tsan)
		endif()
		foreach(source IN LISTS sources)
			# flowctl/test_pfc.c of fabric is test_fabric_flowctl_pfc.
			file(RELATIVE_PATH name "${top}" "${source}")
			string(REGEX REPLACE "(^|/)test_([^/]+)\\.c$" "\\1\\2" name "${name}")
			string(REPLACE "/" "_" name "${name}")
			weft_add_c_test(test_${folder}_${name} "${source}" "${labels}" weft_${folder})
		endforeach()
	endforeach()
	file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/whole/test_*.c")
	foreach(source IN LISTS sources)
		cmake_path(GET source STEM name)
		string(REGEX REPLACE "^test_" "test_whole_" name "${name}")
		weft_add_c_test(${name} "${source}" whole weft_all)
	endforeach()
endfunction()

function(weft_add_bats_tests)
	set(rings cli)
	if(WEFT_LIVE)
		list(APPEND rings live)
	endif()
	foreach(ring IN LISTS rings)
		file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${ring}/*.bats")
		foreach(file IN LISTS files)
			cmake_path(GET file STEM name)
			weft_test_labels(test "${file}" ${ring})
			set(command "${BATS_PROGRAM}")
			if(ring STREQUAL "live")
				list(PREPEND command "${PROJECT_SOURCE_DIR}/tests/live/as_user"
					"${PROJECT_BINARY_DIR}")
			endif()
			if(test_WANTED)
				add_dependencies(tests weft)
				weft_register(${ring}_${name} "${test_LABELS}" ${test_TIMEOUT}
					${command} ${WEFT_BATS_OPTIONS} "${file}")
			endif()
		endforeach()
	endforeach()
endfunction()

function(weft_add_web_tests)
	file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/web/*.mjs")
	add_custom_target(web_test_packages
		COMMAND "${PROJECT_SOURCE_DIR}/scripts/npm" "${PROJECT_SOURCE_DIR}/tests/web"
			"${WEFT_NPM}/tests"
		VERBATIM)
	add_dependencies(tests weft web_test_packages)
	list(APPEND WEFT_TEST_ENV "CHROMIUM=${CHROMIUM_PROGRAM}" "SQLITE3=${SQLITE3_PROGRAM}"
		"WEFT_TEST_PACKAGES=${WEFT_NPM}/tests/node_modules")
	foreach(file IN LISTS files)
		cmake_path(GET file STEM name)
		weft_test_labels(test "${file}" web)
		if(test_WANTED)
			weft_register(web_${name} "${test_LABELS}" ${test_TIMEOUT} ${NODE_PROGRAM} "${file}")
		endif()
	endforeach()
endfunction()

function(weft_add_script_tests)
	find_package(Python3 REQUIRED COMPONENTS Interpreter)
	file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/scripts/test_*.py")
	foreach(file IN LISTS files)
		cmake_path(GET file STEM name)
		string(REGEX REPLACE "^test_" "scripts_" name "${name}")
		weft_test_labels(test "${file}" scripts)
		if(test_WANTED)
			weft_register(${name} "${test_LABELS}" ${test_TIMEOUT}
				${Python3_EXECUTABLE} -B "${file}")
		endif()
	endforeach()
endfunction()

if(CMOCKA_FOUND)
	weft_add_c_tests()
endif()
if(BATS_PROGRAM AND TARGET weft)
	weft_add_bats_tests()
endif()
if(CHROMIUM_PROGRAM AND SQLITE3_PROGRAM AND TARGET weft AND NOT WEFT_SHORT)
	weft_add_web_tests()
endif()
if(WEFT_LINT_TESTS)
	weft_add_script_tests()
endif()
