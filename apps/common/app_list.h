// The applications, those of the demo first; CMake reads the names here too. Included several
// times.
POLYHALITE_APP(blur)
POLYHALITE_APP(unsharp)
POLYHALITE_APP(harris)
POLYHALITE_APP(matmul)
POLYHALITE_APP(interpolate)
POLYHALITE_APP(stencil_chain)
POLYHALITE_APP(local_laplacian)
POLYHALITE_APP(camera_pipe)
POLYHALITE_APP(bilateral_grid)
POLYHALITE_APP(hist)
POLYHALITE_APP(nl_means)
POLYHALITE_APP(conv_layer)
