# Ahead-of-time compilation in CMake projects. Arguments are those of Halide's helpers.
#
#   add_polyhalite_generator(NAME [SOURCES] file... [LINK_LIBRARIES library...]
#                            [PACKAGE_NAME package] [PACKAGE_NAMESPACE namespace] [EXPORT_FILE file])
# A program NAME from generators: their sources, Halide.h and <polyhalite/...>, and main(). It goes by
# NAMESPACE NAME as well. A build for another machine takes it from the package, where
# find_package(PACKAGE) finds it, as built for this one: the file that is exported there serves.
#
#   add_polyhalite_library(NAME FROM generator-target
#                          [GENERATOR generator] [FUNCTION_NAME function] [NAMESPACE namespace]
#                          [USE_RUNTIME library] [PARAMS name=value...] [TARGETS target...]
#                          [FEATURES feature...] [FEATURES[arch-bits-os] feature...]
#                          [DEPENDS file...] [PLUGINS library...]
#                          [AUTOSCHEDULER name] [GRADIENT_DESCENT] [C_BACKEND] [NO_THREADS]
#                          [NO_DL_LIBS]
#                          [HEADER variable] [FUNCTION_INFO_HEADER variable]
#                          [REGISTRATION variable] [PYTHON_EXTENSION variable] [STMT variable]
#                          [STMT_HTML variable] [CONCEPTUAL_STMT variable] [SCHEDULE variable]
#                          [ASSEMBLY variable] [BITCODE variable] [LLVM_ASSEMBLY variable]
#                          [COMPILER_LOG variable] [HLPIPE variable] [ALGORITHM variable]
#                          [TREE variable] [C_SOURCE variable])
# A static library NAME that holds one compiled pipeline, with its header NAME.h. It and all other files
# stand in CMAKE_CURRENT_BINARY_DIR. Linking the library brings that folder and the runtime. Each output
# that is named sets its variable to the file's path, relative to CMAKE_CURRENT_BINARY_DIR. The generator
# and the function are called NAME unless said otherwise; the target is "host", or "cmake" where CMake
# compiles for another machine. "host" in TARGETS is this machine, "cmake" the plain architecture that
# CMake compiles for. FEATURES are those of all targets, FEATURES[x86-64-linux] those of such targets
# only. Several targets make one function that calls the first which the machine can run; the last is
# for all machines. An AUTOSCHEDULER that is a target, Namespace::Name, is loaded as a plugin.
# USE_RUNTIME names a runtime, or another such library, whose runtime it then is.
# GRADIENT_DESCENT: the pipeline of derivatives, see GeneratorBase::build_gradient_pipeline().
# C_BACKEND: the pipeline is written as C++ source, which CMake's compiler compiles.
# NAME.runtime is the runtime, and NAME.rungen a program that runs and measures the pipeline.
#
#   add_polyhalite_stub(NAME FROM generator-target [GENERATOR generator] [PARAMS name=value...])
# A library NAME to link with programs and generators that call the generator from C++: its header
# is NAME.stub.h.
#
#   add_polyhalite_runtime(NAME [FROM generator-target] [TARGETS target] [FEATURES feature...])
# A library NAME with the runtime for `target`, for USE_RUNTIME.

