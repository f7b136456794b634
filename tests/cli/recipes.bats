#!/usr/bin/env bats
# The recipes of docs/recipes.md, run: with the programs themselves where Debian has them, and with
# stand-ins that follow their documented interfaces where it has not.

bats_require_minimum_version 1.5.0
load files

setup_file() {
    shared_folder || return 0
    make_images star.exr
    for i in 1001 1002; do cp in.exr plate.$i.exr; done
}

setup() {
    own_folder
    recipes=$FFTBLOOM_ROOT/docs/recipes
    mkdir bin
    ln -s "$FFTBLOOM" bin/fftbloom
    PATH=$dir/bin:$PATH
}

bloomed() { # IN OUT options: OUT is what a plain command makes of IN
    fftbloom "$1" star.exr -o want.exr "${@:3}" && cmp want.exr "$2" || return 1
}

@test "Nuke: the hook blooms what a Write node has written, with its options" {
    cat >nuke.py <<'P'
hooks = []
class Knob:
    def __init__(self, name, label="", value=""): self.name_, self.value_ = name, value
    def value(self): return self.value_
class Tab_Knob(Knob): pass
class File_Knob(Knob): pass
class String_Knob(Knob): pass
class Node:
    def __init__(self, **k): self.knobs = {n: Knob(n, value=v) for n, v in k.items()}
    def addKnob(self, k): self.knobs[k.name_] = k
    def knob(self, n): return self.knobs.get(n)
    def __getitem__(self, n): return self.knobs[n]
class Root:
    def firstFrame(self): return 1001
    def lastFrame(self): return 1100
def root(): return Root()
def selectedNode(): return node
def thisNode(): return node
def addAfterRender(call, nodeClass): hooks.append((call, nodeClass))
node = Node(file="plate.####.exr", use_limit=True, first=1001, last=1002)
P
    cp "$recipes/fftbloom_nuke.py" .
    PYTHONPATH=. python3 - <<'P'
import nuke, fftbloom_nuke
(hook, of), = nuke.hooks
assert of == "Write"
hook()                                   # a node without the tab
fftbloom_nuke.add_knobs()
hook()                                   # a tab without a kernel
nuke.node["fftbloom_kernel"].value_ = "star.exr"
nuke.node["fftbloom_options"].value_ = "--amount 0.5 -q"
hook()
nuke.node["fftbloom_kernel"].value_ = "none.exr"
try: hook()
except RuntimeError as e: assert "none.exr" in str(e), e
else: raise AssertionError("a failure passed")
P
    bloomed in.exr plate_bloom.1001.exr --amount 0.5
    bloomed in.exr plate_bloom.1002.exr --amount 0.5
}

@test "Blender: a scene is rendered, bloomed and composited" {
    command -v blender >/dev/null || skip "Blender is not installed"
    cat >scene.py <<'P'
import bpy
scene = bpy.context.scene
scene.render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 1, "CPU"
scene.cycles.use_denoising = False
scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 96, 64, 100
bpy.ops.mesh.primitive_uv_sphere_add(radius=0.1, location=(2, -2, 1.5))
glow = bpy.data.materials.new("glow")
glow.use_nodes = True
emission = glow.node_tree.nodes.new("ShaderNodeEmission")
emission.inputs["Strength"].default_value = 400
glow.node_tree.links.new(emission.outputs[0], glow.node_tree.nodes["Material Output"].inputs[0])
bpy.context.object.data.materials.append(glow)
P
    for t in 0 1; do
        run blender -b -P scene.py -P "$recipes/fftbloom_blender.py" -- star.exr out$t.png --amount $((1 - t))
        [ "$status" -eq 0 ] || { echo "$output"; false; }
    done
    # The same picture with and without the glare: more light around the lamp.
    mean() { oiiotool --stats "$1" | sed -n 's/ *Stats Avg: \([0-9.]*\) .*/\1/p'; }
    echo "$(mean out0.png) $(mean out1.png)"
    python3 -c 'import sys; a, b = map(float, sys.argv[1:]); assert a > b' "$(mean out0.png)" "$(mean out1.png)"
}

@test "Houdini's pattern, oiiotool's lines, and a proxy" {
    fftbloom "$dir/plate.\$F4.exr" star.exr -o "$dir/shot.\$F4.exr" --frames 1001-1002
    bloomed in.exr shot.1002.exr
    cp plate.1001.exr plate.exr
    cp shot.1001.exr bloom.exr
    cp star.exr kernel.exr
    oiiotool kernel.exr -o kernel.tif
    # Every line of the section is run as it stands.
    sed -n '/^## oiiotool/,/^## make/s/^    //p' "$FFTBLOOM_ROOT/docs/recipes.md" >lines.sh
    [ "$(wc -l <lines.sh)" -ge 5 ]
    bash -e lines.sh
    for f in both.png added.exr proxy_bloom.exr; do [ -s "$f" ]; done
}

@test "make: results that are older than their images are made, and no others" {
    rm in.exr
    unset MAKEFLAGS MFLAGS MAKELEVEL # of a make that runs this test
    make -s -f "$recipes/bloom.mk"
    bloomed plate.1001.exr plate.1001.bloom.exr
    rm want.exr
    touch plate.1002.exr
    run make -f "$recipes/bloom.mk"
    [ "$(grep -c '^fftbloom' <<<"$output")" -eq 1 ]
}

@test "GitLab: the job is YAML that it takes, and its command runs" {
    python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"
    echo '{"version": 1, "cases": [{"name": "a", "config": {"input": "in.exr", "kernel": "star.exr"}, "energy": [0, 2]}]}' >suite.json
    python3 - "$recipes/gitlab-ci.yml" <<'P' >job.sh
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
