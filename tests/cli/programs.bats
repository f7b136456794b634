# The commands of docs/programs.md, run: with the programs themselves where Debian has them, and with
# stand-ins that follow their documented interfaces where it has not.

load files

setup_file() {
    shared_folder || return 0
    make_images star.exr
    for i in 1001 1002; do cp in.exr plate.$i.exr; done
}

setup() {
    own_folder
    examples=$FFTBLOOM_ROOT/docs/programs
    mkdir bin
    ln -s "$FFTBLOOM" bin/fftbloom
    PATH=$dir/bin:$PATH
}

bloomed() { # IN OUT options: OUT is what a plain command makes of IN
    fftbloom "$1" star.exr -o want.exr "${@:3}" && cmp want.exr "$2" || return 1
}

module() { # for a Python that is to find the module and the add-ons
    export LIBFFTBLOOM=${FFTBLOOM%/*}/libfftbloom.so.0 PYTHONDONTWRITEBYTECODE=1
    export PYTHONPATH=$FFTBLOOM_ROOT/python:$FFTBLOOM_ROOT/tests/python:$examples
    [ "${SAN:-0}" = 0 ] || skip "a plain Python cannot load a library with sanitizers"
}

@test "Nuke: what a Write node has written is bloomed by the module, with its settings" {
    python3 -c 'import numpy, OpenImageIO' || skip "python3-openimageio is not installed"
    module
    oiiotool in.exr --create 40x30 1 --chnames id --fill:color=7 40x30 --chappend --attrib shot 42 -d half -o plate.1002.exr
    python3 "$FFTBLOOM_ROOT/tests/python/use_nuke.py"
    for i in 1001 1002; do
        fftbloom plate.$i.exr star.exr -o want.exr --amount 0.5 --device cpu
        fftbloom diff plate_bloom.$i.exr want.exr --fail 1e-6 --failrelative 1e-3
    done
    oiiotool --info -v plate_bloom.1002.exr >info
    grep -q 'shot: 42' info
    grep -q 'channel list: R, G, B, id' info
    oiiotool plate_bloom.1002.exr --ch id -o id.exr
    oiiotool --stats id.exr | grep -q 'Stats Min: 7.0'
    [ -z "$(ls | grep part)" ]
}

@test "Blender: the add-on blooms renders and images, and leaves the scene as it is" {
    needs_program blender
    module
    run blender -b --factory-startup --python-use-system-env --python-exit-code 3 \
        -P "$FFTBLOOM_ROOT/tests/python/blender_scene.py" -P "$FFTBLOOM_ROOT/tests/python/use_blender.py"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"all is well"* ]]
    fftbloom plain.exr star.exr -o want.exr --amount 0.8 --padding clamp
    fftbloom diff plain_bloom_0001.exr want.exr --fail 1e-6 --failrelative 1e-5
    # The glare is there.
    run -2 fftbloom diff plain_bloom_0001.exr plain.exr
}

@test "Houdini's pattern, oiiotool's lines, and a proxy" {
    fftbloom "$dir/plate.\$F4.exr" star.exr -o "$dir/shot.\$F4.exr" --frames 1001-1002
    bloomed in.exr shot.1002.exr
    cp plate.1001.exr plate.exr
    cp shot.1001.exr bloom.exr
    cp star.exr kernel.exr
    oiiotool kernel.exr -o kernel.tif
    cp "$examples/blue-line.json" .
    # Every line of the section is run as it stands.
    sed -n '/^## oiiotool/,/^## make/s/^    //p' "$FFTBLOOM_ROOT/docs/programs.md" >lines.sh
    [ "$(wc -l <lines.sh)" -ge 5 ]
    bash -e lines.sh
    for f in both.png added.exr proxy_bloom.exr blue.exr; do [ -s "$f" ]; done
}

@test "make: results that are older than their images are made, and no others" {
    rm in.exr
    make -s -f "$examples/bloom.mk"
    bloomed plate.1001.exr plate.1001.bloom.exr
    rm want.exr
    touch plate.1002.exr
    run make -f "$examples/bloom.mk"
    [ "$(grep -c '^fftbloom' <<<"$output")" -eq 1 ]
}

@test "GitLab: the job is YAML that it takes, and its command runs" {
    python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
    echo '{"version": 1, "cases": [{"name": "a", "config": {"input": "in.exr", "kernel": "star.exr"}, "energy": [0, 2]}]}' >suite.json
    python3 - "$examples/gitlab-ci.yml" <<'P' >job.sh
import sys, yaml
job = yaml.safe_load(open(sys.argv[1]))["look"]
assert set(job) == {"image", "before_script", "script", "artifacts"}
assert job["artifacts"]["reports"] == {"junit": "look.xml"} and job["artifacts"]["paths"] == ["look.html"]
print("\n".join(job["script"]))
P
    bash -e job.sh
    [ -s look.xml ]
    [ -s look.html ]
}
