"""An add-on for Blender 3.4 or newer: blooms renders and images with a real point spread function.

Install it by Edit > Preferences > Add-ons > Install, or start Blender with `-P fftbloom_blender.py`. It needs the
Python module fftbloom in Blender's Python (Debian: python3-fftbloom). The panel is in the image editor's sidebar and
in the render properties. Nothing of the scene is changed: results are images of their own.
"""
import contextlib
import functools
import os
import sys

import bpy
import numpy

import fftbloom

bl_info = {"name": "fftbloom", "author": "The fftbloom authors", "version": (1, 0, 0), "blender": (3, 4, 0),
           "location": "Image Editor > Sidebar > fftbloom, and Render Properties", "category": "Render",
           "description": "Blooms renders and images with a real point spread function"}

RESULT, PREVIEW, NODE = "fftbloom result", "fftbloom preview", "fftbloom"
# The kernels that come with fftbloom, what most people want first; `fftbloom kernel list` describes them.
KERNELS = ("lens-night", "portrait", "vintage", "sunstar", "prime-open", "sunstar-field", "mist-8", "mist-4", "mist-2", "mist-1",
           "dirty-glass", "halation", "anamorphic", "star-six", "cross", "eye-night", "telescope", "space-telescope")
FILE = "FILE"


# --- pixels ----------------------------------------------------------------------------------------

@contextlib.contextmanager
def changed(of, **values):
    """Sets values of a struct of Blender, and sets the old ones again at the end."""
    old = {name: getattr(of, name) for name in values}
    try:
        for name, value in values.items():
            setattr(of, name, value)
        yield
    finally:
        for name, value in old.items():
            setattr(of, name, value)


def pixels_of(image, scene):
    """Returns the linear pixels of an image as an array (H, W, C), from the top."""
    if image.type == "RENDER_RESULT":  # Python sees its pixels only in a file
        path = os.path.join(bpy.app.tempdir, "fftbloom_render.exr")
        with changed(scene.render.image_settings, file_format="OPEN_EXR", color_mode="RGBA", color_depth="32"):
            image.save_render(path, scene=scene)
        copy = bpy.data.images.load(path)
        try:
            return pixels_of(copy, scene)
        finally:
            bpy.data.images.remove(copy)
            os.remove(path)
    width, height = image.size
    if not (width and height):
        raise fftbloom.Error("the image '%s' has no pixels" % image.name)
    if not image.is_float:
        raise fftbloom.Error("the image '%s' has 8 bits a channel, which code no linear light: use an EXR" % image.name)
    pixels = numpy.empty(width * height * image.channels, "f4")
    image.pixels.foreach_get(pixels)
    return pixels.reshape(height, width, image.channels)[::-1]


def show(name, pixels):
    """Puts pixels (H, W, C) into the image of this name, which is made where it is missing."""
    height, width = pixels.shape[:2]
    rgba = numpy.ones((height, width, 4), "f4")
    rgba[..., :pixels.shape[2]] = pixels
    image = bpy.data.images.get(name)
    if image is None:
        image = bpy.data.images.new(name, width, height, alpha=True, float_buffer=True)
    elif tuple(image.size) != (width, height):
        image.scale(width, height)
    image.pixels.foreach_set(rgba[::-1].ravel())
    image.update()
    return image


# --- blooming --------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=8)
def bloom_of(kernel, padding, amount, threshold, scale):
    return fftbloom.Bloom(kernel, padding=padding, amount=amount, threshold=threshold, kernel_scale=scale)


def bloom(pixels, settings, scale=1.0):
    if settings.kernel == FILE and not settings.file:
        raise fftbloom.Error("there is no kernel: choose its file")
    kernel = bpy.path.abspath(settings.file) if settings.kernel == FILE else settings.kernel
    return bloom_of(kernel, settings.padding, settings.amount, settings.threshold, scale)(pixels)


