#ifndef FC_FC_HTTP_H
#define FC_FC_HTTP_H
#endif
