# SPDX-License-Identifier: Apache-2.0
# What `make install` puts below the prefix: the program, the library with its headers,
# the profiles, the schemas of what it prints and the manual pages that are not of commands (pages.cmake). What the
# program needs to run is the component program.
if(TARGET weft)
	install(TARGETS weft RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
endif()
install(TARGETS weft_library ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/weft"
	DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
configure_file("${PROJECT_SOURCE_DIR}/cmake/weft.pc.in" "${PROJECT_BINARY_DIR}/weft.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/weft.pc"
	DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/profiles")
	install(DIRECTORY "${PROJECT_SOURCE_DIR}/profiles/"
		DESTINATION "${CMAKE_INSTALL_DATADIR}/weft/profiles" COMPONENT program)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/schemas" DESTINATION "${CMAKE_INSTALL_DATADIR}/weft")
foreach(section 3 5 7 8)
	file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/man/*.${section}")
	if(pages)
		install(FILES ${pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
	endif()
endforeach()
