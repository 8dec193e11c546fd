#include "fc_http.h"
