# SPDX-License-Identifier: Apache-2.0
# tests/install/x.bats is the test install_x of the release build: what is installed and packaged is that.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND BATS_PROGRAM AND TARGET weft AND NOT WEFT_TEST_LABEL)
	file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/install/*.bats")
	foreach(file IN LISTS files)
		cmake_path(GET file STEM name)
		weft_test_labels(test "${file}" install)
		weft_register(install_${name} "${test_LABELS}" ${test_TIMEOUT} "${BATS_PROGRAM}" "${file}")
	endforeach()
	add_dependencies(tests weft weft_shared weft_library example_ping_pong)
endif()
