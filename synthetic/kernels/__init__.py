"""Every file in this folder is a kernel: the steps of some algorithms on some problems, fused.

Files that begin with an underscore hold what several of them share. What knows no problem is in
``toolkit/kernels``: the registry, threads, a tile of a matrix product, random words on a GPU.
"""
