# frazil_layer(NAME [THREADS] [DEPENDS layer...] [LIBRARIES target...] [TEST_DEPENDS layer...])
#
# One folder src/frazil/NAME = one static library frazil_NAME = one namespace. DEPENDS are the layers whose headers it
# may include; tools/check_layers.py holds the #includes to them. Files *_test.cc make the test program
# frazil_NAME_test, *_bench.cc the benchmark program frazil_NAME_bench. THREADS labels its tests for ThreadSanitizer.
# TEST_DEPENDS are layers that only its tests and benchmarks use.
function(frazil_layer name)
  cmake_parse_arguments(LAYER "THREADS" "" "DEPENDS;LIBRARIES;TEST_DEPENDS" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/src/frazil/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(TRANSFORM LAYER_DEPENDS PREPEND frazil_ OUTPUT_VARIABLE depends)
  list(TRANSFORM LAYER_TEST_DEPENDS PREPEND frazil_ OUTPUT_VARIABLE test_depends)

  if(NOT sources)
    message(STATUS "layer ${name} has no sources yet")
    file(WRITE ${PROJECT_BINARY_DIR}/empty_${name}.cc "")
    set(sources ${PROJECT_BINARY_DIR}/empty_${name}.cc)
  endif()
  add_library(frazil_${name} STATIC ${sources})
  target_include_directories(frazil_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(frazil_${name} PUBLIC ${depends} PRIVATE ${LAYER_LIBRARIES})
  # What cmake/library.cmake puts together.
  set_property(GLOBAL APPEND PROPERTY FRAZIL_LAYERS ${name})
  set_property(GLOBAL APPEND PROPERTY FRAZIL_LIBRARIES ${LAYER_LIBRARIES})

  if(FRAZIL_TESTS AND tests)
    add_executable(frazil_${name}_test ${tests})
    target_include_directories(frazil_${name}_test PRIVATE ${RAPIDCHECK_INCLUDE_DIR})
    target_link_libraries(frazil_${name}_test PRIVATE frazil_${name} ${test_depends} GTest::gmock_main ${RAPIDCHECK_LIBRARY}
                          ${LAYER_LIBRARIES} Threads::Threads)
    target_compile_definitions(frazil_${name}_test PRIVATE FRAZIL_TEST_CORPORA="${PROJECT_SOURCE_DIR}/tests/corpora")
    # One label, not a list: gtest_discover_tests of CMake 3.25 takes a list apart. `ctest -L threads` finds it.
    set(label ${name})
    if(LAYER_THREADS)
      set(label ${name}-threads)
      add_dependencies(frazil_thread_tests frazil_${name}_test)
    endif()
    include(GoogleTest)
    gtest_discover_tests(frazil_${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 120
                         PROPERTIES LABELS ${label} TIMEOUT 300)
  endif()
  if(FRAZIL_BENCHMARKS AND benches)
    add_executable(frazil_${name}_bench ${benches})
    target_link_libraries(frazil_${name}_bench PRIVATE frazil_${name} ${test_depends} benchmark::benchmark_main
                          ${LAYER_LIBRARIES} Threads::Threads)
    target_compile_definitions(frazil_${name}_bench PRIVATE FRAZIL_TEST_CORPORA="${PROJECT_SOURCE_DIR}/tests/corpora")
    # Too short to time anything: each benchmark checks its result.
    add_test(NAME ${name}.benchmarks COMMAND frazil_${name}_bench --benchmark_min_time=0.001)
    set_tests_properties(${name}.benchmarks PROPERTIES LABELS ${name} TIMEOUT 300 FAIL_REGULAR_EXPRESSION "ERROR OCCURRED")
  endif()
endfunction()
