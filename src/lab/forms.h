/* forms.h - what the rows of LAB_TRANSFORMS are made of. Each function writes the program of a
 * transform for a GPU (lab.h). */
#ifndef LAB_FORMS_H
#define LAB_FORMS_H

#include "lab/lab.h"

extern const lab_cpu_form LAB_DFT, LAB_CT2_RECURSIVE, LAB_CT2_DIT, LAB_CT2_DIF, LAB_LANES;

typedef bool lab_program_form(lab_program *to, const lab_ask *ask, err *e);
lab_program_form lab_ct2_stages, lab_ct2_axis, lab_stockham2, lab_stockham2_wide, lab_stockham4,
    lab_stockham2_shared, lab_stockham4_shared, lab_stockham4_shared_wide, lab_ours;
/* With shuffles where the device has them, and without. */
lab_program_form lab_nabla, lab_nabla_shared;

#endif
