# SPDX-License-Identifier: Apache-2.0
# The page of weft report: what is in web/ becomes one C file of the folder results. npm's packages are
# fetched the first time only, to build/npm, which all presets share.
find_program(NODE_PROGRAM NAMES node nodejs)
find_program(NPM_PROGRAM npm)
if(NOT NODE_PROGRAM OR NOT NPM_PROGRAM)
	message(FATAL_ERROR "the report's page needs Node.js and npm (scripts/setup)")
endif()
set(WEFT_NPM "${PROJECT_SOURCE_DIR}/build/npm")
set(web "${PROJECT_SOURCE_DIR}/web")
file(GLOB sources CONFIGURE_DEPENDS "${web}/src/*.js")
add_custom_command(
	OUTPUT "${PROJECT_BINARY_DIR}/web/page_template.c"
	COMMAND "${PROJECT_SOURCE_DIR}/scripts/npm" "${web}" "${WEFT_NPM}/web"
	COMMAND "${NODE_PROGRAM}" "${web}/build.mjs" "${PROJECT_BINARY_DIR}/web/page_template.c"
		"${WEFT_NPM}/web/node_modules"
	DEPENDS ${sources} "${web}/build.mjs" "${web}/page.html" "${web}/page.css"
		"${web}/package-lock.json" "${PROJECT_SOURCE_DIR}/scripts/npm"
	COMMENT "Bundling the report's page"
	VERBATIM)
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/web")
target_sources(weft_results PRIVATE "${PROJECT_BINARY_DIR}/web/page_template.c")
