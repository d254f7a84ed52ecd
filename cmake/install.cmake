# What `make install` puts where: the program, both forms of the library, the public headers, and what CMake
# (find_package(frazil)) and pkg-config need to find them.
include(CMakePackageConfigHelpers)
install(TARGETS frazil RUNTIME)
install(TARGETS frazil_shared EXPORT frazilShared)
install(TARGETS frazil_static EXPORT frazilStatic)

# Public are the headers of this list and what they include, nothing else.
set(headers frazil/frazil.h frazil/parquet/file_reader.h frazil/parquet/push_decoder.h frazil/ipc/reader.h
            frazil/ipc/stream_reader.h frazil/ipc/push_decoder.h frazil/ipc/schema_cache.h frazil/ipc/stream_writer.h
            frazil/ipc/file_writer.h)
set(public_headers "")
while(headers)
  list(POP_FRONT headers header)
  list(APPEND public_headers ${header})
  file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} includes REGEX "^#include \"frazil/")
  list(TRANSFORM includes REPLACE "#include \"([^\"]+)\".*" "\\1")
  list(APPEND headers ${includes})
  list(REMOVE_DUPLICATES headers)
  list(REMOVE_ITEM headers ${public_headers})
endwhile()
foreach(header ${public_headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/frazil)
install(EXPORT frazilShared NAMESPACE frazil:: DESTINATION ${package_folder})
install(EXPORT frazilStatic NAMESPACE frazil:: DESTINATION ${package_folder})
configure_package_config_file(cmake/frazilConfig.cmake.in ${PROJECT_BINARY_DIR}/frazilConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
# 0.x promises nothing from one minor version to the next.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/frazilConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/frazilConfig.cmake ${PROJECT_BINARY_DIR}/frazilConfigVersion.cmake
              cmake/dependencies.cmake DESTINATION ${package_folder})

# The modules of dependencies.cmake, and by name those libraries that it finds by their CMake files.
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/dependencies.cmake modules REGEX "^pkg_check_modules")
list(TRANSFORM modules REPLACE ".*IMPORTED_TARGET ([^)]+)\\)" "\\1")
list(JOIN modules " " pkgconfig_modules)
file(RELATIVE_PATH prefix_from_package /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/frazil.pc.in ${PROJECT_BINARY_DIR}/frazil.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/frazil.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
