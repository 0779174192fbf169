// The applications, those of the demo first; CMake reads the names here too. Included several times.
POLYHALITE_APP(blur)
POLYHALITE_APP(unsharp)
POLYHALITE_APP(harris)
POLYHALITE_APP(matmul)
POLYHALITE_APP(interpolate)
POLYHALITE_APP(stencil_chain)
