# The three functions every folder uses: a library, a test, a program. Sources are listed, never globbed.

find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
include(GoogleTest)

# The four at the end are false in GCC 12 about libstdc++'s own strings and vectors (its PR 105329, 105651): the
# sanitized builds watch for the real thing.
add_library(shiplog_warnings INTERFACE)
target_compile_options(shiplog_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wswitch-enum -Werror
                                                  -Wnon-virtual-dtor -Woverloaded-virtual
                                                  -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                                                  -Wno-stringop-overread)
if(SHIPLOG_SANITIZE)
  # False more often in instrumented code, as GCC's manual says; the plain build has the warning.
  target_compile_options(shiplog_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # The embedded documents are long literals, which GCC takes without a word.
  target_compile_options(shiplog_warnings INTERFACE -Wno-unknown-warning-option -Wno-overlength-strings)
endif()

# Parsed once instead of in each of hundreds of files: one for libraries and programs, one for tests.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cc CONTENT "" @ONLY)
# Tests run for seconds and compile for minutes.
set(SHIPLOG_TEST_OPTIONS $<$<CONFIG:Release>:-O0>)
add_library(shiplog_precompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
target_include_directories(shiplog_precompiled PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(shiplog_precompiled PRIVATE shiplog_warnings)
target_precompile_headers(shiplog_precompiled PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
add_library(shiplog_precompiled_test OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
target_include_directories(shiplog_precompiled_test PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(shiplog_precompiled_test PRIVATE ${SHIPLOG_TEST_OPTIONS})
target_link_libraries(shiplog_precompiled_test PRIVATE shiplog_warnings GTest::gtest)
target_precompile_headers(shiplog_precompiled_test PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled_test.h)

# shiplog_library(NAME SOURCES a.cc b.cc DEPS other_target ...)
function(shiplog_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE shiplog_warnings ${ARG_PRIVATE_DEPS})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_precompile_headers(${name} REUSE_FROM shiplog_precompiled)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
  endif()
endfunction()

# shiplog_test(NAME SOURCES x_test.cc DEPS ... LABELS unit [TIMEOUT seconds] [PROCESSORS n] [LOCK resource] [WHOLE])
# Each TEST becomes a ctest of its own; with WHOLE the program is one ctest (for suites whose start is costly). PROCESSORS: how
# many it keeps busy; ctest -j starts no more beside it than fit. LOCK: tests with the same resource run one after the other.
function(shiplog_test name)
  cmake_parse_arguments(ARG "WHOLE" "TIMEOUT;PROCESSORS;LOCK" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  # One label, in which ctest -L finds each of them: of a list, gtest_discover_tests would take the first and lose what follows.
  string(REPLACE ";" "_" label "${ARG_LABELS}")
  set(properties LABELS ${label} TIMEOUT ${ARG_TIMEOUT})
  if(ARG_PROCESSORS)
    list(APPEND properties PROCESSORS ${ARG_PROCESSORS})
  endif()
  if(ARG_LOCK)
    # The chain of them is long: it begins first, with the others beside it.
    list(APPEND properties RESOURCE_LOCK ${ARG_LOCK} COST 100)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE shiplog_warnings ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${SHIPLOG_TEST_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM shiplog_precompiled_test)
  if(ARG_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties})
  else()
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
  endif()
endfunction()

# shiplog_program(NAME SOURCES main.cc DEPS ...): lands in build/bin.
# A sanitizer brings an allocator of its own, which sees more.
if(NOT SHIPLOG_SANITIZE)
  find_library(SHIPLOG_ALLOCATOR libtcmalloc_minimal.a REQUIRED)
endif()

function(shiplog_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE shiplog_warnings ${ARG_DEPS} ${SHIPLOG_ALLOCATOR})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_precompile_headers(${name} REUSE_FROM shiplog_precompiled)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()
