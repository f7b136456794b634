/* edit_mix.c - mix: several kernels added into one. */
#include "kernel/edit/edit.h"

/* The amounts are shares of the light, so each kernel counts as if its channels summed to 1. */
bool edit_mix(edit_kernel *to, const edit_request *r, edit_account *told, err *e) {
    stretch by = {.scale = {1, 1}};
    uint32_t channels = 1;
    double all = 0;
    for (int i = 0; i < r->inputs; i++) {
        const edit_kernel *k = &r->input[i].kernel;
        memcpy(by.move, r->input[i].offset, sizeof by.move);
        by.to[0] = max_u32(by.to[0], k->w), by.to[1] = max_u32(by.to[1], k->h);
        edit_hold(&by, k);
        channels = max_u32(channels, k->channels);
    }
    if (!edit_new(to, by.to[0], by.to[1], channels, e)) return false;
    for (int i = 0; i < r->inputs; i++) {
        const edit_input *in = &r->input[i];
        const edit_kernel *k = &in->kernel;
        double share = isnan(in->amount) ? 1.0 / r->inputs : in->amount;
        double mean = edit_light(k) / k->channels;
        if (!(mean > 0))
            return err_set(e, ERR_DATA,
                           "the taps of '%s' add up to %g, so it has no light to share", in->name,
                           mean);
        memcpy(by.move, in->offset, sizeof by.move);
        edit_hold(&by, k);
        for (size_t c = 0; c < k->channels; c++) {
            double weight[EDIT_CHANNELS] = {0};
            for (uint32_t t = 0; t < channels; t++)
                if (k->channels == 1 || t == c) weight[t] = share / mean;
            if (!stretch_add(to->tap, channels, &by, k->tap + c * k->w * k->h, weight, r->threads,
                             e))
                return false;
        }
        all += share;
        edit_say(told, "share", share, "%s gives %.4g of the light", in->name, share);
    }
    if (fabs(all - 1) > 1e-9)
        edit_say(told, "shares", all, "the shares add up to %.9g, and a run scales them to 1", all);
    return true;
}
