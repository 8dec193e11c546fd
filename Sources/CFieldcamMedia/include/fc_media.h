#ifndef FC_FC_MEDIA_H
#define FC_FC_MEDIA_H
#endif