function(add_polyhalite_generator name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PACKAGE_NAME;PACKAGE_NAMESPACE;EXPORT_FILE;PYSTUB"
    "SOURCES;LINK_LIBRARIES")
  set(sources ${arg_SOURCES} ${arg_UNPARSED_ARGUMENTS})
  if(NOT sources)
    message(FATAL_ERROR "add_polyhalite_generator(${name}): there are no sources; write "
      "add_polyhalite_generator(${name} SOURCES file...)")
  endif()
  if(arg_PYSTUB)
    message(FATAL_ERROR "add_polyhalite_generator(${name}): PYSTUB is not available; call the "
      "generator from C++ by add_polyhalite_stub")
  endif()
  if(NOT arg_PACKAGE_NAMESPACE)
    set(arg_PACKAGE_NAMESPACE ${PROJECT_NAME}::polyhalite_generators::)
  endif()
  if(NOT arg_PACKAGE_NAME)
    set(arg_PACKAGE_NAME ${PROJECT_NAME}-polyhalite_generators)
  endif()
  if(NOT arg_EXPORT_FILE)
    set(arg_EXPORT_FILE ${PROJECT_BINARY_DIR}/cmake/${arg_PACKAGE_NAME}-config.cmake)
  endif()
  if(CMAKE_CROSSCOMPILING)
    find_package(${arg_PACKAGE_NAME} QUIET)
  else()
    set(${arg_PACKAGE_NAME}_FOUND FALSE)
  endif()
  set(${arg_PACKAGE_NAME}_FOUND ${${arg_PACKAGE_NAME}_FOUND} PARENT_SCOPE)
  if(TARGET ${arg_PACKAGE_NAMESPACE}${name})
    add_executable(${name} ALIAS ${arg_PACKAGE_NAMESPACE}${name})
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name}
    PRIVATE Polyhalite::Generator Polyhalite::Halide ${arg_LINK_LIBRARIES})
  add_executable(${arg_PACKAGE_NAMESPACE}${name} ALIAS ${name})
  if(NOT TARGET ${arg_PACKAGE_NAME})
    add_custom_target(${arg_PACKAGE_NAME})
  endif()
  add_dependencies(${arg_PACKAGE_NAME} ${name})
  # Several generators of a package share the file.
  get_property(known GLOBAL PROPERTY "_polyhalite_exports_to_${arg_EXPORT_FILE}")
  set_property(GLOBAL PROPERTY "_polyhalite_exports_to_${arg_EXPORT_FILE}" TRUE)
  set(append "")
  if(known)
    set(append APPEND)
  endif()
  export(TARGETS ${name} ${append} NAMESPACE ${arg_PACKAGE_NAMESPACE} FILE "${arg_EXPORT_FILE}")
endfunction()

