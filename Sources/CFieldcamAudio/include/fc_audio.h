#ifndef FC_FC_AUDIO_H
#define FC_FC_AUDIO_H
#endif
