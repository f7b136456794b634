"""Renders the scene of a Blender file, blooms the picture, and lets the compositor go on with it.

blender -b scene.blend -P fftbloom_blender.py -- KERNEL OUT.png [options of fftbloom]
"""
import os
import subprocess
import sys

import bpy

kernel, out, *options = sys.argv[sys.argv.index("--") + 1:]
scene = bpy.context.scene
plain = os.path.join(bpy.app.tempdir, "plain.exr")
bloomed = os.path.join(bpy.app.tempdir, "bloomed.exr")

# What the camera sees, in linear light and without a view transform: that is what EXR files hold.
scene.use_nodes = False
scene.render.image_settings.file_format = "OPEN_EXR"
scene.render.image_settings.color_depth = "32"
scene.render.filepath = plain
bpy.ops.render.render(write_still=True)

program = os.environ.get("FFTBLOOM", "fftbloom")
subprocess.run([program, plain, kernel, "-o", bloomed, *options], check=True)

# Back into the compositor, which may add nodes of its own between these two.
scene.use_nodes = True
nodes = scene.node_tree.nodes
nodes.clear()
picture = nodes.new("CompositorNodeImage")
picture.image = bpy.data.images.load(bloomed)
composite = nodes.new("CompositorNodeComposite")
scene.node_tree.links.new(picture.outputs["Image"], composite.inputs["Image"])
scene.render.image_settings.file_format = "PNG"
scene.render.image_settings.color_depth = "8"
scene.render.filepath = os.path.abspath(out)
bpy.ops.render.render(write_still=True)