# The plain target that CMake compiles for.
function(_polyhalite_cmake_target result)
  set(arch x86)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm|ARM)")
    set(arch arm)
  endif()
  set(bits 64)
  if(CMAKE_SIZEOF_VOID_P EQUAL 4)
    set(bits 32)
  endif()
  set(system linux)
  if(CMAKE_SYSTEM_NAME MATCHES "^(Android|Windows|iOS|Fuchsia)$")
    string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
  elseif(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
    set(system osx)
  elseif(CMAKE_SYSTEM_NAME STREQUAL "Generic")
    set(system noos)
  endif()
  set(${result} ${arch}-${bits}-${system} PARENT_SCOPE)
endfunction()

# Where CMake compiles for programs that this machine runs, "host", else "cmake".
function(_polyhalite_default_target result)
  set(${result} host PARENT_SCOPE)
  if(CMAKE_CROSSCOMPILING OR CMAKE_SIZEOF_VOID_P EQUAL 4)
    set(${result} cmake PARENT_SCOPE)
  endif()
endfunction()

# The target strings, joined by commas: each with all features, and with those of its own triple,
# which the lists arg_FEATURES[triple] of the caller hold.
function(_polyhalite_target_string result targets features)
  if(NOT targets)
    _polyhalite_default_target(targets)
  endif()
  _polyhalite_cmake_target(plain)
  list(REMOVE_ITEM features "")
  set(list "")
  foreach(target IN LISTS targets)
    string(REGEX REPLACE "^cmake" "${plain}" target "${target}")
    string(REGEX REPLACE "^host" "${plain}" triple "${target}")
    string(REGEX MATCH "^[^-]+-[^-]+-[^-]+" triple "${triple}")
    foreach(feature IN LISTS features "arg_FEATURES[${triple}]")
      string(APPEND target "-${feature}")
    endforeach()
    list(APPEND list ${target})
  endforeach()
  list(JOIN list "," joined)
  set(${result} ${joined} PARENT_SCOPE)
endfunction()

function(_polyhalite_require_generator function name from)
  if(NOT TARGET "${from}")
    message(FATAL_ERROR "${function}(${name}): FROM must name a target made by "
      "add_polyhalite_generator; '${from}' is none")
  endif()
endfunction()

# Outputs by their arguments' names, with their files' extensions. A macro: functions see variables of
# their caller's folder only.
macro(_polyhalite_define_outputs)
  set(_polyhalite_outputs
    HEADER FUNCTION_INFO_HEADER REGISTRATION PYTHON_EXTENSION STMT STMT_HTML CONCEPTUAL_STMT SCHEDULE
    ASSEMBLY BITCODE LLVM_ASSEMBLY COMPILER_LOG HLPIPE ALGORITHM TREE C_SOURCE)
  set(_polyhalite_extension_HEADER .h)
  set(_polyhalite_extension_FUNCTION_INFO_HEADER .function_info.h)
  set(_polyhalite_extension_REGISTRATION .registration.cpp)
  set(_polyhalite_extension_PYTHON_EXTENSION .py.cpp)
  set(_polyhalite_extension_STMT .stmt)
  set(_polyhalite_extension_STMT_HTML .stmt.html)
  set(_polyhalite_extension_CONCEPTUAL_STMT .conceptual.stmt)
  set(_polyhalite_extension_SCHEDULE .schedule)
  set(_polyhalite_extension_ASSEMBLY .s)
  set(_polyhalite_extension_BITCODE .bc)
  set(_polyhalite_extension_LLVM_ASSEMBLY .ll)
  set(_polyhalite_extension_COMPILER_LOG .halide_compiler_log)
  set(_polyhalite_extension_HLPIPE .hlpipe)
  set(_polyhalite_extension_ALGORITHM .algorithm)
  set(_polyhalite_extension_TREE .tree)
  set(_polyhalite_extension_C_SOURCE .halide_generated.cpp)
endmacro()

function(add_polyhalite_library name)
  _polyhalite_define_outputs()
  string(REGEX MATCHALL "FEATURES\\[[^];]*\\]" triples "${ARGN}")
  cmake_parse_arguments(PARSE_ARGV 1 arg "GRADIENT_DESCENT;C_BACKEND;NO_THREADS;NO_DL_LIBS;_HALIDE_HEADERS"
    "FROM;GENERATOR;FUNCTION_NAME;NAMESPACE;USE_RUNTIME;AUTOSCHEDULER;FEATURIZATION;\
PYTORCH_WRAPPER;${_polyhalite_outputs}"
    "TARGETS;FEATURES;${triples};PARAMS;DEPENDS;PLUGINS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "add_polyhalite_library(${name}): unknown '${arg_UNPARSED_ARGUMENTS}'; the "
      "arguments are listed in PolyhaliteGeneratorHelpers.cmake")
  endif()
  foreach(absent FEATURIZATION PYTORCH_WRAPPER)
    if(arg_${absent})
      message(FATAL_ERROR "add_polyhalite_library(${name}): ${absent} is not available")
    endif()
  endforeach()
  _polyhalite_require_generator(add_polyhalite_library ${name} "${arg_FROM}")
  if("${arg_GENERATOR}" STREQUAL "")
    set(arg_GENERATOR ${name})
  endif()
  if("${arg_FUNCTION_NAME}" STREQUAL "")
    set(arg_FUNCTION_NAME ${name})
  endif()
  if(NOT "${arg_NAMESPACE}" STREQUAL "")
    set(arg_FUNCTION_NAME "${arg_NAMESPACE}::${arg_FUNCTION_NAME}")
  endif()
  add_library(${name}.runtime INTERFACE)
  if(NOT arg_USE_RUNTIME AND arg__HALIDE_HEADERS)
    set(arg_USE_RUNTIME Halide::Runtime)
  elseif(NOT arg_USE_RUNTIME)
    set(arg_USE_RUNTIME Polyhalite::Runtime)
  elseif(TARGET ${arg_USE_RUNTIME}.runtime)
    set(arg_USE_RUNTIME ${arg_USE_RUNTIME}.runtime)
  elseif(NOT TARGET ${arg_USE_RUNTIME})
    message(FATAL_ERROR "add_polyhalite_library(${name}): USE_RUNTIME '${arg_USE_RUNTIME}' is no "
      "target; make one by add_polyhalite_runtime")
  endif()
  target_link_libraries(${name}.runtime INTERFACE ${arg_USE_RUNTIME})
  set(headers "")
  if(arg__HALIDE_HEADERS)
    set(headers Halide::Runtime)
  endif()
  _polyhalite_target_string(target "${arg_TARGETS}" "${arg_FEATURES};no_runtime")
  list(LENGTH arg_TARGETS target_count)

  set(folder ${CMAKE_CURRENT_BINARY_DIR})
  # Several targets make several objects, whose names the generator chooses: their archive is used.
  if(arg_C_BACKEND AND target_count GREATER 1)
    message(FATAL_ERROR "add_polyhalite_library(${name}): C_BACKEND takes one target, since the C++ "
      "compiler chooses no instructions at run time")
  elseif(arg_C_BACKEND)
    set(code ${folder}/${name}.halide_generated.cpp)
    set(emit c_source c_header registration)
  elseif(target_count GREATER 1)
    set(code ${folder}/${name}.a)
    set(emit static_library c_header registration)
  elseif(target MATCHES "-windows")
    set(code ${folder}/${name}.obj)
    set(emit object c_header registration)
  else()
    set(code ${folder}/${name}.o)
    set(emit object c_header registration)
  endif()
  set(outputs ${code} ${folder}/${name}.h ${folder}/${name}.registration.cpp)
  foreach(output IN LISTS _polyhalite_outputs)
    if(NOT arg_${output})
      continue()
    endif()
    set(file ${folder}/${name}${_polyhalite_extension_${output}})
    set(${arg_${output}} ${name}${_polyhalite_extension_${output}} PARENT_SCOPE)
    if(NOT output MATCHES "^(HEADER|REGISTRATION)$" AND NOT "${file}" STREQUAL "${code}")
      string(TOLOWER ${output} kind)
      list(APPEND emit ${kind})
      list(APPEND outputs ${file})
    endif()
  endforeach()
  list(JOIN emit "," emit)
  set(options "")
  foreach(plugin IN LISTS arg_PLUGINS)
    if(TARGET ${plugin})
      set(plugin $<TARGET_FILE:${plugin}>)
    endif()
    list(APPEND options -p ${plugin})
  endforeach()
  if(arg_AUTOSCHEDULER)
    if(TARGET ${arg_AUTOSCHEDULER})
      list(APPEND options -p $<TARGET_FILE:${arg_AUTOSCHEDULER}>)
    endif()
    string(REGEX REPLACE "^.*::" "" scheduler "${arg_AUTOSCHEDULER}")
    list(APPEND arg_PARAMS autoscheduler=${scheduler})
  endif()

  if(arg_GRADIENT_DESCENT)
    list(APPEND options -d 1)
  endif()
  add_custom_command(OUTPUT ${outputs}
    COMMAND ${arg_FROM} -g ${arg_GENERATOR} -f ${arg_FUNCTION_NAME} -n ${name} -o ${folder}
            -e ${emit} ${options} target=${target} ${arg_PARAMS}
    DEPENDS ${arg_FROM} ${arg_DEPENDS}
    COMMENT "Compiling pipeline ${name}"
    VERBATIM)
  if(target_count GREATER 1)
    add_library(${name} STATIC IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${code})
    add_custom_target(${name}.files DEPENDS ${outputs})
    add_dependencies(${name} ${name}.files)
    target_include_directories(${name} INTERFACE ${folder})
    target_link_libraries(${name} INTERFACE ${arg_USE_RUNTIME} ${headers})
  else()
    add_library(${name} STATIC ${outputs})
    # They are for who wants them, not for this library.
    set_source_files_properties(${outputs} PROPERTIES GENERATED TRUE HEADER_FILE_ONLY TRUE)
    if(arg_C_BACKEND)
      set_source_files_properties(${code} PROPERTIES HEADER_FILE_ONLY FALSE)
      target_compile_features(${name} PRIVATE cxx_std_17)
      target_link_libraries(${name} PRIVATE ${arg_USE_RUNTIME})
    else()
      set_source_files_properties(${code} PROPERTIES HEADER_FILE_ONLY FALSE EXTERNAL_OBJECT TRUE)
    endif()
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_include_directories(${name} INTERFACE $<BUILD_INTERFACE:${folder}>)
    target_link_libraries(${name} PUBLIC ${arg_USE_RUNTIME} ${headers})
  endif()

  if(TARGET Polyhalite::RunGenMain)
    # A copy, since sources of the library are no sources elsewhere.
    set(registration ${folder}/${name}.rungen.cpp)
    add_custom_command(OUTPUT ${registration}
      COMMAND ${CMAKE_COMMAND} -E copy ${folder}/${name}.registration.cpp ${registration}
      DEPENDS ${folder}/${name}.registration.cpp
      VERBATIM)
    add_executable(${name}.rungen EXCLUDE_FROM_ALL ${registration})
    target_link_libraries(${name}.rungen PRIVATE ${name} Polyhalite::RunGenMain)
    if(target_count GREATER 1)
      add_dependencies(${name}.rungen ${name}.files)
    endif()
  endif()
endfunction()

function(add_polyhalite_stub name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "_NAMED_BY_GENERATOR" "FROM;GENERATOR" "PARAMS")
  _polyhalite_require_generator(add_polyhalite_stub ${name} "${arg_FROM}")
  if("${arg_GENERATOR}" STREQUAL "")
    set(arg_GENERATOR ${name})
  endif()
  set(base ${name})
  if(arg__NAMED_BY_GENERATOR)
    set(base ${arg_GENERATOR})
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/polyhalite/${name})
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${folder}/${base}.stub.h
    COMMAND ${arg_FROM} -g ${arg_GENERATOR} -n ${base} -o ${folder} -e cpp_stub ${arg_PARAMS}
    DEPENDS ${arg_FROM}
    COMMENT "Making stub ${name}"
    VERBATIM)
  add_custom_target(${name}.files DEPENDS ${folder}/${base}.stub.h)
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}.files)
  target_include_directories(${name} INTERFACE ${folder})
  target_sources(${name} INTERFACE $<TARGET_OBJECTS:${arg_FROM}>)
  target_link_libraries(${name} INTERFACE Polyhalite::Polyhalite Polyhalite::Halide)
endfunction()

function(add_polyhalite_runtime name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_THREADS;NO_DL_LIBS;_HALIDE_NAMES" "FROM" "TARGETS;FEATURES")
  if(NOT arg_FROM)
    set(runtime Polyhalite::Runtime)
    if(arg__HALIDE_NAMES)
      set(runtime Halide::Runtime)
    endif()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${runtime})
    return()
  endif()
  _polyhalite_require_generator(add_polyhalite_runtime ${name} "${arg_FROM}")
  _polyhalite_target_string(target "${arg_TARGETS}" "${arg_FEATURES}")
  set(object ${CMAKE_CURRENT_BINARY_DIR}/polyhalite/${name}.o)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/polyhalite)
  add_custom_command(OUTPUT ${object}
    COMMAND ${arg_FROM} -r ${name} -o ${CMAKE_CURRENT_BINARY_DIR}/polyhalite -e object
            target=${target}
    DEPENDS ${arg_FROM}
    COMMENT "Making runtime ${name}"
    VERBATIM)
  add_library(${name} STATIC ${object})
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
endfunction()
