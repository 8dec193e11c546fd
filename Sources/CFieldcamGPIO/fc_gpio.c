#include "fc_gpio.h"
