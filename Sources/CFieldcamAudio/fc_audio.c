#include "fc_audio.h"
