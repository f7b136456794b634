/* forms.h - what the rows of LAB_TRANSFORMS are made of. Each function writes the program of a
 * transform for a GPU (lab.h). */
#ifndef LAB_FORMS_H
#define LAB_FORMS_H

#include "lab/lab.h"

extern const lab_cpu_form LAB_CT2_DIT;

bool lab_ct2_stages(lab_program *to, const lab_ask *ask, err *e);

#endif
