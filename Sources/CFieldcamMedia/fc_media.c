#include "fc_media.h"
