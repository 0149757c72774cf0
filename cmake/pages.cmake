# SPDX-License-Identifier: Apache-2.0
# The pages of the manual and the shells' completion, which the program that was built prints of its own
# tables of options, and where they are installed.
if(TARGET weft)
	set(WEFT_PAGES "${PROJECT_BINARY_DIR}/man1")
	set(WEFT_COMPLETION "${PROJECT_BINARY_DIR}/completion")
	file(MAKE_DIRECTORY "${WEFT_PAGES}" "${WEFT_COMPLETION}")
	# A page of a command that is no more must not stay.
	add_custom_command(OUTPUT "${WEFT_PAGES}/stamp"
		COMMAND "${CMAKE_COMMAND}" -E rm -rf "${WEFT_PAGES}"
		COMMAND weft help --pages "${WEFT_PAGES}"
		COMMAND weft completion bash --out "${WEFT_COMPLETION}/weft"
		COMMAND weft completion zsh --out "${WEFT_COMPLETION}/_weft"
		COMMAND weft completion fish --out "${WEFT_COMPLETION}/weft.fish"
		COMMAND "${CMAKE_COMMAND}" -E touch "${WEFT_PAGES}/stamp"
		DEPENDS weft VERBATIM)
	add_custom_target(pages ALL DEPENDS "${WEFT_PAGES}/stamp")
	install(DIRECTORY "${WEFT_PAGES}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
		COMPONENT pages FILES_MATCHING PATTERN "*.1")
	install(FILES "${WEFT_COMPLETION}/weft"
		DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT pages)
	install(FILES "${WEFT_COMPLETION}/_weft"
		DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT pages)
	install(FILES "${WEFT_COMPLETION}/weft.fish"
		DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT pages)
endif()
