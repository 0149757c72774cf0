# SPDX-License-Identifier: Apache-2.0
# The build's id: a hash over the sources of everything that has a part in a result. It is stored
# with each recorded run, and a run of another id is done anew (docs/results.md).
#
# It is made of sources, not of the program: two clones of a commit have the same one, with any
# compiler and in any folder, as they have the same results. What only shows results files, pages
# and exports, has no part in them. By hand, in src/, for the folders that scripts/layers.txt gives
# study, and itself:
#
#	find FOLDER... -name '*.[ch]' -not -path 'results/page*' -not -path 'results/export*' |
#		LC_ALL=C sort | xargs sha256sum | sha256sum
#
# Included by the build it adds what makes it; run as a script it makes it.

if(NOT CMAKE_SCRIPT_MODE_FILE)
	function(weft_add_build_id target)
		set(folders study ${WEFT_study_ALL})
		set(sources "")
		foreach(folder IN LISTS folders)
			file(GLOB_RECURSE more CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${folder}/*.[ch]")
			list(APPEND sources ${more})
		endforeach()
		set(out "${PROJECT_BINARY_DIR}/build_id.c")
		set(script "${PROJECT_SOURCE_DIR}/cmake/build_id.cmake")
		string(REPLACE ";" " " folders "${folders}")
		add_custom_command(OUTPUT "${out}" DEPENDS ${sources} "${script}"
			COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}/src" "-DFOLDERS=${folders}"
				"-DOUT=${out}" -P "${script}"
			VERBATIM)
		target_sources(${target} PRIVATE "${out}")
	endfunction()
	weft_add_build_id(weft_results)
	return()
endif()

string(REPLACE " " ";" FOLDERS "${FOLDERS}")
set(names "")
foreach(folder IN LISTS FOLDERS)
	file(GLOB_RECURSE more RELATIVE "${ROOT}" "${ROOT}/${folder}/*.[ch]")
	list(APPEND names ${more})
endforeach()
list(FILTER names EXCLUDE REGEX "^results/(page|export)[^/]*$")
list(SORT names)
set(all "")
foreach(name IN LISTS names)
	file(SHA256 "${ROOT}/${name}" hash)
	string(APPEND all "${hash}  ${name}\n")
endforeach()
string(SHA256 id "${all}")
file(CONFIGURE OUTPUT "${OUT}" @ONLY CONTENT [[
/* SPDX-License-Identifier: Apache-2.0 */
/* build_id.c - made by cmake/build_id.cmake. */
#include "results/build_id.h"

const char *wf_build_id(void)
{
	return "@id@";
}
]])
