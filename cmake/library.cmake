# SPDX-License-Identifier: Apache-2.0
# libweft: the public interface of include/weft and all it stands on, as a shared and a static library; the
# programs in examples/c, which use nothing else, and their tests.
#
# The number in the soname changes when a program that was linked with an older one could not go on with it; the
# names in debian/ and NODE in scripts/api_symbols.py change with it.
set(WEFT_LIBRARY_VERSION 1.0.0)
set(WEFT_LIBRARY_SOVERSION 1)

# The interface and what it stands on: the folders whose objects go into the library.
set(WEFT_LIBRARY_FOLDERS api ${WEFT_api_ALL})
foreach(folder live compat results)
	if(folder IN_LIST WEFT_LIBRARY_FOLDERS)
		message(FATAL_ERROR "libweft simulates; src/${folder} is none of it (scripts/layers.txt)")
	endif()
endforeach()
set(objects "")
foreach(folder IN LISTS WEFT_LIBRARY_FOLDERS)
	get_target_property(type weft_${folder} TYPE)
	if(type STREQUAL "STATIC_LIBRARY")
		list(APPEND objects $<TARGET_OBJECTS:weft_${folder}>)
	endif()
endforeach()
# What it exports is what the headers declare; what else api has to share among its files is hidden below.
set_target_properties(weft_api PROPERTIES C_VISIBILITY_PRESET default)

# All objects become one, optimised as a whole, in which only what the headers declare is global: a program that
# is linked with the static library meets no names of ours either.
set(made "${PROJECT_BINARY_DIR}/api")
set(map_option "")
if(CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF" AND CMAKE_OBJCOPY)
	find_package(Python3 REQUIRED COMPONENTS Interpreter)
	file(GLOB headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/weft/*.h")
	add_custom_command(
		OUTPUT "${made}/weft.map" "${made}/weft.keep"
		COMMAND ${Python3_EXECUTABLE} -B "${PROJECT_SOURCE_DIR}/scripts/api_symbols.py"
			${headers} "${made}"
		DEPENDS ${headers} "${PROJECT_SOURCE_DIR}/scripts/api_symbols.py"
		VERBATIM)
	set(whole "")
	if(WEFT_LTO_LINK)
		set(whole ${WEFT_LTO_LINK} -flinker-output=nolto-rel)
	endif()
	if(CMAKE_C_COMPILER_TARGET)
		list(APPEND whole "--target=${CMAKE_C_COMPILER_TARGET}")
	endif()
	# In its own folder, so that no path comes into it.
	add_custom_command(
		OUTPUT "${made}/weft.o"
		COMMAND ${CMAKE_C_COMPILER} ${whole} -r -nostdlib -o whole.o ${objects}
		COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=weft.keep whole.o weft.o
		COMMAND ${CMAKE_COMMAND} -E rm whole.o
		DEPENDS ${objects} "${made}/weft.keep"
		WORKING_DIRECTORY "${made}"
		COMMENT "Joining libweft's objects"
		COMMAND_EXPAND_LISTS VERBATIM)
	set(objects "${made}/weft.o")
	add_custom_target(weft_object DEPENDS "${made}/weft.o" "${made}/weft.map")
	set_source_files_properties("${made}/weft.o" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
	set(map_option "LINKER:--version-script=${made}/weft.map")
endif()
file(MAKE_DIRECTORY "${made}")

add_library(weft_library STATIC ${objects})
add_library(weft_shared SHARED ${objects})
set_target_properties(weft_library weft_shared PROPERTIES OUTPUT_NAME weft LINKER_LANGUAGE C
	ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
	LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set_target_properties(weft_shared PROPERTIES VERSION ${WEFT_LIBRARY_VERSION}
	SOVERSION ${WEFT_LIBRARY_SOVERSION})
if(map_option)
	add_dependencies(weft_library weft_object)
	add_dependencies(weft_shared weft_object)
	target_link_options(weft_shared PRIVATE ${map_option})
	set_target_properties(weft_shared PROPERTIES LINK_DEPENDS "${made}/weft.map")
endif()

# What a program that is linked with the static library needs as well, for weft.pc and weftConfig.cmake.
set(WEFT_LIBRARY_PACKAGES "")
set(WEFT_LIBRARY_LIBS "")
foreach(folder IN LISTS WEFT_LIBRARY_FOLDERS)
	foreach(link IN LISTS WEFT_${folder}_LINKS)
		weft_link_system(weft_library ${link})
		weft_link_system(weft_shared ${link} PRIVATE)
		if(link MATCHES "^pkg:(.+)$")
			list(APPEND WEFT_LIBRARY_PACKAGES ${CMAKE_MATCH_1})
		elseif(link STREQUAL "threads")
			list(APPEND WEFT_LIBRARY_LIBS -pthread)
		elseif(link STREQUAL "dl")
			list(TRANSFORM CMAKE_DL_LIBS PREPEND -l OUTPUT_VARIABLE dl)
			list(APPEND WEFT_LIBRARY_LIBS ${dl})
		else()
			list(APPEND WEFT_LIBRARY_LIBS -l${link})
		endif()
	endforeach()
endforeach()
list(REMOVE_DUPLICATES WEFT_LIBRARY_PACKAGES)
list(REMOVE_DUPLICATES WEFT_LIBRARY_LIBS)
list(JOIN WEFT_LIBRARY_PACKAGES " " WEFT_LIBRARY_PACKAGES)
list(JOIN WEFT_LIBRARY_LIBS " " WEFT_LIBRARY_LIBS)

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/c/*.c")
foreach(source IN LISTS sources)
	cmake_path(GET source STEM name)
	add_executable(example_${name} EXCLUDE_FROM_ALL "${source}")
	set_target_properties(example_${name} PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF
		RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples" OUTPUT_NAME ${name}
		INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include")
	target_compile_options(example_${name} PRIVATE -pedantic)
	if(WEFT_LTO_LINK)
		target_link_options(example_${name} PRIVATE -fno-lto)
	endif()
	target_link_libraries(example_${name} PRIVATE weft_library)
	if(WEFT_TESTS AND NOT WEFT_TEST_LABEL)
		add_dependencies(tests example_${name})
		weft_register(example_${name} "examples" 120 example_${name})
	endif()
endforeach()

# The headers are for C++ too.
find_program(CXX_PROGRAM NAMES c++ g++ clang++)
if(CXX_PROGRAM AND WEFT_TESTS AND NOT WEFT_TEST_LABEL)
	weft_register(headers_cxx "examples" 60 ${CXX_PROGRAM} -std=c++11 -Wall -Wextra -pedantic
		-Werror -fsyntax-only -I "${PROJECT_SOURCE_DIR}/include"
		-x c++ "${PROJECT_SOURCE_DIR}/include/weft/weft.h")
endif()
