#include "fc_toml.h"
