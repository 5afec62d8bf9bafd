/* How an integrator's build would say whose an event is. */
#include <stdint.h>

extern uint32_t device_owner;
#define rlcc_owner_of(event) ((void)(event), device_owner)
