# The layers from the bottom up. A layer may include only what it lists; tools/check_layers.py fails on anything else.
frazil_layer(base LIBRARIES fmt::fmt PkgConfig::libdeflate)
frazil_layer(memory THREADS DEPENDS base LIBRARIES Threads::Threads)
frazil_layer(runtime THREADS DEPENDS base memory LIBRARIES Threads::Threads)
frazil_layer(columnar DEPENDS base memory LIBRARIES PkgConfig::xxhash)
frazil_layer(codec THREADS DEPENDS base memory
             LIBRARIES PkgConfig::zstd PkgConfig::lz4 PkgConfig::brotli PkgConfig::libdeflate PkgConfig::xxhash ZLIB::ZLIB
                       Snappy::snappy)
frazil_layer(json DEPENDS base memory)
frazil_layer(io THREADS DEPENDS base memory runtime)
frazil_layer(text DEPENDS base memory columnar codec json io)
frazil_layer(ipc THREADS DEPENDS base memory columnar codec io)
frazil_layer(predicate DEPENDS base memory columnar)
frazil_layer(parquet DEPENDS base memory columnar codec io predicate ipc LIBRARIES PkgConfig::xxhash TEST_DEPENDS testing)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/frazil/parquet/writer_options.cc
                            PROPERTIES COMPILE_DEFINITIONS FRAZIL_VERSION="${FRAZIL_VERSION}")
frazil_layer(avro DEPENDS base memory columnar codec json io)
frazil_layer(spec DEPENDS base memory columnar codec json)
frazil_layer(manifest DEPENDS base memory columnar json io avro spec)
frazil_layer(catalog DEPENDS base memory runtime json io spec LIBRARIES PkgConfig::sqlite3 PkgConfig::yaml)
frazil_layer(scan THREADS DEPENDS base memory runtime columnar codec io predicate parquet avro spec manifest
             TEST_DEPENDS catalog testing)
frazil_layer(commit DEPENDS base memory runtime io avro spec manifest catalog TEST_DEPENDS testing)
frazil_layer(write THREADS DEPENDS base memory runtime columnar io parquet spec manifest TEST_DEPENDS json testing)
frazil_layer(table DEPENDS base memory runtime columnar io predicate spec manifest catalog scan commit write)
frazil_layer(testing DEPENDS base memory runtime columnar json io ipc TEST_DEPENDS codec)
