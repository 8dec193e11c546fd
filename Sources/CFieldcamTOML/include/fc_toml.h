#ifndef FC_FC_TOML_H
#define FC_FC_TOML_H
#endif