def refresh_preview(scene, image):
    """Blooms a small copy of an image, with a kernel that is as small."""
    settings, full = scene.fftbloom, pixels_of(image, scene)
    step = max(1, -(-max(full.shape[:2]) // settings.preview_size))
    height, width = (max(1, n // step) for n in full.shape[:2])
    small = full[:height * step, :width * step][:full.shape[0], :full.shape[1]]
    if min(full.shape[:2]) >= step:
        small = small.reshape(height, step, width, step, -1).mean(axis=(1, 3), dtype="f4")
    return show(PREVIEW, bloom(small, settings, 1 / step))


def told(settings, work, *arguments):
    """Does some work, and keeps what went wrong for the panel."""
    try:
        settings.message = ""
        return work(*arguments)
    except (fftbloom.Error, RuntimeError) as e:
        settings.message = str(e)
        print("fftbloom: error:", e, file=sys.stderr)


def settings_changed(settings, context):
    source = bpy.data.images.get(settings.source)
    if settings.live and source:
        told(settings, refresh_preview, settings.id_data, source)


def bloomed_path(scene):
    """Returns the file of a bloomed frame: of shot_ and shot.exr shot_bloom_0001.exr, of shot.## shot_bloom.01.exr."""
    render = scene.render
    folder, name = os.path.split(render.filepath)
    if name.lower().endswith(render.file_extension):
        name = name[:-len(render.file_extension)]
    stem = name.split("#")[0]
    number = name[len(stem.rstrip("._-")):] if "#" in name else "_"
    with changed(render, filepath=os.path.join(folder, (stem.rstrip("._-") + "_bloom").lstrip("_") + number)):
        return bpy.path.abspath(render.frame_path(frame=scene.frame_current))


@bpy.app.handlers.persistent
def frame_rendered(scene, *_):
    """Blooms what was rendered, and writes it beside the frame in the scene's own file format."""
    settings, render = scene.fftbloom, bpy.data.images.get("Render Result")

    def work():
        if settings.live and settings.source == render.name:
            refresh_preview(scene, render)
        if settings.after_render:
            result = show(RESULT, bloom(pixels_of(render, scene), settings))
            if settings.write:
                path = bloomed_path(scene)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                result.save_render(path, scene=scene)

    if render:
        told(settings, work)


# --- settings, operators, panels -------------------------------------------------------------------

class FftbloomSettings(bpy.types.PropertyGroup):
    kernel: bpy.props.EnumProperty(name="Kernel", default=KERNELS[0], update=settings_changed,
                                   description="A kernel that comes with fftbloom, or a file of yours",
                                   items=[(n, n, "") for n in KERNELS] + [(FILE, "A file ...", "")])
    file: bpy.props.StringProperty(name="File", subtype="FILE_PATH", update=settings_changed,
                                   description="An image or a recipe that is the kernel")
    amount: bpy.props.FloatProperty(name="Amount", default=1, min=0, max=1, update=settings_changed,
                                    description="The share of the light that the kernel spreads")
    threshold: bpy.props.FloatProperty(name="Threshold", default=0, min=0, update=settings_changed,
                                       description="Only light above this is spread; 0: all of it")
    padding: bpy.props.EnumProperty(name="Padding", default="mirror", update=settings_changed,
                                    description="What is beyond the borders of the image",
                                    items=[(n, n.capitalize(), "") for n in ("mirror", "zero", "clamp", "wrap")])
    live: bpy.props.BoolProperty(name="Live preview", default=True, update=settings_changed,
                                 description="Makes the preview again at every change here")
    preview_size: bpy.props.IntProperty(name="Preview size", default=512, min=16, max=4096, update=settings_changed,
                                        description="The longer side of the preview, in pixels")
    source: bpy.props.StringProperty(description="The image that the preview shows")
    after_render: bpy.props.BoolProperty(name="After each render", default=False,
                                         description="Blooms every frame when it is rendered")
    write: bpy.props.BoolProperty(name="Write files", default=True,
                                  description="Writes bloomed frames beside the rendered ones, as NAME_bloom")
    message: bpy.props.StringProperty()


class ImageOperator:
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        return getattr(context.space_data, "image", None) is not None

    def execute(self, context):
        settings = context.scene.fftbloom
        result = told(settings, self.work, context.scene, context.space_data.image)
        if result is None:
            self.report({"ERROR"}, settings.message)
            return {"CANCELLED"}
        context.space_data.image = result
        return {"FINISHED"}


class FFTBLOOM_OT_preview(ImageOperator, bpy.types.Operator):
    """Show a small copy of this image with bloom, which follows the settings"""
    bl_idname, bl_label = "fftbloom.preview", "Preview"

    def work(self, scene, image):
        if image.name not in (PREVIEW, RESULT):
            scene.fftbloom.source = image.name
        return refresh_preview(scene, bpy.data.images[scene.fftbloom.source])


class FFTBLOOM_OT_image(ImageOperator, bpy.types.Operator):
    """Bloom this image at full size; from a preview, the image that it shows"""
    bl_idname, bl_label = "fftbloom.image", "Bloom"

    def work(self, scene, image):
        source = bpy.data.images.get(scene.fftbloom.source) if image.name == PREVIEW else image
        return show(RESULT, bloom(pixels_of(source or image, scene), scene.fftbloom))


def compositor(scene):
    """Returns the scene's tree of compositor nodes, which is made where there is none."""
    if not hasattr(scene, "compositing_node_group"):  # before Blender 5 a scene has a tree of its own
        with changed(scene, use_nodes=True):
            return scene.node_tree
    if scene.compositing_node_group is None:
        tree = scene.compositing_node_group = bpy.data.node_groups.new("Compositing", "CompositorNodeTree")
        tree.interface.new_socket(name="Image", in_out="OUTPUT", socket_type="NodeSocketColor")
        render, output = tree.nodes.new("CompositorNodeRLayers"), tree.nodes.new("NodeGroupOutput")
        tree.links.new(render.outputs["Image"], output.inputs["Image"])
    return scene.compositing_node_group


class FFTBLOOM_OT_node(bpy.types.Operator):
    """Add the result to the compositor as an image node; other nodes stay as they are"""
    bl_idname, bl_label, bl_options = "fftbloom.node", "Add to compositor", {"REGISTER", "UNDO"}

    def execute(self, context):
        image = bpy.data.images.get(RESULT)
        if image is None:
            self.report({"ERROR"}, "there is no result yet: render with \"After each render\", or bloom an image")
            return {"CANCELLED"}
        nodes = compositor(context.scene).nodes
        if NODE not in nodes:
            nodes.new("CompositorNodeImage").name = NODE
            nodes[NODE].location = (0, -400)
        nodes[NODE].image = image
        return {"FINISHED"}


class Panel:
    bl_label, bl_category = "fftbloom", "fftbloom"

    def draw(self, context):
        settings, layout = context.scene.fftbloom, self.layout
        layout.use_property_split = True
        for name in ("kernel", "file", "amount", "threshold", "padding"):
            if name != "file" or settings.kernel == FILE:
                layout.prop(settings, name)
        if context.space_data.type == "IMAGE_EDITOR":
            layout.prop(settings, "live")
            layout.prop(settings, "preview_size")
            row = layout.row()
            row.operator("fftbloom.preview")
            row.operator("fftbloom.image")
        layout.prop(settings, "after_render")
        layout.prop(settings, "write")
        layout.operator("fftbloom.node")
        if settings.message:
            layout.label(text=settings.message, icon="ERROR")


class FFTBLOOM_PT_image(Panel, bpy.types.Panel):
    bl_space_type, bl_region_type = "IMAGE_EDITOR", "UI"


class FFTBLOOM_PT_render(Panel, bpy.types.Panel):
    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "render"


CLASSES = (FftbloomSettings, FFTBLOOM_OT_preview, FFTBLOOM_OT_image, FFTBLOOM_OT_node, FFTBLOOM_PT_image,
           FFTBLOOM_PT_render)


def register():
    for c in CLASSES:
        bpy.utils.register_class(c)
    bpy.types.Scene.fftbloom = bpy.props.PointerProperty(type=FftbloomSettings)
    bpy.app.handlers.render_post.append(frame_rendered)


def unregister():
    bpy.app.handlers.render_post.remove(frame_rendered)
    del bpy.types.Scene.fftbloom
    for c in reversed(CLASSES):
        bpy.utils.unregister_class(c)


if __name__ == "__main__":
    register()
