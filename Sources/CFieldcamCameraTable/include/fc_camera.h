#ifndef FC_FC_CAMERA_H
#define FC_FC_CAMERA_H
#endif
