# Every outside library, from the system's packages (tools/setup.sh names them); installed too, for programs that link the
# static library. Debian 12 and Ubuntu 24.04 ship CMake files for a few of them only; the rest is found by pkg-config.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(brotli REQUIRED IMPORTED_TARGET libbrotlidec libbrotlienc)
pkg_check_modules(libdeflate REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
find_package(ZLIB REQUIRED)
find_package(Snappy REQUIRED)
