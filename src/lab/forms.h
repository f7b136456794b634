/* forms.h - what the rows of LAB_TRANSFORMS are made of: functions that write the program of a
 * transform for a GPU (lab.h), and the SPIR-V that the build makes from shaders/lab/. */
#ifndef LAB_FORMS_H
#define LAB_FORMS_H

#include "lab/lab.h"

extern const lab_cpu_form LAB_DFT, LAB_CT2_RECURSIVE, LAB_CT2_DIT, LAB_CT2_DIF, LAB_LANES;

typedef bool lab_program_form(lab_program *to, const lab_ask *ask, err *e);
lab_program_form lab_ct2_stages, lab_ct2_axis, lab_stockham2, lab_stockham2_wide, lab_stockham4,
    lab_stockham2_shared, lab_stockham4_shared, lab_stockham4_shared_wide, lab_ours;
/* With shuffles where the device has them, and without. */
lab_program_form lab_nabla, lab_nabla_shared;

extern const gpu_shader LAB_CT2_STAGES, LAB_CT2_AXIS, LAB_STOCKHAM2, LAB_STOCKHAM2_SHARED,
    LAB_STOCKHAM4, LAB_STOCKHAM4_SHARED, LAB_OURS, LAB_OCEAN;
/* By whether subgroups shuffle; the second also by pass. */
extern const gpu_shader LAB_NABLA[2], LAB_ARTICLE[2][3];

#endif
