# libfrazil: all layers but `testing` as one library, shared (libfrazil.so.0) and static (libfrazil.a).
get_property(layers GLOBAL PROPERTY FRAZIL_LAYERS)
get_property(libraries GLOBAL PROPERTY FRAZIL_LIBRARIES)
list(REMOVE_ITEM layers testing)
list(REMOVE_DUPLICATES libraries)
foreach(layer ${layers})
  list(APPEND objects $<TARGET_OBJECTS:frazil_${layer}>)
endforeach()

add_library(frazil_shared SHARED ${objects})
add_library(frazil_static STATIC ${objects})
foreach(kind shared static)
  set_target_properties(frazil_${kind} PROPERTIES OUTPUT_NAME frazil LINKER_LANGUAGE CXX
                        ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  target_compile_features(frazil_${kind} INTERFACE cxx_std_20)
  target_include_directories(frazil_${kind} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(frazil_${kind} PRIVATE ${libraries})
endforeach()

# Exported are the symbols of the namespace frazil, no third party's and no template of the standard library: loaded
# beside other libraries in one process, nothing clashes.
set_target_properties(frazil_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME frazil)
set_target_properties(frazil_static PROPERTIES EXPORT_NAME static)
target_link_options(frazil_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map -Wl,-Bsymbolic-functions)
set_property(TARGET frazil_shared APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
