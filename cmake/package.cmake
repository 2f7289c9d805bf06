# `./dev deb`: what a Debian package of the program holds, and its dependencies by dpkg-shlibdeps.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # tests are no part of it

set(shell ${CMAKE_BINARY_DIR}/shell)
add_custom_command(OUTPUT ${shell}/gpufathom.1 DEPENDS gpufathom VERBATIM
  COMMAND ${CMAKE_COMMAND} -E make_directory ${shell}
  COMMAND sh -c "\"$1\" help man >\"$2/gpufathom.1\" && \"$1\" help completion bash >\"$2/gpufathom\" && \"$1\" help completion zsh >\"$2/_gpufathom\" && \"$1\" help completion fish >\"$2/gpufathom.fish\""
    sh $<TARGET_FILE:gpufathom> ${shell})
add_custom_target(gpufathom_shell DEPENDS ${shell}/gpufathom.1)

install(FILES ${shell}/gpufathom.1 DESTINATION share/man/man1 OPTIONAL)
install(FILES ${shell}/gpufathom DESTINATION share/bash-completion/completions OPTIONAL)
install(FILES ${shell}/_gpufathom DESTINATION share/zsh/vendor-completions OPTIONAL)
install(FILES ${shell}/gpufathom.fish DESTINATION share/fish/vendor_completions.d OPTIONAL)
install(FILES share/systemd/gpufathom-monitor.service DESTINATION lib/systemd/system)
install(DIRECTORY python/gpufathom DESTINATION lib/python3/dist-packages PATTERN __pycache__ EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "The gpufathom developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "how deep the GPU is really used")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/share/debian/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
include(CPack)
