# The three functions every folder uses: a library, a test, a program. Sources are listed, never globbed.

find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
include(GoogleTest)

# The last five are false in GCC 12: about libstdc++'s own strings and vectors (its PR 105329, 105651), and about frames of
# coroutines, whose operator new it inlines without the counterpart. The sanitized builds watch for the real thing.
add_library(shiplog_warnings INTERFACE)
target_compile_options(shiplog_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wswitch-enum -Werror
                                                  -Wnon-virtual-dtor -Woverloaded-virtual
                                                  -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                                                  -Wno-stringop-overread -Wno-mismatched-new-delete)
if(SHIPLOG_SANITIZE)
  # False more often in instrumented code, as GCC's manual says; the plain build has the warning.
  target_compile_options(shiplog_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # The embedded documents are long literals, and a list of texts may initialize an array: GCC warns of neither.
  target_compile_options(shiplog_warnings INTERFACE -Wno-unknown-warning-option -Wno-overlength-strings -Wno-missing-braces)
endif()

# Parsed once instead of in each of hundreds of files. Two sets of headers: base, and state for folders in which most files
# read the state. Each is compiled once for libraries and programs, and once for tests.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cc CONTENT "" @ONLY)
# Tests run for seconds and compile for minutes.
set(SHIPLOG_TEST_OPTIONS $<$<CONFIG:Release>:-O0>)
foreach(headers base state)
  set(name shiplog_precompiled_${headers})
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE shiplog_warnings)
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled_${headers}.h)
  add_library(${name}_test OBJECT ${CMAKE_BINARY_DIR}/precompiled.cc)
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name}_test PRIVATE ${SHIPLOG_TEST_OPTIONS})
  target_link_libraries(${name}_test PRIVATE shiplog_warnings GTest::gtest)
  target_precompile_headers(${name}_test PRIVATE <gtest/gtest.h> ${PROJECT_SOURCE_DIR}/cmake/precompiled_${headers}.h)
endforeach()

# Folders in which about half of the files or more include events/state/state.h or events/event.h: these compile 0.7 to 1 s
# faster; loading the larger precompiled header costs each of the others 0.1 s.
set(SHIPLOG_STATE_FOLDERS
    "events|events/codec|events/fold"
    "projections|projections/(audit|decisions|history|holds|objects|proof|revisions|scrub|store)"
    "services/api|services/api/(admission_policies|denials|feeds|insight|pipeline|proof)"
    "services/(debugger|feeds|interpreter|rehearsal)|services/programs/(agent|member|shiplogctl|shiplogd|transfer|verification)"
    "services/roles|services/roles/.*"
    "tests/(replay|simulation)")

function(shiplog_precompile target kind)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  list(JOIN SHIPLOG_STATE_FOLDERS "|" state_folders)
  if(folder MATCHES "^(${state_folders})$")
    target_precompile_headers(${target} REUSE_FROM shiplog_precompiled_state${kind})
  else()
    target_precompile_headers(${target} REUSE_FROM shiplog_precompiled_base${kind})
  endif()
endfunction()

set(SHIPLOG_BATCH 8 CACHE STRING "How many sources of a target are compiled as one; 1: each by itself, as clang-tidy reads them")
# Where libraries are compiled in batches, and tests everywhere. Not where processor time counts: GCC inlines less of a template
# that is used twice in what it compiles, which costs an application 11 % more instructions.
set(SHIPLOG_BATCHED_FOLDERS "services/(debugger|programs|rehearsal)|tests")

# The sources of a target in batches of about the same size, each compiled as one: headers are parsed and templates
# instantiated once for all of a batch. So names in unnamed namespaces must be unique in a target. A batch includes its
# sources by their paths from the root of the tree, so that ccache finds it in every clone.
function(shiplog_batches target sources out)
  # Generated sources have absolute paths and are compiled by themselves.
  set(generated ${sources})
  list(FILTER generated INCLUDE REGEX "^/")
  list(FILTER sources EXCLUDE REGEX "^/")
  list(LENGTH sources count)
  math(EXPR batches "(${count} + ${SHIPLOG_BATCH} - 1) / ${SHIPLOG_BATCH}")
  if(batches EQUAL count)
    set(${out} ${sources} ${generated} PARENT_SCOPE)
    return()
  endif()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(files "")
  foreach(batch RANGE 1 ${batches})
    math(EXPR begin "(${batch} - 1) * ${count} / ${batches}")
    math(EXPR length "${batch} * ${count} / ${batches} - ${begin}")
    list(SUBLIST sources ${begin} ${length} members)
    list(TRANSFORM members REPLACE "(.+)" "#include \"${folder}/\\1\"\n")
    list(JOIN members "" content)
    # GCC treats an included source as a header, and warns of unnamed namespaces in headers.
    string(PREPEND content "#pragma GCC diagnostic ignored \"-Wsubobject-linkage\"\n")
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${target}_${batch}.cc CONTENT "${content}" @ONLY)
    list(APPEND files ${CMAKE_CURRENT_BINARY_DIR}/${target}_${batch}.cc)
  endforeach()
  set(${out} ${files} ${generated} PARENT_SCOPE)
endfunction()

# shiplog_library(NAME SOURCES a.cc b.cc DEPS other_target ...)
function(shiplog_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_SOURCES)
    set(sources ${ARG_SOURCES})
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    if(folder MATCHES "^(${SHIPLOG_BATCHED_FOLDERS})(/|$)")
      shiplog_batches(${name} "${sources}" sources)
    endif()
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE shiplog_warnings ${ARG_PRIVATE_DEPS})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    shiplog_precompile(${name} "")
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
  shiplog_batches(${name} "${ARG_SOURCES}" sources)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE shiplog_warnings ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${name} PRIVATE ${SHIPLOG_TEST_OPTIONS})
  shiplog_precompile(${name} _test)
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
  shiplog_batches(${name} "${ARG_SOURCES}" sources)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE shiplog_warnings ${ARG_DEPS} ${SHIPLOG_ALLOCATOR})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  shiplog_precompile(${name} "")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()
