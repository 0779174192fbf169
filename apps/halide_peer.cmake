# The applications' generators against Halide 14, for comparison.

add_library(halide_generator_main OBJECT ${HALIDE14_MAIN})
target_include_directories(halide_generator_main SYSTEM PRIVATE ${HALIDE14_INCLUDE})
target_compile_options(halide_generator_main PRIVATE -w)

# add_halide_generator(NAME SOURCE)
function(add_halide_generator name source)
  add_executable(${name} ${source})
  target_include_directories(${name} SYSTEM PRIVATE ${HALIDE14_INCLUDE})
  # Halide 14's library has no run-time type information.
  target_compile_options(${name} PRIVATE -fno-rtti)
  target_link_libraries(${name} PRIVATE halide_generator_main ${HALIDE14_LIBRARY})
endfunction()

# Both systems compile for this machine as Polyhalite sees it: Halide 14 takes AVX-512 with bfloat16
# for Sapphire Rapids and emits instructions for half floats that other processors lack.
add_executable(host_target host_target.cc)
target_link_libraries(host_target PRIVATE Polyhalite::Polyhalite)

# add_halide_pipeline(NAME GENERATOR_TARGET GENERATOR SCHEDULE): a static library with the function
# NAME and, in each, Halide's weak runtime.
function(add_halide_pipeline name generator_target generator schedule)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/halide/${name})
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${folder}/${name}.o
    COMMAND sh -c "$<TARGET_FILE:${generator_target}> -g ${generator} -f ${name} -o ${folder} \
-e object schedule=${schedule} target=$($<TARGET_FILE:host_target>)"
    DEPENDS ${generator_target} host_target
    COMMENT "Compiling pipeline ${name} with Halide 14"
    VERBATIM)
  add_library(${name} STATIC ${folder}/${name}.o)
  set_source_files_properties(${folder}/${name}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
endfunction()
