/* kernel_actions.h - the functions of the actions of `fftbloom kernel`, whose rows are in
 * kernel_actions.c. To add an action: one function here, one row there; `make generated`. */
#ifndef APP_KERNEL_ACTIONS_H
#define APP_KERNEL_ACTIONS_H

#include "app/cli/cli.h"

int kernel_make(cli *c, text *out, err *e);
int kernel_models(cli *c, text *out, err *e);
int kernel_list(cli *c, text *out, err *e);
int kernel_check(cli *c, text *out, err *e);
int kernel_show(cli *c, text *out, err *e);
int kernel_sheet(cli *c, text *out, err *e);
/* Serves every row of EDITS (kernel/edit/edit.h): the action has the edit's name. */
int kernel_edit(cli *c, text *out, err *e);

/* Append the words that may follow an action, for completions. */
void kernel_model_names(text *to);

/* Append the parameters of an action. */
void kernel_edit_details(const command_action *a, text *to);

#endif
