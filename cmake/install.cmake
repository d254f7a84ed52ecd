# libfrazil.so.0 holds every layer; its symbols are hidden except those marked FRAZIL_EXPORT.
include(GNUInstallDirs)
install(TARGETS frazil RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
