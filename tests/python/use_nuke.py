"""Uses docs/programs/fftbloom_nuke.py as a render of Nuke does: plate.1001.exr and plate.1002.exr, with star.exr."""
import fftbloom_nuke
import nuke

(hook,) = nuke.hooks
hook()  # a node without the tab
fftbloom_nuke.add_knobs()
hook()  # a tab without a kernel
nuke.node["fftbloom_kernel"].setValue("star.exr")
nuke.node["fftbloom_amount"].setValue(0.5)
for nuke.frame in 1001, 1002:
    hook()
for name, value, words in (("fftbloom_kernel", "none.exr", "none.exr"), ("fftbloom_kernel", "star.exr", ""),
                           ("fftbloom_amount", 2.0, "amount is 2; it can be 0 to 1")):
    nuke.node[name].setValue(value)
    try:
        hook()
        assert not words, "a failure passed: " + words
    except RuntimeError as e:
        assert words in str(e), e
