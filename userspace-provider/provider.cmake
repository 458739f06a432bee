# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The second half of rdma-core-hook.cmake, run at the end of rdma-core's top file.

set(SROCE_UAPI "${SROCE_DIR}/../include/uapi/rdma/sroce-abi.h")
set(SROCE_KABI "${BUILD_INCLUDE}/kernel-abi/sroce-abi.h")

# What publish_internal_headers() and rdma_kernel_provider_abi() do for headers inside the tree.
rdma_create_symlink("${SROCE_UAPI}" "${BUILD_INCLUDE}/rdma/sroce-abi.h")
rdma_create_symlink("${SROCE_DIR}/../include/sroce/ring.h" "${BUILD_INCLUDE}/sroce/ring.h")
add_custom_command(
  OUTPUT "${SROCE_KABI}"
  COMMAND "${PYTHON_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/buildlib/make_abi_structs.py"
          "${SROCE_UAPI}" "${SROCE_KABI}"
  DEPENDS "${SROCE_UAPI}"
)

rdma_provider(sroce
  "${SROCE_DIR}/cq.c"
  "${SROCE_DIR}/cq_ex.c"
  "${SROCE_DIR}/post.c"
  "${SROCE_DIR}/qp.c"
  "${SROCE_DIR}/qp_ex.c"
  "${SROCE_DIR}/queue.c"
  "${SROCE_DIR}/sroce.c"
  "${SROCE_DIR}/srq.c"
  "${SROCE_KABI}"
)
add_dependencies("sroce-rdmav${IBVERBS_PABI_VERSION}" kern-abi)
