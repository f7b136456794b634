#include "engine/gpu/gpu_pass.h"

#include "shaders/all.inc"

#define BOTH(name)                         \
    {                                      \
        {name##_f32, sizeof name##_f32}, { \
            name##_f64, sizeof name##_f64  \
        }                                  \
    }

static const gpu_shader SHADER[PASS_KINDS][2] = {[PASS_FORWARD] = BOTH(forward),
                                                 [PASS_CONVOLVE] = BOTH(convolve),
                                                 [PASS_INVERSE] = BOTH(inverse)};

gpu_shader gpu_shader_copy(void) {
    return (gpu_shader){copy_f32, sizeof copy_f32};
}

gpu_shader gpu_shader_of(plan_pass_kind kind, bool float64, bool subgroups) {
    static const gpu_shader LAST[2] = BOTH(inverse_groups);
    return (kind == PASS_INVERSE && subgroups ? LAST : SHADER[kind])[float64];
}
