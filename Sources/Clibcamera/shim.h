// The headers of libcamera are C++; only CFieldcamCamera includes them. This module carries the compiler flags.
