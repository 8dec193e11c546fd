#include "fc_camera_library.h"
