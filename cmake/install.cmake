# SPDX-License-Identifier: Apache-2.0
# What `make install` puts below the prefix: the program, the libraries with their headers and what finds them, the profiles,
# the schemas of what it prints, examples and documents; the manual and completion are pages.cmake's and man5.cmake's. What
# the program needs to run is the component program, the shared library alone the component library. Nothing of it names the
# place that it was built in, and it may be moved as a whole.
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH data_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_DATADIR}")
file(RELATIVE_PATH data_from_lib "${CMAKE_INSTALL_FULL_LIBDIR}" "${CMAKE_INSTALL_FULL_DATADIR}")
file(RELATIVE_PATH lib_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
# Only the files that look for them know, so that no other depends on where weft is installed.
set_source_files_properties("${PROJECT_SOURCE_DIR}/src/scenario/paths.c" PROPERTIES COMPILE_DEFINITIONS
	"WEFT_DATADIR=\"${CMAKE_INSTALL_FULL_DATADIR}\";WEFT_DATA_FROM_BIN=\"${data_from_bin}\";WEFT_DATA_FROM_LIB=\"${data_from_lib}\"")
set_source_files_properties("${PROJECT_SOURCE_DIR}/src/cli/live/cmd_exec.c" PROPERTIES
	COMPILE_DEFINITIONS "WEFT_LIB_FROM_BIN=\"${lib_from_bin}\"")
# A build tree is laid out as below a prefix: what is built finds the profiles of the sources.
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/weft")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/profiles" "${PROJECT_BINARY_DIR}/share/weft/profiles"
	SYMBOLIC)

if(TARGET weft)
	install(TARGETS weft RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/profiles/"
	DESTINATION "${CMAKE_INSTALL_DATADIR}/weft/profiles" COMPONENT program)

install(TARGETS weft_shared LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library
	NAMELINK_COMPONENT development)
install(TARGETS weft_library ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/weft"
	DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development FILES_MATCHING PATTERN "*.h")

set(pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH WEFT_PREFIX_FROM_PC "${pc}" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" WEFT_PREFIX_FROM_PC "${WEFT_PREFIX_FROM_PC}")
file(RELATIVE_PATH WEFT_LIB_FROM_PREFIX "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH WEFT_INCLUDE_FROM_PREFIX "${CMAKE_INSTALL_PREFIX}"
	"${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/weft.pc.in" "${PROJECT_BINARY_DIR}/weft.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/weft.pc"
	DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

set(WEFT_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
set(WEFT_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
set(prefix "${CMAKE_SHARED_LIBRARY_PREFIX}")
set(suffix "${CMAKE_SHARED_LIBRARY_SUFFIX}")
if(APPLE)
	set(WEFT_SHARED_FILE "${prefix}weft.${WEFT_LIBRARY_VERSION}${suffix}")
	set(WEFT_SHARED_SONAME "@rpath/${prefix}weft.${WEFT_LIBRARY_SOVERSION}${suffix}")
else()
	set(WEFT_SHARED_FILE "${prefix}weft${suffix}.${WEFT_LIBRARY_VERSION}")
	set(WEFT_SHARED_SONAME "${prefix}weft${suffix}.${WEFT_LIBRARY_SOVERSION}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/schemas" DESTINATION "${CMAKE_INSTALL_DATADIR}/weft" COMPONENT documentation)
set(WEFT_STATIC_FILE "${CMAKE_STATIC_LIBRARY_PREFIX}weft${CMAKE_STATIC_LIBRARY_SUFFIX}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/weftConfig.cmake.in"
	"${PROJECT_BINARY_DIR}/cmake/weftConfig.cmake"
	INSTALL_DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/weft"
	PATH_VARS WEFT_LIBDIR WEFT_INCLUDEDIR)
# Before 1.0 a second number may change what programs rely on.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/weftConfigVersion.cmake"
	VERSION "${PROJECT_VERSION}" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/weftConfig.cmake"
	"${PROJECT_BINARY_DIR}/cmake/weftConfigVersion.cmake"
	DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/weft" COMPONENT development)

# As in the sources, so that what they say of each other's places holds.
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
	"${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" "${PROJECT_SOURCE_DIR}/LICENSE"
	DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT documentation)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
	COMPONENT documentation FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
	COMPONENT documentation PATTERN ".*" EXCLUDE)
