# SPDX-License-Identifier: Apache-2.0
# The manual pages of files, weft-scenario(5) and weft-results(5), in build/<preset>/man: made of docs/scenario.md
# and docs/results.md, of the parameters that the program itself lists, and of the tables that it creates.
if(NOT TARGET weft OR WEFT_TEST_LABEL)
	return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(WEFT_MAN "${PROJECT_BINARY_DIR}/man")
set(scripts "${PROJECT_SOURCE_DIR}/scripts/man5.py" "${PROJECT_SOURCE_DIR}/scripts/md2man.py")
file(MAKE_DIRECTORY "${WEFT_MAN}")

# weft as the command: where it is compiled for another machine CMake puts the emulator before it.
add_custom_command(
	OUTPUT "${WEFT_MAN}/weft-scenario.5"
	COMMAND weft list parameters --json > "${WEFT_MAN}/parameters.json"
	COMMAND Python3::Interpreter -B "${PROJECT_SOURCE_DIR}/scripts/man5.py" scenario
		"${WEFT_MAN}/weft-scenario.5" "${WEFT_MAN}/parameters.json"
	BYPRODUCTS "${WEFT_MAN}/parameters.json"
	DEPENDS weft ${scripts} "${PROJECT_SOURCE_DIR}/docs/scenario.md"
	COMMENT "Making weft-scenario(5)"
	VERBATIM)
add_custom_command(
	OUTPUT "${WEFT_MAN}/weft-results.5"
	COMMAND Python3::Interpreter -B "${PROJECT_SOURCE_DIR}/scripts/man5.py" results
		"${WEFT_MAN}/weft-results.5"
	DEPENDS ${scripts} "${PROJECT_SOURCE_DIR}/docs/results.md"
		"${PROJECT_SOURCE_DIR}/src/results/record_schema.c" "${PROJECT_SOURCE_DIR}/src/results/record_priv.h"
	COMMENT "Making weft-results(5)"
	VERBATIM)
add_custom_target(man5 ALL DEPENDS "${WEFT_MAN}/weft-scenario.5" "${WEFT_MAN}/weft-results.5")
if(TARGET tests)
	add_dependencies(tests man5)
endif()
install(FILES "${WEFT_MAN}/weft-scenario.5" "${WEFT_MAN}/weft-results.5"
	DESTINATION "${CMAKE_INSTALL_MANDIR}/man5" COMPONENT pages)
