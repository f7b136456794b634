"""Makes a scene of Blender: its cube, and a lamp that is small and bright."""
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
