# SPDX-License-Identifier: Apache-2.0
# libweft: the public interface of include/weft and all it stands on, as one static library; the
# programs in examples/c, which use nothing else, and their tests.

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
add_library(weft_library STATIC ${objects})
set_target_properties(weft_library PROPERTIES OUTPUT_NAME weft LINKER_LANGUAGE C)
set(WEFT_LIBRARY_PACKAGES "") # for weft.pc
foreach(folder IN LISTS WEFT_LIBRARY_FOLDERS)
	foreach(link IN LISTS WEFT_${folder}_LINKS)
		weft_link_system(weft_library ${link})
		if(link MATCHES "^pkg:(.+)$")
			string(APPEND WEFT_LIBRARY_PACKAGES " ${CMAKE_MATCH_1}")
		endif()
	endforeach()
endforeach()
string(STRIP "${WEFT_LIBRARY_PACKAGES}" WEFT_LIBRARY_PACKAGES)

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
