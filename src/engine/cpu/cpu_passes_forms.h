/* cpu_passes_forms.h - the passes of cpu_passes.inc for each kind of processor, one file each. */
#ifndef ENGINE_CPU_PASSES_FORMS_H
#define ENGINE_CPU_PASSES_FORMS_H

#include "engine/cpu/cpu_passes.h"

extern const cpu_passes CPU_PASSES_ANY_FLOAT32, CPU_PASSES_ANY_FLOAT64;
extern const cpu_passes CPU_PASSES_AVX2_FLOAT32, CPU_PASSES_AVX2_FLOAT64;
extern const cpu_passes CPU_PASSES_AVX512_FLOAT32, CPU_PASSES_AVX512_FLOAT64;

#endif
