# SPDX-License-Identifier: Apache-2.0
# How every C file of weft is compiled: language, warnings, sanitizers, optimisation, definitions.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g -fno-omit-frame-pointer")

# scripts/check_headers reads this list too.
set(WEFT_WARNINGS
	-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wswitch-enum
	-Wmissing-prototypes -Wstrict-prototypes -Wvla -Wcast-qual -Wundef -Wformat=2)
add_compile_options(${WEFT_WARNINGS})
# Who builds a release has other compilers than those who made it.
set(werror OFF)
if(EXISTS "${PROJECT_SOURCE_DIR}/.git")
	set(werror ON)
endif()
option(WEFT_WERROR "Take warnings for errors" ${werror})
if(WEFT_WERROR)
	add_compile_options(-Werror)
endif()
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
	# snprintf() cuts off safely, and what gcc guesses of the length depends on the optimiser.
	add_compile_options(-Wno-format-truncation)
endif()

# A fused multiply-add rounds once instead of twice: results would depend on the machine.
add_compile_options(-ffp-contract=off -fno-semantic-interposition)

# What is installed does not say where it was built, so that two builds of the same sources are the same. The sanitizers'
# reports and debuggers are for who has the sources in their place.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
	add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}=." "-ffile-prefix-map=${PROJECT_BINARY_DIR}=build")
endif()

if(WEFT_SANITIZE)
	add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all)
	add_link_options(-fsanitize=${WEFT_SANITIZE})
	if(WEFT_SANITIZE MATCHES "thread" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
		# gcc says that its thread sanitizer does not see fences; that is no reason to stop.
		add_compile_options(-Wno-error=tsan)
	endif()
endif()
if(WEFT_FUZZ)
	if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
		message(FATAL_ERROR "WEFT_FUZZ needs clang; use the preset 'fuzz'")
	endif()
	add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Objects carry both machine code and gcc's intermediate form: weft and the benchmarks link the
# latter, the many tests the former, so that they do not optimise the whole program each.
set(WEFT_LTO_COMPILE "")
set(WEFT_LTO_LINK "")
if(WEFT_LTO)
	if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
		set(WEFT_LTO_COMPILE -flto=auto -ffat-lto-objects)
		set(WEFT_LTO_LINK -flto=auto)
	else()
		message(STATUS "WEFT_LTO is used with gcc only; linking without it")
	endif()
endif()

add_compile_definitions(WEFT_VERSION="${PROJECT_VERSION}")
include_directories("${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
