# SPDX-License-Identifier: Apache-2.0
# The page of weft report: one C file of the folder results. A release tarball has it (web/page_template.c);
# otherwise scripts/page makes it of what is in web/, with npm's packages, which are fetched the first time only, to
# build/npm, which all presets share. Where that cannot be, the program is built without a page, and says so.
set(WEFT_PAGE auto CACHE STRING
	"The report's page: auto (as shipped, or bundled, or none), bundle (it must be), none")
set_property(CACHE WEFT_PAGE PROPERTY STRINGS auto bundle none)
# Those of the PATH, as scripts/page takes them.
find_program(NODE_PROGRAM NAMES node nodejs NO_CMAKE_SYSTEM_PATH)
find_program(NPM_PROGRAM npm NO_CMAKE_SYSTEM_PATH)
set(WEFT_NPM "${PROJECT_SOURCE_DIR}/build/npm")
set(web "${PROJECT_SOURCE_DIR}/web")
set(page "${PROJECT_BINARY_DIR}/web/page_template.c")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/web")

# What a page was missing may be there by now, and who configures anew wants to know.
if(EXISTS "${page}")
	file(STRINGS "${page}" missing REGEX "^const char .const wf_page_missing = \"" LIMIT_COUNT 1)
	if(missing)
		file(REMOVE "${page}")
	endif()
endif()

if(WEFT_PAGE STREQUAL "auto" AND EXISTS "${web}/page_template.c")
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${web}/page_template.c")
	configure_file("${web}/page_template.c" "${page}" COPYONLY)
elseif(WEFT_PAGE STREQUAL "none")
	file(CONFIGURE OUTPUT "${page}" @ONLY CONTENT [[
/* Made by cmake/web.cmake: there is no page. */
#include "results/page_template.h"

const char *const wf_page_missing = "it was configured with WEFT_PAGE=none";

const struct wf_page_piece wf_page_template[WF_PAGE_PIECES] = { { NULL, 0 } };
]])
else()
	set(must "")
	if(WEFT_PAGE STREQUAL "bundle")
		set(must --must)
	elseif(NOT NODE_PROGRAM)
		message(STATUS "weft report will have no page: Node.js is missing (scripts/setup)")
	elseif(NOT NPM_PROGRAM AND NOT EXISTS "${WEFT_NPM}/web/installed")
		message(STATUS "weft report will have no page: npm is missing (scripts/setup)")
	endif()
	file(GLOB sources CONFIGURE_DEPENDS "${web}/src/*.js")
	add_custom_command(
		OUTPUT "${page}"
		COMMAND "${PROJECT_SOURCE_DIR}/scripts/page" ${must} "${page}" "${WEFT_NPM}/web"
		DEPENDS ${sources} "${web}/build.mjs" "${web}/page.html" "${web}/page.css"
			"${web}/package-lock.json" "${PROJECT_SOURCE_DIR}/scripts/npm"
			"${PROJECT_SOURCE_DIR}/scripts/page"
		COMMENT "Bundling the report's page"
		VERBATIM)
endif()
target_sources(weft_results PRIVATE "${page}")
