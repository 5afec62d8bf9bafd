/* Exports take only size_t from it. */
#include <stddef.h>
