/* forms.h - what the rows of LAB_TRANSFORMS are made of. Each function writes the program of a
 * transform for a GPU (lab.h). */
#ifndef LAB_FORMS_H
#define LAB_FORMS_H

#include "lab/lab.h"

extern const lab_cpu_form LAB_DFT, LAB_CT2_RECURSIVE, LAB_CT2_DIT, LAB_CT2_DIF, LAB_FFTW;

bool lab_ct2_stages(lab_program *to, const lab_ask *ask, err *e);
bool lab_ct2_axis(lab_program *to, const lab_ask *ask, err *e);
bool lab_stockham2(lab_program *to, const lab_ask *ask, err *e);
bool lab_stockham2_wide(lab_program *to, const lab_ask *ask, err *e);
bool lab_stockham4(lab_program *to, const lab_ask *ask, err *e);
bool lab_stockham2_shared(lab_program *to, const lab_ask *ask, err *e);
bool lab_stockham4_shared(lab_program *to, const lab_ask *ask, err *e);
bool lab_stockham4_shared_wide(lab_program *to, const lab_ask *ask, err *e);
bool lab_ours(lab_program *to, const lab_ask *ask, err *e);

/* Returns the smallest power of two that is not below n. */
uint32_t lab_next_power(uint32_t n);

/* nabla_gpu.c: with shuffles where the device has them, and without. */
bool lab_nabla(lab_program *to, const lab_ask *ask, err *e);
bool lab_nabla_shared(lab_program *to, const lab_ask *ask, err *e);

#endif
