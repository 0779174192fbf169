# Ahead-of-time compilation in CMake projects. Arguments are those of Halide's helpers.
#
#   add_polyhalite_generator(NAME SOURCES file... [LINK_LIBRARIES library...])
# A program NAME from generators: their sources, Halide.h and <polyhalite/...>, and main().
#
#   add_polyhalite_library(NAME FROM generator-target
#                          [GENERATOR generator] [FUNCTION_NAME function] [TARGETS target]
#                          [FEATURES feature...] [PARAMS name=value...] [USE_RUNTIME library]
#                          [HEADER variable] [STMT variable] [SCHEDULE variable]
#                          [ASSEMBLY variable] [LLVM_ASSEMBLY variable]
#                          [ALGORITHM variable] [TREE variable])
# A static library NAME that holds one compiled pipeline, with its header NAME.h (FUNCTION_NAME.h
# where that is given). Linking it brings the header's folder and the runtime. Each output that is
# named sets its variable to the file's path. The generator and the function are called NAME unless
# said otherwise; the target is "host".
#
#   add_polyhalite_runtime(NAME FROM generator-target [TARGETS target] [FEATURES feature...])
# A static library NAME with the runtime for `target`, for USE_RUNTIME.

function(add_polyhalite_generator name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK_LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "add_polyhalite_generator(${name}): cannot use "
      "'${arg_UNPARSED_ARGUMENTS}'; write add_polyhalite_generator(${name} SOURCES file...)")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name}
    PRIVATE Polyhalite::Generator Polyhalite::Halide ${arg_LINK_LIBRARIES})
endfunction()

# The one target string of a list of targets and a list of features.
function(_polyhalite_target_string name result targets features)
  list(LENGTH targets count)
  if(count GREATER 1)
    message(FATAL_ERROR "add_polyhalite_library(${name}): TARGETS names ${count} targets, "
      "but a library is compiled for one; add one library for each")
  endif()
  if(count EQUAL 0)
    set(targets host)
  endif()
  list(JOIN features "-" joined)
  if(joined)
    string(APPEND targets "-${joined}")
  endif()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

function(add_polyhalite_library name)
  set(texts STMT SCHEDULE ASSEMBLY LLVM_ASSEMBLY ALGORITHM TREE)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM;GENERATOR;FUNCTION_NAME;USE_RUNTIME;HEADER;${texts}"
    "TARGETS;FEATURES;PARAMS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "add_polyhalite_library(${name}): unknown '${arg_UNPARSED_ARGUMENTS}'; the "
      "arguments are listed in PolyhaliteGeneratorHelpers.cmake")
  endif()
  if(NOT TARGET "${arg_FROM}")
    message(FATAL_ERROR "add_polyhalite_library(${name}): FROM must name a target made by "
      "add_polyhalite_generator; '${arg_FROM}' is none")
  endif()
  if(NOT arg_GENERATOR)
    set(arg_GENERATOR ${name})
  endif()
  if(NOT arg_FUNCTION_NAME)
    set(arg_FUNCTION_NAME ${name})
  endif()
  if(NOT arg_USE_RUNTIME)
    set(arg_USE_RUNTIME Polyhalite::Runtime)
  endif()
  _polyhalite_target_string(${name} target "${arg_TARGETS}" "${arg_FEATURES}")

  # Extensions are those of the generator's -e kinds.
  set(extension_STMT .stmt)
  set(extension_SCHEDULE .schedule)
  set(extension_ASSEMBLY .s)
  set(extension_LLVM_ASSEMBLY .ll)
  set(extension_ALGORITHM .algorithm)
  set(extension_TREE .tree)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/polyhalite/${name})
  file(MAKE_DIRECTORY ${folder})
  set(emit object c_header)
  set(outputs ${folder}/${arg_FUNCTION_NAME}.o ${folder}/${arg_FUNCTION_NAME}.h)
  if(arg_HEADER)
    set(${arg_HEADER} ${folder}/${arg_FUNCTION_NAME}.h PARENT_SCOPE)
  endif()
  foreach(text IN LISTS texts)
    if(arg_${text})
      string(TOLOWER ${text} kind)
      list(APPEND emit ${kind})
      list(APPEND outputs ${folder}/${arg_FUNCTION_NAME}${extension_${text}})
      set(${arg_${text}} ${folder}/${arg_FUNCTION_NAME}${extension_${text}} PARENT_SCOPE)
    endif()
  endforeach()
  list(JOIN emit "," emit)

  add_custom_command(OUTPUT ${outputs}
    COMMAND ${arg_FROM} -g ${arg_GENERATOR} -f ${arg_FUNCTION_NAME} -o ${folder} -e ${emit}
            target=${target}-no_runtime ${arg_PARAMS}
    DEPENDS ${arg_FROM}
    COMMENT "Compiling pipeline ${name}"
    VERBATIM)
  add_library(${name} STATIC ${outputs})
  set_source_files_properties(${folder}/${arg_FUNCTION_NAME}.o
    PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name} INTERFACE $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(${name} PUBLIC ${arg_USE_RUNTIME})
endfunction()

function(add_polyhalite_runtime name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM" "TARGETS;FEATURES")
  if(NOT TARGET "${arg_FROM}")
    message(FATAL_ERROR "add_polyhalite_runtime(${name}): FROM must name a target made by "
      "add_polyhalite_generator; '${arg_FROM}' is none")
  endif()
  _polyhalite_target_string(${name} target "${arg_TARGETS}" "${arg_FEATURES}")
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
