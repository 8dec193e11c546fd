// The one symbol of a camera library; see fc_camera.h for what it gives.
#ifndef FC_CAMERA_LIBRARY_H
#define FC_CAMERA_LIBRARY_H

#include "fc_camera.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Any thread. The table is constant and lives as long as the library is loaded. Its name is FC_CAMERA_TABLE_SYMBOL.
__attribute__((visibility("default"))) const fc_camera_table *_Nonnull fc_camera_table_of_library(void);

#ifdef __cplusplus
}
#endif
#endif
