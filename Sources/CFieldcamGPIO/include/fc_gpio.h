#ifndef FC_FC_GPIO_H
#define FC_FC_GPIO_H
#endif
