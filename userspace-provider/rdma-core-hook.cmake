# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Adds this provider to an unmodified rdma-core:
#
#   cmake -S rdma-core -B build -DCMAKE_PROJECT_INCLUDE=.../rdma-core-hook.cmake ...
#
# CMake runs this at the end of rdma-core's project(); what it needs (rdma_provider()
# and the library itself) exists when the top file has been read. CMake >= 3.19.

set(SROCE_DIR "${CMAKE_CURRENT_LIST_DIR}")
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL include "${SROCE_DIR}/provider.cmake")
