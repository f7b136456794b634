// ducc.cc - the transforms of ducc0 (BSD-3) for bench_cpu: make bench-cpu DUCC=FOLDER, with its sources in
// FOLDER/src. They are in place, in rows of lx + 2 floats, as those of FFTW.
#include "ducc0/fft/fft.h"
#include "ducc0/fft/fftnd_impl.h"
#include "ducc0/infra/mav.cc"
#include "ducc0/infra/string_utils.cc"
#include "ducc0/infra/threading.cc"
#include "ducc0/infra/types.cc"

using namespace ducc0;

extern "C" void ducc_forward(float *frame, unsigned lx, unsigned ly, int threads) {
    std::size_t halves = lx / 2 + 1;
    cfmav<float> in(frame, {ly, lx}, {std::ptrdiff_t(2 * halves), 1});
    vfmav<std::complex<float>> out(reinterpret_cast<std::complex<float> *>(frame), {ly, halves});
    r2c(in, out, {0, 1}, true, 1.f, std::size_t(threads));
}

extern "C" void ducc_inverse(float *frame, unsigned lx, unsigned ly, int threads) {
    std::size_t halves = lx / 2 + 1;
    vfmav<std::complex<float>> in(reinterpret_cast<std::complex<float> *>(frame), {ly, halves});
    vfmav<float> out(frame, {ly, lx}, {std::ptrdiff_t(2 * halves), 1});
    c2r_mut(in, out, {0, 1}, false, 1.f, std::size_t(threads));
}
