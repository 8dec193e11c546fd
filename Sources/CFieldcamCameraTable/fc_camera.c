#include "fc_camera.h"
