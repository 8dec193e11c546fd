#include "fc_camera.h"

// The table lies in the camera libraries. This file only lets the header be checked by a C compiler.
_Static_assert(sizeof(fc_camera_record) == 104, "records are fixed in size");
